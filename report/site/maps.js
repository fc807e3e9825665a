"use strict";
// n × n maps over the pairs in algebraic order: attention of a head, activation of a neuron; and what an intervention
// does, by class of a and class of b.
{
  const { J, share, ramp, gradient, round } = strata.theme, { open, cells, whole, cursor } = strata.chart, model = strata.model;

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
  function legend(chart, map, top, label, format, turned = false) {
    const box = document.createElement("div"), bar = document.createElement("i");
    box.className = "legend";
    bar.style.background = gradient(map, turned);
    box.append(`${label}: ${format(0)} `, bar, ` ${format(top)}`);
    chart.plot.append(box);
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

  // The pair-weighted mean of a table over classes, of the cells that are asked for.
  function mean(run, table, asked) {
    let sum = 0, pairs = 0;
    run.classes.forEach((K, i) => run.classes.forEach((L, j) => {
      if (!asked(i, j)) return;
      sum += K.size * L.size * table[i][j];
      pairs += K.size * L.size;
    }));
    return pairs ? sum / pairs : null;
  }
  // All that is above chance: a random element of the class of ab, or a random place on the axis of the prime.
  function chance(run, K, axis) {
    let places = K.size;
    if (axis) {
      let power = 1;
      while (run.n / K.d % (power * axis) === 0) power *= axis;
      places = power > 1 ? power - power / axis : 1;
    }
    return places > 1 ? 1 - 1 / places : 1;
  }
  // The loss of each pair of classes, what the colours reach to, and its words.
  function damages(run, record, kind) {
    const { base } = run.damage, lost = kind !== "loss", measure = lost ? "accuracy" : "loss", sign = lost ? -1 : 1;
    const product = (i, j) => model.classAt(run, run.classes[i].d * run.classes[j].d % run.n);
    const above = (i, j) => kind === "skill" ? chance(run, product(i, j), record.axis) : 1;
    const z = record[measure].map((row, i) => row.map((x, j) => sign * (x - base[measure][i][j]) / above(i, j)));
    const format = x => lost ? share(x) : round(x), names = run.classes.map(K => J(K.d));
    return { z, lost, top: lost ? 1 : Math.max(...z.flat(), 1e-9), format,
      text: (i, j) => `a in ${names[i]}, b in ${names[j]}, ab in ${J(product(i, j).d)}: ${measure} ` +
        `${format(record[measure][i][j])}, as trained ${format(base[measure][i][j])}` };
  }
  strata.views.damage = (slot, run) => {
    const { without } = run.damage;
    if (!without.length) return slot.nothing("No class has directions of its own.");
    const code = r => r.axis ? `${r.class}.${r.axis}` : String(r.class);
    const label = r => J(r.class) + (r.axis ? `, axis ${r.axis}` : "");
    const listed = [...without.filter(r => !r.axis), ...without.filter(r => r.axis)];
    const removed = slot.choose("removed", "removed", listed.map(r => [code(r), label(r)]), code(without[0]));
    const kind = slot.choose("damage", "shown", [["skill", "skill lost"], ["accuracy", "accuracy lost"], ["loss", "loss added"]], "skill");
    const record = without.find(r => code(r) === removed), own = run.classes.findIndex(K => K.d === record.class);
    const names = run.classes.map(K => J(K.d)), count = names.length, { z, lost, top, format, text } = damages(run, record, kind);
    slot.plot.values = z;
    const left = 54, side = whole(Math.min(slot.plot.clientWidth - left - 30, 460), count), span = count * side;
    const axis = { range: [-0.5, count - 0.5], bare: true, ticks: names.map((x, i) => [i, x]).filter((_, i) => i % Math.ceil(26 / side) === 0) };
    const chart = open(slot.plot, { width: left + span + 30, height: span + 60, left, right: 30, top: 18, bottom: 42,
      x: { ...axis, title: "class of b" }, y: { ...axis, down: true, title: "class of a" } });
    const colour = ramp("magma"), { a, b } = strata.pair(run);
    cells(chart, count, count, side, (i, j) => colour(1 - z[i][j] / top), 1);
    if (side > 38) z.forEach((row, i) => row.forEach((x, j) => chart.text(chart.X(j), chart.Y(i) + 4,
      lost ? `${Math.round(100 * x)} %` : round(x), { "text-anchor": "middle", style: `fill: ${x / top > 0.45 ? "#fff" : "#000"}` })));
    const [x, y] = [left + own * side, chart.top + own * side];
    chart.outlined("path", { d: `M${left} ${y}h${span}v${side}h${-span}zM${x} ${chart.top}v${span}h${side}v${-span}z` });
    const at = c => model.algebra(run).classOf[c];
    if (a !== null) chart.text(left + span + 4, chart.Y(at(a)) + 4, "a", { class: "here" });
    if (b !== null) {
      chart.text(chart.X(at(b)), chart.top - 4, "b", { class: "here", "text-anchor": "middle" });
      chart.outlined("circle", { cx: chart.X(at(b)), cy: chart.Y(at(a)), r: side / 2.4 }, 1.5);
      if (at(a * b % run.n) !== at(a)) chart.text(left + span + 4, chart.Y(at(a * b % run.n)) + 4, "ab", { class: "here" });
    }
    const member = (i, known) => known !== null && at(known) === i ? known : run.classes[i].elements[0];
    grid(chart, count, count, side, (i, j) => ({ text: text(i, j), pick: () => strata.pick(member(i, a), member(j, b)) }));
    legend(chart, "magma", top, kind + (lost ? " lost" : " added"), format, true);
    const framed = (i, j) => i === own || j === own, right = record.accuracy;
    const [inside, outside] = [mean(run, right, framed), mean(run, right, (i, j) => !framed(i, j))];
    slot.say(`Without ${record.dimension === 1 ? "the direction" : `the ${record.dimension} directions`} of ${label(record)}: ` +
      `${share(inside)} right where an operand is in ${J(record.class)} (framed)` +
      (outside === null ? "." : `, ${share(outside)} of all other pairs.`));
  };
}
