"use strict";
// The network at work on one pair: residues, attention, neurons, logits, and the network changed.
// Drawn at once from what the page holds of the first pair, then from the weights.
addEventListener("DOMContentLoaded", () => {
  const told = document.getElementById("hero-data");
  if (!told) return;
  const hero = JSON.parse(told.textContent), { svg, html, J, percent, picture, at } = strata.draw;
  const $ = id => document.getElementById(id), form = $("factors"), fields = { a: $("a"), b: $("b") };
  const sliders = { a: $("a-slider"), b: $("b-slider") }, made = new Map();
  let run = null;

  // ---- what is chosen: the address has it ------------------------------------------------------
  const n = hero.n, [first, second] = hero.example.pair;
  const residue = (text, otherwise) => /^\d+$/.test(text) && +text < n ? +text : otherwise;
  const pair = () => [residue(strata.get("a"), first), residue(strata.get("b"), second)];
  const change = () => hero.changes.find(x => x.name === strata.get("change")) ?? hero.changes[0];

  // ---- what the network does -------------------------------------------------------------------
  function softmax(logits) {
    const top = Math.max(...logits), e = logits.map(x => Math.exp(x - top)), sum = e.reduce((x, y) => x + y);
    return e.map(x => x / sum);
  }
  function computed(which, a, b) {
    if (!run) return which.kind === "none" && a === first && b === second ? hero.example : null;
    if (!made.has(which.name)) made.set(which.name, strata.network.changed(run, hero, which));
    const W = made.get(which.name);
    return { ...strata.model.forward(W, a, b), attention: W.scores.map((_, h) => strata.model.pattern(W, h, a, b)) };
  }

  // ---- the drawings ----------------------------------------------------------------------------
  // The residues modulo each prime power: the area of a dot is how probable the network finds it.
  function circles(a, b, answer, probability) {
    const product = a * b % n, room = $("circles").clientWidth || 900, narrow = room < 560;
    const wide = narrow ? room / 2 - 8 : 240, size = narrow ? 150 : 180, middle = size / 2, radius = narrow ? 44 : 58;
    $("circles").replaceChildren(...hero.powers.map(power => {
      const { q, places } = power, mass = new Array(q).fill(0), right = product % q, got = answer % q;
      probability.forEach((p, c) => { mass[c % q] += p; });
      const names = new Map(), tag = (r, name) => names.set(r, [...names.get(r) ?? [], name]);
      tag(a % q, "a"); tag(b % q, "b"); tag(right, "ab");
      const rings = [...new Set(places.map(([ring]) => ring))].filter(x => x).map(ring =>
        svg("circle", { cx: wide / 2, cy: middle, r: radius * ring / power.rings, class: "ring" }));
      const dots = places.map((_, r) => {
        const [left, y] = at(power, r, middle, radius), x = left + wide / 2 - middle, crowded = q > 16, most = crowded ? 9 : 13;
        const group = svg("g", { class: r === got ? (got === right ? "got" : "wrong") : "dot" },
          svg("title", {}, `${r} modulo ${q}: probability ${percent(mass[r])}`),
          svg("circle", { cx: x, cy: y, r: crowded ? 2 : 3, class: "place" }),
          svg("circle", { cx: x, cy: y, r: most * Math.sqrt(mass[r]), class: "mass" }));
        if (r === right) group.append(svg("circle", { cx: x, cy: y, r: most + 2, class: "target" }));
        const [dx, dy] = left === middle && y === middle ? [0, 1] : [(left - middle) / radius, (y - middle) / radius];
        const far = 1 / Math.hypot(dx, dy) * (most + 10), side = Math.abs(dx) < 0.3 ? "" : dx > 0 ? " start" : " end";
        if (!crowded || names.has(r)) group.append(svg("text", { x: x + dx * far - (side ? Math.sign(dx) * 5 : 0), y: y + dy * far + 4,
          class: (names.has(r) ? "name" : "tiny") + side }, names.has(r) ? `${r} = ${names.get(r).join(" = ")}` : r));
        return group;
      });
      const good = right === got;
      return html("figure", { class: good ? "right" : "off" },
        picture(wide, size, `Modulo ${q}: a is ${a % q}, b is ${b % q}, ab is ${right}; the network says ${got}.`, ...rings, ...dots),
        html("figcaption", {}, html("b", {}, `modulo ${q}`), ` ${a % q} · ${b % q} = ${right}`, html("br"),
          html("span", { class: good ? "agrees" : "differs" }, good ? "the network too" : `the network: ${got}`)));
    }));
  }
  function attention(found, usual) {
    $("attention").replaceChildren(...found.map((weights, h) => {
      const text = weights.map((x, i) => `${["a", "b", "="][i]} ${percent(x, 0)}`).join(", ");
      const bar = html("div", { class: "bar", role: "img", "aria-label": `Head ${h} attends to ${text}`, title: text },
        ...weights.map((x, i) => html("i", { class: "part" + i, style: `width:${100 * x}%` }, x > 0.14 ? `${["a", "b", "="][i]} ${percent(x, 0)}` : "")));
      const cut = change().kind === "head" && change().head === h;
      return html("div", { class: cut ? "head cut" : "head" }, html("span", {}, `head ${h}`), cut ? html("em", {}, "ablated: writes its mean") : bar);
    }));
  }
  // The strongest neurons of the network as trained, and what becomes of them.
  function neurons(mlp, usual) {
    const strong = [...usual.keys()].sort((i, j) => usual[j] - usual[i] || i - j).slice(0, 12), top = usual[strong[0]] || 1;
    const width = 250, step = width / 12, height = 96, y = x => Math.min(70, 66 * x / top);
    $("neurons").replaceChildren(picture(width, height,
      `The strongest neurons: ${strong.slice(0, 3).map(j => `${j} at ${mlp[j].toFixed(2)}`).join(", ")}.`,
      ...strong.map((j, i) => svg("g", {}, svg("title", {}, `neuron ${j}: ${mlp[j].toFixed(2)}, as trained ${usual[j].toFixed(2)}`),
        svg("rect", { x: i * step + 2, y: 72 - y(usual[j]), width: step - 5, height: y(usual[j]), class: "ghost" }),
        svg("rect", { x: i * step + 2, y: 72 - y(mlp[j]), width: step - 5, height: y(mlp[j]), class: "now" }),
        svg("text", { x: i * step + step / 2 - 1, y: 86, class: "tiny" }, j)))));
  }
  function logits(found, usual, a, b, answer, probability) {
    const box = $("logits"), width = Math.max(300, box.clientWidth), height = 150, product = a * b % n;
    const low = Math.min(...found, ...usual), high = Math.max(...found, ...usual);
    const gap = width > 600 ? 10 : 4, step = (width - gap * (hero.classes.length - 1)) / n;
    const y = x => 24 + 100 * (1 - (x - low) / (high - low || 1)), bars = [], names = [], marks = [];
    let x = 0, named = -99;
    for (const { d, elements } of hero.classes) {
      const from = x;
      for (const c of elements) {
        const kind = c === product ? "lit" : c === answer ? "miss" : "plain";
        bars.push(svg("rect", { x, y: y(found[c]), width: Math.max(1, step - (step > 3 ? 1 : 0.3)), height: Math.max(0.5, y(low) - y(found[c])), class: kind },
          svg("title", {}, `${c}: logit ${found[c].toFixed(1)}, probability ${percent(probability[c])}`)));
        if (kind !== "plain") marks.push({ c, kind, x: x + step / 2, y: y(found[c]) - 6 });
        x += step;
      }
      const middle = Math.min((from + x) / 2, width - 14);
      if (middle - named > 26) {
        names.push(svg("text", { x: middle, y: 142, class: "class" }, J(d)));
        named = middle;
      }
      x += gap;
    }
    // Side by side where they would lie on one another.
    const close = marks.length > 1 && Math.abs(marks[0].x - marks[1].x) < 76;
    marks.sort((one, other) => one.x - other.x).forEach(({ c, kind, x, y }, i) => names.push(svg("text",
      { x: Math.min(width - 30, Math.max(30, x)), y, class: `name ${kind} ${close ? ["end", "start"][i] : ""}` }, kind === "lit" ? `ab = ${c}` : `says ${c}`)));
    const best = [...probability.keys()].sort((i, j) => probability[j] - probability[i] || i - j).slice(0, 3);
    const said = best.filter((c, i) => !i || probability[c] >= 0.0005).map(c => `${c}: ${percent(probability[c])}`).join(", ");
    box.replaceChildren(picture(width, height, `Logits of the ${n} candidates; most probable ${said}.`, ...bars, ...names));
    $("probable").textContent = `Most probable: ${said}.`;
  }
  function off(answer, product) {
    return hero.powers.map(x => x.q).filter(q => answer % q !== product % q);
  }
  const list = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  function verdict(a, b, answer) {
    const product = a * b % n, wrong = off(answer, product), box = $("verdict");
    box.className = answer === product ? "agrees" : "differs";
    box.replaceChildren(html("b", {}, `${a} × ${b} = ${answer}`), answer === product ? ` modulo ${n}: right.`
      : `wrong, it is ${product}. ` + (wrong.length === hero.powers.length && wrong.length > 1 ? `Off modulo ${list(wrong)}.`
        : `Off modulo ${list(wrong)} alone` + (wrong.length === hero.powers.length ? "." : `; right modulo ${list(hero.powers.map(x => x.q).filter(q => !wrong.includes(q)))}.`)));
    $("cost").textContent = hero.costs[change().name];
  }

  function draw() {
    const [a, b] = pair(), which = change();
    for (const [key, value] of [["a", a], ["b", b]]) {
      if (document.activeElement !== fields[key] || +fields[key].value !== value) fields[key].value = value;
      sliders[key].value = value;
    }
    for (const radio of form.elements.change) radio.checked = radio.value === which.name;
    const found = computed(which, a, b), usual = computed(hero.changes[0], a, b);
    document.documentElement.classList.toggle("waits", !found);
    if (!found) return;
    const probability = softmax(found.logits), top = Math.max(...found.logits);
    const size = Math.max(...found.logits.map(Math.abs)), answer = found.logits.findIndex(x => x >= top - 1e-5 * size);
    verdict(a, b, answer);
    circles(a, b, answer, probability);
    if (found.attention.length) attention(found.attention, usual.attention);
    neurons(found.mlp, usual.mlp);
    logits(found.logits, usual.logits, a, b, answer, probability);
    performance.mark(run ? "ready" : "drawn");
    document.documentElement.dataset.drawn = `${a} ${b} ${which.name}`;
  }

  for (const key of ["a", "b"]) {
    const take = event => {
      const value = residue(event.target.value, null);
      fields[key].setCustomValidity(value === null ? `${key} must be from 0 to ${n - 1}` : "");
      if (value === null) fields[key].reportValidity(); else strata.set({ [key]: value });
    };
    fields[key].onchange = take;
    // One step for Back, however long the slider is dragged.
    let dragged = false;
    sliders[key].oninput = event => { strata.set({ [key]: event.target.value }, dragged); dragged = true; };
    sliders[key].onchange = () => { dragged = false; };
  }
  form.onsubmit = event => event.preventDefault();
  form.addEventListener("change", event => {
    if (event.target.name === "change") strata.set({ change: event.target.value === "none" ? null : event.target.value });
  });
  strata.listen(draw);
  addEventListener("resize", draw);
  draw();
  // The weights after the first picture.
  requestAnimationFrame(() => setTimeout(() => strata.load(strata.headline).then(
    found => {
      const { fidelity: kept } = run = found;
      if (kept) $("kept").textContent = ` Weights are rounded to 12 bits: as trained, ${kept.answers.toLocaleString("en")} of ${kept.pairs.toLocaleString("en")} answers stay the same.`;
      document.documentElement.dataset.run = run.run; 
      draw();
      strata.steps?.(run);
    },
    error => { $("verdict").textContent = error.message; })));
});
