"use strict";
// Looks that all plots share: the colours of the printed figures, light or dark as the reader has it.
strata.theme = (() => {
  const look = JSON.parse(document.documentElement.dataset.look);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const SYMBOLS = ["circle", "square", "diamond", "cross", "x", "circle-open", "square-open", "diamond-open"];
  const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

  // The last colour of the palette is black, which is white on a dark page.
  const color = i => {
    const found = look.colors[i % look.colors.length];
    return dark.matches && found === "#000000" ? "#FFFFFF" : found;
  };
  const symbol = i => SYMBOLS[i % SYMBOLS.length];
  const low = number => String(number).replace(/\d/g, digit => SUBSCRIPTS[digit]);
  const J = d => "J" + low(d);
  const share = x => x > 0 && x < 0.0005 ? "< 0.1 %" : x < 1 && x >= 0.9995 ? "> 99.9 %" : (100 * x).toFixed(1) + " %";

  const scale = colors => colors.map((x, i) => [i / (colors.length - 1), x]);
  // Labels that do not touch: the places of the widest are named first. width: of the plot, in pixels.
  function apart(places, sizes, span, width) {
    const kept = [], order = sizes.map((_, i) => i).sort((x, y) => sizes[y] - sizes[x] || x - y);
    for (const i of order) if (kept.every(j => Math.abs(places[i] - places[j]) / span * width >= 24)) kept.push(i);
    return kept;
  }
  const axis = more => ({
    gridcolor: css("--rule"), zerolinecolor: css("--rule"), linecolor: css("--muted"), tickcolor: css("--muted"),
    ticks: "outside", ticklen: 4, automargin: true, ...more,
    ...(more.title && { title: { font: { size: 13 }, ...more.title } }),
  });
  function layout(more) {
    return {
      font: { family: css("--sans"), size: 12, color: css("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 56, r: 16, t: 16, b: 44 }, showlegend: false, hovermode: "closest",
      hoverlabel: { bgcolor: css("--paper"), bordercolor: css("--muted"), align: "left",
        font: { color: css("--ink"), size: 13 } },
      ...more,
    };
  }
  const config = {
    responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: false,
  };
  const draw = (plot, traces, more) => Plotly.react(plot, traces, layout(more), config);
  return { color, symbol, J, low, css, axis, draw, apart, share, red: look.red, grey: look.grey, dark,
    viridis: scale(look.viridis), magma: scale(look.magma) };
})();
