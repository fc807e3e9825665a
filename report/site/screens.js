"use strict";
// What each change of the network makes wrong, as bars against chance.
(() => {
  if (!strata.front) return;
  const { hero, cut, filled } = strata.front, { powers } = hero;
  const { html, percent, own, say } = strata.draw;

  function bars(change) {
    const button = html("button", { type: "button", class: "change", "data-change": change.name },
      html("span", {}, strata.changed(change)));
    powers.forEach(({ q, prime }) => {
      const wrong = change.wrong.modulo[q];
      button.append(html("span", { class: "with" }, html("span", { class: "track" },
        html("i", { style: `${own(prime)}; width: ${filled(wrong, q)}` })), html("small", {}, percent(wrong))));
    });
    button.onclick = () => cut(change.name);
    return button;
  }
  strata.screen("break", (box, width, now) => {
    for (const button of box.querySelectorAll("[data-change]"))
      button.setAttribute("aria-pressed", button.dataset.change === now.change.name);
    const { wrong } = now.change;
    say(box, `${strata.changed(now.change)}: `
      + `${wrong.all ? `${percent(wrong.all)} of all pairs wrong` : "every pair right"}.`);
  }, box => box.querySelector(".bars").append(
    html("div", { class: "change head", "aria-hidden": "true" }, html("span"),
      ...powers.map(({ q }) => html("span", {}, `wrong modulo ${q}`, html("small", {}, `full: ${percent(hero.chance[q])}`)))),
    ...hero.changes.map(bars)));

  strata.front.later();
})();
