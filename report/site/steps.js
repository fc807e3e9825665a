"use strict";
// One prime in four drawings, for the pair that is chosen: the hands of a and b, their sum, its double, and the scores.
(() => {
  if (!strata.front) return;
  const { hero } = strata.front, { svg, own, say, at, arc, petal } = strata.draw, { q, prime, places, rings } = hero.powers.at(-1);
  const M = 100, R = 62, unit = r => places[r][0] === rings, turn = r => places[r][1], count = places.filter((_, r) => unit(r)).length;
  // A hand with its end: a disc for a, a square for b, an arrow for what is made of them.
  const ends = { a: (x, y) => svg("circle", { cx: x, cy: y, r: 6 }), b: (x, y) => svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }) };
  function hand(end, t, long, look = "") {
    const [x, y] = at(M, long, t), tip = ends[end]?.(x, y) ?? svg("path", { d: "M0 -10L7 6L-7 6Z", transform: `translate(${x} ${y}) rotate(${360 * t})` });
    return svg("g", { class: `hand-of ${look}` }, svg("path", { d: `M${M} ${M}L${x} ${y}`, class: "hand" }), tip);
  }
  function dial(label, named, ...marks) {
    const shown = places.flatMap((_, r) => unit(r) && (count <= 24 || named.includes(r)) ? [r] : []);
    const names = shown.map(r => svg("text", { x: at(M, 86, turn(r))[0], y: at(M, 86, turn(r))[1] + 4.5, class: named.includes(r) ? "residue right" : "residue" }, r));
    return svg("svg", { viewBox: "0 0 200 200", role: "img", "aria-label": label, style: own(prime) }, svg("circle", { cx: M, cy: M, r: R + 8, class: "face" }), ...names, ...marks);
  }
  // From the end of one hand to that of another.
  const chord = (from, to) => svg("path", { class: "chord", d: `M${at(M, R, from)}L${at(M, R, to)}` });
  const word = said => svg("text", { x: M, y: M + 5 }, said);

  strata.screen("steps", (box, _, { a, b, means }) => {
    const [ra, rb, right] = [a % q, b % q, a * b % q], both = unit(ra) && unit(rb), drawings = box.querySelectorAll(".drawing");
    const hands = look => [["a", ra], ["b", rb]].filter(([, r]) => unit(r)).map(([name, r]) => hand(name, turn(r), R, look));
    const [x, y] = [0, 1].map(i => both ? (at(0, 1, turn(ra))[i] + at(0, 1, turn(rb))[i]) / 2 : 0);
    const size = Math.hypot(x, y), half = (Math.atan2(x, -y) / (2 * Math.PI) + 1) % 1, opposite = both && size < 1e-6;
    const steps = [
      [`The hands of ${ra} and ${rb}`, [ra, rb], ...hands("")],
      ["Their sum", [], ...hands("faint"), !both ? word("zero") : opposite ? [chord(turn(ra), turn(rb)), word("no sum")] : hand("", half, R * size, "made")],
      [`Twice as far: ${right}`, both ? [right] : [], ...!both ? [word("zero")] : [...opposite ? [chord(0, turn(right))] : [hand("", half, R * size, "faint"),
        svg("path", { d: arc(M, 26, 0, half), class: "arc arc-a" }), svg("path", { d: arc(M, 34, half, 2 * half), class: "arc" })], hand("", turn(right), R - 6, "made")]],
      ["Scores", [right]],
    ];
    if (means) {
      const scores = means.at(-1), mean = scores.reduce((s, z) => s + z) / q;
      const long = r => Math.max(0, Math.min(1, 0.5 + 0.5 * (scores[r] - mean) / (hero.scales[q][unit(r) ? 0 : 1] || 1)));
      steps[3].push(svg("circle", { cx: M, cy: M, r: 44, class: "even" }), ...places.map((_, r) => {
        const look = { class: r === right ? "petal got" : "petal" };
        return unit(r) ? svg("path", { ...look, d: petal(M, 18, 20 + 48 * long(r), turn(r), 0.41 / count) }) : svg("circle", { ...look, cx: M, cy: M, r: 14 * Math.sqrt(long(r)) });
      }));
    }
    steps.forEach((step, i) => drawings[i].replaceChildren(dial(...step)));
    say(box, `Modulo ${q}, ${a} is ${ra} and ${b} is ${rb}. ` + (!both ? `${prime} divides ${unit(ra) ? b : a}: there are no two hands to add, a switch says so, and ${right} gets the vote.`
      : opposite ? `Their hands are opposite, so equal weights leave no sum. Attention weighs the two differently, and passes on their difference (dashed) times the difference of their weights. Where these are waves, that makes the line from the top to the hand of ${right} (dashed under “double”), so the product is there without doubling.`
      : `Halfway between their hands, and then twice as far from the top, is ${right}: ${ra} × ${rb} = ${right} modulo ${q}.`));
  });
  strata.front.later();
})();
