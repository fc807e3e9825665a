"use strict";
// A dial for each prime power: arcs turn by a, then by b; a petal is the network's score for a residue. Where `drag` is
// given, a and b can be turned with the pointer or the arrow keys. A dial takes the place that is kept for it in the box, if
// there is one; `labelled` is the one whose parts are named beside it.
strata.dials = (box, hero, { drag = null, settle = null, scores = true, size = 260, labelled = null } = {}) => {
  const { svg, html, at, arc, petal } = strata.draw, M = 140, INNER = 26, OUTER = 90, RINGS = { a: 98, b: 112 }; // of a drawing 280 wide
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const inverse = (r, q) => Array.from({ length: q }, (_, x) => x).find(x => r * x % q === 1 % q);

  function dial(power) {
    const { q, places, rings } = power, unit = r => places[r][0] === rings, turn = r => places[r][1];
    const units = places.flatMap((_, r) => unit(r) ? [r] : []), half = 0.41 / units.length, crowded = units.length > 24;
    const names = places.map((_, r) => svg("text", { class: "residue" }, r)), marks = {};
    // Units stand around; the others inside, 0 in the middle.
    const inside = r => at(M, 14 * places[r][0] / rings, turn(r));
    const petals = places.map((_, r) => unit(r) ? svg("path", { class: "petal" })
      : svg("circle", { cx: inside(r)[0], cy: inside(r)[1], class: "petal" }));
    names.forEach((name, r) => {
      const [x, y] = unit(r) ? at(M, q === labelled ? 133 : 138, turn(r)) : inside(r);
      name.setAttribute("x", x);
      name.setAttribute("y", y + 4.5);
    });
    // Of a labelled dial, names of its parts stand left and right.
    const view = q === labelled ? [-120, -14, 520, 308] : [-16, -16, 312, 312], notes = svg("g", { class: "labels", "aria-hidden": true });
    const arcs = { a: svg("path", { class: "arc arc-a" }), b: svg("path", { class: "arc arc-b" }) };
    const drawing = svg("svg", { viewBox: view.join(" "), width: view[2] * size / 280, height: view[3] * size / 280, class: "dial", role: drag ? "group" : "img" },
      svg("circle", { cx: M, cy: M, r: (INNER + OUTER) / 2, class: "even" }), ...scores ? petals : [], notes, ...names, arcs.a, arcs.b);
    for (const key of ["a", "b"]) {
      const mark = marks[key] = svg("g", { class: `handle handle-${key}` }, svg("circle", { r: 20, class: "reach" }),
        key === "a" ? svg("circle", { r: 10 }) : svg("rect", { x: -11, y: -9, width: 22, height: 18, rx: 3 }), svg("text", { y: 4.5 }, key));
      drawing.append(mark);
      if (drag) turned(mark, key);
    }
    const caption = html("figcaption"), figure = html("figure", { class: "dial-box", style: strata.draw.own(power.prime) }, drawing, caption);
    const own = { q, figure, caption, now: null };

    // ---- what the hand does
    function turned(mark, key) {
      const known = { tabindex: 0, role: "slider", "aria-label": `${key} modulo ${q}`, "aria-valuemin": 0, "aria-valuemax": q - 1 };
      for (const [name, value] of Object.entries(known)) mark.setAttribute(name, value);
      let frame = null;
      mark.onpointerdown = event => {
        mark.setPointerCapture(event.pointerId);
        frame = drawing.getBoundingClientRect();
        event.preventDefault();
        mark.focus({ preventScroll: true });
      };
      mark.onpointermove = event => {
        if (!frame) return;
        const x = (event.clientX - frame.left) / frame.width * view[2] + view[0] - M, y = (event.clientY - frame.top) / frame.height * view[3] + view[1] - M;
        const found = under(Math.hypot(x, y), Math.atan2(x, -y) / (2 * Math.PI), key);
        if (found !== own.state[key] % q) drag(key, q, found);
      };
      mark.onpointerup = mark.onpointercancel = () => { frame = null; settle?.(); };
      const order = [...places.flatMap((_, r) => unit(r) ? [] : [r]), ...[...units].sort((r, s) => turn(r) - turn(s))];
      mark.onkeydown = event => {
        const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        drag(key, q, order[(order.indexOf(own.state[key] % q) + by + order.length) % order.length]);
      };
      mark.onkeyup = event => { if (event.key.startsWith("Arrow")) settle?.(); };
    }
    // The residue at a place: b is where its arc ends, which is ab.
    function under(far, where, key) {
      const a = own.state.a % q, other = places.flatMap((_, r) => unit(r) ? [] : [r]);
      if (far < INNER) return other.reduce((best, r) => places[r][0] / rings * 14 <= far + 4 ? r : best, 0);
      const apart = r => { const d = Math.abs(turn(r) - where) % 1; return Math.min(d, 1 - d); };
      const nearest = units.reduce((best, r) => apart(r) < apart(best) ? r : best);
      return key === "b" && unit(a) ? nearest * inverse(a, q) % q : nearest;
    }

    // ---- what is seen: turns of a and of ab, a length for each petal
    function shape({ a, b, means }) {
      const [ra, rb] = [a % q, b % q], from = unit(ra) ? turn(ra) : 0;
      // By b from where a is; where a is in the middle, to b's own place.
      const to = unit(ra) ? turn(ra * rb % q) : turn(rb), steps = unit(rb) ? (to - from + 1) % 1 : 0;
      const mean = means ? means.reduce((x, y) => x + y) / q : 0, [most, zero] = hero.scales?.[q] ?? [1, 1];
      const lengths = places.map((_, r) => means ? Math.max(0, Math.min(1, 0.5 + 0.5 * (means[r] - mean) / (unit(r) ? most : zero))) : 0.5);
      return [from, steps, +unit(ra), +unit(rb), ...lengths];
    }
    function put([from, steps, ua, ub, ...lengths]) {
      arcs.a.setAttribute("d", ua > 0.5 ? arc(M, RINGS.a, 0, from) : "");
      arcs.b.setAttribute("d", ua > 0.5 && ub > 0.5 ? arc(M, RINGS.b, from, from + steps) : "");
      const stand = (key, there, turn, side) => {
        const [x, y] = at(M, RINGS[key] * there, turn);
        marks[key].setAttribute("transform", `translate(${(x + side * 16 * (1 - there)).toFixed(1)} ${y.toFixed(1)})`);
      };
      stand("a", ua, from, -1);
      stand("b", ub, from + steps, 1);
      const long = s => INNER + 2 + (OUTER - INNER - 2) * s;
      if (scores) lengths.forEach((s, r) => unit(r) ? petals[r].setAttribute("d", petal(M, INNER + 2, long(s), turn(r), half))
        : petals[r].setAttribute("r", ((rings > 1 ? 5 : 22) * Math.sqrt(s)).toFixed(1)));
    }
    // Names of what is seen, each with a line to its place, between two numerals; those of one side stand below one another.
    function label([from, steps, ua, ub], { a, b }, right, got) {
      const named = [], count = units.length, gap = t => (Math.floor(t * count + 1e-6) + 0.5) / count;
      const name = (words, radius, t, through = t) => named.push([words, at(M, radius, t), at(M, 147, through)]);
      if (ua) name(["start", "at 1"], 104, 0, -0.5 / count);
      else named.push([["a is 0", "here"], [M - 16, M], [M - 16, M]]);
      if (ua && from > 0.01) name(["turn by a", `× ${a % q}`], RINGS.a, gap(from / 2));
      if (ua && steps > 0.01) name(["then by b", `× ${b % q}`], RINGS.b, gap(from + steps / 2));
      if (got !== null && unit(got)) name(["network’s", `score for ${got}`], 76, turn(got) - 0.1 / count, turn(got) - 0.5 / count);
      if (got !== right && unit(right)) name(["right", `is ${right}`], 144, turn(right));
      else if (got !== right) named.push([["right", `is ${right}`], [M, M], [M, M]]);
      const sides = { "-1": [], 1: [] };
      for (const [words, point, bend] of named) {
        const side = bend[0] < M - 1 ? -1 : 1;
        sides[side].push([words, point, side, bend]);
      }
      notes.replaceChildren(...Object.values(sides).flatMap(own => {
        const places = own.sort((x, y) => x[3][1] - y[3][1]).map(x => x[3][1]);
        places.forEach((y, i) => { places[i] = Math.max(y, i ? places[i - 1] + 46 : 14); });
        for (let i = places.length - 1; i >= 0; i--) places[i] = Math.min(places[i], i < places.length - 1 ? places[i + 1] - 46 : 262);
        return own.flatMap(([words, [x, y], side, bend], i) => {
          const edge = side < 0 ? -18 : 298, anchor = side < 0 ? "end" : "start";
          return [svg("path", { d: `M${edge + 4 * -side} ${places[i]}L${bend.map(z => z.toFixed(1)).join(" ")}L${x.toFixed(1)} ${y.toFixed(1)}` }),
            ...words.map((word, j) => svg("text", { x: edge, y: places[i] - 2 + 18 * j, style: `text-anchor: ${anchor}` }, word))];
        });
      }));
    }
    own.show = (state, smooth) => {
      own.state = state;
      const goal = shape(state), start = own.now ?? goal;
      const right = state.a * state.b % q, got = state.answer === null ? null : state.answer % q;
      cancelAnimationFrame(own.frame);
      const began = performance.now(), step = time => {
        const x = Math.min(1, Math.max(0, time - began) / 260), ease = x * x * (3 - 2 * x);
        own.now = goal.map((v, i) => start[i] + ease * (v - start[i]));
        put(own.now);
        if (x < 1) own.frame = requestAnimationFrame(step);
      };
      if (smooth && own.now && !still.matches) own.frame = requestAnimationFrame(step);
      else put(own.now = goal);
      if (q === labelled) label(goal, state, right, got);
      const kind = r => (r === got ? right === got ? " got" : " wrong" : "") + (r === right ? " right" : "");
      petals.forEach((p, r) => p.setAttribute("class", `petal${kind(r)}`));
      const named = [state.a % q, state.b % q, right, got];
      names.forEach((name, r) => {
        name.setAttribute("class", `residue${r === right ? " right" : ""}${r === got && r !== right ? " wrong" : ""}`);
        name.style.display = crowded && !named.includes(r) ? "none" : "";
      });
      marks.b.lastChild.textContent = unit(state.a % q) ? "ab" : "b"; // where it stands
      for (const key of ["a", "b"]) {
        marks[key].setAttribute("aria-valuenow", state[key] % q);
        marks[key].setAttribute("aria-valuetext", `${key} = ${state[key]}, ${state[key] % q} modulo ${q}`);
      }
      drawing.setAttribute("aria-label", `Dial modulo ${q}: ${state.a % q} times ${state.b % q} is ${right}`
        + (got === null ? "" : `; the network says ${got}`));
      const said = got === null ? "" : got === right ? " ✓" : ` ✗ says ${got}`;
      caption.replaceChildren(html("b", {}, `modulo ${q}`), ` ${state.a % q} · ${state.b % q} = ${right}`,
        html("em", { class: got === right ? "ok" : "off" }, said));
    };
    return own;
  }
  const dials = hero.powers.map(dial);
  for (const { q, figure } of dials) {
    const place = box.querySelector(`.dial-box[data-q="${q}"]`);
    figure.dataset.q = q;
    if (place) place.replaceWith(figure);
    else box.append(figure);
  }
  // state: a, b, answer or null, means by prime power or null.
  const show = (state, smooth) => dials.forEach((x, i) => x.show({ ...state, means: state.means?.[i] ?? null }, smooth));
  return { figures: dials.map(x => x.figure), show };
};
