"use strict";
// Parts of a transformer replaced by something simpler, and how many answers are right then, over all pairs:
//   embedding  each row by a sum of one part for each prime power
//   attention  its weights by their means over all pairs
//   mlp        each neuron by its means over pairs with the same remainders modulo one prime power and the same zeros, of the
//              prime power that explains most of it, as studies/mechanism/criteria-2.md has it for networks that mix no primes
//   last       each column by a sum of one part for each prime power
// What takes long is done in slices of some milliseconds.
strata.swaps = (run, hero) => {
  const { model, network } = strata, { dot, add, pattern } = model, { mean } = network;
  const W = model.weights(run), { n } = run, { powers } = hero, neurons = W.W_in.length;

  // Call `each` for every pair of a ≤ b; false once `alive` is.
  async function pairs(each, alive = () => true) {
    let began = performance.now();
    for (let a = 0; a < n; a++) for (let b = a; b < n; b++) {
      each(a, b, a === b ? 1 : 2);
      if (performance.now() - began < 8) continue;
      await pause();
      if (!alive()) return false;
      began = performance.now();
    }
    return alive();
  }
  // Rows of residues, each the mean and what its remainder modulo each prime power adds to it.
  function additive(rows) {
    const middle = mean(rows), parts = powers.map(({ q }) => Array.from({ length: q }, (_, r) => mean(rows.filter((_, x) => x % q === r))));
    return rows.map((_, x) => powers.reduce((sum, { q }, i) => add(add(sum, parts[i][x % q]), middle, -1), Float32Array.from(middle)));
  }
  function meanPatterns(net) {
    const sums = net.scores.map(() => [0, 0, 0]);
    for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) sums.forEach((sum, h) => pattern(net, h, a, b).forEach((x, i) => { sum[i] += x / n ** 2; }));
    return sums;
  }
  // What each token brings to the neurons and to the logits by each head, and neurons to the logits: sums that pairs share.
  function products(rows, columns) {
    const result = new Float32Array(rows.length * columns.length);
    rows.forEach((row, i) => columns.forEach((column, j) => { result[i * columns.length + j] = dot(row, column); }));
    return result;
  }
  const pause = () => new Promise(done => setTimeout(done));
  async function byHead(net, columns) {
    const result = [];
    for (const rows of net.moved) {
      result.push(products(rows, columns));
      await pause();
    }
    return result;
  }
  const reading = async net => ({ read: await byHead(net, net.W_in), bias: Float32Array.from(net.W_in, (w, j) => dot(w, net.start) + net.b_in[j]) });
  async function writing(net) {
    const always = add(Float32Array.from(net.start), net.b_out);
    return { skip: await byHead(net, net.W_U), M: products(net.W_out, net.W_U), base: Float32Array.from(net.W_U, (w, c) => dot(w, always) + net.b_U[c]) };
  }
  function mixed(net, tables, start, into, a, b) {
    into.set(start);
    const width = into.length;
    tables.forEach((table, h) => {
      const weights = pattern(net, h, a, b);
      [a, b, n].forEach((t, i) => { for (let j = 0, at = t * width, x = weights[i]; j < width; j++) into[j] += x * table[at + j]; });
    });
    return into;
  }
  // For each prime power the label of a residue: its remainder, and which other primes divide it.
  const labels = powers.map(({ q, prime }) => {
    const names = new Map(), label = Int32Array.from({ length: n }, (_, x) => {
      const name = `${x % q} ${powers.map(y => y.prime !== prime && x % y.prime === 0)}`;
      if (!names.has(name)) names.set(name, names.size);
      return names.get(name);
    });
    return { label, size: names.size };
  });
  // The means of every neuron over the cells of each prime power, and the prime power that explains most of it.
  async function fit() {
    const { read, bias } = await reading(W), before = new Float32Array(neurons);
    const sums = labels.map(({ size }) => new Float32Array(size * size * neurons)), counts = labels.map(({ size }) => new Float64Array(size * size));
    await pairs((a, b) => {
      mixed(W, read, bias, before, a, b);
      labels.forEach(({ label, size }, i) => {
        for (const cell of new Set(a === b ? [label[a] * size + label[a]] : [label[a] * size + label[b], label[b] * size + label[a]])) {
          const weight = a !== b && label[a] === label[b] ? 2 : 1;
          counts[i][cell] += weight;
          for (let j = 0, at = cell * neurons, sum = sums[i]; j < neurons; j++) if (before[j] > 0) sum[at + j] += weight * before[j];
        }
      });
    });
    const explained = sums.map((sum, i) => {
      const share = new Float64Array(neurons);
      counts[i].forEach((count, cell) => {
        for (let j = 0, at = cell * neurons; j < neurons; j++) {
          sum[at + j] /= count;
          share[j] += count * sum[at + j] ** 2;
        }
      });
      return share;
    });
    const family = Array.from({ length: neurons }, (_, j) => explained.reduce((best, x, i) => x[j] > explained[best][j] ? i : best, 0));
    return { family, hidden: (a, b) => Float32Array.from(family, (i, j) => sums[i][(labels[i].label[a] * labels[i].size + labels[i].label[b]) * neurons + j]) };
  }
  let fitted = null;
  const neuronTables = () => fitted ??= fit();
  const nets = new Map(), counted = new Map();
  // The network with these parts replaced.
  async function swapped(parts) {
    const name = [...parts].sort().join(".");
    if (!nets.has(name)) {
      let net = parts.includes("embedding") ? network.embedded(W, hero, [...additive(W.W_E.slice(0, n)), W.W_E[n]]) : W;
      if (parts.includes("attention")) net = { ...net, fixed: meanPatterns(W) };
      if (parts.includes("last")) net = { ...net, W_U: additive(W.W_U) };
      if (parts.includes("mlp")) net = { ...net, hidden: (await neuronTables()).hidden };
      nets.set(name, net);
    }
    return nets.get(name);
  }
  // The pairs that a network answers rightly, of all; `step` gets how many were right, and of how many, until then.
  async function count(net, step, alive) {
    if (counted.has(net)) return counted.get(net);
    const { read, bias } = await reading(net), { skip, M, base } = await writing(net), before = new Float32Array(neurons), logits = new Float32Array(n);
    let right = 0, total = 0;
    const whole = await pairs((a, b, weight) => {
      mixed(net, skip, base, logits, a, b);
      const active = net.hidden?.(a, b) ?? mixed(net, read, bias, before, a, b);
      for (let j = 0; j < neurons; j++) {
        const x = active[j];
        if (x > 0) for (let c = 0, at = j * n; c < n; c++) logits[c] += x * M[at + c];
      }
      let best = 0;
      for (let c = 1; c < n; c++) if (logits[c] > logits[best]) best = c;
      total += weight;
      if (best === a * b % n) right += weight;
    }, () => { step(right, total); return alive(); });
    if (whole) counted.set(net, right);
    return whole ? right : null;
  }
  return { swapped, count, neuronTables, additive, pause };
};
