"use strict";
// What is known class by class: spectra, and the logits by quotient.
{
  const { J, low, color, shape, grey, css, share, round } = strata.theme, { open, scattered } = strata.chart, model = strata.model;
  const { svg: node, many } = strata.draw;
  const group = orders => orders.map(q => `C${low(q)}`).join(" × ");

  // Which of a, b and ab a class has.
  const here = (run, K) => strata.chosenIn(run).filter(([, c]) => model.classAt(run, c) === K).map(([name]) => name).join(", ");
  // The frequencies of each class side by side, and where each class begins.
  function placed(shown, gap) {
    let start = 0;
    return shown.map(K => {
      const found = { K, start, middle: start + (K.share.length - 1) / 2, even: 1 / K.share.length };
      start += K.share.length + gap;
      return found;
    });
  }
  strata.views.spectra = (slot, trained) => {
    const run = strata.slid(slot, trained);
    if (!run) return slot.say("The checkpoints are being loaded.");
    const large = run.classes.filter(K => K.share.length);
    if (!large.length) return slot.nothing("No class has two different embeddings.");
    const options = [["all", "all"], ...large.map(K => [String(K.d), J(K.d)])];
    const chosen = slot.choose("class", "class", options, "all"), floor = 1e-5;
    const rows = placed(large.filter(K => chosen === "all" || String(K.d) === chosen), Math.ceil(run.n / 60));
    const last = rows.at(-1), end = last.start + last.K.share.length;
    const chart = open(slot.plot, { height: 320, top: 30, bottom: 56, left: 58,
      x: { range: [-1, end], ticks: [], title: "frequencies in lexicographic order, class by class" },
      y: { range: [floor, 1], log: true, title: "share of energy" } });
    const { X, Y } = chart, width = Math.max(0.8 * (X(1) - X(0)), 0.5), things = [];
    for (const { K, start, middle, even } of rows) {
      const key = new Set(K.key);
      K.share.forEach((y, i) => {
        const top = Y(Math.max(y, floor)), is = key.has(i), x = X(start + i);
        chart.svg.append(node("rect", { x: x - width / 2, y: top, width, height: Y(floor) - top, fill: is ? color(1) : grey }));
        things.push({ x, y: top, pick: () => slot.set({ class: chosen === "all" ? K.d : null }),
          text: `${J(K.d)}, k = (${model.tuple(i + 1, K.orders).join(", ")}) on ${group(K.orders)}: ${share(y)} of the energy${is ? ", key" : ""}` });
      });
      chart.line([[start - 0.6, even], [start + K.share.length - 0.4, even]], { stroke: color(0), "stroke-width": 1.5 });
      const inside = here(run, K);
      if (inside) chart.text(X(middle), 14, inside, { class: "here", "text-anchor": "middle" });
      if (inside) chart.line([[start - 0.6, 1], [start + K.share.length - 0.4, 1]], { stroke: css("--ink"), "stroke-width": 3 });
    }
    rows.forEach(({ K, middle }, i) => chart.text(X(middle), chart.height - 40 + (rows.length > 9 && i % 2 ? 12 : 0), J(K.d),
      { "text-anchor": "middle", class: "small" }));
    scattered(chart, things);
    slot.say((run.when ? `${run.when}. ` : "") + rows.map(({ K }) => `${J(K.d)}: ${K.key.length} of ${K.share.length} key (orange), ${share(K.fve)}`).join(" · ")
      + `${run.when ? ", keys of the end" : ""}. Blue: even energy.`);
  };

  // ---- logits ---------------------------------------------------------------------------------
  const minus = (run, K, c, t) => model.place(model.coordinates(run, c).map((x, j) => t[j] - x), K.orders);
  // The candidates of a × b against the fit: quotient, centred logit.
  function prompt(run, K, a, b) {
    const all = model.logits(run, a, b), t = model.coordinates(run, a * b % run.n), own = K.elements.map(c => all[c]);
    const mean = own.reduce((x, y) => x + y, 0) / own.length;
    return K.elements.map((c, i) => ({ a, b, c, x: K.readout.fitted[minus(run, K, c, t)], y: own[i] - mean }));
  }
  // Some of the prompts that the fit is over, evenly among them.
  function prompts(run, K, count) {
    const [A, B] = K.readout.pair.map(d => run.classes.find(L => L.d === d).elements), total = A.length * B.length;
    const places = Array.from({ length: Math.min(count, total) }, (_, i) => Math.floor(i * total / Math.min(count, total)));
    return places.flatMap(i => prompt(run, K, A[Math.floor(i / B.length)], B[(i * 7) % B.length]));
  }
  function cloud(chart, points) {
    const ratio = devicePixelRatio || 1, context = strata.chart.under(chart, chart.width * ratio, chart.height * ratio, 0, 0);
    context.scale(ratio, ratio);
    context.fillStyle = css("--muted");
    context.globalAlpha = 0.22;
    for (const { x, y } of points) context.fillRect(chart.X(x) - 1, chart.Y(y) - 1, 2, 2);
  }
  strata.views.logits = (slot, run) => {
    const scored = run.classes.filter(K => K.readout), { a, b } = strata.pair(run);
    if (!scored.length) return slot.nothing("Every class has one candidate.");
    const asked = a !== null && b !== null ? model.classAt(run, a * b % run.n) : null;
    const first = scored.includes(asked) ? asked : scored[0];
    const target = slot.choose("target", "class of the product", scored.map(K => [String(K.d), J(K.d)]), String(first.d));
    const K = scored.find(L => String(L.d) === target), r = K.readout, own = asked === K ? prompt(run, K, a, b) : [];
    const seen = slot.once(`prompts ${target}`, () => prompts(run, K, Math.ceil(3000 / K.size)));
    const values = [...r.mean, ...r.low, ...r.high, ...own.map(p => p.y)], ends = [Math.min(...r.fitted), Math.max(...r.fitted)];
    const room = (Math.max(ends[1] - ends[0], 1e-6)) * 0.03;
    const chart = open(slot.plot, { height: Math.min(460, slot.plot.clientWidth + 40), left: 58,
      x: { range: [ends[0] - room, ends[1] + room], title: "fitted sum of characters" },
      y: { range: [Math.min(...values, ends[0]), Math.max(...values, ends[1])], title: "logit, centred" } });
    cloud(chart, seen);
    chart.line(ends.map(x => [x, x]), { stroke: css("--ink"), "stroke-dasharray": "4 4" });
    const things = r.fitted.map((x, i) => {
      chart.line([[x, r.mean[i] - r.std[i]], [x, r.mean[i] + r.std[i]]], { stroke: color(0), "stroke-opacity": 0.5 });
      chart.mark(chart.X(x), chart.Y(r.mean[i]), shape(0), 3.5, { fill: color(0) });
      return { x: chart.X(x), y: chart.Y(r.mean[i]), pick: null, text: `quotient at (${model.tuple(i, K.orders).join(", ")})` +
        `${i ? "" : ", the right answer"}: fitted ${round(x)}, mean ${round(r.mean[i])} ± ${round(r.std[i])}, ` +
        `from ${round(r.low[i])} to ${round(r.high[i])}` };
    });
    for (const { c, x, y } of own) {
      const [u, v] = [chart.X(x), chart.Y(y)], right = c === a * b % run.n;
      chart.mark(u, v, "M-1 -1L1 1M1 -1L-1 1", 4, { stroke: color(1), "stroke-width": 2 });
      if (right) chart.text(u - 8, v + 4, `ab = ${c}`, { class: "here", "text-anchor": "end" });
      things.push({ x: u, y: v, pick: null, text: `${a} · ${b}, candidate ${c}${right ? ", right" : ""}: ${round(y)}, fitted ${round(x)}` });
    }
    seen.forEach(p => things.push({ x: chart.X(p.x), y: chart.Y(p.y), pick: () => strata.pick(p.a, p.b),
      text: `${p.a} · ${p.b}, candidate ${p.c}: ${round(p.y)}, fitted ${round(p.x)}` }));
    scattered(chart, things);
    slot.say(`${J(K.d)} from ${J(r.pair[0])} × ${J(r.pair[1])}: R² = ${r.r2.toFixed(3)} over the candidates of all `
      + `${many(r.prompts)} prompts, some of them grey. Blue: mean and standard deviation for each quotient of `
      + "product and candidate; means lie closer to the fit, as what varies between prompts cancels. Dashed: equality."
      + (own.length ? ` Crosses: the candidates of ${a} × ${b}, computed here.` : ""));
  };
}
