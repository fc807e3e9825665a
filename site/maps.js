"use strict";
// n × n maps over the pairs in algebraic order: attention of a head, activation of a neuron; and what an intervention
// does, by class of a and class of b.
{
  const { J, draw, axis, apart, share, red, viridis, magma } = strata.theme, model = strata.model;

  // What stands at (a, b); one text for each pair, made once a run.
  function texts(run) {
    if (run.texts) return run.texts;
    const names = Array.from({ length: run.n }, (_, a) => `${a} (${J(model.classAt(run, a).d)})`);
    return run.texts = run.order.map(a => run.order.map(b => `${names[a]} · ${names[b]} = ${names[a * b % run.n]}`));
  }
  const edges = run => run.classes.slice(1).map(J => J.start - 0.5);

  function ticks(run, width) {
    const middles = run.classes.map(K => K.start + (K.size - 1) / 2);
    const kept = apart(middles, run.classes.map(K => K.size), run.n, width);
    return {
      tickmode: "array", tickvals: kept.map(i => middles[i]), ticktext: kept.map(i => J(run.classes[i].d)),
      ticks: "", tickangle: 0, showgrid: false, zeroline: false,
    };
  }
  function lines(run, color) {
    const look = { color, width: Math.min(1, 10 / run.classes.length), dash: "dash" };
    const found = edges(run).flatMap(x => [
      { type: "line", x0: x, x1: x, y0: -0.5, y1: run.n - 0.5, line: look },
      { type: "line", y0: x, y1: x, x0: -0.5, x1: run.n - 0.5, line: look }]);
    const row = model.algebra(run).row, { a, b } = strata.pair(run);
    const white = width => ({ color: "#FFFFFF", width }), y = row[a], x = row[b];
    if (a !== null && b !== null)
      found.push({ type: "circle", x0: x - 2.5, x1: x + 2.5, y0: y - 2.5, y1: y + 2.5, line: white(2) });
    else if (a !== null)
      found.push({ type: "rect", x0: -0.5, x1: run.n - 0.5, y0: y - 0.5, y1: y + 0.5, line: white(1) });
    return found;
  }
  function heat(view, run, z, { scale, top, label, digits }) {
    const narrow = view.plot.clientWidth < 480;
    const bar = narrow
      ? { orientation: "h", y: -0.12, yanchor: "top", thickness: 10, len: 1 }
      : { thickness: 12, len: 1, outlinewidth: 0 };
    view.plot.style.height = Math.round(Math.min(view.plot.clientWidth * (narrow ? 1.22 : 0.86), 640)) + "px";
    const side = 0.8 * view.plot.clientWidth;
    draw(view.plot, [{
      type: "heatmap", z, text: texts(run), colorscale: scale, zmin: 0, zmax: top, hoverongaps: false,
      hovertemplate: `%{text}<br>${label} %{z:.${digits}f}<extra></extra>`,
      colorbar: { ...bar, title: { text: label, side: narrow ? "top" : "right", font: { size: 12 } } },
    }], {
      margin: { l: 40, r: 8, t: 8, b: narrow ? 90 : 40 },
      shapes: lines(run, red),
      xaxis: axis({ ...ticks(run, side), title: { text: "b", standoff: 4 }, constrain: "domain",
        range: [-0.5, run.n - 0.5] }),
      yaxis: axis({ ...ticks(run, 1.6 * side), title: { text: "a", standoff: 2 }, constrain: "domain",
        scaleanchor: "x", range: [run.n - 0.5, -0.5] }),
    });
  }
  function readout(view, run, z, what, format) {
    const { a, b } = strata.pair(run), row = model.algebra(run).row;
    view.say(a === null || b === null ? "Type a product such as 12 × 35 above to mark its place and read its value."
      : `${texts(run)[row[a]][row[b]]}: ${what} ${format(z[row[a]][row[b]])}`);
  }

  strata.views.attention = (view, run) => {
    const heads = run.model.scores.length;
    if (!heads) return view.nothing("The MLP-only model has no attention.");
    const head = view.choose("head", "head", Array.from({ length: heads }, (_, h) => [String(h), String(h)]), "0");
    const z = view.once(`attention ${head}`, () => model.attention(run, +head));
    heat(view, run, z, { scale: viridis, top: 1, label: "attention from = to a", digits: 3 });
    readout(view, run, z, `head ${head} attends to a with`, x => x.toFixed(3));
  };

  strata.views.neurons = (view, run) => {
    const largest = run.model.largest;
    const ranks = largest.map((x, j) => [x, j]).sort((x, y) => y[0] - x[0] || x[1] - y[1]);
    const options = ranks.map(([x, j]) => [String(j), `${j}, largest ${+x.toPrecision(2)}`]);
    const neuron = view.choose("neuron", "neuron", options, options[0][0]);
    const top = largest[+neuron];
    const z = view.once(`neuron ${neuron}`, () => model.neuron(run, +neuron));
    heat(view, run, z, { scale: magma, top: top || 1, label: "activation", digits: 2 });
    readout(view, run, z, `neuron ${neuron} is at`, x => x.toFixed(2));
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
  strata.views.damage = (view, run) => {
    const { base, without } = run.damage;
    if (!without.length) return view.nothing("No class has directions of its own.");
    const code = r => r.axis ? `${r.class}.${r.axis}` : String(r.class);
    const label = r => J(r.class) + (r.axis ? `, axis ${r.axis}` : "");
    const whole = without.filter(r => !r.axis), axes = without.filter(r => r.axis);
    const removed = view.choose("removed", "removed", [...whole, ...axes].map(r => [code(r), label(r)]), code(without[0]));
    const kind = view.choose("damage", "shown",
      [["skill", "skill lost"], ["accuracy", "accuracy lost"], ["loss", "loss added"]], "skill");
    const lost = kind !== "loss", measure = lost ? "accuracy" : "loss", shown = kind + (lost ? " lost" : " added");
    const record = without.find(r => code(r) === removed), own = run.classes.findIndex(K => K.d === record.class);
    const names = run.classes.map(K => J(K.d)), product = (i, j) => model.classAt(run, run.classes[i].d * run.classes[j].d % run.n);
    // All that is above chance: a random element of the class of ab, or a random place on the axis of the prime.
    const above = K => {
      let places = K.size;
      if (record.axis) {
        let power = 1;
        while (run.n / K.d % (power * record.axis) === 0) power *= record.axis;
        places = power > 1 ? power - power / record.axis : 1;
      }
      return kind === "skill" && places > 1 ? 1 - 1 / places : 1;
    };
    const sign = lost ? -1 : 1;
    const z = record[measure].map((row, i) => row.map((x, j) => sign * (x - base[measure][i][j]) / above(product(i, j))));
    const say = x => lost ? share(x) : (+x.toPrecision(3)).toString();
    const text = z.map((row, i) => row.map((_, j) => `a in ${names[i]}, b in ${names[j]}, ab in ${J(product(i, j).d)}<br>` +
      `${measure} ${say(record[measure][i][j])}, as trained ${say(base[measure][i][j])}`));
    const frame = { type: "rect", line: { color: red, width: 2 } }, end = names.length - 0.5;
    const few = names.length < 13 && view.plot.clientWidth > 480;
    view.plot.style.height = Math.round(Math.min(view.plot.clientWidth * 0.9, 560)) + "px";
    const side = width => {
      const kept = apart(names.map((_, i) => i), run.classes.map(K => K.size), names.length, width);
      return axis({ tickmode: "array", tickvals: kept, ticktext: kept.map(i => names[i]), ticks: "", showgrid: false,
        zeroline: false, tickangle: 0, constrain: "domain" });
    };
    draw(view.plot, [{
      type: "heatmap", z, text, colorscale: [...magma].reverse().map(([x, c]) => [1 - x, c]), zmin: 0,
      zmax: lost ? 1 : Math.max(...z.flat(), 1e-9), xgap: 1, ygap: 1,
      hovertemplate: "%{text}<extra></extra>", ...(few && { texttemplate: lost ? "%{z:.0%}" : "%{z:.2g}" }),
      colorbar: { title: { text: shown, side: "right", font: { size: 12 } },
        thickness: 12, len: 1, outlinewidth: 0, ...(lost && { tickformat: ".0%" }) },
    }], {
      margin: { l: 40, r: 8, t: 8, b: 40 },
      shapes: [{ ...frame, x0: -0.5, x1: end, y0: own - 0.5, y1: own + 0.5 },
        { ...frame, y0: -0.5, y1: end, x0: own - 0.5, x1: own + 0.5 }],
      xaxis: { ...side(0.7 * view.plot.clientWidth), title: { text: "class of b", font: { size: 13 } }, range: [-0.5, end] },
      yaxis: { ...side(1.4 * view.plot.clientWidth), title: { text: "class of a", font: { size: 13 } }, range: [end, -0.5], scaleanchor: "x" },
    });
    const framed = (i, j) => i === own || j === own, right = record.accuracy;
    const [inside, outside] = [mean(run, right, framed), mean(run, right, (i, j) => !framed(i, j))];
    view.say(`Without ${record.dimension === 1 ? "the direction" : `the ${record.dimension} directions`} of ${label(record)}: ` +
      `${share(inside)} right where an operand is in ${J(record.class)} (framed)` +
      (outside === null ? "." : `, ${share(outside)} of all other pairs.`));
  };
}
