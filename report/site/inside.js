"use strict";
// The map of the embedding, twice: by class, by residue. A slider goes back through the training.
(() => {
  if (!strata.front) return;
  const { hero, classOf, gcd } = strata.front, { n, classes, powers } = hero;
  const { svg, html, many, own, say, put, legend } = strata.draw, { J, shape } = strata.theme, largest = powers.at(-1).q;
  // Of a class: its shape, in a grey; colours are those of primes.
  const grey = i => ["var(--ink)", "var(--fill)", "var(--muted)"][i % 3];

  const last = (hero.epochs ?? []).length - 1;
  let maps = null, pointed = null;
  // Points of two components in a square of 340.
  function placed(points) {
    const ends = i => [Math.min(...points.map(p => p[i])), Math.max(...points.map(p => p[i]))];
    const [[x0, x1], [y0, y1]] = [ends(0), ends(1)], scale = 300 / Math.max(x1 - x0, y1 - y0, 1e-9);
    return points.map(p => [170 + (p[0] - (x0 + x1) / 2) * scale, 170 - (p[1] - (y0 + y1) / 2) * scale]);
  }
  const about = c => `${c}: in ${J(classes[classOf(c)].d)}; ${powers.map(({ q }) => `${c % q} modulo ${q}`).join(", ")}.`;
  const moved = c => maps.forEach(({ marks, ring }) => ring.setAttribute("transform", marks[c].getAttribute("transform")));
  // The middle of each residue; and the line through them in the order of powers, of that residue for which it is shortest: a
  // dial, if it is one.
  function middles(points) {
    const middle = own => [0, 1].map(i => own.reduce((sum, p) => sum + p[i], 0) / own.length);
    return powers.at(-1).places.map((_, r) => middle(points.filter((_, c) => c % largest === r)));
  }
  function way(middle) {
    const { places, rings } = powers.at(-1), ring = places.flatMap(([i], r) => i === rings ? [r] : []).sort((r, s) => places[r][1] - places[s][1]);
    const count = ring.length, steps = ring.map((_, i) => i + 1).filter(step => gcd(step, count) === 1);
    const ways = steps.map(step => ring.map((_, i) => middle[ring[i * step % count]]));
    const long = x => x.reduce((sum, p, i) => sum + Math.hypot(p[0] - x.at(i - 1)[0], p[1] - x.at(i - 1)[1]), 0);
    return `M${ways.reduce((x, y) => long(y) < long(x) ? y : x).map(p => p.map(z => z.toFixed(1)).join(" ")).join("L")}Z`;
  }
  // By class as shapes, by residue as dots of its colour, with a numeral for each.
  const tint = r => `color-mix(in oklab, var(--p${powers.at(-1).prime}, var(--p3)) ${(100 * powers.at(-1).places[r][1]).toFixed(0)}%, var(--ink))`;
  function built(box) {
    const looks = [
      ["sorted", "The residues on two principal components, by class",
        c => svg("path", { d: shape(classOf(c)), style: `fill: ${grey(classOf(c))}`, class: "point" })],
      ["three", `The same, by residue modulo ${largest}`, c => svg("circle", { r: 4, style: `fill: ${tint(c % largest)}` })],
    ];
    return looks.map(([name, label, look]) => {
      const marks = Array.from({ length: n }, (_, c) => svg("g", { "data-c": c }, look(c)));
      const ring = svg("circle", { r: 9, class: "ring" });
      const line = svg("path", { class: "way", style: own(powers.at(-1).prime) });
      const digits = name === "three" ? powers.at(-1).places.map((_, r) => svg("text", { class: "digit", style: `fill: ${tint(r)}` }, r)) : [];
      const image = svg("svg", { viewBox: "0 0 340 340", role: "img", "aria-label": label }, ...name === "three" ? [line] : [], ...marks, ring, ...digits);
      image.onpointerover = event => {
        const mark = event.target.closest("[data-c]");
        if (!mark) return;
        pointed = +mark.dataset.c;
        moved(pointed);
        say(box, about(pointed));
      };
      put(box, image, `.${name}`);
      return { marks, ring, line, digits };
    });
  }
  strata.screen("embedding", (box, _, { run }) => {
    if (!run?.pca?.points.length) return;
    const index = last > 0 ? strata.whole(strata.get("checkpoint"), last + 1, last) : last;
    const then = index === last ? run : strata.at(run, index, error => error ? say(box, error.message) : strata.redraw("embedding"));
    if (!then) return say(box, "The checkpoints are being loaded.");
    maps ??= built(box);
    const places = placed(then.pca.points), middle = middles(places), order = way(middle);
    for (const { line, digits } of maps) {
      line.setAttribute("d", order);
      // Where groups are not apart, the first numeral stands alone.
      digits.forEach((digit, r) => {
        digit.setAttribute("transform", `translate(${middle[r].map(z => z.toFixed(1)).join(" ")})`);
        digit.style.display = middle.slice(0, r).some(p => Math.hypot(p[0] - middle[r][0], p[1] - middle[r][1]) < 20) ? "none" : "";
      });
    }
    places.forEach(([x, y], c) => {
      for (const { marks } of maps) marks[c].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
    if (pointed !== null) moved(pointed);
    const slider = box.querySelector("input[type=range]");
    if (slider) {
      slider.value = index;
      box.querySelector("output").textContent = `epoch ${many(hero.epochs[index])}`;
    }
    const when = then.when ? `${then.when}. ` : "";
    say(box, when + (pointed === null ? "Point at a mark: it is ringed on both maps." : about(pointed)));
  }, box => {
    box.querySelector(".maps").after(legend("class", classes.map(({ d }) => J(d)), i => [shape(i), grey(i)]));
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
  }, ["checkpoint"]);
  strata.front.later();
})();
