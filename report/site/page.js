"use strict";
// What every page of the appendix does: links that keep the choices, where the reader is, what is folded.
addEventListener("DOMContentLoaded", () => {
  // A link inside the page keeps the choices; one to another page of the appendix keeps run, pair and checkpoint.
  document.addEventListener("click", event => {
    const link = event.target.closest("a[href]");
    if (!link || event.ctrlKey || event.metaKey || link.className === "skip") return;
    const href = link.getAttribute("href");
    if (href.startsWith("#")) {
      event.preventDefault();
      strata.goto(link.hash.slice(1));
    } else if (/^[\w-]+\.html(#|$)/.test(href)) {
      const kept = new URLSearchParams(["run", "beside", "a", "b", "checkpoint"].filter(key => strata.get(key)).map(key => [key, strata.get(key)]));
      const url = new URL(link.href);
      if (`${kept}`) url.hash = `${url.hash.slice(1) || "top"}?${kept}`;
      event.preventDefault();
      location.href = url;
    }
  });
  const contents = document.querySelector(".contents details");
  if (contents && innerWidth < 1000) contents.open = false;

  // Where the reader is: the last section whose top has passed the bar.
  const sections = [...document.querySelectorAll("main > section")];
  const entries = new Map([...document.querySelectorAll('.contents a[href^="#"]')].map(link => [link.hash.slice(1), link]));
  let waiting = false;
  function spy() {
    waiting = false;
    const now = sections.findLast(x => x.getBoundingClientRect().top < innerHeight / 3) ?? sections[0];
    const link = entries.get(now?.id), before = document.querySelector(".contents [aria-current=location]");
    if (!link || link === before) return;
    before?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "location");
    // The contents scroll by themselves, and the page does not.
    const box = link.closest(".contents");
    box.scrollTop += link.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
  addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(spy); } }, { passive: true });
  spy();

  // What is folded is whole without scripts and on paper.
  const folds = [...document.querySelectorAll("details.fold")];
  folds.forEach(fold => { fold.open = false; });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open]):not(.made)")];
    opened.forEach(x => { x.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach(x => { x.open = false; }));
  // What is wider than its place can be scrolled by keys, and is no stop where it is not.
  const wide = new ResizeObserver(boxes => boxes.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  document.querySelectorAll(".scroll, main pre, .output_html").forEach(x => wide.observe(x));
});
