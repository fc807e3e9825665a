"use strict";
// Small drawings: elements, marks, what hover and keyboard say. Colours are those of front.css.
strata.draw = (() => {
  const holder = document.createElement("template");
  holder.innerHTML = "<svg></svg>";
  const SVG = holder.content.firstChild.namespaceURI;
  function make(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
    node.append(...children.flat());
    return node;
  }
  const svg = (tag, attributes = {}, ...children) => make(document.createElementNS(SVG, tag), attributes, children);
  const html = (tag, attributes = {}, ...children) => make(document.createElement(tag), attributes, children);
  const low = number => String(number).replace(/\d/g, digit => "₀₁₂₃₄₅₆₇₈₉"[digit]);
  const J = d => "J" + low(d);
  const percent = (x, digits = 1) => x > 0 && x < 0.0005 ? "< 0.1 %" : x < 1 && x > 0.9995 ? "> 99.9 %"
    : (100 * x).toFixed(digits).replace(/\.0$/, "") + " %";

  // A picture of that size, in pixels of the page; its label is what a screen reader says.
  const picture = (width, height, label, ...children) => svg("svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
  // A row of choices; the chosen one is what the address says, or the first.
  function choice(box, name, options, chosen, set) {
    const known = JSON.stringify([name, options]), held = box.querySelector(".choice");
    if (held?.dataset.options === known) { // what has the focus stays
      for (const input of held.querySelectorAll("input")) input.checked = input.value === chosen;
      return;
    }
    held?.remove();
    const field = html("fieldset", { class: "choice", "data-options": known }, html("legend", {}, name));
    for (const [value, label] of options) {
      const input = html("input", { type: "radio", name: `${box.id}-choice`, value });
      input.checked = value === chosen;
      input.onchange = () => set(value);
      field.append(html("label", {}, input, html("span", {}, label)));
    }
    box.prepend(field);
  }
  // Where residue r modulo q stands around the middle of a square.
  function at({ places, rings }, r, middle, radius) {
    const [ring, turn] = places[r], length = radius * ring / rings, angle = 2 * Math.PI * turn - Math.PI / 2;
    return [middle + length * Math.cos(angle), middle + length * Math.sin(angle)];
  }
  return { svg, html, J, low, percent, picture, choice, at };
})();
