"use strict";
// The runs that are loaded, and the choices that the address holds: #SECTION?run=n165-s1&head=0&a=3 …
// A page opened from disk may not fetch, so a run is a script that calls strata.run with its data.
const strata = (() => {
  const { root } = document.documentElement.dataset; // the way from this page to the report's folder
  const runs = new Map(), measured = new Map(), asked = new Map(), listeners = [];
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
  const get = (key, otherwise = "") => choice.get(key) ?? otherwise;
  // A number below a limit, as an address or a field has it.
  const whole = (text, below, otherwise = null) => /^\d+$/.test(text) && +text < below ? +text : otherwise;
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
    land();
  }
  // To the section of the address; again when what is above it has been drawn, until the reader moves.
  let landing = null;
  function land() {
    landing = document.getElementById(at);
    landing?.scrollIntoView({ behavior: "instant" });
  }
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(kind, () => { landing = null; }, { passive: true });
  addEventListener("DOMContentLoaded", () => {
    if (at) land();
    new ResizeObserver(() => landing?.scrollIntoView({ behavior: "instant" })).observe(document.body);
  });
  const changed = () => listeners.forEach(listener => listener());

  function script(path) {
    if (!asked.has(path)) asked.set(path, new Promise((done, failed) => {
      const found = Object.assign(document.createElement("script"), { src: root + path, onload: done });
      found.onerror = () => failed(new Error(`${path} is not there: make report`));
      document.head.append(found);
    }));
    return asked.get(path);
  }
  const load = name => script(`runs/${name}.js`).then(() => runs.get(name));
  const headline = document.documentElement.dataset.headline;
  const listed = name => known.find(run => run.run === name);
  const chosen = () => listed(get("run")) ? get("run") : headline;
  // The run beside it, or nothing.
  const beside = () => listed(get("beside")) ? get("beside") : null;
  // The measures at the checkpoints of a run that has them.
  const epochs = name => listed(name).checkpoints.length ? script(`site/epochs-${name}.js`) : null;

  read();
  addEventListener("popstate", () => {
    const before = at;
    read();
    changed();
    if (at !== before) land();
  });
  return {
    get, set, whole, settle: write, pick, residue, goto, load, script, epochs, chosen, beside, headline, root, views: {}, address, listing: [],
    section: () => at,
    loaded: name => runs.get(name),
    measured: name => measured.get(name),
    checkpoints: data => measured.set(data.run, data),
    words: found => { strata.listing = found; },
    runs: () => known,
    list: found => { known = found; },
    run: data => runs.set(data.run, data),
    listen: listener => listeners.push(listener),
  };
})();
