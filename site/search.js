"use strict";
// An element, or a product of two: class, coordinates, local inverse, its rows, the model's answer.
{
  const { J, low, share } = strata.theme, model = strata.model;
  const whole = (text, n) => /^\d+$/.test(text) && +text < n ? +text : null;

  // The choice a, b of the address, as far as this run has such residues.
  strata.pair = run => ({ a: whole(strata.get("a"), run.n), b: whole(strata.get("b"), run.n) });
  const round = x => String(+x.toPrecision(3)).replace("-", "−");
  const typed = text => text.trim().match(/^(\d+)(?:\s*[·×x*,\s]\s*(\d+))?$/);

  function tag(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text }, more);
  }
  function facts(pairs) {
    const list = document.createElement("dl");
    for (const [term, text] of pairs) list.append(tag("dt", term), tag("dd", text));
    return list;
  }
  function element(run, a) {
    const K = model.classAt(run, a), t = model.coordinates(run, a), inverse = model.sharp(run, a);
    const group = K.orders.map(q => `ℤ${low(q)}`).join(" × ");
    const grouped = K.start + [...K.elements].sort((x, y) => x - y).indexOf(a);
    return [
      ["class", `${J(K.d)}: gcd(${a}, ${run.n}) = ${K.d}, ${K.size} elements${K.regular ? "" : ", no group"}`],
      ["coordinates", K.size === 1 ? "alone in its class" : `(${t.join(", ")}) in ${group}` + (K.regular
        ? `, generators ${K.generators.join(", ")}` : `, of u(a) = ${a / K.d % K.m}`)],
      ["local inverse", inverse === null ? "none: the class has no identity"
        : `${inverse}, as ${a} · ${inverse} = ${K.idempotent}, the identity`],
      ["rows, from 0", `${model.algebra(run).row[a]} in algebraic order (attention, neurons, Figure 8 right), `
        + `${grouped} by class (Figure 8 left), ${a} by token (Figure 7)`],
      ["spectra", K.share.length ? `the panels of ${J(K.d)} (Figures 1 and 9)` : "none: a class of one"],
      ["components", run.pca?.points.length ? `(${run.pca.points[a].map(round).join(", ")}) (Figure 10)` : "none"],
    ];
  }
  function product(run, a, b) {
    const c = a * b % run.n, answer = run.model ? model.logits(run, a, b) : null;
    const found = [["product", `${a} · ${b} = ${c} in ${J(model.classAt(run, c).d)}, `
      + `from ${J(model.classAt(run, a).d)} × ${J(model.classAt(run, b).d)}`]];
    if (!answer) return found;
    const ranks = answer.map((x, i) => [x, i]).sort((x, y) => y[0] - x[0]);
    const said = ranks[0][1] === c ? "right" : "wrong";
    found.push(["the model says", `${ranks[0][1]}, ${said}: logit ${round(ranks[0][0])}; `
      + `next is ${ranks[1][1]} with ${round(ranks[1][0])}`]);
    const W = model.weights(run);
    W.scores.forEach((_, h) => {
      const [x, y] = model.pattern(W, h, a, b).map(share);
      found.push([`head ${h} attends`, `${x} to ${a}, ${y} to ${b}`]);
    });
    const { answers, pairs, gap, largest } = run.fidelity;
    found.push(["computed here", "from the weights rounded to 12 bits, which leave the answer as it is on "
      + `${answers.toLocaleString("en")} of ${pairs.toLocaleString("en")} pairs and move a logit `
      + `(up to ${round(largest)}) by ${gap.toPrecision(1)} at most`]);
    return found;
  }
  strata.show = (run, panel) => {
    const { a, b } = strata.pair(run);
    panel.hidden = a === null;
    if (a === null) return;
    const head = document.createElement("p");
    head.append(tag("b", b === null ? `${a} mod ${run.n}` : `${a} × ${b} mod ${run.n}`), run.run);
    head.append(tag("button", "close", { type: "button", onclick: () => strata.set({ a: null, b: null }) }));
    panel.replaceChildren(head, facts(b === null ? element(run, a) : product(run, a, b)));
  };
  // What was typed, into the address; what is no residue is said, not ignored.
  strata.search = (text, run, field) => {
    const found = typed(text), [a, b] = found ? [found[1], found[2] ?? null] : [null, null];
    const bad = text.trim() && (!found || [a, b].some(x => x !== null && +x >= run.n));
    field.setCustomValidity(bad ? `A residue from 0 to ${run.n - 1}, such as 12, or a product such as 12 × 35` : "");
    field.reportValidity();
    if (!bad) strata.set({ a: a && String(+a), b: b && String(+b) });
  };
}
