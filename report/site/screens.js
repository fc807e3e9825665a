"use strict";
// The pictures of the screens below the dials. Each is drawn when it is in view.
addEventListener("DOMContentLoaded", () => {
  if (!strata.front) return;
  const { hero, cut, filled } = strata.front, { powers } = hero;
  const { svg, html, percent, own, picture, at, arc, say, put } = strata.draw;

  // ---- what a dial is: the powers of a generator, and a wave over them ---------------------------
  const { q: Q, places, rings } = powers.at(-1), shown = { power: 3, wave: 1 };
  const ring = places.flatMap((p, r) => p[0] === rings ? [r] : []).sort((r, s) => places[r][1] - places[s][1]);
  const count = ring.length, g = ring[1] ?? 1;
  const height = i => Math.cos(2 * Math.PI * shown.wave * i / count);

  // The residue at a place of the ring, its number beside it; the one that is reached is larger.
  const marked = (i, [x, y], [u, v]) => [
    svg("circle", { cx: x, cy: y, r: i === shown.power ? 8 : 4, class: i === shown.power ? "here" : "place" }),
    svg("text", { x: u, y: v + 5, class: i === shown.power ? "name" : "" }, ring[i])];
  function circle(size) {
    const M = size / 2, R = M - 30, k = shown.power;
    const steps = Array.from({ length: k }, (_, i) => svg("path",
      { d: arc(M, R - 16 - 4 * (i % 2), i / count, (i + 1) / count), class: "arc arc-a" }));
    const dots = ring.flatMap((_, i) => marked(i, at(M, R, i / count), at(M, R + 17, i / count)));
    return picture(size, size, `The powers of ${g} modulo ${Q} around a circle, 0 in the middle`,
      svg("circle", { cx: M, cy: M, r: R, class: "even" }), ...steps, ...dots,
      svg("circle", { cx: M, cy: M, r: 4, class: "place" }), svg("text", { x: M, y: M + 19 }, "0"));
  }
  function wave(width) {
    const x = i => 22 + (width - 44) * i / Math.max(count - 1, 1), y = i => 80 - 60 * height(i);
    const line = Array.from({ length: 101 }, (_, j) => (count - 1) * j / 100)
      .map((i, j) => `${j ? "L" : "M"}${x(i).toFixed(1)} ${y(i).toFixed(1)}`);
    const points = ring.flatMap((_, i) => marked(i, [x(i), y(i)], [x(i), 161]));
    return picture(width, 190, `A wave of frequency ${shown.wave} over the same residues`,
      svg("path", { d: line.join(""), class: "wave" }), ...points);
  }
  strata.screen("powers", (box, width) => {
    const size = Math.min(260, width), k = shown.power, turned = Math.round(360 * k / count);
    put(box, html("div", { class: "beside" }, circle(size), wave(width > 560 ? width - size - 24 : width)));
    say(box, `${g}${"⁰¹²³⁴⁵⁶⁷⁸⁹"[k] ?? `^${k}`} = ${ring[k]} modulo ${Q}: ${k} steps, ${turned}°. `
      + `A wave of frequency ${shown.wave} is ${height(k).toFixed(2).replace("-", "−")} there.`);
  }, box => {
    box.setAttribute("style", own(powers.at(-1).prime));
    const rows = [["power", "steps", 0, count - 1], ["wave", "frequency", 1, Math.max(1, Math.floor(count / 2))]];
    for (const [key, label, min, max] of rows) {
      shown[key] = Math.min(shown[key], max);
      const input = html("input", { type: "range", min, max, value: shown[key] });
      input.oninput = () => { shown[key] = +input.value; strata.redraw("powers"); };
      box.querySelector(".controls").append(html("label", { class: "field" }, `${label} `, input));
    }
  });

  // ---- break it: bars against chance -------------------------------------------------------------
  function bars(change) {
    const button = html("button", { type: "button", class: "change", "data-change": change.name },
      html("span", {}, strata.changed(change)));
    powers.forEach(({ q, prime }) => {
      const wrong = change.wrong.modulo[q];
      button.append(html("span", { class: "with" }, html("span", { class: "track" },
        html("i", { style: `${own(prime)}; width: ${filled(wrong, q)}` })), html("small", {}, percent(wrong))));
    });
    button.onclick = () => cut(change.name);
    return button;
  }
  strata.screen("break", (box, width, now) => {
    for (const button of box.querySelectorAll("[data-change]"))
      button.setAttribute("aria-pressed", button.dataset.change === now.change.name);
    const { wrong } = now.change;
    say(box, `${strata.changed(now.change)}: `
      + `${wrong.all ? `${percent(wrong.all)} of all pairs wrong` : "every pair right"}.`);
  }, box => box.querySelector(".bars").append(
    html("div", { class: "change head", "aria-hidden": "true" }, html("span"),
      ...powers.map(({ q }) => html("span", {}, `wrong modulo ${q}`, html("small", {}, `full: ${percent(hero.chance[q])}`)))),
    ...hero.changes.map(bars)));

  strata.front.later();
});
