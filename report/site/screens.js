"use strict";
// The pictures of the screens below the dials. Each is drawn when it is in view.
addEventListener("DOMContentLoaded", () => {
  if (!strata.front) return;
  const { hero, cut, later } = strata.front, { n, classes, powers } = hero, { svg, html, percent, picture, choice, at, arc } = strata.draw;
  const { J, shape, color } = strata.theme, largest = powers.at(-1), chosen = {};
  const primes = powers.map(x => x.prime), sample = primes.length > 1 ? [4 * primes[0] % n, 7 * primes[1] % n] : hero.pair;
  const gcd = (x, y) => y ? gcd(y, x % y) : x, classOf = c => classes.findIndex(x => x.d === gcd(c, n));
  const say = (box, text) => { box.querySelector(".readout").textContent = text; };
  // The drawing of a box is replaced; what stands beside it stays, and so does the focus.
  function show(box, image, place = ".drawing") {
    const where = box.querySelector(place), focused = where.contains(document.activeElement);
    where.replaceChildren(image);
    if (focused) (image.matches("[tabindex]") ? image : image.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  }

  // ---- what a dial is: the powers of a generator, and a wave over them ---------------------------
  strata.screen("powers", (box, width) => {
    const { q, places, rings } = largest, ring = places.flatMap((p, r) => p[0] === rings ? [r] : []).sort((r, s) => places[r][1] - places[s][1]);
    const g = ring[1] ?? 1, k = chosen.power ?? 3, wave = chosen.wave ?? 1, size = Math.min(260, width), M = size / 2, R = M - 30, count = ring.length;
    const steps = Array.from({ length: k }, (_, i) => svg("path", { d: arc(M, R - 16 - 4 * (i % 2), i / count, (i + 1) / count), class: "arc arc-a" }));
    const dots = ring.map((r, i) => {
      const [x, y] = at(M, R, i / count), [u, v] = at(M, R + 17, i / count);
      return [svg("circle", { cx: x, cy: y, r: i === k ? 8 : 4, class: i === k ? "here" : "place" }), svg("text", { x: u, y: v + 5, class: i === k ? "name" : "" }, r)];
    });
    const zero = [svg("circle", { cx: M, cy: M, r: 4, class: "place" }), svg("text", { x: M, y: M + 19 }, "0")];
    const dial = picture(size, size, `The powers of ${g} modulo ${q} around a circle, 0 in the middle`, svg("circle", { cx: M, cy: M, r: R, class: "even" }), ...steps, ...dots.flat(), ...zero);
    const wide = width > 560 ? width - size - 24 : width, high = 190, x = i => 22 + (wide - 44) * i / (count - 1), y = v => 80 - 60 * v;
    const line = Array.from({ length: 101 }, (_, j) => { const i = (count - 1) * j / 100; return `${j ? "L" : "M"}${x(i).toFixed(1)} ${y(Math.cos(2 * Math.PI * wave * i / count)).toFixed(1)}`; });
    const points = ring.map((r, i) => {
      const v = Math.cos(2 * Math.PI * wave * i / count);
      return [svg("circle", { cx: x(i), cy: y(v), r: i === k ? 8 : 4, class: i === k ? "here" : "place" }), svg("text", { x: x(i), y: 166, class: i === k ? "name" : "" }, r)];
    });
    const curve = picture(wide, high, `A wave of frequency ${wave} over the same residues`, svg("path", { d: line.join(""), class: "wave" }), ...points.flat());
    show(box, html("div", { class: "beside" }, dial, curve));
    say(box, `${g}${"⁰¹²³⁴⁵⁶⁷⁸⁹"[k] ?? `^${k}`} = ${ring[k]} modulo ${q}: ${k} steps, ${Math.round(360 * k / count)}°. A wave of frequency ${wave} is ${Math.cos(2 * Math.PI * wave * k / count).toFixed(2).replace("-", "−")} there.`);
  }, box => sliders(box, [["power", "steps", 0, largest.places.filter(p => p[0] === largest.rings).length - 1, 3], ["wave", "frequency", 1, Math.max(1, Math.floor(largest.places.filter(p => p[0] === largest.rings).length / 2)), 1]]));
  function sliders(box, rows) {
    for (const [key, label, min, max, value] of rows) {
      const input = html("input", { type: "range", min, max, value });
      input.oninput = () => { chosen[key] = +input.value; strata.redraw(box.id.replace("-picture", "")); };
      box.querySelector(".controls").append(html("label", { class: "field" }, `${label} `, input));
    }
  }

  // ---- two explanations on one pair ----------------------------------------------------------------
  let small = null;
  strata.screen("two", (box, width, now) => {
    const [a, b] = chosen.two === "own" ? [now.a, now.b] : sample, c = a * b % n, room = width;
    const label = 40, w = 19, columns = Math.floor((room - label) / w), parts = [];
    let y = 0;
    classes.forEach(({ d, elements }, i) => {
      const tags = [[a, "a"], [b, "b"], [c, "ab"]].filter(([r]) => classOf(r) === i);
      parts.push(svg("text", { x: 0, y: y + 14, class: `start${tags.length ? " name" : ""}` }, J(d)));
      elements.forEach((r, k) => {
        const own = tags.find(([x]) => x === r)?.[1], [left, top] = [label + k % columns * w, y + Math.floor(k / columns) * w];
        parts.push(svg("rect", { x: left, y: top, width: w - 2, height: w - 2, rx: 3, class: `cell${tags.length ? " lit" : ""}${own ? ` cell-${own}` : ""}` }));
        if (own) parts.push(svg("text", { x: left + w / 2 - 1, y: top + 13, class: "in" }, own === "ab" ? "=" : own));
      });
      y += Math.ceil(elements.length / columns) * w + 6;
    });
    show(box, picture(room, y, `The residues by class; ${a} is in ${J(classes[classOf(a)].d)}, ${b} in ${J(classes[classOf(b)].d)}, ${c} in ${J(classes[classOf(c)].d)}`, ...parts), ".sorted");
    small ??= strata.dials(box.querySelector(".three"), hero, { scores: false, size: 190 });
    small.show({ a, b, answer: null, means: null }, true);
    box.querySelector(".says-sorted").textContent = `${a} is in ${J(classes[classOf(a)].d)}, ${b} in ${J(classes[classOf(b)].d)}: the answer is in ${J(classes[classOf(c)].d)}. Then the wave of that class finds ${c} among ${classes[classOf(c)].elements.length}.`;
    box.querySelector(".says-three").textContent = `${powers.map(({ q }) => `${a % q} · ${b % q} = ${c % q} (mod ${q})`).join(", ")}: only ${c} is all of these.`;
  }, box => box.querySelector(".controls").append(choice("pair", [["sample", sample.join(" × ")], ["own", "the pair above"]], "sample", value => { chosen.two = value; strata.redraw("two"); })));

  // ---- the embedding: one map twice, its plain Fourier transform, one slider ---------------------------
  let maps = null, lines = null;
  function place(points) {
    const of = i => points.map(p => p[i]), [x0, x1] = [Math.min(...of(0)), Math.max(...of(0))], [y0, y1] = [Math.min(...of(1)), Math.max(...of(1))];
    const scale = 300 / Math.max(x1 - x0, y1 - y0, 1e-9);
    return points.map(p => [170 + (p[0] - (x0 + x1) / 2) * scale, 170 - (p[1] - (y0 + y1) / 2) * scale]);
  }
  const about = c => `${c}: in ${J(gcd(c, n))}; ${powers.map(({ q }) => `${c % q} modulo ${q}`).join(", ")}.`;
  function built(box) {
    const look = { sorted: c => svg("path", { d: shape(classOf(c)), fill: color(classOf(c)), class: "point" }), three: c => svg("text", { class: "digit", fill: color(c % largest.q % 8) }, c % largest.q) };
    return Object.entries(look).map(([name, mark]) => {
      const marks = Array.from({ length: n }, (_, c) => svg("g", { "data-c": c }, mark(c))), ring = svg("circle", { r: 9, class: "ring" });
      const image = svg("svg", { viewBox: "0 0 340 340", role: "img", "aria-label": name === "sorted" ? "The residues on two principal components, by class" : `The same, each written as its residue modulo ${largest.q}` }, ...marks, ring);
      const point = c => { chosen.point = c; maps.forEach(x => x.ring.setAttribute("transform", x.marks[c].getAttribute("transform"))); say(box, about(c)); };
      image.onpointerover = event => { const found = event.target.closest("[data-c]"); if (found) point(+found.dataset.c); };
      box.querySelector(`.${name}`).replaceChildren(image);
      return { marks, ring };
    });
  }
  function spectrum(run) {
    const W = strata.model.weights(run).W_E, half = Math.floor(n / 2), energy = new Float64Array(half + 1), wave = Float64Array.from({ length: n }, (_, i) => Math.cos(2 * Math.PI * i / n));
    const width = W[0].length, sine = Float64Array.from({ length: n }, (_, i) => Math.sin(2 * Math.PI * i / n));
    for (let f = 1; f <= half; f++) for (let j = 0; j < width; j++) {
      let re = 0, im = 0;
      for (let a = 0; a < n; a++) { re += W[a][j] * wave[f * a % n]; im += W[a][j] * sine[f * a % n]; }
      energy[f] += re * re + im * im;
    }
    return energy;
  }
  function fourier(run, width) {
    const energy = lines ??= spectrum(run), top = Math.max(...energy), step = width / energy.length, total = energy.reduce((x, y) => x + y);
    const of = f => powers.findIndex(({ q }) => f % (n / q) === 0), sums = powers.map((_, i) => energy.reduce((sum, x, f) => f && of(f) === i ? sum + x : sum, 0) / total);
    const bars = Array.from(energy, (x, f) => f ? svg("rect", { x: (f - 0.35) * step, width: Math.max(1.5, 0.7 * step), y: 100 - 96 * x / top, height: 96 * x / top, class: `prime${of(f)}` }, svg("title", {}, `frequency ${f}: ${percent(x / total)}`)) : []);
    const names = powers.map(({ q }, i) => html("span", { class: `key${i}` }, `${"●■▲◆★"[i]} period ${q}: ${percent(sums[i])}`));
    return html("div", {}, picture(width, 102, `The plain Fourier transform of the embedding over 0 to ${n - 1}: ${powers.map(({ q }, i) => `${percent(sums[i])} of the energy has period ${q}`).join(", ")}`, ...bars.flat()), html("p", { class: "legend" }, ...names));
  }
  strata.screen("embedding", (box, width, now) => {
    if (!now.run?.pca?.points.length) return;
    const last = (hero.epochs ?? []).length - 1, index = last > 0 ? strata.front.whole(strata.get("checkpoint"), last, last + 1) : last;
    const shown = index === last ? now.run : strata.at(now.run, index, error => error ? say(box, error.message) : strata.redraw("embedding"));
    if (!shown) return say(box, "The checkpoints are being loaded.");
    const places = place(shown.pca.points);
    maps ??= built(box);
    for (const { marks } of maps) marks.forEach((mark, c) => mark.setAttribute("transform", `translate(${places[c][0].toFixed(1)} ${places[c][1].toFixed(1)})`));
    if (chosen.point !== undefined) maps.forEach(x => x.ring.setAttribute("transform", x.marks[chosen.point].getAttribute("transform")));
    if (!box.querySelector(".fourier svg") || chosen.wide !== width) show(box, fourier(now.run, width), ".fourier");
    chosen.wide = width;
    const slider = box.querySelector("input[type=range]");
    if (slider) {
      slider.value = index;
      box.querySelector("output").textContent = `epoch ${hero.epochs[index].toLocaleString("en")}`;
    }
    say(box, chosen.point === undefined ? `${shown.when ? `${shown.when}. ` : ""}Point at a mark: it is ringed on both maps.` : `${shown.when ? `${shown.when}. ` : ""}${about(chosen.point)}`);
  }, box => {
    const last = (hero.epochs ?? []).length - 1;
    if (last < 1) return;
    const slider = html("input", { type: "range", min: 0, max: last, value: last, "aria-label": "epoch of the training" }), first = hero.first?.validation ?? null;
    slider.oninput = () => strata.set({ checkpoint: +slider.value === last ? null : slider.value }, true);
    slider.onchange = strata.settle;
    const place = first === null ? -1 : hero.epochs.findIndex(x => x >= first);
    const mark = place < 0 ? [] : html("span", { class: `mark${place > last / 2 ? " late" : ""}`, style: `left: ${(100 * place / last).toFixed(1)}%` }, place > last / 2 ? `first 99 % right (epoch ${first.toLocaleString("en")}) ▲` : `▲ first 99 % right (epoch ${first.toLocaleString("en")})`);
    box.querySelector(".controls").append(html("div", { class: "epoch" }, slider, mark), html("output"));
  });

  // ---- break it: bars against chance -------------------------------------------------------------------
  let tiny = null;
  const words = x => ({ none: "as trained", axis: `directions of ${x.prime} cut`, class: `directions of ${J(x.d)} cut`, head: `head ${x.head} averaged`, keep: "key characters only", remove: "key characters removed" })[x.kind];
  strata.screen("break", (box, width, now) => {
    for (const button of box.querySelectorAll(".change")) button.setAttribute("aria-pressed", button.dataset.change === now.change.name);
    tiny ??= strata.dials(box.querySelector(".three"), hero, { size: 170 });
    tiny.show(now, true);
    const { wrong, directions } = now.change;
    say(box, `${words(now.change)}${directions ? ` (${directions} of ${hero.width})` : ""}: ${wrong.all ? `${percent(wrong.all)} of all pairs wrong` : "every pair right"}.`);
  }, box => box.querySelector(".bars").append(html("div", { class: "change head", "aria-hidden": "true" }, html("span"), ...powers.map(({ q }) => html("span", {}, `wrong modulo ${q}`))), ...hero.changes.map(x => {
    const button = html("button", { type: "button", class: "change", "data-change": x.name }, html("span", {}, words(x)), ...powers.map(({ q }, i) => html("span", { class: "with" }, html("span", { class: "track" },
      html("i", { class: `prime${i}`, style: `width: ${100 * x.wrong.modulo[q]}%` }), html("s", { style: `left: ${100 * hero.chance[q]}%` })), html("small", {}, percent(x.wrong.modulo[q])))));
    button.onclick = () => cut(x.name);
    return button;
  })));

  // ---- the code and its nearest codeword -----------------------------------------------------------------
  let code = null;
  strata.picture = found => { code = found; strata.redraw("code"); };
  function plane({ q, functions: [u, v] }, point, size, i, product, answer) {
    const M = size / 2, scale = M / 1.75, known = new Map();
    code.values.forEach((w, c) => {
      const key = `${w[u].toFixed(3)} ${w[v].toFixed(3)}`;
      known.set(key, (known.get(key) ?? new Set()).add(c % q));
    });
    const [x, y] = [M + scale * point[u], M - scale * point[v]];
    const words = [...known].map(([key, own]) => {
      const [cx, cy] = key.split(" ").map(Number), middle = Math.hypot(cx, cy) < 0.1, far = middle ? [0, -0.3] : [1.36 * cx, 1.36 * cy];
      return [svg("circle", { cx: M + scale * cx, cy: M - scale * cy, r: 8, class: `word${own.has(product % q) ? " right" : ""}` }),
        svg("text", { x: M + scale * far[0], y: M - scale * far[1] + 4, class: own.has(product % q) ? "name" : "" }, [...own].slice(0, 4).join(", "))];
    });
    return html("figure", {}, picture(size, size, `Codewords modulo ${q}, and the point of the residual stream`, svg("circle", { cx: M, cy: M, r: scale, class: "even" }), ...words.flat(),
      svg("path", { d: "M0-9L2.6-2.6 9-2.6 4 1.8 6 8.5 0 4.6-6 8.5-4 1.8-9-2.6-2.6-2.6Z", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: "star" })), html("figcaption", {}, `modulo ${q}`));
  }
  strata.screen("code", (box, width, now) => {
    if (!code) return void (hero.picture && strata.script("site/picture.js").catch(error => say(box, error.message)));
    if (!now.stream) return;
    const point = code.offset.map((x, j) => now.stream.reduce((sum, s, i) => sum + s * code.read[i][j], x)), product = now.a * now.b % n;
    const apart = code.values.map(w => {
      const d = w.map((x, j) => point[j] - x);
      return d.reduce((sum, x, i) => sum + x * code.gram[i].reduce((t, g, j) => t + g * d[j], 0), 0) / 2;
    });
    const nearest = apart.indexOf(Math.min(...apart)), top = Math.max(...apart), high = 150, x = c => 8 + (width - 16) * c / (n - 1);
    const marks = apart.map((d, c) => svg("line", { x1: x(c), x2: x(c), y1: 120, y2: 120 - 105 * d / top, class: c === nearest ? "near" : "stick" }, svg("title", {}, `${c}: ${d.toFixed(1)}`)));
    const size = Math.min(250, (width - 16) / Math.min(powers.length, width < 480 ? 2 : 3));
    const star = svg("path", { d: "M0-9L2.6-2.6 9-2.6 4 1.8 6 8.5 0 4.6-6 8.5-4 1.8-9-2.6-2.6-2.6Z", transform: `translate(${x(nearest).toFixed(1)} ${(120 - 105 * apart[nearest] / top - 6).toFixed(1)})`, class: "star" });
    const side = x(nearest) > width - 120 ? "end" : x(nearest) < 60 ? "start" : "";
    show(box, html("div", {}, html("div", { class: "planes" }, ...code.planes.map((p, i) => plane(p, point, size, i, product, nearest))),
      picture(width, high, `Distance of the point to the codeword of each candidate; nearest is ${nearest}`, ...marks, star, svg("text", { x: x(nearest), y: 142, class: `name ${side}` }, `nearest: ${nearest}`))));
    const agree = now.answer === nearest;
    say(box, `${now.a} × ${now.b}: the nearest codeword is that of ${nearest}; the network says ${now.answer}${agree ? "" : ", another one"}; right is ${product}. ${now.change.name === "none" ? "" : `(${words(now.change)}.)`}`);
  });

  // ---- all networks between two anchors ------------------------------------------------------------------
  strata.screen("sure", (box, width) => {
    const runs = hero.gating ?? [];
    if (!runs.length) return;
    const values = runs.map(x => x.gating), low = Math.min(-0.2, ...values) - 0.05, high = Math.max(1.2, ...values) + 0.05, left = 62;
    const rows = [...new Set(runs.map(x => x.n))].sort((x, y) => (x === null) - (y === null) || y - x), x = v => left + (width - left - 12) * (v - low) / (high - low);
    const tall = rows.length * 46 + 56, now = chosen.dot ?? 0;
    const anchors = [[0, "sorts first"], [1, "three dials"]].map(([v, name]) => [svg("line", { x1: x(v), x2: x(v), y1: 24, y2: tall - 28, class: "anchor" }), svg("text", { x: x(v), y: 15, class: "name" }, name), svg("text", { x: x(v), y: tall - 10 }, v)]);
    const dots = runs.map((r, i) => {
      const row = rows.indexOf(r.n), others = runs.slice(0, i).filter(o => o.n === r.n && Math.abs(x(o.gating) - x(r.gating)) < 11).length, y = 46 + row * 46 + (others % 2 ? 1 : -1) * Math.ceil(others / 2) * 9;
      return svg(r.n === null ? "rect" : "circle", { ...r.n === null ? { x: x(r.gating) - 6, y: y - 6, width: 12, height: 12 } : { cx: x(r.gating), cy: y, r: 5.5 }, class: `run${i === now ? " now" : ""}`, "data-i": i });
    });
    const names = rows.map((m, i) => svg("text", { x: 0, y: 50 + i * 46, class: "start" }, m === null ? "controls" : `n = ${m}`));
    const labels = runs.flatMap(r => r.n === null ? [svg("text", { x: x(r.gating), y: 46 + rows.indexOf(null) * 46 + 20 }, r.run)] : []);
    const image = picture(width, tall, `${runs.length} networks between two explanations; arrow keys go from one to the next`, ...anchors.flat(), ...names, ...dots, ...labels);
    image.setAttribute("tabindex", 0);
    const move = i => { chosen.dot = (i + runs.length) % runs.length; strata.redraw("sure"); };
    image.onpointerover = event => { const i = event.target.dataset.i; if (i !== undefined && +i !== now) move(+i); };
    const open = () => { if (runs[chosen.dot ?? 0].n !== null) location.href = `cards/${runs[chosen.dot ?? 0].run}.html`; };
    image.onclick = event => { if (event.target.dataset.i !== undefined) { chosen.dot = +event.target.dataset.i; open(); } };
    image.onkeydown = event => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by) move(now + by); else if (event.key === "Enter") open(); else return;
      event.preventDefault();
    };
    show(box, image);
    say(box, `${runs[now].run}: ${runs[now].gating.toFixed(2).replace("-", "−")}.${runs[now].n === null ? "" : " Enter or a click opens its card."}`);
  });
  later();
});
