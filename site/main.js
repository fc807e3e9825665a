"use strict";
// Puts the page together: choosers, panels that draw themselves when they come near, Plotly last.
addEventListener("DOMContentLoaded", () => {
  const select = document.getElementById("run"), field = document.getElementById("element");
  const panel = document.getElementById("found"), views = [];
  let run = null, plotly = false;

  const kinds = { transformer: "transformer", mlp: "MLP only" };
  for (const [key, label] of Object.entries(kinds)) {
    const group = Object.assign(document.createElement("optgroup"), { label });
    for (const r of strata.runs().filter(x => x.architecture === key)) {
      const more = r.run.replace(`n${r.n}-s${r.seed}`, "").split("-").filter(x => x && x !== key);
      group.append(new Option([`n = ${r.n}, seed ${r.seed}`, ...more].join(", "), r.run));
    }
    if (group.children.length) select.append(group);
  }

  // One interactive panel: what its drawing function may use.
  function viewOf(box) {
    const part = name => box.querySelector("." + name), cache = new Map();
    const view = {
      name: box.dataset.view, plot: part("plot"), near: false,
      say: text => { part("readout").textContent = text; },
      nothing: text => { view.clear(); view.say(text); },
      clear: () => {
        if (plotly) Plotly.purge(view.plot);
        view.plot.style.height = "0";
        for (const held of Object.values(view.held)) held.parentNode.remove();
        view.held = {};
      },
      held: {},
      once: (key, make) => {
        const full = `${run.run} ${key}`;
        if (!cache.has(full)) { cache.clear(); cache.set(full, make()); }
        return cache.get(full);
      },
      // A labelled chooser whose value the address keeps; a value that this run lacks gives way.
      choose: (key, label, options, otherwise) => {
        const values = JSON.stringify(options);
        let held = view.held[key];
        if (!held) {
          const field = document.createElement("label");
          Object.assign(field, { className: "field", textContent: label + " " });
          held = view.held[key] = document.createElement("select");
          held.name = key;
          held.onchange = () => strata.set({ [key]: held.value === held.dataset.otherwise ? null : held.value });
          field.append(held);
          part("controls").append(field);
        }
        if (held.dataset.options !== values) {
          held.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
          held.dataset.options = values;
        }
        held.dataset.otherwise = otherwise;
        const wanted = strata.get(key, otherwise);
        held.value = options.some(([value]) => value === wanted) ? wanted : otherwise;
        return held.value;
      },
      draw: () => {
        if (!run || !plotly || !view.near) return;
        part("of").textContent = run.run;
        if (!run.finite && view.name !== "training")
          return view.nothing("This run diverged: there is nothing to draw.");
        try { strata.views[view.name](view, run); box.dataset.drawn = run.run; }
        catch (error) { view.nothing(`Not drawn: ${error.message}`); throw error; }
      },
    };
    new IntersectionObserver(seen => {
      if (view.near || !seen.some(x => x.isIntersecting)) return;
      view.near = true;
      view.draw();
    }, { rootMargin: "300px" }).observe(box);
    return view;
  }
  views.push(...[...document.querySelectorAll(".view")].map(viewOf));

  async function update() {
    const name = strata.chosen();
    select.value = name;
    try { run = await strata.load(name); }
    catch (error) { return views.forEach(view => view.nothing(error.message)); }
    if (name !== strata.chosen()) return;
    document.documentElement.dataset.run = run.run;
    strata.model.algebra(run);
    const { a, b } = strata.pair(run);
    if (document.activeElement !== field) field.value = a === null ? "" : b === null ? a : `${a} × ${b}`;
    strata.show(run, panel);
    views.forEach(view => view.draw());
  }
  select.onchange = () => strata.set({ run: select.value === strata.headline ? null : select.value });
  field.oninput = () => field.setCustomValidity("");
  document.getElementById("search").onsubmit = event => {
    event.preventDefault();
    strata.search(field.value, run, field);
  };
  field.addEventListener("search", () => { if (!field.value) strata.set({ a: null, b: null }); });
  addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === "Escape" && !panel.hidden) strata.set({ a: null, b: null });
  });
  // A link inside the page keeps the choices.
  document.addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || link.className === "skip") return;
    event.preventDefault();
    strata.goto(link.hash.slice(1));
  });
  if (innerWidth < 1000) document.querySelector(".contents details").open = false;

  // `make report` names the commit of the working tree that it serves; a file cannot know its own.
  const commit = new URLSearchParams(location.search).get("commit") ?? "";
  if (/^[0-9a-f]{40}(-dirty)?$/.test(commit)) {
    document.getElementById("served").textContent = ` Served from commit ${commit}.`;
    for (const place of document.querySelectorAll(".commit"))
      place.prepend(`in ${commit.slice(0, 12)}${commit.slice(40)}, recorded first by `);
  }

  strata.listen(update);
  strata.theme.dark.addEventListener("change", () => views.forEach(view => view.draw()));
  update();
  const script = Object.assign(document.createElement("script"), { src: strata.root + "site/plotly.min.js" });
  script.onload = () => { plotly = true; views.forEach(view => view.draw()); };
  script.onerror = () => views.forEach(view => view.nothing("site/plotly.min.js is not there: dvc repro report"));
  requestAnimationFrame(() => setTimeout(() => document.body.append(script)));
  if (strata.section()) document.getElementById(strata.section())?.scrollIntoView();
});
