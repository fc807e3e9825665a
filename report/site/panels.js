"use strict";
// A view draws one run, and a second one beside it: in slots with choosers, a plot and a line of words each.
strata.panel = box => {
  const { html } = strata.draw;
  const first = box.querySelector(".slot"), empty = first.cloneNode(true), slots = [];
  const single = ["training", "epochs"].includes(box.dataset.view); // these draw one picture of all that is chosen
  let near = false, runs = [];

  function slotOf(root, suffix) {
    const part = name => root.querySelector("." + name), held = {}, cache = new Map();
    function field(key, label, input) {
      held[key] = Object.assign(input, { name: key + suffix });
      part("controls").append(html("label", { class: "field" }, label + " ", input));
      return input;
    }
    const slot = {
      root, plot: part("plot"), run: null, again: () => view.draw(),
      say: text => { part("readout").textContent = text; },
      nothing: text => {
        slot.plot.replaceChildren();
        slot.plot.hidden = true;
        for (const input of Object.values(held)) input.parentNode.hidden = true;
        slot.say(text);
      },
      set: (changes, passing) => strata.set(Object.fromEntries(
        Object.entries(changes).map(([key, value]) => [key + suffix, value])), passing),
      once: (key, make) => {
        const full = `${slot.run.run} ${key}`;
        if (!cache.has(full)) { cache.clear(); cache.set(full, make()); }
        return cache.get(full);
      },
      // A chooser whose value the address keeps; a value that this run lacks gives way. The second run follows the first.
      choose: (key, label, options, otherwise) => {
        const input = held[key] ?? field(key, label, html("select")), values = JSON.stringify(options);
        const known = value => options.some(([x]) => x === value), leading = strata.get(key, otherwise);
        if (suffix && known(leading)) otherwise = leading;
        if (input.dataset.options !== values) input.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
        input.dataset.options = values;
        input.onchange = () => slot.set({ [key]: input.value === otherwise ? null : input.value });
        input.parentNode.hidden = false;
        const wanted = strata.get(key + suffix, otherwise);
        return input.value = known(wanted) ? wanted : otherwise;
      },
      slide: (key, label, low, high, otherwise, hidden = false) => {
        const input = held[key] ?? field(key, label, html("input", { type: "range" }));
        Object.assign(input, { min: low, max: high, step: 1 });
        input.oninput = () => slot.set({ [key]: input.value === otherwise ? null : input.value }, true);
        input.onchange = strata.settle;
        input.parentNode.hidden = hidden;
        const wanted = Number(strata.get(key + suffix, suffix ? strata.get(key, otherwise) : otherwise));
        return +(input.value = Number.isInteger(wanted) && wanted >= low && wanted <= high ? wanted : otherwise);
      },
    };
    return slot;
  }
  function drawn(slot, run, other) {
    slot.run = run;
    slot.plot.hidden = false;
    slot.root.querySelector(".of").textContent = other ? `${run.run} and ${other.run}` : run.run;
    if (!run.finite && box.dataset.view !== "training") slot.nothing("This run diverged: there is nothing to draw.");
    else try { strata.views[box.dataset.view](slot, run, other); }
    catch (error) { slot.nothing(`Not drawn: ${error.message}`); throw error; }
    slot.root.dataset.drawn = run.run;
  }
  const view = {
    show: found => { runs = found; view.draw(); },
    draw: () => {
      if (!near || !runs.length) return;
      const wanted = single ? 1 : runs.length;
      while (slots.length < wanted) {
        const root = slots.length ? box.appendChild(empty.cloneNode(true)) : first;
        slots.push(slotOf(root, slots.length ? "2" : ""));
      }
      while (slots.length > wanted) slots.pop().root.remove();
      box.classList.toggle("pair", wanted > 1);
      slots.forEach((slot, i) => drawn(slot, runs[i], single ? runs[1] : undefined));
      box.dataset.drawn = runs.map(run => run.run).join(" ");
    },
    nothing: text => {
      if (!slots.length) slots.push(slotOf(first, ""));
      slots[0].nothing(text);
    },
  };
  new IntersectionObserver(seen => {
    if (near || !seen.some(x => x.isIntersecting)) return;
    near = true;
    view.draw();
  }, { rootMargin: "300px" }).observe(box);
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) > 1) { width = contentRect.width; requestAnimationFrame(view.draw); }
  }).observe(box);
  return view;
};
