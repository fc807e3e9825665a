"use strict";
// What is known class by class: spectra, the principal components, and the logits by quotient.
{
  const { J, draw, axis, apart, color, symbol, grey, css, share } = strata.theme, model = strata.model;
  const group = orders => orders.map(q => `C${strata.theme.low(q)}`).join(" × ");
  const round = x => String(+x.toPrecision(3)).replace("-", "−");

  strata.views.spectra = (view, run) => {
    const large = run.classes.filter(K => K.share.length);
    if (!large.length) return view.nothing("No class has two different embeddings.");
    const options = [["all", "all"], ...large.map(K => [String(K.d), J(K.d)])];
    const chosen = view.choose("class", "class", options, "all");
    const shown = large.filter(K => chosen === "all" || String(K.d) === chosen);
    const floor = 1e-5, traces = [], middles = [], gap = shown.length > 1 ? Math.ceil(run.n / 60) : 0;
    let start = 0;
    for (const K of shown) {
      const key = new Set(K.key), x = K.share.map((_, i) => start + i);
      for (const is of [false, true]) {
        const own = x.map((_, i) => i).filter(i => key.has(i) === is);
        traces.push({
          type: "bar", x: own.map(i => x[i]), y: own.map(i => Math.max(K.share[i], floor)),
          marker: { color: is ? color(1) : grey }, width: 0.8,
          text: own.map(i => `${J(K.d)}, k = (${model.tuple(i + 1, K.orders).join(", ")}) on ${group(K.orders)}<br>` +
            `${share(K.share[i])} of the energy${is ? ", key" : ""}`),
          hovertemplate: "%{text}<extra></extra>", textposition: "none",
        });
      }
      const even = 1 / K.share.length;
      traces.push({ type: "scatter", mode: "lines", x: [start - 0.6, start + K.share.length - 0.4], y: [even, even],
        line: { color: color(0), width: 1.5 },
        hovertemplate: `${J(K.d)}: even energy, ${share(even)}<extra></extra>` });
      middles.push(start + (K.share.length - 1) / 2);
      start += K.share.length + gap;
    }
    view.plot.style.height = "340px";
    const kept = apart(middles, shown.map(K => K.size), start, view.plot.clientWidth - 80);
    draw(view.plot, traces, {
      bargap: 0,
      xaxis: axis({ tickmode: "array", tickvals: kept.map(i => middles[i]), ticktext: kept.map(i => J(shown[i].d)),
        tickangle: 0, showgrid: false, zeroline: false, title: { text: "frequencies in lexicographic order" } }),
      yaxis: axis({ type: "log", range: [Math.log10(floor), 0.1], dtick: 1, tickformat: ".0e",
        title: { text: "share of energy" } }),
    });
    view.say(shown.map(K => `${J(K.d)}: ${K.key.length} of ${K.share.length} key (orange), ${share(K.fve)}`).join(" · ")
      + ". Blue: even energy.");
  };

  function clouds(run, axes) {
    const { points } = run.pca;
    return run.classes.map((K, i) => {
      const own = K.elements, at = j => own.map(a => points[a][j]);
      const base = {
        name: J(K.d), mode: "markers", x: at(axes[0]), y: at(axes[1]),
        marker: { color: color(i), symbol: symbol(i), size: axes.length > 2 ? 4 : 8,
          line: { width: 0.5, color: css("--paper") } },
        text: own.map(a => `${a} in ${J(K.d)}, at (${model.coordinates(run, a).join(", ")})`),
        hovertemplate: "%{text}<extra></extra>",
      };
      return axes.length > 2 ? { ...base, type: "scatter3d", z: at(axes[2]) } : { ...base, type: "scatter" };
    });
  }
  function found(run, axes) {
    const { a } = strata.pair(run);
    if (a === null) return [];
    const p = run.pca.points[a], ink = css("--ink"), look = {
      mode: "markers+text", text: [String(a)], hoverinfo: "skip", showlegend: false,
      x: [p[axes[0]]], y: [p[axes[1]]], textposition: "top center", textfont: { size: 15, color: ink },
      marker: { size: axes.length > 2 ? 9 : 16, symbol: "circle-open", color: ink, line: { width: 2, color: ink } },
    };
    return [axes.length > 2 ? { ...look, type: "scatter3d", z: [p[axes[2]]] } : { ...look, type: "scatter" }];
  }
  const solid = (() => {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl") || canvas.getContext("webgl2"));
  })();

  strata.views.pca = (view, run) => {
    if (!run.pca.points.length) return view.nothing("All embeddings are equal.");
    const options = [["12", "1 and 2"], ["13", "1 and 3"], ["23", "2 and 3"]];
    if (solid) options.unshift(["123", "1, 2 and 3"]);
    const axes = [...view.choose("axes", "components", options, options[0][0])].map(i => i - 1);
    const title = j => ({ text: `PC ${j + 1}` });
    const legend = { showlegend: true, legend: { orientation: "h", y: -0.02, yanchor: "top", itemsizing: "constant" } };
    view.plot.style.height = Math.min(560, view.plot.clientWidth + 60) + "px";
    const plain = j => ({ ...axis({ title: title(j) }), showticklabels: false, automargin: undefined });
    const line = j => axis({ title: title(axes[j]), zeroline: false });
    const flat = { xaxis: line(0), yaxis: line(1) };
    draw(view.plot, [...clouds(run, axes), ...found(run, axes)], axes.length > 2
      ? { ...legend, margin: { l: 0, r: 0, t: 0, b: 0 }, uirevision: run.run,
        scene: { xaxis: plain(0), yaxis: plain(1), zaxis: plain(2), aspectmode: "cube",
          camera: { eye: { x: 1.3, y: -1.3, z: 0.7 } } } }
      : { ...legend, ...flat, legend: { ...legend.legend, y: -0.18 } });
    view.say("Share of the variance: " + axes.map(j => `PC ${j + 1} ${share(run.pca.share[j] ?? 0)}`).join(", ") + "."
      + (axes.length > 2 ? " Drag to turn." : ""));
  };

  // The prompt that the reader asks for, candidate by candidate, as the page's model answers it.
  function prompt(run, K) {
    const { a, b } = strata.pair(run);
    if (a === null || b === null || model.classAt(run, a * b % run.n) !== K) return [];
    const all = model.logits(run, a, b), own = K.elements.map(c => all[c]);
    const mean = own.reduce((x, y) => x + y, 0) / own.length, t = model.coordinates(run, a * b % run.n);
    const q = K.elements.map(c => model.place(model.coordinates(run, c).map((x, j) => t[j] - x), K.orders));
    return [{ type: "scatter", mode: "markers", x: q.map(i => K.readout.fitted[i]), y: own.map(x => x - mean),
      marker: { color: color(1), size: 6, symbol: "x" },
      text: K.elements.map((c, i) => `${a} · ${b}, candidate ${c}: ${round(own[i] - mean)}`),
      hovertemplate: "%{text}<extra></extra>" }];
  }
  strata.views.logits = (view, run) => {
    const scored = run.classes.filter(K => K.readout);
    if (!scored.length) return view.nothing("Every class has one candidate.");
    const options = scored.map(x => [String(x.d), J(x.d)]);
    const target = view.choose("target", "class of the product", options, options[0][0]);
    const K = scored.find(x => String(x.d) === target);
    const r = K.readout, ends = [Math.min(...r.fitted), Math.max(...r.fitted)];
    const lead = K.regular ? `ab c♯ = e · g^` : "u(ab) u(c)⁻¹ at ";
    view.plot.style.height = Math.min(460, view.plot.clientWidth + 40) + "px";
    const asked = prompt(run, K), { a, b } = strata.pair(run);
    draw(view.plot, [
      { type: "scatter", mode: "lines", x: ends, y: ends, hoverinfo: "skip",
        line: { color: css("--muted"), dash: "dash", width: 1 } },
      { type: "scatter", mode: "markers", x: r.fitted, y: r.mean,
        error_y: { type: "data", symmetric: true, array: r.std, color: grey, thickness: 1, width: 0 },
        marker: { size: 6, color: color(0) },
        text: r.fitted.map((x, i) =>
          `${lead}(${model.tuple(i, K.orders).join(", ")})${i ? "" : ", the right answer"}<br>` +
          `fitted ${round(x)}, actual ${round(r.mean[i])} ± ${round(r.std[i])}<br>` +
          `from ${round(r.low[i])} to ${round(r.high[i])}`),
        hovertemplate: "%{text}<extra></extra>" },
      ...asked], {
      xaxis: axis({ title: { text: "fitted sum of characters" }, zeroline: false }),
      yaxis: axis({ title: { text: "logit, centred" }, zeroline: false }),
    });
    view.say(`${J(K.d)} from ${J(r.pair[0])} × ${J(r.pair[1])}: R² = ${r.r2.toFixed(3)} `
      + `over ${r.prompts.toLocaleString("en")} prompts. `
      + "A dot for each quotient of product and candidate: mean and standard deviation of the logit over the prompts. "
      + "Dashed: equality." + (asked.length ? ` Crosses: the candidates of ${a} × ${b}.` : ""));
  };
}
