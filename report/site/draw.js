"use strict";
// Elements, and what several pictures of the front page share.
strata.draw = (() => {
  const NS = "http://www.w3.org/2000/svg";
  function make(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
    node.append(...children.flat().filter(child => child !== undefined));
    return node;
  }
  const svg = (tag, attributes = {}, ...children) => make(document.createElementNS(NS, tag), attributes, children);
  const html = (tag, attributes = {}, ...children) => make(document.createElement(tag), attributes, children);
  const percent = x => x > 0 && x < 0.0005 ? "< 0.1\u00a0%" : x < 1 && x > 0.9995 ? "> 99.9\u00a0%"
    : (100 * x).toFixed(x === 0 || x === 1 ? 0 : 1) + "\u00a0%";
  // Its colour, for what belongs to one prime.
  const own = p => `--own: var(--p${p}, var(--p3))`;
  const many = x => x.toLocaleString("en");
  // A picture of that size, in pixels of the page; its label is what a screen reader says.
  const picture = (width, height, label, ...children) => svg("svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
  // What marks mean: a name for each look, a path and its colour.
  const legend = (title, names, look) => html("ul", { class: "legend" }, html("li", {}, title), names.map((name, i) => {
    const [d, fill] = look(i);
    return html("li", {}, svg("svg", { viewBox: "-1.5 -1.5 3 3", width: 13, height: 13, "aria-hidden": true, "aria-label": name }, svg("path", { d, fill })), name);
  }));
  const say = (box, text) => { box.querySelector(".readout").textContent = text; };
  // A drawing takes the place of the one before; what has the focus keeps it.
  function put(box, image, place = ".drawing") {
    const where = box.querySelector(place), focused = where.contains(document.activeElement);
    where.replaceChildren(image);
    if (focused) (image.matches("[tabindex]") ? image : image.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  }
  // A place on a circle: `turn` of a full turn clockwise from the top.
  const at = (middle, radius, turn) => {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
  };
  const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  // From one turn on to a later one.
  function arc(middle, radius, from, to) {
    const span = Math.min(to - from, 0.9999);
    return span < 1e-4 ? "" : `M${text(at(middle, radius, from))}A${radius} ${radius} 0 ${+(span > 0.5)} 1 ${text(at(middle, radius, from + span))}`;
  }
  // A piece of a ring around a turn.
  function petal(middle, inner, outer, turn, half) {
    const [t0, t1] = [turn - half, turn + half], big = +(half > 0.25);
    return `M${text(at(middle, inner, t0))}L${text(at(middle, outer, t0))}A${outer} ${outer} 0 ${big} 1 ${text(at(middle, outer, t1))}`
      + `L${text(at(middle, inner, t1))}A${inner} ${inner} 0 ${big} 0 ${text(at(middle, inner, t0))}Z`;
  }
  return { svg, html, percent, many, own, picture, legend, say, put, at, arc, petal };
})();
