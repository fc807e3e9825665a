"use strict";
// The network that is written by hand, src/strata/api/by_hand.py: its constants can be moved, and how many pairs are right is
// counted again. Logits are sums over primes, so a pair is right where it is modulo each.
(() => {
  const box = document.getElementById("hand-picture");
  if (!strata.ballot || !box) return;
  const { hero } = strata.front, { n, hand, powers } = hero, { html, own, percent, say } = strata.draw, { grid, put, light, best, centred } = strata.ballot;
  const primes = hand.primes.map(({ p }) => p), most = Math.max(...hand.primes.map(x => x.waves.length));
  // Key, label, least, largest, step, as it is written down.
  const SLIDERS = [["phases", "neurons a hand", 2, 9, 1, hand.phases], ["double", "weight of the fast hand", -0.5, 0, 0.01, hand.double],
    ["gate", "zeros switch off", 0, 1, 0.1, 1], ["waves", "hands a prime", 1, most, 1, most]];
  const value = ([key, , least, largest, , usual]) => {
    const x = parseFloat(strata.get(key));
    return x >= least && x <= largest ? x : usual;
  };
  // The score of each remainder modulo a prime for two remainders; a zero has no wave.
  function scores({ p, waves, zero, shift, wave }, { places }, set, a, b) {
    const zeros = +!a + +!b, unit = Math.max(0, 1 - zeros), angle = (r, k) => 2 * Math.PI * k * places[r][1];
    const at = (f, k, x) => (a ? f(angle(a, k) - x) : 0) + (b ? f(angle(b, k) - x) : 0), cos = Math.cos;
    const found = new Float64Array(p);
    found[0] = zero * (1 - shift - unit);
    for (const k of waves.slice(0, set.waves)) {
      const turns = p === 3 ? [0, 1] : Array.from({ length: set.phases }, (_, j) => j / set.phases);
      for (const turn of turns) {
        const s = 2 * Math.PI * turn, x = p === 3 ? (turn ? -1 : 1) * at(cos, k, 0) : at(cos, k, s) + set.double * at(t => cos(2 * t), k, s);
        const active = Math.max(0, x - set.gate * zeros) * (p === 3 ? 1 : hand.size * hand.phases / set.phases);
        for (let r = 1; r < p; r++) found[r] += wave * active * (p === 3 ? cos(angle(r, k)) : cos(angle(r, k) - 2 * s));
      }
      if (p === 3) for (let r = 1; r < p; r++) found[r] -= wave * unit * cos(angle(r, k));
    }
    return found;
  }
  strata.byHand = (set, a, b) => {
    const each = hand.primes.map((own, i) => scores(own, powers[i], set, a % own.p, b % own.p));
    return centred(Float64Array.from({ length: n }, (_, c) => each.reduce((sum, x, i) => sum + x[c % primes[i]], 0)));
  };
  let drawn = null, counted = "", shares = [];
  strata.screen("hand", (_, width, { a, b, run }) => {
    drawn ??= ["written", "trained"].map(name => {
      const image = grid({ n, primes }, name, true);
      box.querySelector(`.${name}`).replaceChildren(image.image);
      return image;
    });
    const set = Object.fromEntries(SLIDERS.map(x => [x[0], value(x)])), q = a * b % n;
    if (counted !== JSON.stringify(set)) {
      counted = JSON.stringify(set);
      shares = hand.primes.map((own, i) => {
        let right = 0;
        for (let x = 0; x < own.p; x++) for (let y = 0; y <= x; y++) right += (x === y ? 1 : 2) * (best(scores(own, powers[i], set, x, y)) === x * y % own.p);
        return right / own.p ** 2;
      });
    }
    const made = strata.byHand(set, a, b);
    put(drawn[0], made, null, q, `By hand, highest at ${best(made)}`);
    const logits = run && centred(strata.model.logits(run, a, b));
    if (logits) put(drawn[1], logits, null, q, `Trained, highest at ${best(logits)}`);
    for (const image of drawn) light(image, ({ prime, j }) => j % prime === q % prime);
    SLIDERS.forEach(([key], i) => {
      box.querySelectorAll("input")[i].value = set[key];
      box.querySelectorAll("output")[i].textContent = String(set[key]).replace("-", "−");
    });
    box.querySelector(".right").replaceChildren(html("b", {}, percent(shares.reduce((x, y) => x * y))), " of all pairs right: ",
      ...primes.map((p, i) => html("span", { style: own(p) }, ` ${percent(shares[i])} modulo ${p}`)));
    say(box, `${a} × ${b}: written down it says ${best(made)}${logits ? `, trained ${best(logits)}` : ""}.`);
  }, () => {
    for (const [key, label, min, max, step, usual] of SLIDERS) {
      const input = html("input", { type: "range", min, max, step, value: usual });
      input.oninput = () => strata.set({ [key]: +input.value === usual ? null : input.value }, true);
      input.onchange = strata.settle;
      box.querySelector(".controls").append(html("label", { class: "field" }, `${label} `, input, html("output")));
    }
  }, SLIDERS.map(([key]) => key));
  strata.front.later();
})();
