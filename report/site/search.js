"use strict";
// The field of the bar: a word of the report, a residue, or a product of two. Words come from the list of all sections,
// which is loaded when someone looks for one.
{
  const { html } = strata.draw, field = document.getElementById("element"), panel = document.getElementById("found");
  const here = Boolean(document.getElementById("run"));
  const typed = text => text.trim().match(/^(\d+)(?:\s*[·×x*,\s]\s*(\d+))?$/);

  function say(text) {
    field.setCustomValidity(text);
    field.reportValidity();
  }
  // What was typed, into the address; what is no residue is said, not ignored.
  strata.search = (text, run) => {
    const found = typed(text), [a, b] = found ? [found[1], found[2] ?? null] : [null, null];
    say("");
    const limit = strata.front?.hero.n ?? run?.n ?? Infinity, beyond = [a, b].some(x => x !== null && +x >= limit);
    if (found && beyond) say(`A residue from 0 to ${limit - 1}, such as 12, a product such as 12 × 35, or a word`);
    else if (found && strata.front) {
      strata.set({ a: +a, ...b !== null && { b: +b } });
      document.getElementById("top").scrollIntoView();
    } else if (found && !here) location.href = `${strata.root}appendix/figures.html#fig03-attn-scores?a=${+a}${b === null ? "" : `&b=${+b}`}`;
    else if (!found) strata.set({ find: text.trim() || null });
    else strata.pick(String(+a), b && String(+b));
  };

  // The sections that have every word, those with it in the heading first: [place, heading, text].
  function matching(words) {
    const rank = ([, heading, text]) => {
      const [high, all] = [heading.toLowerCase(), `${heading} ${text}`.toLowerCase()];
      return words.every(x => high.includes(x)) ? 2 : words.every(x => all.includes(x)) ? 1 : 0;
    };
    return strata.listing.map(entry => [rank(entry), entry]).filter(([r]) => r).sort((x, y) => y[0] - x[0]).map(([, entry]) => entry);
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
  strata.show = async run => {
    const text = strata.get("find");
    if (text && !strata.listing.length) await strata.script("site/words.js");
    const shown = text ? results(text) : run ? strata.facts(run) : [];
    panel.hidden = !shown.length;
    panel.className = text ? "words" : "";
    if (document.activeElement !== field) field.value = text || (run ? strata.named(run) : "");
    if (!shown.length) return;
    const close = html("button", { type: "button" }, "close");
    close.onclick = strata.close;
    panel.replaceChildren(html("p", {}, ...shown.slice(0, -1), close), shown.at(-1));
  };
  strata.close = () => strata.set(strata.get("find") ? { find: null } : { a: null, b: null });

  strata.bar = current => {
    document.getElementById("search").onsubmit = event => {
      event.preventDefault();
      strata.search(field.value, current());
    };
    field.oninput = () => field.setCustomValidity("");
    field.addEventListener("search", () => { if (!field.value) strata.set({ a: null, b: null, find: null }); });
    addEventListener("keydown", event => {
      if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
        event.preventDefault();
        field.focus();
      }
      if (event.key === "Escape" && !panel.hidden) strata.close();
    });
    // From the field of another page.
    const asked = new URLSearchParams(location.search).get("find");
    if (asked && !strata.get("find")) strata.search(asked, current());
  };
}
