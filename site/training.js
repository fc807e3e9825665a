"use strict";
// The curves of all runs, the chosen one on top.
{
  const { draw, axis, color, css } = strata.theme;
  const MEASURES = [
    ["validation_accuracy", "validation accuracy"], ["mirror_free_accuracy", "mirror-free accuracy"],
    ["train_accuracy", "training accuracy"], ["loss", "training loss"]];

  strata.views.training = (view, run) => {
    const measure = view.choose("curve", "curve", MEASURES, MEASURES[0][0]), all = strata.runs();
    const moduli = [...new Set(all.map(r => `${r.architecture} ${r.n}`))];
    const front = r => r.run === run.run;
    const traces = [...all].sort((x, y) => front(x) - front(y)).map(r => ({
      type: "scatter", mode: "lines", name: r.run, x: r.curve.epoch, y: r.curve[measure],
      opacity: front(r) || all.length === 1 ? 1 : 0.45,
      line: { width: front(r) ? 3 : 1, color: color(moduli.indexOf(`${r.architecture} ${r.n}`)),
        dash: r.architecture === "mlp" ? "dot" : "solid" },
      hovertemplate: `${r.run}, epoch %{x:,}: %{y:.3~g}<extra></extra>`,
    }));
    const label = MEASURES.find(([key]) => key === measure)[1];
    const loss = measure === "loss";
    view.plot.style.height = "340px";
    draw(view.plot, traces, {
      xaxis: axis({ title: { text: "epoch" }, tickformat: ",", zeroline: false }),
      yaxis: axis({ title: { text: label }, ...(loss
        ? { type: "log", tickformat: ".0e", dtick: 2 } : { type: "linear", range: [-0.03, 1.05] }) }),
    });
    const [reached, stays] = [run.first_099.validation, run.epoch_099.validation];
    view.say(`${run.run}, thick, of ${all.length} ${all.length === 1 ? "run" : "runs"}: ` + (reached === null
      ? "validation accuracy never reaches 0.99."
      : `validation accuracy is 0.99 first at epoch ${reached.toLocaleString("en")}, `
        + (stays === null ? "but not in the end." : `to stay from ${stays.toLocaleString("en")}.`))
      + ` Drawn: one epoch in ${run.curve.epoch.at(-1) - (run.curve.epoch.at(-2) ?? 0)}.`);
  };
}
