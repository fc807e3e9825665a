"use strict";
// Drawing: axes and marks in SVG over cells on a canvas; a cursor that the pointer or the arrow keys move, and what a
// click or Enter on it does.
strata.chart = (() => {
  const { css } = strata.theme, { svg: node, html } = strata.draw;

  // At most `count` round numbers, or the powers of ten, in a range.
  function ticks([low, high], log, count) {
    if (log) {
      const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))], step = Math.ceil((to - from + 1) / count);
      return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => 10 ** (from + i * step));
    }
    const raw = (high - low) / count || 1, unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find(x => x * unit >= raw * 0.999) * unit, first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => +((first + i) * step).toPrecision(9));
  }
  const plain = x => x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(0).replace("-", "−")
    : x.toLocaleString("en", { maximumFractionDigits: 3 }).replace("-", "−");

  // A drawing in `plot`: x and y have a range, and may have log, title, and ticks as pairs of value and text.
  function open(plot, { width = plot.clientWidth, height, x, y, left = 52, right = 12, top = 12, bottom = 40 }) {
    plot.replaceChildren();
    const scale = (axis, from, to) => {
      const f = axis.log ? Math.log10 : v => v, [low, high] = axis.range.map(f);
      return v => from + (f(v) - low) / (high - low || 1) * (to - from);
    };
    const X = scale(x, left, width - right), Y = y.down ? scale(y, top, height - bottom) : scale(y, height - bottom, top);
    const svg = node("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const chart = { plot, svg, X, Y, width, height, left, right, top, bottom };
    const add = (name, attributes, text) => svg.appendChild(node(name, attributes, text));
    chart.line = (points, look) => add("path", { d: "M" + points.map(([u, v]) => `${X(u).toFixed(1)} ${Y(v).toFixed(1)}`).join("L"),
      fill: "none", ...look });
    chart.mark = (px, py, d, size, look) => add("path", { d, transform: `translate(${px} ${py}) scale(${size})`,
      "vector-effect": "non-scaling-stroke", ...look });
    chart.text = (px, py, text, look = {}) => add("text", { x: px, y: py, ...look }, text);
    // White over black, to be seen on every colour of a map.
    chart.outlined = (name, attributes, wide = 1) => {
      for (const [stroke, more] of [["#000", 1.4], ["#fff", 0]])
        add(name, { fill: "none", stroke, "stroke-width": wide + more, ...attributes });
    };
    const line = (x1, y1, x2, y2, stroke) => add("line", { x1, y1, x2, y2, stroke });
    const count = (axis, length, each) => axis.ticks ?? ticks(axis.range, axis.log, Math.max(2, Math.floor(length / each)))
      .map(v => [v, plain(v)]);
    const base = height - bottom, rule = css("--rule"), muted = css("--muted");
    for (const [v, text] of count(x, width - left - right, 64)) {
      if (!x.ticks) line(X(v), top, X(v), base, rule);
      chart.text(X(v), base + 16, text, { "text-anchor": "middle" });
    }
    for (const [v, text] of count(y, base - top, 45)) {
      if (!y.ticks) line(left, Y(v), width - right, Y(v), rule);
      chart.text(left - 6, Y(v) + 4, text, { "text-anchor": "end" });
    }
    if (x.title) chart.text((left + width - right) / 2, height - 6, x.title, { "text-anchor": "middle", class: "title" });
    if (y.title) chart.text(0, 0, y.title, { "text-anchor": "middle", class: "title",
      transform: `translate(12 ${(top + base) / 2}) rotate(-90)` });
    if (!x.bare) line(left, base, width - right, base, muted);
    plot.append(svg);
    return chart;
  }

  // A canvas of so many device pixels under the axes; its context.
  function under(chart, width, height, left = chart.left, top = chart.top) {
    const ratio = devicePixelRatio || 1, side = (name, pixels) => `${name}: ${pixels}px`;
    const style = [side("width", width / ratio), side("height", height / ratio), side("left", left), side("top", top)].join("; ");
    const canvas = html("canvas", { width, height, style });
    chart.plot.prepend(canvas);
    return canvas.getContext("2d");
  }
  // Cells of whole pixels: colour(i, j) gives red, green, blue of row i, column j.
  function cells(chart, rows, columns, size, colour) {
    const k = Math.round(size * (devicePixelRatio || 1)), small = html("canvas", { width: columns, height: rows });
    const image = new ImageData(columns, rows), context = under(chart, columns * k, rows * k);
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++)
      image.data.set([...colour(i, j), 255], 4 * (i * columns + j));
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, columns * k, rows * k);
  }
  // The side of a cell: as many whole device pixels as fit, one at least.
  function whole(space, count) {
    const ratio = devicePixelRatio || 1;
    return Math.max(1, Math.floor(space * ratio / count)) / ratio;
  }

  // at(px, py): the thing there, or null; step(thing, dx, dy): the next one that way; first: where keys begin; find(key).
  // A thing has key, x and y in pixels, text, and pick, what choosing it does, or null.
  function cursor(chart, { at, step, first, find }) {
    const { plot, svg } = chart, tip = html("div", { class: "tip", "aria-live": "polite" });
    plot.append(tip);
    const halo = svg.appendChild(node("circle", { r: 7, class: "halo", visibility: "hidden" }));
    let now = null;
    const show = thing => {
      now = thing;
      plot.at = thing?.key ?? null;
      halo.setAttribute("visibility", thing ? "visible" : "hidden");
      tip.textContent = thing?.text ?? "";
      tip.hidden = !thing;
      svg.style.cursor = thing?.pick ? "pointer" : "";
      if (!thing) return;
      halo.setAttribute("cx", thing.x);
      halo.setAttribute("cy", thing.y);
      tip.style.left = Math.max(0, Math.min(thing.x + 12, chart.plot.clientWidth - tip.offsetWidth)) + "px";
      tip.style.top = (thing.y > chart.height / 2 ? thing.y - tip.offsetHeight - 12 : thing.y + 14) + "px";
    };
    const under = event => {
      const box = svg.getBoundingClientRect();
      return at(event.clientX - box.left, event.clientY - box.top);
    };
    // A choice draws the panel again: whoever chose with the keys stays where they are.
    show(document.activeElement === plot && plot.at !== null ? find(plot.at) : null);
    svg.addEventListener("pointermove", event => { if (!event.buttons) show(under(event)); });
    svg.addEventListener("pointerleave", () => show(null));
    svg.addEventListener("click", event => { if (!plot.turned) under(event)?.pick?.(); });
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    plot.onkeydown = event => {
      if (event.key in ways) show(now ? step(now, ...ways[event.key]) : first());
      else if (event.key === "Enter" || event.key === " ") { if (!now) return; now.pick?.(); }
      else return;
      event.preventDefault();
    };
    plot.onblur = () => show(null);
  }
  // The cursor over things that lie about: the nearest within reach, and with keys one after the other.
  function scattered(chart, things) {
    things.forEach((thing, i) => { thing.key ??= i; });
    const at = (px, py) => {
      let best = null, least = 24 ** 2;
      for (const thing of things) {
        const d = (thing.x - px) ** 2 + (thing.y - py) ** 2;
        if (d < least) [best, least] = [thing, d];
      }
      return best;
    };
    const step = (thing, dx, dy) => things[(things.indexOf(thing) + dx + dy + things.length) % things.length];
    if (things.length) cursor(chart, { at, step, first: () => things[0],
      find: key => things.find(thing => thing.key === key) ?? null });
  }
  return { open, under, cells, whole, cursor, scattered };
})();
