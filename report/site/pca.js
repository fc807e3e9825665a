"use strict";
// The residues on the first principal components: two of them, or three, turned as the reader likes.
{
  const { J, color, shape, css, share, ramp } = strata.theme, { open, scattered } = strata.chart, model = strata.model;
  const { svg: node } = strata.draw;

  // By class, or by residue modulo a prime: what each residue is painted as, and the names of the paints.
  function painter(run, by) {
    if (by === "class") return {
      of: a => model.algebra(run).classOf[a], names: run.classes.map(K => J(K.d)),
      look: i => [shape(i), color(i)],
    };
    const p = +by, colour = ramp("viridis");
    return { of: a => a % p, names: Array.from({ length: p }, (_, i) => String(i)),
      look: i => i ? [shape(0), `rgb(${colour((i - 1) / Math.max(p - 2, 1))})`] : [shape(1), color(1)] };
  }
  const primes = n => Array.from({ length: n - 1 }, (_, i) => i + 2)
    .filter(p => n % p === 0 && !Array.from({ length: p }, (_, i) => i).some(q => q > 1 && p % q === 0));

  // Seen from the side at an angle around the third component, a little from above: right, up, towards the reader.
  function turned([x, y, z], angle) {
    const c = Math.cos(angle), s = Math.sin(angle), [u, depth] = [c * x - s * y, s * x + c * y];
    return [u, 0.94 * z + 0.34 * depth, 0.34 * z - 0.94 * depth];
  }
  const EDGES = [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]];

  function solid(slot, points, turn) {
    const size = Math.min(slot.plot.clientWidth, 520), largest = Math.max(...points.flat().map(Math.abs)) || 1;
    const angle = turn * Math.PI / 180;
    const chart = open(slot.plot, { width: size, height: size, left: 0, right: 0, top: 0, bottom: 0,
      x: { range: [-1.6, 1.6], ticks: [], bare: true }, y: { range: [-1.6, 1.6], ticks: [] } });
    const at = p => { const [u, v, near] = turned(p, angle); return [chart.X(u), chart.Y(v), near]; };
    const corners = Array.from({ length: 8 }, (_, i) => at([i & 1, i >> 1 & 1, i >> 2 & 1].map(x => 2 * x - 1)));
    for (const [i, j] of EDGES) chart.svg.append(node("line", { x1: corners[i][0], y1: corners[i][1], x2: corners[j][0], y2: corners[j][1],
      stroke: css("--rule") }));
    ["PC 1", "PC 2", "PC 3"].forEach((name, k) => {
      const [x, y] = at([0, 1, 2].map(j => j === k ? 1.18 : -1));
      chart.text(x, y, name, { "text-anchor": "middle", class: "small" });
    });
    return { chart, places: points.map(p => at(p.map(x => x / largest))) };
  }
  function flat(slot, points, axes) {
    const range = j => {
      const own = points.map(p => p[j]), room = 0.05 * (Math.max(...own) - Math.min(...own)) || 1;
      return [Math.min(...own) - room, Math.max(...own) + room];
    };
    const chart = open(slot.plot, { height: Math.min(480, slot.plot.clientWidth), left: 58,
      x: { range: range(axes[0]), title: `PC ${axes[0] + 1}` }, y: { range: range(axes[1]), title: `PC ${axes[1] + 1}` } });
    return { chart, places: points.map(p => [chart.X(p[axes[0]]), chart.Y(p[axes[1]]), 0]) };
  }
  // A drag turns the solid, and the slider does it by keys. The drawing is replaced on the way, so the plot listens.
  function turning({ plot, set }, turn) {
    plot.style.touchAction = "pan-y";
    plot.onpointerdown = event => { plot.from = { x: event.clientX, turn }; plot.turned = false; };
    plot.onpointerup = strata.settle;
    plot.onpointermove = event => {
      if (!event.buttons || !plot.from || Math.abs(event.clientX - plot.from.x) < 4) return;
      if (!plot.turned) plot.setPointerCapture(event.pointerId);
      plot.turned = true;
      set({ turn: ((plot.from.turn + Math.round((event.clientX - plot.from.x) / 2)) % 360 + 360) % 360 }, true);
    };
  }
  strata.views.pca = (slot, trained) => {
    const run = strata.slid(slot, trained);
    if (!run) return slot.say("The checkpoints are being loaded.");
    const { points, share: held } = run.pca;
    if (!points.length) return slot.nothing("All embeddings are equal.");
    const choices = [["123", "1, 2 and 3"], ["12", "1 and 2"], ["13", "1 and 3"], ["23", "2 and 3"]];
    const axes = [...slot.choose("axes", "components", choices, "123")].map(i => i - 1);
    const by = slot.choose("colour", "colour", [["class", "class"], ...primes(run.n).map(p => [String(p), `residue mod ${p}`])], "class");
    const turn = slot.slide("turn", "turn", 0, 359, "40", axes.length < 3);
    const { chart, places } = axes.length > 2 ? solid(slot, points, turn) : flat(slot, points, axes), paint = painter(run, by);
    const far = places.map((_, a) => a).sort((x, y) => places[x][2] - places[y][2]), things = [];
    for (const c of far) {
      const [x, y] = places[c], [d, fill] = paint.look(paint.of(c));
      chart.mark(x, y, d, 5, { fill, stroke: css("--paper"), "stroke-width": 0.7 });
    }
    run.order.forEach(c => things.push({ key: c, x: places[c][0], y: places[c][1], pick: () => strata.residue(c),
      text: `${c} in ${J(model.classAt(run, c).d)}, at (${model.coordinates(run, c).join(", ")})` }));
    const marks = new Map();
    for (const [name, c] of strata.chosenIn(run)) marks.set(c, [...(marks.get(c) ?? []), name]);
    for (const [c, names] of marks) {
      const [x, y] = places[c], label = `${names.join(" = ")} = ${c}`, late = x > chart.width - 90;
      chart.mark(x, y, shape(0), 8, { fill: "none", stroke: css("--ink"), "stroke-width": 2.5 });
      chart.text(x + (late ? -12 : 12), y + 4, label, { class: "here", ...(late && { "text-anchor": "end" }) });
    }
    if (axes.length > 2) turning(slot, turn);
    else slot.plot.onpointermove = null;
    scattered(chart, things);
    slot.plot.append(strata.draw.legend(by === "class" ? "class" : `residue mod ${by}`, paint.names, paint.look));
    slot.say((run.when ? `${run.when}, on the components of the end. ` : "") + "Share of the variance: " + axes.map(j => `PC ${j + 1} ${share(held[j] ?? 0)}`).join(", ")
      + ". A point is a residue: the first that is chosen is a, the next b.");
  };
}
