"use strict";
// A run's algebra, and the run itself: attention, neurons and logits of any pair, from the weights
// that the page holds. The same sums as model.py; weights rounded to 8 bits.
strata.model = (() => {
  // Rows of numbers, a byte each: multiples of 1/127 of the largest of the row, 128 is 0.
  function unpack({ columns, scale, data }) {
    const bytes = atob(data);
    return scale.map((largest, row) => Float32Array.from({ length: columns },
      (_, j) => (bytes.charCodeAt(row * columns + j) - 128) / 127 * largest));
  }
  function dot(x, y, from = 0) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * y[from + i];
    return sum;
  }
  function add(x, y, factor = 1) {
    for (let i = 0; i < x.length; i++) x[i] += factor * y[i];
    return x;
  }
  const combine = (weights, rows, start) =>
    rows.reduce((sum, row, i) => weights[i] ? add(sum, row, weights[i]) : sum, Float32Array.from(start));

  // ---- algebra: classes in the order of the figures -------------------------------------------
  function algebra(run) {
    if (run.algebra) return run.algebra;
    const classOf = new Int32Array(run.n), index = new Int32Array(run.n), row = new Int32Array(run.n);
    let start = 0;
    run.classes.forEach((J, i) => {
      J.start = start;
      J.size = J.orders.reduce((x, q) => x * q, 1);
      J.elements = run.order.slice(start, start + J.size);
      J.elements.forEach((a, k) => { classOf[a] = i; index[a] = k; row[a] = start + k; });
      start += J.size;
    });
    return run.algebra = { classOf, index, row };
  }
  // The tuple at a place in lexicographic order, last axis fastest; and back.
  function tuple(place, orders) {
    const found = [];
    for (let j = orders.length - 1; j >= 0; j--) {
      found.unshift(place % orders[j]);
      place = Math.floor(place / orders[j]);
    }
    return found;
  }
  const place = (t, orders) => t.reduce((sum, x, j) => sum * orders[j] + (x % orders[j] + orders[j]) % orders[j], 0);
  const classAt = (run, a) => run.classes[algebra(run).classOf[a]];
  const coordinates = (run, a) => tuple(algebra(run).index[a], classAt(run, a).orders);
  // c♯ with c c♯ = e_d; none where the class is no group.
  function sharp(run, a) {
    const J = classAt(run, a);
    return J.regular ? J.elements[place(coordinates(run, a).map(t => -t), J.orders)] : null;
  }

  // ---- the model ------------------------------------------------------------------------------
  function weights(run) {
    if (run.weights) return run.weights;
    const kept = run.model, W = { ...kept };
    for (const name of ["W_E", "W_in", "W_out", "W_U", "W_V", "W_O"]) if (kept[name]) W[name] = unpack(kept[name]);
    W.heads = kept.scores.length;
    if (W.heads) written(W);
    return run.weights = W;
  }
  // W.moved[h][t]: what head h adds to the residual stream where it attends to token t alone.
  function written(W) {
    const d_head = W.W_O.length / W.heads;
    W.moved = W.scores.map((_, h) => W.W_E.map(x => {
      const out = new Float32Array(x.length);
      for (let j = h * d_head; j < (h + 1) * d_head; j++) add(out, W.W_O[j], dot(W.W_V[j], x) + W.b_V[j]);
      return out;
    }));
    W.start = add(Float32Array.from(W.W_E[W.W_E.length - 1]), W.b_O);
  }
  // Softmax over a, b and = of the scores of head h; or the weights at which it is fixed.
  function pattern(W, h, a, b) {
    if (W.fixed) return W.fixed[h];
    const s = W.scores[h], top = Math.max(s[a], s[b], s.at(-1));
    const [to_a, to_b, to_equals] = [s[a], s[b], s.at(-1)].map(x => Math.exp(x - top)), sum = to_a + to_b + to_equals;
    return [to_a / sum, to_b / sum, to_equals / sum];
  }
  // The residual stream at = after attention; the two embeddings side by side in the MLP-only model.
  function stream(W, a, b) {
    if (!W.heads) return Float32Array.from([...W.W_E[a], ...W.W_E[b]]);
    const x = Float32Array.from(W.start), equals = W.W_E.length - 1;
    for (let h = 0; h < W.heads; h++) {
      const A = pattern(W, h, a, b);
      [a, b, equals].forEach((t, i) => add(x, W.moved[h][t], A[i]));
    }
    return x;
  }
  // The stream before the neurons, their activations, the stream after them, and logits of all candidates. `hidden` gives
  // activations by another rule.
  function forward(W, a, b) {
    const x = stream(W, a, b);
    const mlp = W.hidden?.(a, b) ?? W.W_in.map((w, j) => Math.max(0, dot(w, x) + W.b_in[j]));
    const out = combine(mlp, W.W_out, W.heads ? x : new Float32Array(W.b_out.length));
    add(out, W.b_out);
    return { stream: x, mlp, out, logits: W.W_U.map((w, c) => dot(w, out) + W.b_U[c]) };
  }
  const logits = (run, a, b) => forward(weights(run), a, b).logits;
  // e^score of every token of a head, the largest 1: what maps of all pairs divide, as a softmax of each would take long.
  function exponentials(s) {
    const top = Math.max(...s);
    return s.map(x => Math.exp(x - top));
  }
  // n × n maps in algebraic order: f(a, b) of every pair.
  const map = (run, f) => run.order.map(a => Float32Array.from(run.order, b => f(a, b)));
  function attention(run, h) {
    const e = exponentials(weights(run).scores[h]), equals = e.at(-1);
    return map(run, (a, b) => e[a] / (e[a] + e[b] + equals));
  }
  // A neuron reads one number from each head and token, so a map costs a few sums a pair.
  function neuron(run, j) {
    const W = weights(run), w = W.W_in[j], bias = W.b_in[j];
    if (!W.heads) {
      const half = W.W_E[0].length, left = W.W_E.map(x => dot(x, w)), right = W.W_E.map(x => dot(x, w, half));
      return map(run, (a, b) => Math.max(0, left[a] + right[b] + bias));
    }
    const base = dot(W.start, w) + bias, equals = W.W_E.length - 1;
    const heads = W.scores.map((s, h) => ({ e: exponentials(s), p: W.moved[h].map(x => dot(x, w)) }));
    return map(run, (a, b) => {
      let sum = base;
      for (const { e, p } of heads)
        sum += (e[a] * p[a] + e[b] * p[b] + e[equals] * p[equals]) / (e[a] + e[b] + e[equals]);
      return Math.max(0, sum);
    });
  }
  return { unpack, algebra, tuple, place, classAt, coordinates, sharp, weights, written, pattern, exponentials, forward, logits, attention,
    neuron, dot, add };
})();
