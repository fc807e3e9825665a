"use strict";
// The list of models: a click on a heading sorts by it, a word shows the rows that have it.
addEventListener("DOMContentLoaded", () => {
  const { html } = strata.draw, table = document.getElementById("list"), rows = [...table.rows].slice(1), only = document.getElementById("only");
  const value = (row, i) => {
    const text = row.cells[i].textContent.trim(), number = parseFloat(text.replace(/[,>< ]/g, ""));
    return /^\d|^[<>]/.test(text) ? number : text;
  };
  const before = (x, y) => typeof x === typeof y ? (x > y) - (x < y) : typeof x === "number" ? -1 : 1;
  [...table.rows[0].cells].forEach((head, i) => {
    const button = html("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const cell of table.rows[0].cells) cell.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...rows.sort((x, y) => (down ? -1 : 1) * before(value(x, i), value(y, i))));
    };
  });
  only.oninput = () => {
    const words = only.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
    document.getElementById("count").textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
  };
});
