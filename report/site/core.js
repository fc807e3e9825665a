"use strict";
// The runs that are loaded, and the choices that the address holds: #SECTION?run=n165-s1&head=0&a=3 …
// A page opened from disk may not fetch, so a run is a script that calls strata.run with its data.
const strata = (() => {
  const { root } = document.documentElement.dataset; // the way from this page to the report's folder
  const runs = new Map(), measured = new Map(), waiting = new Map(), asked = new Map(), listeners = [];
  let known = [], at = "", choice = new URLSearchParams();

  function read() {
    const [where, query = ""] = location.hash.slice(1).split("?"); // decodeURI throws for "#%"
    at = where;
    choice = new URLSearchParams(query);
  }
  function address() {
    const query = choice.toString();
    return "#" + (at || (query ? "top" : "")) + (query ? "?" + query : "");
  }
  // A step for Back, once a choice is made: on the way of a slider nothing is written.
  function write() {
    if (address() !== (location.hash || "#")) history.pushState(null, "", location.pathname + location.search + address());
  }
  function get(key, otherwise = "") {
    return choice.has(key) ? choice.get(key) : otherwise;
  }
  // Nothing is announced where nothing changes.
  function set(changes, passing = false) {
    const before = choice.toString();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") choice.delete(key);
      else choice.set(key, value);
    }
    if (!passing) write();
    if (choice.toString() !== before) changed();
  }
  // The pair that every panel marks; the classes that panels show go by it again.
  const pick = (a, b) => set({ a, b, find: null, target: null, target2: null });
  // A residue alone: the first is a, the next b.
  const residue = c => get("a") !== "" && get("b") === "" ? pick(get("a"), c) : pick(c, null);
  function goto(section) {
    if (at !== section) {
      at = section;
      write();
    }
    document.getElementById(section)?.scrollIntoView();
  }
  function changed() {
    for (const listener of listeners) listener();
  }

  function script(path) {
    if (!asked.has(path)) asked.set(path, new Promise((done, failed) => {
      const found = Object.assign(document.createElement("script"), { src: root + path, onload: done });
      found.onerror = () => failed(new Error(`${path} is not there`));
      document.head.append(found);
    }));
    return asked.get(path);
  }
  function load(name) {
    if (runs.has(name)) return Promise.resolve(runs.get(name));
    if (!waiting.has(name)) waiting.set(name, script(`runs/${name}.js`).then(() => runs.get(name), error => {
      throw new Error(`${error.message}: make report`);
    }));
    return waiting.get(name);
  }
  const headline = document.documentElement.dataset.headline;
  const listed = name => known.some(run => run.run === name);
  function chosen() {
    const name = get("run", headline);
    return listed(name) ? name : headline;
  }
  // The run beside it, or nothing.
  const beside = () => listed(get("beside")) ? get("beside") : null;
  // The measures at the checkpoints of a run that has them.
  function epochs(name) {
    if (!known.some(run => run.run === name && run.checkpoints.length) || measured.has(name)) return Promise.resolve();
    return script(`site/epochs-${name}.js`);
  }

  read();
  addEventListener("popstate", () => {
    const before = at;
    read();
    changed();
    if (at !== before) document.getElementById(at)?.scrollIntoView();
  });
  return {
    get, set, settle: write, pick, residue, goto, load, script, epochs, chosen, beside, headline, root, views: {}, address, listing: [],
    section: () => at,
    measured: name => measured.get(name),
    checkpoints: data => measured.set(data.run, data),
    words: found => { strata.listing = found; },
    runs: () => known,
    list: found => { known = found; },
    run: data => runs.set(data.run, data),
    listen: listener => listeners.push(listener),
  };
})();
