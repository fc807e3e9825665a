"use strict";
// The runs that are loaded, and the choices that the address holds: #SECTION?run=n165-s1&head=0&a=3 …
// A page opened from disk may not fetch, so a run is a script that calls strata.run with its data.
const strata = (() => {
  const { root } = document.documentElement.dataset; // the way from this page to the report's folder
  const runs = new Map(), waiting = new Map(), listeners = [];
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
  function write() {
    history.replaceState(null, "", location.pathname + location.search + address());
  }
  function get(key, otherwise = "") {
    return choice.has(key) ? choice.get(key) : otherwise;
  }
  // Nothing is announced where nothing changes.
  function set(changes) {
    const before = choice.toString();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") choice.delete(key);
      else choice.set(key, value);
    }
    if (choice.toString() === before) return;
    write();
    changed();
  }
  function goto(section) {
    at = section;
    write();
    document.getElementById(section)?.scrollIntoView();
  }
  function changed() {
    for (const listener of listeners) listener();
  }

  function load(name) {
    if (runs.has(name)) return Promise.resolve(runs.get(name));
    if (!waiting.has(name)) waiting.set(name, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${root}runs/${name}.js`;
      script.onload = () => runs.has(name) ? done(runs.get(name)) : failed(new Error(`no run ${name}`));
      script.onerror = () => failed(new Error(`runs/${name}.js is not there: dvc repro pipelines/runs/dvc.yaml:page@${name}`));
      document.head.append(script);
    }));
    return waiting.get(name);
  }
  const headline = document.documentElement.dataset.headline;
  function chosen() {
    const name = get("run", headline);
    return known.some(run => run.run === name) ? name : headline;
  }

  read();
  addEventListener("hashchange", () => {
    read();
    changed();
    if (at) document.getElementById(at)?.scrollIntoView();
  });
  return {
    get, set, goto, load, chosen, headline, root, views: {},
    section: () => at,
    runs: () => known,
    list: found => { known = found; },
    run: data => runs.set(data.run, data),
    listen: listener => listeners.push(listener),
  };
})();
