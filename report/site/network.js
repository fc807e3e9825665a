"use strict";
// The network with one of its parts changed, as studies/interventions/criteria.md defines the changes. `hero` is what
// report/code/hero.py writes; the weights are those of the run's page.
strata.network = (() => {
  const { dot, add, tuple, exponentials } = strata.model;
  const mean = rows => rows.reduce((sum, x) => add(sum, x, 1 / rows.length), new Float32Array(rows[0].length));

  // 2π k·t/q of a frequency and a place in lexicographic order.
  const turn = (k, place, orders) => 2 * Math.PI * tuple(place, orders).reduce((sum, t, j) => sum + k[j] * t / orders[j], 0);
  // Real and imaginary part of Σ_t e^(−2πi k·t/q) x_t over the rows of a class, in its order.
  function component(rows, orders, k) {
    const parts = [new Float32Array(rows[0].length), new Float32Array(rows[0].length)];
    rows.forEach((x, i) => {
      const angle = turn(k, i, orders);
      add(parts[0], x, Math.cos(angle));
      add(parts[1], x, -Math.sin(angle));
    });
    return parts;
  }
  // An orthonormal basis of the span; vectors far below the largest are rounding.
  function basis(vectors) {
    const largest = Math.max(...vectors.map(v => Math.sqrt(dot(v, v)))), found = [];
    for (const v of vectors) {
      const rest = Float32Array.from(v);
      for (let again = 0; again < 2; again++) for (const e of found) add(rest, e, -dot(rest, e));
      const size = Math.sqrt(dot(rest, rest));
      if (size > 1e-4 * largest) found.push(rest.map(x => x / size));
    }
    return found;
  }
  // The embedding without the directions that these characters of a class take up, class by class.
  function without(run, W_E, change) {
    const rows = J => J.elements.map(a => W_E[a]), own = run.classes.find(J => J.d === change.d);
    const directions = basis(change.frequencies.flatMap(k => component(rows(own), own.orders, k)));
    const changed = [...W_E];
    for (const J of run.classes) {
      const middle = mean(rows(J));
      for (const a of J.elements) {
        const less = add(Float32Array.from(W_E[a]), middle, -1), x = Float32Array.from(W_E[a]);
        for (const e of directions) add(x, e, -dot(less, e));
        changed[a] = x;
      }
    }
    return changed;
  }
  // Class means and key characters alone, or all else.
  function keys(run, W_E, keep) {
    const changed = [...W_E];
    for (const J of run.classes) {
      const own = J.key.map(i => tuple(i + 1, J.orders)), rows = J.elements.map(a => W_E[a]); // the constant is no key
      const middle = mean(rows), parts = own.map(k => component(rows, J.orders, k));
      J.elements.forEach((a, i) => {
        const x = Float32Array.from(keep ? middle : rows[i]), size = (keep ? 1 : -1) / rows.length;
        own.forEach((k, f) => {
          const angle = turn(k, i, J.orders);
          add(x, parts[f][0], size * Math.cos(angle));
          add(x, parts[f][1], -size * Math.sin(angle));
        });
        changed[a] = x;
      });
    }
    return changed;
  }
  // What a head writes replaced by its mean over all ordered pairs.
  function withoutHead(W, h, n) {
    const e = exponentials(W.scores[h]), share = new Float64Array(n + 1);
    for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) {
      const sum = e[a] + e[b] + e[n];
      share[a] += e[a] / sum;
      share[b] += e[b] / sum;
      share[n] += e[n] / sum;
    }
    const all = new Float32Array(W.start.length);
    W.moved[h].forEach((x, t) => add(all, x, share[t] / n ** 2));
    return { ...W, moved: W.moved.map((own, i) => i === h ? own.map(() => all) : own) };
  }
  function changed(run, hero, change) {
    strata.model.algebra(run);
    const W = strata.model.weights(run);
    if (change.kind === "none") return W;
    if (change.kind === "head") return withoutHead(W, change.head, run.n);
    return embedded(W, hero, change.frequencies ? without(run, W.W_E, change) : keys(run, W.W_E, change.kind === "keep"));
  }
  // The network with another embedding, which its heads read, too.
  function embedded(W, hero, W_E) {
    const result = { ...W, W_E, scores: hero.readers.map(r => W_E.map(x => dot(r.weights, x) + r.constant)) };
    if (W.heads) strata.model.written(result);
    return result;
  }
  // A change in words.
  const many = ({ directions: count }) => `${count} direction${count === 1 ? "" : "s"}`;
  strata.changed = x => ({
    none: "as trained", axis: `${many(x)} of ${x.prime} cut`, class: `${many(x)} of ${strata.theme.J(x.d)} cut`,
    head: `head ${x.head}: mean output`, keep: "key characters only", remove: "key characters removed",
  })[x.kind];
  return { changed, embedded, mean };
})();
