"use strict";
// n × n maps over the pairs in algebraic order: attention of a head, activation of a neuron.
{
  const { J, ramp, gradient } = strata.theme, { open, cells, whole, cursor } = strata.chart, model = strata.model;

  const name = (run, a) => `${a} (${J(model.classAt(run, a).d)})`;
  const said = (run, a, b) => `${name(run, a)} · ${name(run, b)} = ${name(run, a * b % run.n)}`;

  // Every class is named at its middle, those that would touch the label of a larger one in a second or third row.
  function named(middles, names, sizes, room) {
    const order = sizes.map((_, i) => i).sort((i, j) => sizes[j] - sizes[i] || i - j), rows = [[], [], []], found = [];
    for (const i of order) {
      const row = rows.findIndex(own => own.every(j => Math.abs(middles[i] - middles[j]) >= room));
      if (row < 0) continue;
      rows[row].push(i);
      found.push({ at: middles[i], text: names[i], row });
    }
    return found;
  }
  // What the colours say, under a map.
  function legend(chart, map, top, label, format) {
    const bar = strata.draw.html("i", { style: `background: ${gradient(map)}` });
    chart.plot.append(strata.draw.html("div", { class: "legend" }, `${label}: ${format(0)} `, bar, ` ${format(top)}`));
  }
  // The cursor over rows × columns cells of a side in pixels.
  function grid(chart, rows, columns, side, thing) {
    const make = (i, j) => ({ key: `${i} ${j}`, i, j, x: chart.left + (j + 0.5) * side, y: chart.top + (i + 0.5) * side, ...thing(i, j) });
    const inside = (i, j) => i >= 0 && j >= 0 && i < rows && j < columns;
    const at = (px, py) => {
      const [i, j] = [py - chart.top, px - chart.left].map(p => Math.floor(p / side));
      return inside(i, j) ? make(i, j) : null;
    };
    cursor(chart, { at, first: () => make(0, 0), find: key => make(...key.split(" ").map(Number)),
      step: (now, dx, dy) => inside(now.i + dy, now.j + dx) ? make(now.i + dy, now.j + dx) : now });
  }

  // The rows of a and ab and the column of b, named at the edges, and a ring around (a, b).
  function marked(chart, run, side) {
    const { a, b } = strata.pair(run), row = model.algebra(run).row;
    const place = x => chart.top + (row[x] + 0.5) * side, column = x => chart.left + (row[x] + 0.5) * side;
    const right = chart.left + run.n * side, look = { class: "here" };
    if (a === null) return;
    const tall = b !== null && Math.abs(place(a) - place(a * b % run.n)) < 13 ? "a, ab" : "a";
    chart.outlined("path", { d: `M${chart.left} ${place(a)}H${right}`, "stroke-dasharray": "1 5" });
    chart.text(right + 4, place(a) + 4, tall, look);
    if (b === null) return;
    chart.outlined("path", { d: `M${column(b)} ${chart.top}V${chart.top + run.n * side}`, "stroke-dasharray": "1 5" });
    chart.outlined("circle", { cx: column(b), cy: place(a), r: Math.max(5, 1.5 * side) }, 1.5);
    chart.text(column(b), chart.top - 4, "b", { ...look, "text-anchor": "middle" });
    if (tall === "a") chart.text(right + 4, place(a * b % run.n) + 4, "ab", look);
  }
  function heat(slot, run, z, { map, top, label, digits }) {
    const plot = slot.plot, left = 54, side = whole(Math.min(plot.clientWidth - left - 34, 600), run.n), span = run.n * side;
    const middles = run.classes.map(K => (K.start + (K.size - 1) / 2)), names = run.classes.map(K => J(K.d));
    const sizes = run.classes.map(K => K.size), axis = { range: [-0.5, run.n - 0.5], ticks: [], bare: true };
    const chart = open(plot, { width: left + span + 34, height: span + 74, left, right: 34, top: 16, bottom: 58,
      x: { ...axis, title: "b, by class" }, y: { ...axis, down: true, title: "a, by class" } });
    const colour = ramp(map), f = x => x.toFixed(digits);
    cells(chart, run.n, run.n, side, (i, j) => colour(z[i][j] / top));
    for (const K of run.classes.slice(1)) {
      const at = K.start * side, [u, v] = [left + at, chart.top + at];
      chart.outlined("path", { d: `M${u} ${chart.top}V${chart.top + span}M${left} ${v}H${left + span}` }, run.classes.length > 12 ? 0.4 : 0.8);
    }
    for (const { at, text, row } of named(middles, names, sizes, 26 / side))
      chart.text(chart.X(at), chart.top + span + 12 + 11 * row, text, { "text-anchor": "middle", class: "small" });
    for (const { at, text, row } of named(middles, names, sizes, 11 / side))
      chart.text(left - 4 - (row ? 16 : 0), chart.Y(at) + 4, text, { "text-anchor": "end", class: "small" });
    marked(chart, run, side);
    grid(chart, run.n, run.n, side, (i, j) => {
      const [a, b] = [run.order[i], run.order[j]];
      return { text: `${said(run, a, b)}: ${f(z[i][j])}`, pick: () => strata.pick(a, b) };
    });
    legend(chart, map, top, label, f);
  }
  function readout(slot, run, z, what, format) {
    const { a, b } = strata.pair(run), row = model.algebra(run).row;
    slot.say(a === null || b === null ? "A cell is a pair (a, b): choose one, and every panel marks it."
      : `${said(run, a, b)}: ${what} ${format(z[row[a]][row[b]])}`);
  }

  strata.views.attention = (slot, run) => {
    const heads = run.model.scores.length;
    if (!heads) return slot.nothing("The MLP-only model has no attention.");
    const head = slot.choose("head", "head", Array.from({ length: heads }, (_, h) => [String(h), String(h)]), "0");
    const z = slot.once(`attention ${head}`, () => model.attention(run, +head));
    heat(slot, run, z, { map: "viridis", top: 1, label: `attention of head ${head} from = to a`, digits: 3 });
    readout(slot, run, z, `head ${head} attends to a with`, x => x.toFixed(3));
  };

  strata.views.neurons = (slot, run) => {
    const largest = run.model.largest;
    const ranks = largest.map((x, j) => [x, j]).sort((x, y) => y[0] - x[0] || x[1] - y[1]);
    const options = ranks.map(([x, j]) => [String(j), `${j}, largest ${+x.toPrecision(2)}`]);
    const neuron = slot.choose("neuron", "neuron", options, options[0][0]), top = largest[+neuron] || 1;
    const z = slot.once(`neuron ${neuron}`, () => model.neuron(run, +neuron));
    heat(slot, run, z, { map: "magma", top, label: `activation of neuron ${neuron}`, digits: 2 });
    readout(slot, run, z, `neuron ${neuron} is at`, x => x.toFixed(2));
  };
}
