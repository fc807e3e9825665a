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
  // What was typed, into the address; what is no residue is said, not ignored.
  function search(text) {
    const found = typed(text), [a, b] = found ? [found[1], found[2] ?? null] : [null, null];
    say("");
    const limit = strata.front?.hero.n ?? run?.n ?? Infinity, beyond = [a, b].some(x => x !== null && +x >= limit);
    if (found && beyond) say(`A residue from 0 to ${limit - 1}, such as 12, a product such as 12 × 35, or a word`);
    else if (found && front) {
      strata.set({ a: +a, ...b !== null && { b: +b } });
      document.getElementById("top").scrollIntoView();
    } else if (found && !panels) location.href = `${strata.root}appendix/figures.html#top?a=${+a}${b === null ? "" : `&b=${+b}`}`;
    else if (!found) strata.set({ find: text.trim() || null });
    else strata.pick(String(+a), b && String(+b));
  }

  // The sections that have every word, those with it in the heading first: [place, heading, text].
  function matching(words) {
    const has = text => words.every(word => text.toLowerCase().includes(word));
    const found = strata.listing.filter(([, heading, text]) => has(`${heading} ${text}`));
    return [...found.filter(x => has(x[1])), ...found.filter(x => !has(x[1]))];
  }
  function excerpt(text, word) {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 40), end = at + 110 < text.length;
    return text.slice(at, at + 110).replace(at ? /^\S*\s/ : "", at ? "… " : "").replace(end ? /\s\S*$/ : "", end ? " …" : "");
  }
  function results(text) {
    const words = text.toLowerCase().split(/\s+/), found = matching(words);
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
    panel.replaceChildren(html("p", {}, ...shown.slice(0, -1), close), shown.at(-1));
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
