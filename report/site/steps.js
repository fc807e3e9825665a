"use strict";
// The pictures of the six steps: each answers to hover, click and arrow keys, and marks a, b and ab.
addEventListener("DOMContentLoaded", () => {
  const told = document.getElementById("hero-data");
  if (!told) return;
  const hero = JSON.parse(told.textContent), runs = JSON.parse(document.getElementById("runs-data").textContent);
  const { svg, html, J, percent, picture, choice } = strata.draw, { n, classes } = hero;
  const colors = JSON.parse(document.documentElement.dataset.look).colors;
  const chosen = {}; // of each picture, what it shows
  let run = null;
  const residue = (key, otherwise) => /^\d+$/.test(strata.get(key)) && +strata.get(key) < n ? +strata.get(key) : otherwise;
  const pair = () => [residue("a", hero.example.pair[0]), residue("b", hero.example.pair[1])];
  const gcd = (x, y) => y ? gcd(y, x % y) : x;
  const classOf = a => classes.findIndex(x => x.d === gcd(a, n));
  const marked = c => { const [a, b] = pair(); return [c === a && "a", c === b && "b", c === a * b % n && "ab"].filter(x => x).join(" "); };
  const tint = (i, count) => count < colors.length ? colors[i] : `hsl(${Math.round(360 * i / count)} 62% 45%)`;

  // A picture in which a residue can be picked: by click, or with the arrow keys.
  function picking(box, key, image) {
    const move = by => strata.set({ [key]: (residue(key, hero.example.pair[key === "a" ? 0 : 1]) + by + n) % n });
    image.setAttribute("role", "slider");
    image.setAttribute("tabindex", "0");
    for (const [name, value] of [["valuemin", 0], ["valuemax", n - 1], ["valuenow", pair()[key === "a" ? 0 : 1]]]) image.setAttribute("aria-" + name, value);
    image.onkeydown = event => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      move(by);
    };
    image.onclick = event => { const c = event.target.closest("[data-c]"); if (c) strata.set({ [key]: c.dataset.c }); };
    show(box, image);
  }
  function show(box, image, said) {
    const focused = box.contains(document.activeElement) && document.activeElement.tagName === "svg";
    box.querySelector(":scope > svg, :scope > .scroll")?.remove();
    box.append(image);
    if (focused) image.focus({ preventScroll: true });
    if (said !== undefined) say(box, said);
  }
  function say(box, text) {
    const line = box.querySelector(".readout") ?? html("p", { class: "readout", role: "status" });
    line.textContent = text;
    box.append(line);
  }
  // The network at a checkpoint of its training, by a slider; null until its numbers are loaded.
  function then(box, name) {
    const last = (hero.epochs ?? []).length - 1, wanted = strata.get("checkpoint");
    if (last < 1) return run;
    const at = /^\d+$/.test(wanted) && +wanted < last ? +wanted : last;
    if (!box.querySelector(".epoch")) {
      const slider = html("input", { type: "range", min: 0, max: last });
      slider.oninput = () => strata.set({ checkpoint: +slider.value === last ? null : slider.value }, true);
      box.prepend(html("label", { class: "epoch" }, "through its training ", slider, html("span")));
    }
    const [slider, said] = box.querySelectorAll(".epoch > *");
    slider.value = at;
    said.textContent = ` epoch ${hero.epochs[at].toLocaleString("en")}`;
    return at === last ? run : strata.at(run, at, error => error ? say(box, error.message) : draw(name));
  }
  const cell = (c, x, y, w, h, kind, label, title) => svg("g", { class: "cell " + kind, "data-c": c }, svg("title", {}, title),
    svg("rect", { x: x + 0.5, y: y + 0.5, width: w - 1.5, height: h - 1.5, rx: 2 }), label === "" ? [] : svg("text", { x: x + w / 2, y: y + h / 2 + 4 }, label));

  const views = {
    inverses(box, width) {
      const [a] = pair(), hit = new Set(), columns = width > 500 ? 15 : 11, rows = Math.ceil(n / columns), w = width / columns, h = Math.min(34, w);
      for (let x = 0; x < n; x++) hit.add(a * x % n);
      const shared = gcd(a, n), cells = [...Array(n).keys()].map(c => cell(c, c % columns * w, Math.floor(c / columns) * h, w, h,
        (hit.has(c) ? "hit" : "") + (c === a ? " is-a" : ""), c, `${c}: ${hit.has(c) ? "is" : "is not"} ${a} times something`));
      picking(box, "a", picture(width, rows * h, `The residues; those that ${a} reaches are filled`, ...cells));
      const inverse = [...Array(n).keys()].find(x => a * x % n === 1 % n);
      say(box, shared === 1 ? `${a}·x takes every value: ${a} has the inverse ${inverse}. Pick another number.`
        : `${a}·x takes ${hit.size} of ${n} values: ${a} shares ${shared} with ${n} and has no inverse. Pick another number.`);
    },
    classes(box, width) {
      const [a, b] = pair(), label = 44, w = Math.max(15, Math.min(26, (width - label) / 20)), columns = Math.floor((width - label) / w), parts = [];
      const key = chosen.classes ?? "a";
      choice(box, "click sets", [["a", "a"], ["b", "b"]], key, value => { chosen.classes = value; draw("classes"); });
      const own = classOf(a), other = classOf(b), product = classOf(a * b % n);
      let y = 0;
      classes.forEach((one, i) => {
        const tags = [i === own && "a", i === other && "b", i === product && "ab"].filter(x => x);
        parts.push(svg("text", { x: 0, y: y + w / 2 + 5, class: tags.length ? "class lit" : "class" }, J(one.d)));
        one.elements.forEach((c, k) => parts.push(cell(c, label + k % columns * w, y + Math.floor(k / columns) * w, w, w, (tags.length ? "hit" : "") + (marked(c) ? " is-a" : ""),
          marked(c), `${c} in ${J(one.d)}${marked(c) ? ": " + marked(c) : ""}`)));
        y += Math.ceil(one.elements.length / columns) * w + 7;
      });
      picking(box, key, picture(width, y, `The residues by class; a is ${a}, b is ${b}`, ...parts));
      say(box, `a = ${a} is in ${J(classes[own].d)}, b = ${b} in ${J(classes[other].d)}; ab = ${a * b % n} in ${J(classes[product].d)}.`);
    },
    spectra(box, width) {
      const now = run && then(box, "spectra");
      if (!now) return;
      const known = now.classes.filter(x => x.share.length > 1), d = +(chosen.spectra ?? known[0]?.d);
      if (!known.length) return;
      choice(box, "class", known.map(x => [String(x.d), J(x.d)]), String(d), value => { chosen.spectra = value; draw("spectra"); });
      const own = known.find(x => x.d === d), height = 300, step = width / own.share.length;
      const top = Math.max(...own.share, ...run.classes.find(x => x.d === d).share);
      const name = i => `(${strata.model.tuple(i + 1, own.orders).join(", ")})`, y = x => 250 * x / top;
      let last = -99;
      const bars = own.share.map((x, i) => {
        const middle = Math.max(18, Math.min(width - 18, (i + 0.5) * step)), named = own.key.includes(i) && middle - last > 46;
        if (named) last = middle;
        return svg("g", { class: own.key.includes(i) ? "bar key" : "bar" }, svg("title", {}, `frequency ${name(i)}: ${percent(x)}`),
          svg("rect", { x: i * step, y: 0, width: step, height, class: "hover" }),
          svg("rect", { x: i * step + Math.min(2, step / 8), y: 270 - y(x), width: Math.max(1, step - Math.min(4, step / 4)), height: Math.max(1, y(x)) }),
          named ? svg("text", { x: middle, y: 286, class: "tiny" }, name(i).replaceAll(" ", "")) : []);
      });
      const even = 270 - y(1 / own.share.length);
      show(box, picture(width, height, `Energy of the ${own.share.length} frequencies of ${J(d)}; ${own.key.length} are key.`, ...bars,
        svg("line", { x1: 0, x2: width, y1: even, y2: even, class: "even" }), svg("text", { x: width - 4, y: even - 6, class: "end" }, "if even")),
        `${now.when ? `${now.when}. The` : "The"} ${own.key.length} key frequencies of ${own.share.length} hold ${percent(own.fve)} of the energy of ${J(d)}.`);
    },
    pca(box, width) {
      if (!run?.pca?.points.length) return;
      const now = then(box, "pca");
      if (!now) return;
      const options = [["class", "class"], ...hero.powers.map(x => [String(x.q), `modulo ${x.q}`])], by = chosen.pca ?? "class";
      choice(box, "colour by", options, by, value => { chosen.pca = value; draw("pca"); });
      const group = by === "class" ? classOf : c => c % +by, names = by === "class" ? classes.map(x => J(x.d)) : [...Array(+by).keys()].map(String);
      const height = Math.min(420, width * 0.8), pad = 26, points = now.pca.points, of = i => points.map(x => x[i]);
      const span = i => [Math.min(...of(i)), Math.max(...of(i))], [x0, x1] = span(0), [y0, y1] = span(1);
      const scale = Math.min((width - 2 * pad) / (x1 - x0 || 1), (height - 2 * pad) / (y1 - y0 || 1));
      const x = p => width / 2 + (p[0] - (x0 + x1) / 2) * scale, y = p => height / 2 - (p[1] - (y0 + y1) / 2) * scale;
      const dots = points.map((p, c) => svg("circle", { cx: x(p), cy: y(p), r: 4, fill: tint(group(c), names.length), class: "point", "data-c": c },
        svg("title", {}, `${c}: ${J(gcd(c, n))}; ${hero.powers.map(({ q }) => `${c % q} modulo ${q}`).join(", ")}`)));
      const taken = [];
      const labels = names.map((name, i) => {
        const own = points.filter((_, c) => group(c) === i), mid = k => own.reduce((sum, p) => sum + p[k], 0) / own.length, spread = own.reduce((sum, p) => sum + (p[0] - mid(0)) ** 2 + (p[1] - mid(1)) ** 2, 0);
        const all = points.reduce((sum, p) => sum + p[0] ** 2 + p[1] ** 2, 0) / points.length;
        if (own.length < 2 || spread / own.length >= 0.2 * all) return [];
        const at = { x: x([mid(0), 0]), y: y([0, mid(1)]) - 9 };
        while (taken.some(other => Math.abs(other.x - at.x) < 36 && Math.abs(other.y - at.y) < 18)) at.y -= 18;  // above a label that is there
        taken.push(at);
        return svg("text", { ...at, class: "cluster" }, name);
      });
      const marks = points.map((p, c) => marked(c) ? svg("g", { class: "mark" }, svg("circle", { cx: x(p), cy: y(p), r: 8 }), svg("text", { x: x(p) + 11, y: y(p) + 4 }, marked(c))) : []);
      picking(box, "a", picture(width, height, `The residues on two principal components, coloured by ${by === "class" ? "class" : "residue modulo " + by}`, ...dots, ...labels.flat(), ...marks.flat()));
      const legend = html("p", { class: "legend" }, ...names.map((name, i) => html("span", {}, html("i", { style: `background:${tint(i, names.length)}` }), name)));
      box.querySelector(".legend")?.remove();
      box.append(legend);
      say(box, `${now.when ? `${now.when}. First two principal components of the end` : "First two principal components"}: ${percent(now.pca.share[0] + now.pca.share[1])} of the variance. Colour: ${by === "class" ? "class" : `residue modulo ${by}`}; a label stands where one colour keeps together.`);
    },
    changes(box) {
      const table = html("table", {}, html("caption", {}, `Share of all ${(n * n).toLocaleString("en")} pairs that go wrong`), html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "change"), ...hero.powers.map(x => html("th", { scope: "col" }, `modulo ${x.q}`)))));
      const words = x => ({ none: "as trained", axis: `without the axis of ${x.prime}`, head: `head ${x.head} ablated`, keep: "key characters alone", remove: "all but key characters" })[x.kind];
      const now = strata.get("change", "none");
      table.append(html("tbody", {}, hero.changes.map(x => {
        const button = html("button", { type: "button", "aria-pressed": String(x.name === now) }, words(x));
        button.onclick = () => { strata.set({ change: x.name === "none" ? null : x.name }); box.querySelector("[aria-pressed=true]")?.focus(); };
        return html("tr", {}, html("th", { scope: "row" }, button), ...hero.powers.map(({ q }) => {
          const share = x.wrong.modulo[q];
          return html("td", { style: `--share:${share}` }, percent(share));
        }));
      })));
      show(box, html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Changes and what they break" }, table), `${hero.costs[now]} A click makes the change in the network above.`);
    },
    gating(box, width) {
      if (!runs.length) return;
      const kind = chosen.gating ?? "gating";
      choice(box, "show", [["gating", "between over inside classes"], ["r2", "share of the logits explained"]], kind, value => { chosen.gating = value; draw("gating"); });
      const moduli = [...new Set(runs.map(x => x.n))].sort((x, y) => y - x), row = 84, height = moduli.length * row + 44, left = 74;
      const values = kind === "gating" ? [["gating", "run", 0]] : [["r2_S", "strata", 0], ["r2_C", "primes", 1], ["ceiling", "ceiling", 2]];
      const all = runs.flatMap(x => values.map(([name]) => x[name])), low = Math.min(0, ...all), high = Math.max(kind === "gating" ? 1 : 1, ...all);
      const x = v => left + 14 + (width - left - 40) * (v - low) / (high - low), parts = [];
      for (const v of kind === "gating" ? [0, 1] : [0, 0.5, 1]) {
        parts.push(svg("line", { x1: x(v), x2: x(v), y1: 22, y2: height - 24, class: "rule" }));
        parts.push(svg("text", { x: x(v), y: 14, class: "name" }, kind === "gating" ? ["0: strata", "1: primes"][v] : percent(v)));
      }
      moduli.forEach((m, i) => {
        const own = runs.filter(r => r.n === m), y = 22 + i * row + row / 2;
        parts.push(svg("text", { x: 0, y: y + 4, class: "class" }, `n = ${m}`));
        values.forEach(([name, word, k]) => own.forEach((r, j) => {
          const up = (j % 5 - 2) * 6 + (values.length > 1 ? (k - 1) * 4 : 0);
          const dot = svg("circle", { cx: x(r[name]), cy: y + up, r: 5, class: "run run" + k, "data-run": r.run },
            svg("title", {}, `${r.run}: ${word === "run" ? "" : word + " "}${kind === "gating" ? r[name].toFixed(2) : percent(r[name])}`));
          dot.onclick = () => { location.href = `cards/${r.run}.html`; };
          parts.push(dot);
        }));
      });
      if (values.length > 1) values.forEach(([, word, k], i) => parts.push(svg("circle", { cx: left + 20 + i * 92, cy: height - 8, r: 5, class: "run run" + k }), svg("text", { x: left + 30 + i * 92, y: height - 4, class: "start" }, word)));
      show(box, picture(width, height, `${runs.length} runs, a dot each`, ...parts), `${runs.length} runs, a dot each; a click opens its card.`);
    },
  };
  function draw(name) {
    const box = document.getElementById(`${name}-picture`);
    if (box) views[name](box, Math.max(280, box.clientWidth));
  }
  const all = () => Object.keys(views).forEach(draw);
  strata.steps = found => { run = found; all(); document.documentElement.dataset.steps = run.run; };
  strata.listen(all);
  addEventListener("resize", all);
  all();
});
