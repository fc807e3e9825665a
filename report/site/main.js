"use strict";
// Puts the panels of a page together: which runs, and what was looked for.
addEventListener("DOMContentLoaded", () => {
  const select = document.getElementById("run"), beside = document.getElementById("beside");
  const views = [...document.querySelectorAll(".view")].map(strata.panel);

  const KINDS = { transformer: "", mlp: "MLP only, " };
  for (const [into, none] of [[select, null], [beside, "none"]]) {
    if (none) into.append(new Option(none, ""));
    for (const r of strata.runs()) {
      const more = r.run.replace(`n${r.n}-s${r.seed}`, "").split("-").filter(x => x && x !== r.architecture);
      into.append(new Option(KINDS[r.architecture] + [`n = ${r.n}, seed ${r.seed}`, ...more].join(", "), r.run));
    }
  }
  const names = () => [strata.chosen(), ...(strata.beside() ? [strata.beside()] : [])];
  async function update() {
    const wanted = names();
    [select.value, beside.value] = [wanted[0], wanted[1] ?? ""];
    let runs;
    try {
      runs = await Promise.all(wanted.map(strata.load));
      if (document.querySelector('[data-view="epochs"]')) await Promise.all(wanted.map(strata.epochs));
    } catch (error) { return views.forEach(view => view.nothing(error.message)); }
    if (wanted.join() !== names().join()) return;
    runs.forEach(strata.model.algebra);
    const [run] = runs;
    document.documentElement.dataset.run = run.run;
    document.documentElement.toggleAttribute("data-other", run.run !== strata.headline);
    views.forEach(view => view.show(runs));
    await strata.show(run);
  }
  select.onchange = () => strata.set({ run: select.value === strata.headline ? null : select.value });
  beside.onchange = () => strata.set({ beside: beside.value });

  strata.listen(update);
  strata.theme.dark.addEventListener("change", () => views.forEach(view => view.draw()));
  update();
});
