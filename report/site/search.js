"use strict";
// The field of the bar: a word of the report, a residue, or a product of two. Words come from the list of all sections,
// which is loaded when someone looks for one.
{
  const { html } = strata.draw, field = document.getElementById("element"), panel = document.getElementById("found");
  const front = document.getElementById("factors"), panels = document.getElementById("run");
  let run = null; // whose residues are looked up, when it is loaded
  const typed = text => text.trim().match(/^(\d+)(?:\s*[·×x*,\s]\s*(\d+))?$/);

  function say(text) {
    field.setCustomValidity(text);
    field.reportValidity();
  }
  // What was typed, into the address: a product; else words, of which a number alone may also be a residue.
  function search(text) {
    const found = typed(text), pair = found?.[2] ? { a: +found[1], b: +found[2] } : found && panels && +found[1] < run?.n ? { a: +found[1] } : null;
    say("");
    const limit = strata.front?.hero.n ?? run?.n ?? Infinity;
    if (!pair) strata.set({ find: text.trim() || null });
    else if (Object.values(pair).some(x => x >= limit)) say(`Of residues, those from 0 to ${limit - 1}`);
    else if (panels) strata.pick(pair.a, pair.b ?? null);
    else if (front) {
      strata.set({ ...pair, find: null });
      document.getElementById("top").scrollIntoView();
    } else location.href = `${strata.root}appendix/figures.html#top?a=${pair.a}&b=${pair.b}`;
  }

  // J₃₃, J_33 and j33 are one word. The sections that have every word, those with it in the heading first: [place, heading, text].
  const flat = text => text.toLowerCase().replaceAll("_", "").replace(/[₀-₉]/g, x => "₀₁₂₃₄₅₆₇₈₉".indexOf(x));
  function matching(words) {
    const has = text => words.every(word => /^\d+$/.test(word) ? RegExp(`(?<!\\d)${word}(?!\\d)`).test(text) : text.includes(word));
    const found = strata.listing.map(x => [x, flat(x[1]), flat(x[2])]).filter(([, heading, text]) => has(`${heading} ${text}`));
    return [...found.filter(x => has(x[1])), ...found.filter(x => !has(x[1]))].map(x => x[0]);
  }
  function excerpt(text, word) {
    const at = Math.max(0, flat(text).indexOf(word) - 40), end = at + 110 < text.length;
    return text.slice(at, at + 110).replace(at ? /^\S*\s/ : "", at ? "… " : "").replace(end ? /\s\S*$/ : "", end ? " …" : "");
  }
  function results(text) {
    const words = flat(text).split(/\s+/), found = matching(words);
    if (/^\d+$/.test(text) && +text < (strata.front?.hero.n ?? run?.n ?? Infinity)) found.unshift([`${front ? "index.html" : "appendix/figures.html"}#top?a=${text}`, `The residue ${text}`, "as a factor"]);
    const list = html("ul", {}, found.map(([place, heading, own]) => html("li", {},
      html("a", { href: strata.root + place }, heading), html("br"), excerpt(own, words[0]))));
    return [found.length ? `${found.length} ${found.length === 1 ? "place" : "places"} with “${text}”` : `Nothing here has “${text}”`, list];
  }
  // The panel shows what was looked for, or else the residue or the product, or goes.
  strata.show = async (found = run) => {
    run = found;
    const text = strata.get("find");
    if (text && !strata.listing.length) await strata.script("site/words.js");
    const shown = text ? results(text) : run ? strata.facts(run) : [];
    panel.hidden = !shown.length;
    panel.className = text ? "words" : "";
    if (document.activeElement !== field) field.value = text || (run ? strata.named(run) : "");
    if (!shown.length) return;
    const close = html("button", { type: "button" }, "close");
    close.onclick = leave;
    const number = !text && strata.pair(run).b === null && html("button", { type: "button" }, "as a word");
    if (number) number.onclick = () => strata.set({ find: strata.get("a") });
    panel.replaceChildren(html("p", {}, ...shown.slice(0, -1), ...number ? [number] : [], close), shown.at(-1));
  };
  const leave = () => strata.set(strata.get("find") ? { find: null } : { a: null, b: null });

  document.getElementById("search").onsubmit = event => {
    event.preventDefault();
    search(field.value);
  };
  field.oninput = () => field.setCustomValidity("");
  field.addEventListener("search", () => { if (!field.value) strata.set({ a: null, b: null, find: null }); });
  addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === "Escape" && !panel.hidden) leave();
  });
  strata.listen(() => strata.show());
  addEventListener("DOMContentLoaded", () => {
    strata.show();
    // From the field of another page.
    const asked = new URLSearchParams(location.search).get("find");
    if (asked && !strata.get("find")) search(asked);
  });
}
