"use strict";
// The curves of all runs, the chosen ones on top; and the measures of a run at the checkpoints of its training.
{
  const { J, color, css, share, round } = strata.theme, { open, scattered } = strata.chart, { many } = strata.draw;
  const MEASURES = [
    ["validation_accuracy", "validation accuracy"], ["mirror_free_accuracy", "mirror-free accuracy"],
    ["train_accuracy", "training accuracy"], ["loss", "training loss"]];

  function reached(run) {
    const { validation: first } = run.first_099, { validation: stays } = run.epoch_099;
    return `${run.run}: ` + (first === null ? "validation accuracy never reaches 0.99."
      : `validation accuracy is 0.99 first at epoch ${many(first)}, ` + (stays === null ? "but not in the end." : `to stay from ${many(stays)}.`));
  }
  strata.views.training = (slot, run, other) => {
    const measure = slot.choose("curve", "curve", MEASURES, MEASURES[0][0]), all = strata.runs(), loss = measure === "loss";
    const moduli = [...new Set(all.map(r => `${r.architecture} ${r.n}`))], chosen = [run, ...(other ? [other] : [])].map(r => r.run);
    const front = r => chosen.includes(r.run), known = r => r.curve.epoch.map((x, i) => [x, r.curve[measure][i]])
      .filter(([, y]) => y !== null && (!loss || y > 0));
    const values = all.flatMap(r => known(r).map(p => p[1])), last = Math.max(...all.flatMap(r => r.curve.epoch));
    const chart = open(slot.plot, { height: 340, left: 58, x: { range: [0, last], title: "epoch" },
      y: loss ? { range: [Math.min(...values), Math.max(...values)], log: true, title: "training loss" }
        : { range: [0, 1.02], title: MEASURES.find(([key]) => key === measure)[1] } });
    const things = [];
    for (const r of [...all].sort((x, y) => front(x) - front(y))) {
      const points = known(r);
      if (!points.length) continue;
      const second = other && r.run === other.run, stroke = front(r) ? css("--ink") : color(moduli.indexOf(`${r.architecture} ${r.n}`));
      chart.line(points, { stroke, "stroke-opacity": front(r) ? 1 : 0.45, "stroke-width": front(r) ? 2.5 : 1,
        "stroke-dasharray": second ? "7 4" : r.architecture === "mlp" ? "2 3" : "none" });
      const pick = front(r) ? null : () => strata.set({ run: r.run === strata.headline ? null : r.run });
      things.push(...points.map(([x, y]) => ({ x: chart.X(x), y: chart.Y(y), pick,
        text: `${r.run}, epoch ${many(x)}: ${round(y)}${pick ? ". Choose it" : ""}` })));
    }
    scattered(chart, things);
    const step = run.curve.epoch.at(-1) - (run.curve.epoch.at(-2) ?? 0);
    slot.say(`Thick: ${reached(run)}${other ? ` Dashed: ${reached(other)}` : ""} Thin: the others of ${all.length} runs. ` +
      `Drawn: one epoch in ${step}.`);
  };

  // ---- checkpoints ----------------------------------------------------------------------------
  strata.views.epochs = (slot, run) => {
    const found = strata.measured(run.run);
    if (!found) return slot.nothing(`No checkpoints of ${run.run} are measured, but those of ${strata.runs().filter(r => r.checkpoints.length).map(r => r.run).join(", ")}: choose one.`);
    const measures = found.measures.map(x => [x.name, x.title]);
    const measure = slot.choose("measure", "shown", measures, measures[0][0]), own = found.measures.find(x => x.name === measure);
    const count = found.epochs.length - 1, at = slot.slide("checkpoint", "checkpoint", 0, count, String(count)), epoch = found.epochs[at];
    // Early checkpoints are dense: the root of the epoch spreads them.
    const root = found.epochs.map(Math.sqrt), values = Object.values(own.of).flat().filter(y => y !== null), things = [];
    const high = own.share ? 1 : Math.max(...values), chart = open(slot.plot, { height: 340, left: 52, right: 44,
      x: { range: [0, root.at(-1)], title: "epoch (axis: its square root)",
        ticks: [0, 100, 500, 1000, 2500, 5000, 10000, 15000, 20000, 25000].filter(x => x <= found.epochs.at(-1)).map(x => [Math.sqrt(x), many(x)])
          .filter(([x], i, all) => !i || x - all[i - 1][0] > root.at(-1) / 12) },
      y: { range: [Math.min(0, ...values), high * 1.02], title: own.title } });
    chart.line([[root[at], Math.min(0, ...values)], [root[at], high * 1.02]], { stroke: css("--ink"), "stroke-dasharray": "3 3" });
    const names = Object.keys(own.of), here = new Set(strata.chosenIn(run).map(([, c]) => `J${strata.model.classAt(run, c).d}`));
    const label = name => name.startsWith("J") ? J(name.slice(1)) : name;
    names.forEach((name, i) => {
      const points = own.of[name].map((y, j) => [root[j], y, j]).filter(p => p[1] !== null);
      chart.line(points, { stroke: color(i), "stroke-width": here.has(name) ? 3.5 : 1.5, "stroke-dasharray": i > 6 ? "6 3" : "none" });
      const now = own.of[name][at];
      if (now !== null) chart.mark(chart.X(root[at]), chart.Y(now), strata.theme.shape(i), 5, { fill: color(i), stroke: css("--paper") });
      const [, y] = points.at(-1);
      chart.text(chart.width - 40, chart.Y(y) + 4, label(name), { style: `fill: ${color(i)}`, class: "small" });
      points.forEach(([x, v, j]) => things.push({ x: chart.X(x), y: chart.Y(v), pick: () => slot.set({ checkpoint: j === count ? null : j }),
        text: `${label(name)}, epoch ${many(found.epochs[j])}: ${own.share ? share(v) : round(v)}` }));
    });
    scattered(chart, things);
    slot.say(`${run.run} at epoch ${many(epoch)}: ` + names.filter(x => own.of[x][at] !== null)
      .map(x => `${label(x)} ${own.share ? share(own.of[x][at]) : round(own.of[x][at])}`).join(", ")
      + ". Spectra and components at this checkpoint: the sliders of Figures 9 and 10.");
  };
}
