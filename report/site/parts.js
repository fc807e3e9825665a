"use strict";
// The network as four parts, with the numbers of the pair that is chosen on their way through it. What a list of numbers
// says of a residue, zeros and hands, is read off by weights that do so best, by least squares, over residues or some pairs. A part can be replaced (swaps.js); how many answers
// are right then is counted over all pairs, here.
{
  const box = document.getElementById("parts-picture");
  if (strata.front && box) {
    const { hero } = strata.front, { n, powers, scales } = hero, { svg, html, own, percent, many, at, petal } = strata.draw;
    const { dot, add, pattern, forward, weights } = strata.model, PARTS = ["embedding", "attention", "mlp", "last"];
    const ROW = 72, R = 28, DIAL = [112, 190], NAMES = { embedding: "embedding", attention: "attention", mlp: "MLP", last: "last layer" };
    const units = ({ places, rings }) => places.flatMap(([ring], r) => ring === rings ? [r] : []);
    let swaps = null, net = null, name = "", reading = null, shown = null, families = null, latest = null;

    // ---- what is read off: functions of a residue, one that is 1 where a prime divides, and waves of its angle -----------
    function waves(W) {
      const rows = swaps.additive(W.W_E.slice(0, n));
      return powers.map((power, i) => {
        const { q, places } = power, all = units(power), most = Math.floor(all.length / 2), one = Array.from({ length: q }, (_, r) => rows.find((_, x) => powers.every((y, j) => x % y.q === (i === j ? r : 0))));
        const energy = Array.from({ length: all.length > 1 ? most : 0 }, (_, k) => [Math.cos, Math.sin].reduce((sum, f) => {
          const part = all.reduce((x, r) => add(x, one[r], f(2 * Math.PI * (k + 1) * places[r][1])), new Float32Array(one[0].length));
          return sum + dot(part, part);
        }, 0));
        const order = energy.map((_, k) => k + 1).sort((k, l) => energy[l - 1] - energy[k - 1]);
        return order.filter(k => energy[k - 1] > 0.2 * energy[order[0] - 1]).slice(0, DIAL.length).sort((k, l) => k - l);
      });
    }
    // 1, and for each prime power: whether its prime divides, cosine and sine of each wave.
    const functions = (kept, x) => [1, ...powers.flatMap((power, i) => {
      const unit = power.places[x % power.q][0] === power.rings, turn = power.places[x % power.q][1];
      return [+!unit, ...kept[i].flatMap(k => real(power, k) ? [unit * Math.cos(2 * Math.PI * k * turn)]
        : [unit * Math.cos(2 * Math.PI * k * turn), unit * Math.sin(2 * Math.PI * k * turn)])];
    })];
    const real = (power, k) => 2 * k === units(power).length;
    // x with A x = y for each column y, A square.
    function solve(A, Y) {
      const rows = A.map((row, i) => [...row, ...Y[i]]), size = A.length;
      for (let i = 0; i < size; i++) {
        const pivot = rows.slice(i).reduce((best, row, j) => Math.abs(row[i]) > Math.abs(rows[best][i]) ? i + j : best, i);
        [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
        for (let j = 0; j < size; j++) if (j !== i) {
          const factor = rows[j][i] / rows[i][i];
          for (let k = i; k < rows[j].length; k++) rows[j][k] -= factor * rows[i][k];
        }
      }
      return rows.map((row, i) => row.slice(size).map(x => x / row[i]));
    }
    // How to read the functions of a residue off a list of numbers, given lists and the residue of each.
    function reader(kept, lists, residues) {
      const X = lists.map(list => Float64Array.from([1, ...list])), size = X[0].length, wanted = residues.map(x => functions(kept, x));
      const A = Array.from({ length: size }, () => new Float64Array(size)), Y = A.map(() => new Float64Array(wanted[0].length));
      X.forEach((x, i) => x.forEach((value, j) => { add(A[j], x, value); add(Y[j], wanted[i], value); }));
      const small = 1e-4 * A.reduce((sum, row, i) => sum + row[i], 0) / size;
      A.forEach((row, i) => { row[i] += small; });
      const weights = solve(A, Y);
      return list => wanted[0].map((_, k) => weights.reduce((sum, row, j) => sum + row[k] * (j ? list[j - 1] : 1), 0));
    }
    // As zeros and hands of each prime power.
    function read(values) {
      let place = 1;
      return powers.map((power, i) => ({ zero: values[place++], hands: reading.kept[i].map(k => real(power, k) ? [values[place++], 0] : [values[place++], values[place++]]) }));
    }
    // Of the trained network: how residues are read off the embedding, and products off the stream after the neurons.
    async function readings(W) {
      const kept = waves(W), residues = Array.from({ length: n }, (_, x) => x), streams = [];
      const pairs = Array.from({ length: 500 }, (_, i) => [i * 7919 % 104729 % n, i * 104723 % 99991 % n]);
      for (const [a, b] of pairs) {
        streams.push(forward(W, a, b).out);
        if (streams.length % 25 === 0) await swaps.pause();
      }
      const embedding = reader(kept, W.W_E.slice(0, n), residues);
      await swaps.pause();
      return { kept, embedding, mlp: reader(kept, streams, pairs.map(([a, b]) => a * b % n)) };
    }
    async function prepare(W) {
      swaps = strata.swaps(run, hero);
      reading = await readings(W);
      net = W;
      shown = built(W);
      strata.redraw("parts");
      families = (await swaps.neuronTables()).family;
      const { image } = shown.cells;
      shown.cells = cells(W);
      image.replaceWith(shown.cells.image);
      if (latest) shown.cells.show(forward(net, ...latest).mlp);
    }

    // ---- drawings --------------------------------------------------------------------------------
    // A switch for each of some lists, and a dial with their hands for each wave.
    function rows(label, marks) {
      const parts = powers.map((power, i) => {
        const y = ROW * i + ROW / 2, group = svg("g", { style: own(power.prime), transform: `translate(0 ${y})` }, svg("text", { x: 12, y: 5, class: "name" }, power.q));
        const switches = marks.map((mark, j) => {
          const knob = svg("circle", { r: 6.5, class: "knob" });
          const step = marks.length > 1 ? 17 : 0, top = j * 2 * step - step;
          group.append(svg("rect", { x: 30, y: top - 9, width: 34, height: 18, rx: 9, class: "switch" }), knob, ...mark ? [svg("text", { x: 75, y: top + 4, class: "mark" }, mark)] : []);
          return { knob, top };
        });
        const dials = reading.kept[i].map((k, j) => {
          const ideal = marks.map(() => svg("circle", { r: 3, class: "ideal" }));
          const hands = marks.map((mark, m) => svg("path", { class: `hand${m ? " second" : ""}` })), ends = marks.map((mark, m) => m ? svg("rect", { x: -4, y: -4, width: 8, height: 8 }) : svg("circle", { r: 4.5 }));
          group.append(svg("g", { transform: `translate(${DIAL[j]} 0)` }, svg("circle", { r: R, class: "even" }), ...ideal, ...hands, ...ends,
            svg("text", { x: R + 2, y: -R + 9, class: "mark wave-of" }, `×${k}`)));
          return { k, ideal, hands, ends };
        });
        return { power, group, switches, dials };
      });
      const image = svg("svg", { viewBox: `0 0 236 ${ROW * powers.length}`, width: 236, height: ROW * powers.length, role: "img", "aria-label": label }, ...parts.map(x => x.group));
      return { image, parts };
    }
    // values: for each mark what was read; residues: where the hands would be.
    function move({ image, parts }, values, residues, halves = false) {
      const words = parts.map(({ power, switches, dials }, i) => values.map((value, m) => {
        const { zero, hands } = value[i], share = Math.max(0, Math.min(1, zero)), { knob, top } = switches[m];
        knob.setAttribute("cx", (39 + 16 * share).toFixed(1));
        knob.setAttribute("cy", top);
        knob.setAttribute("class", share > 0.5 ? "knob on" : "knob");
        dials.forEach(({ k, ideal, hands: lines, ends }, j) => {
          const [x, y] = hands[j], long = Math.hypot(x, y) || 1e-9, size = R * Math.min(1, long) / long, end = [y * size, -x * size].map(z => z.toFixed(1));
          lines[m].setAttribute("d", `M0 0L${end.join(" ")}`);
          ends[m].setAttribute("transform", `translate(${end.join(" ")})`);
          const place = power.places[residues[m] % power.q], on = place[0] === power.rings && !halves;
          ideal[m].setAttribute("transform", on ? `translate(${at(0, R, k * place[1]).map(z => z.toFixed(1)).join(" ")})` : "translate(-999 0)");
        });
        return `modulo ${power.q} ${share > 0.5 ? "zero" : hands.map(([x, y]) => `${Math.round(((Math.atan2(y, x) / Math.PI * 180) + 360) % 360)}°`).join(" and ")}`;
      }).join("; "));
      image.setAttribute("aria-label", words.join(", "));
    }
    function heads(W) {
      const bars = W.scores.map((_, h) => [0, 1, 2].map(i => svg("rect", { y: 20 * h + 3, height: 14, class: `share-${i}` })));
      const texts = W.scores.map((_, h) => svg("text", { x: 232, y: 20 * h + 15, class: "mark wide" }));
      const image = svg("svg", { viewBox: `0 0 236 ${20 * bars.length}`, width: 236, height: 20 * bars.length, role: "img", "aria-label": "Heads" },
        ...bars.flatMap((own, h) => [svg("text", { x: 0, y: 20 * h + 15, class: "mark" }, `head ${h}`), ...own, texts[h]]));
      return { image, show(net, a, b) {
        bars.forEach((own, h) => {
          const share = pattern(net, h, a, b);
          let x = 48;
          own.forEach((rect, i) => { rect.setAttribute("x", x); rect.setAttribute("width", 118 * share[i]); x += 118 * share[i]; });
          texts[h].textContent = `a ${(100 * share[0]).toFixed(0)} b ${(100 * share[1]).toFixed(0)}`;
        });
        image.setAttribute("aria-label", bars.map((_, h) => `head ${h}: ${percent(pattern(net, h, a, b)[0])} on a`).join(", "));
      } };
    }
    // A cell for each neuron, sorted by the prime that it depends on most.
    function cells(W) {
      const count = W.W_in.length, across = 64, order = families ? families.map((f, j) => [f, j]).sort((x, y) => x[0] - y[0] || x[1] - y[1]).map(x => x[1]) : Array.from({ length: count }, (_, j) => j);
      const marks = order.map((j, i) => svg("rect", { x: i % across * 3.68, y: Math.floor(i / across) * 5, width: 3.2, height: 4.4, style: families ? own(powers[families[j]].prime) : "--own: var(--muted)", class: "cell-of" }));
      const height = Math.ceil(count / across) * 5, image = svg("svg", { viewBox: `0 0 236 ${height}`, width: 236, height, role: "img", "aria-label": "Neurons" }, ...marks);
      return { image, show(mlp) {
        order.forEach((j, i) => {
          const share = Math.min(1, mlp[j] / (W.largest?.[j] || 1)).toFixed(2);
          if (marks[i].share !== share) marks[i].setAttribute("fill-opacity", marks[i].share = share);
        });
        image.setAttribute("aria-label", `${mlp.filter(x => x > 0).length} of ${count} neurons are active`);
      } };
    }
    // The mean score of each remainder, as on the dials above.
    function petals() {
      const parts = powers.map((power, i) => {
        const all = units(power), half = 0.41 / all.length, marks = power.places.map((_, r) => all.includes(r) ? svg("path") : svg("circle"));
        const caption = svg("text", { x: 200, y: 5, class: "mark wide" });
        const group = svg("g", { style: own(power.prime), transform: `translate(0 ${ROW * i + ROW / 2})` }, svg("text", { x: 12, y: 5, class: "name" }, power.q), svg("g", { transform: "translate(80 0)" }, ...marks), caption);
        return { power, all, half, marks, caption, group };
      });
      const image = svg("svg", { viewBox: `0 0 236 ${ROW * powers.length}`, width: 236, height: ROW * powers.length, role: "img", "aria-label": "Votes" }, ...parts.map(x => x.group));
      return { image, show(logits, answer) {
        for (const { power: { q, places }, all, half, marks, caption } of parts) {
          const sums = new Array(q).fill(0);
          logits.forEach((x, c) => { sums[c % q] += x * q / n; });
          const middle = sums.reduce((x, y) => x + y) / q;
          marks.forEach((mark, r) => {
            const size = Math.max(0, Math.min(1, 0.5 + 0.5 * (sums[r] - middle) / (scales[q][all.includes(r) ? 0 : 1] || 1)));
            if (all.includes(r)) mark.setAttribute("d", petal(0, 8, 9 + 23 * size, places[r][1], half));
            else mark.setAttribute("r", (6 * Math.sqrt(size)).toFixed(1));
            mark.setAttribute("class", r === answer % q ? "petal got" : "petal");
          });
          const best = sums.indexOf(Math.max(...sums));
          caption.textContent = `most for ${best}`;
        }
        image.setAttribute("aria-label", parts.map(x => `modulo ${x.power.q} ${x.caption.textContent}`).join(", "));
      } };
    }
    function built(W) {
      const flow = part => box.querySelector(`[data-flow=${part}]`), drawings = { embedding: rows("Embedding", ["a", "b"]), attention: rows("Attention", [""]), mlp: rows("MLP", [""]), last: petals() };
      for (const part of PARTS) flow(part).replaceChildren(drawings[part].image);
      drawings.heads = heads(W);
      drawings.cells = cells(W);
      flow("attention").append(drawings.heads.image);
      flow("mlp").append(drawings.cells.image);
      drawings.answer = html("output", { class: "answer" });
      flow("last").append(drawings.answer);
      return drawings;
    }

    // ---- what is chosen ---------------------------------------------------------------------------
    const chosen = () => strata.get("swap").split(".").filter(x => PARTS.includes(x));
    // To the network with these parts replaced, and count what it answers rightly.
    async function change(parts) {
      const key = parts.join("."), say = box.querySelector(".readout");
      name = key;
      say.textContent = "…";
      const changed = await swaps.swapped(parts);
      if (name !== key) return;
      net = changed;
      strata.redraw("parts");
      const words = parts.length ? `${parts.map(x => NAMES[x]).join(", ")} replaced` : "as trained";
      const step = (right, count) => { say.textContent = `${run.run}, ${words}: ${many(right)} of the ${many(count)} pairs asked so far are right …`; };
      const right = await swaps.count(changed, step, () => name === key);
      if (right !== null) say.replaceChildren(`${run.run}, ${words}: `, html("b", {}, `${many(right)} of ${many(n * n)} pairs right`), ` (${percent(right / n ** 2)}), counted in this page.`);
    }
    let run = null;
    strata.screen("parts", (_, width, now) => {
      if (!shown) return;
      const parts = chosen(), { a, b } = now;
      latest = [a, b];
      for (const button of box.querySelectorAll(".swap")) button.setAttribute("aria-pressed", parts.includes(button.dataset.part));
      if (parts.join(".") !== name) change(parts);
      const { mlp, out, logits } = forward(net, a, b), answer = logits.indexOf(Math.max(...logits));
      const values = [a, b].map(x => reading.embedding(net.W_E[x]));
      move(shown.embedding, values.map(read), [a, b]);
      move(shown.attention, [read(values[0].map((x, i) => (x + values[1][i]) / 2))], [a * b % n], true);
      move(shown.mlp, [read(reading.mlp(out))], [a * b % n]);
      shown.heads.show(net, a, b);
      shown.cells.show(mlp);
      shown.last.show(logits, answer);
      shown.answer.textContent = answer === a * b % n ? `${answer} ✓` : `${answer} ✗ it is ${a * b % n}`;
    }, () => {
      for (const button of box.querySelectorAll(".swap")) button.onclick = () => {
        const parts = chosen(), { part } = button.dataset;
        strata.set({ swap: PARTS.filter(x => parts.includes(x) !== (x === part)).join(".") || null });
      };
    }, ["swap"]);
    strata.load(strata.headline).then(found => {
      run = found;
      if (run.model) prepare(weights(run));
    });
  }
}
