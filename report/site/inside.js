"use strict";
// Two looks into the network of the front page: the map of its embedding, and its code.
addEventListener("DOMContentLoaded", () => {
  if (!strata.front) return;
  const { hero, classOf } = strata.front, { n, classes, powers } = hero;
  const { svg, html, percent, many, picture, say, put } = strata.draw, { J, shape, color } = strata.theme, largest = powers.at(-1).q;

  // ---- the embedding: one map twice, its plain Fourier transform, one slider ---------------------
  const last = (hero.epochs ?? []).length - 1;
  let maps = null, energy = null, pointed = null, drawn = 0;
  // Points of two components in a square of 340.
  function placed(points) {
    const ends = i => [Math.min(...points.map(p => p[i])), Math.max(...points.map(p => p[i]))];
    const [[x0, x1], [y0, y1]] = [ends(0), ends(1)], scale = 300 / Math.max(x1 - x0, y1 - y0, 1e-9);
    return points.map(p => [170 + (p[0] - (x0 + x1) / 2) * scale, 170 - (p[1] - (y0 + y1) / 2) * scale]);
  }
  const about = c => `${c}: in ${J(classes[classOf(c)].d)}; ${powers.map(({ q }) => `${c % q} modulo ${q}`).join(", ")}.`;
  const moved = c => maps.forEach(({ marks, ring }) => ring.setAttribute("transform", marks[c].getAttribute("transform")));
  // By class as shapes, by residue as digits.
  function built(box) {
    const looks = [
      ["sorted", "The residues on two principal components, by class",
        c => svg("path", { d: shape(classOf(c)), fill: color(classOf(c)), class: "point" })],
      ["three", `The same, each written as its residue modulo ${largest}`,
        c => svg("text", { class: "digit", fill: color(c % largest % 8) }, c % largest)],
    ];
    return looks.map(([name, label, look]) => {
      const marks = Array.from({ length: n }, (_, c) => svg("g", { "data-c": c }, look(c)));
      const ring = svg("circle", { r: 9, class: "ring" });
      const image = svg("svg", { viewBox: "0 0 340 340", role: "img", "aria-label": label }, ...marks, ring);
      image.onpointerover = event => {
        const mark = event.target.closest("[data-c]");
        if (!mark) return;
        pointed = +mark.dataset.c;
        moved(pointed);
        say(box, about(pointed));
      };
      put(box, image, `.${name}`);
      return { marks, ring };
    });
  }
  // Σ over dimensions of |Σ_a e^(2πi fa/n) W_E[a]|² for each frequency f up to n/2.
  function spectrum(W_E) {
    const turn = f => Array.from({ length: n }, (_, i) => f(2 * Math.PI * i / n)), cos = turn(Math.cos), sin = turn(Math.sin);
    return Float64Array.from({ length: Math.floor(n / 2) + 1 }, (_, f) => f && W_E[0].reduce((sum, _, j) => {
      let re = 0, im = 0;
      for (let a = 0; a < n; a++) {
        re += W_E[a][j] * cos[f * a % n];
        im += W_E[a][j] * sin[f * a % n];
      }
      return sum + re * re + im * im;
    }, 0));
  }
  function lines(width) {
    const top = Math.max(...energy), total = energy.reduce((x, y) => x + y), step = width / energy.length;
    const of = f => powers.findIndex(({ q }) => f % (n / q) === 0);
    const said = powers.map(({ q }, i) => `period ${q}: ${percent(energy.reduce((sum, x, f) => of(f) === i ? sum + x : sum, 0) / total)}`);
    const bars = Array.from(energy, (x, f) => svg("rect", { x: (f - 0.35) * step, width: Math.max(1.5, 0.7 * step),
      y: 100 - 96 * x / top, height: 96 * x / top, class: `prime${of(f)}` }, svg("title", {}, `frequency ${f}: ${percent(x / total)}`)));
    const label = `The plain Fourier transform of the embedding over 0 to ${n - 1}; share of the energy by period: ${said.join(", ")}`;
    return html("div", {}, picture(width, 102, label, ...bars.slice(1)),
      html("p", { class: "legend" }, ...said.map((text, i) => html("span", { class: `key${i}` }, `${"●■▲◆★"[i]} ${text}`))));
  }
  strata.screen("embedding", (box, width, { run }) => {
    if (!run?.pca?.points.length) return;
    const index = last > 0 ? strata.whole(strata.get("checkpoint"), last + 1, last) : last;
    const then = index === last ? run : strata.at(run, index, error => error ? say(box, error.message) : strata.redraw("embedding"));
    if (!then) return say(box, "The checkpoints are being loaded.");
    maps ??= built(box);
    placed(then.pca.points).forEach(([x, y], c) => {
      for (const { marks } of maps) marks[c].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
    if (pointed !== null) moved(pointed);
    energy ??= spectrum(strata.model.weights(run).W_E);
    if (drawn !== width) put(box, lines(drawn = width), ".fourier");
    const slider = box.querySelector("input[type=range]");
    if (slider) {
      slider.value = index;
      box.querySelector("output").textContent = `epoch ${many(hero.epochs[index])}`;
    }
    const when = then.when ? `${then.when}. ` : "";
    say(box, when + (pointed === null ? "Point at a mark: it is ringed on both maps." : about(pointed)));
  }, box => {
    if (last < 1) return;
    const slider = html("input", { type: "range", min: 0, max: last, value: last, "aria-label": "epoch of the training" });
    slider.oninput = () => strata.set({ checkpoint: +slider.value === last ? null : slider.value }, true);
    slider.onchange = strata.settle;
    const field = html("div", { class: "epoch" }, slider), first = hero.first?.validation ?? Infinity;
    const place = hero.epochs.findIndex(x => x >= first);
    if (place >= 0) {
      const said = `first 99 % right (epoch ${many(first)})`, late = place > last / 2;
      field.append(html("span", { class: `mark${late ? " late" : ""}`, style: `left: ${(100 * place / last).toFixed(1)}%` },
        late ? `${said} ▲` : `▲ ${said}`));
    }
    box.querySelector(".controls").append(field, html("output"));
  });

  // ---- the code and its nearest codeword ---------------------------------------------------------
  const STAR = "M0-9L2.6-2.6 9-2.6 4 1.8 6 8.5 0 4.6-6 8.5-4 1.8-9-2.6-2.6-2.6Z";
  const star = (x, y) => svg("path", { d: STAR, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: "star" });
  let code = null;
  strata.picture = found => { code = found; strata.redraw("code"); };
  // Codewords and the point along two functions, a ring for all residues that these do not tell apart.
  function plane({ q, functions: [u, v] }, point, size, product) {
    const M = size / 2, scale = M / 1.75, words = new Map();
    code.values.forEach((w, c) => {
      const key = `${w[u].toFixed(3)} ${w[v].toFixed(3)}`;
      words.set(key, (words.get(key) ?? new Set()).add(c % q));
    });
    const rings = [...words].flatMap(([key, residues]) => {
      const [x, y] = key.split(" ").map(Number), right = residues.has(product % q);
      const [far, up] = Math.hypot(x, y) < 0.1 ? [0, -0.3] : [1.36 * x, 1.36 * y];
      return [svg("circle", { cx: M + scale * x, cy: M - scale * y, r: 8, class: `word${right ? " right" : ""}` }),
        svg("text", { x: M + scale * far, y: M - scale * up + 4, class: right ? "name" : "" }, [...residues].slice(0, 4).join(", "))];
    });
    return html("figure", {}, picture(size, size, `Codewords modulo ${q}, and the point of the residual stream`,
      svg("circle", { cx: M, cy: M, r: scale, class: "even" }), ...rings, star(M + scale * point[u], M - scale * point[v])),
    html("figcaption", {}, `modulo ${q}`));
  }
  function distances(apart, nearest, width) {
    const top = Math.max(...apart), x = c => 8 + (width - 16) * c / (n - 1), y = d => 120 - 105 * d / top;
    const sticks = apart.map((d, c) => svg("line", { x1: x(c), x2: x(c), y1: 120, y2: y(d), class: c === nearest ? "near" : "stick" },
      svg("title", {}, `${c}: ${d.toFixed(1)}`)));
    const side = x(nearest) > width - 120 ? "end" : x(nearest) < 60 ? "start" : "";
    return picture(width, 150, `Distance of the point to the codeword of each candidate; nearest is ${nearest}`, ...sticks,
      star(x(nearest), y(apart[nearest]) - 6), svg("text", { x: x(nearest), y: 142, class: `name ${side}` }, `nearest: ${nearest}`));
  }
  strata.screen("code", (box, width, now) => {
    if (!code || !now.stream) return;
    const { dot } = strata.model, product = now.a * now.b % n;
    const point = code.offset.map((start, j) => now.stream.reduce((sum, s, i) => sum + s * code.read[i][j], start));
    // ½ (point − w)ᵀ M (point − w) for the codeword w of each candidate.
    const apart = code.values.map(w => {
      const d = point.map((x, j) => x - w[j]);
      return dot(d, code.gram.map(row => dot(row, d))) / 2;
    });
    const nearest = apart.indexOf(Math.min(...apart)), across = Math.min(powers.length, width < 480 ? 2 : 3);
    const size = Math.min(250, (width - 16) / across);
    put(box, html("div", {}, html("div", { class: "planes" }, ...code.planes.map(x => plane(x, point, size, product))),
      distances(apart, nearest, width)));
    say(box, `${now.a} × ${now.b}: the nearest codeword is that of ${nearest}; the network says ${now.answer}; right is ${product}.`
      + (now.change.name === "none" ? "" : ` (${strata.changed(now.change)}.)`));
  });
  strata.front.later();
});
