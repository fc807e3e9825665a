"use strict";
// An element, or a product of two: class, coordinates, local inverse, its rows, the model's answer.
{
  const { J, low, share, round } = strata.theme, { html, many } = strata.draw, model = strata.model;
  // The choice a, b of the address, as far as this run has such residues.
  strata.pair = run => ({ a: strata.whole(strata.get("a"), run.n), b: strata.whole(strata.get("b"), run.n) });

  // a, b and ab by name, as far as they are chosen.
  strata.chosenIn = run => {
    const { a, b } = strata.pair(run);
    return [["a", a], ["b", b], ["ab", a === null || b === null ? null : a * b % run.n]].filter(([, c]) => c !== null);
  };

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
    found.push(["computed here", "from the weights rounded to 8 bits, which leave the answer as it is on "
      + `${many(answers)} of ${many(pairs)} pairs and move a logit `
      + `(up to ${round(largest)}) by ${gap.toPrecision(1)} at most`]);
    return found;
  }
  strata.named = run => {
    const { a, b } = strata.pair(run);
    return a === null ? "" : b === null ? String(a) : `${a} × ${b}`;
  };
  // What stands in the panel of a residue or of a product.
  strata.facts = run => {
    const { a, b } = strata.pair(run);
    if (a === null) return [];
    const head = html("b", {}, b === null ? `${a} mod ${run.n}` : `${a} × ${b} mod ${run.n}`);
    const facts = b === null ? element(run, a) : product(run, a, b);
    return [head, ` ${run.run}`, html("dl", {}, facts.flatMap(([term, text]) => [html("dt", {}, term), html("dd", {}, text)]))];
  };
}
