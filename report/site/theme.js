"use strict";
// What the panels share: the colours of the printed figures, light or dark as the reader has it; words for numbers.
strata.theme = (() => {
  const look = JSON.parse(document.documentElement.dataset.look);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

  // The last colour of the palette is black, which is white on a dark page.
  const color = i => {
    const found = look.colors[i % look.colors.length];
    return dark.matches && found === "#000000" ? "#FFFFFF" : found;
  };
  // Filled shapes of about one area around 0, for a radius of 1: each class has its own, with or without colour.
  const ring = (corners, turn, inner = 1) => "M" + Array.from({ length: corners * (inner < 1 ? 2 : 1) }, (_, i) => {
    const angle = turn + i * Math.PI / (inner < 1 ? corners : corners / 2), r = inner < 1 && i % 2 ? inner : 1;
    return `${(1.2 * r * Math.cos(angle)).toFixed(3)} ${(1.2 * r * Math.sin(angle)).toFixed(3)}`;
  }).join("L") + "Z";
  const UP = -Math.PI / 2;
  const SHAPES = ["M1 0A1 1 0 1 1 -1 0A1 1 0 1 1 1 0Z", ring(4, Math.PI / 4), ring(3, UP), ring(4, 0), ring(3, -UP),
    ring(4, UP, 0.4), ring(4, Math.PI / 4, 0.4), ring(3, Math.PI), ring(3, 0)]; // those of the printed figures
  const shape = i => SHAPES[i % SHAPES.length];

  const low = number => String(number).replace(/\d/g, digit => SUBSCRIPTS[digit]);
  const J = d => "J" + low(d);
  const share = x => x > 0 && x < 0.0005 ? "< 0.1 %" : x < 1 && x >= 0.9995 ? "> 99.9 %" : (100 * x).toFixed(1) + " %";
  const round = x => String(+x.toPrecision(3)).replace("-", "−");

  // A colour map of the printed figures at x from 0 to 1, as red, green, blue.
  const stops = name => look[name].map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
  function ramp(name) {
    const rows = stops(name), last = rows.length - 1;
    return x => {
      const at = Math.min(Math.max(x, 0), 1) * last, i = Math.min(Math.floor(at), last - 1);
      return rows[i].map((c, k) => Math.round(c + (at - i) * (rows[i + 1][k] - c)));
    };
  }
  const gradient = name => `linear-gradient(to right, ${look[name].join(", ")})`;
  return { color, shape, J, low, css, share, round, ramp, gradient, grey: look.grey, dark };
})();
