"use strict";
// The votes of the primes: a candidate is a cell, in the row of its remainder modulo a prime near √n and the column of that
// modulo all others together; the votes of one prime light a row or stripes, and their sum one cell. Made by
// studies/mechanism/code/picture.py: y ≈ Σ_p g_p(q mod p, c).
(() => {
  const box = document.getElementById("votes-picture");
  if (!strata.front || !box) return;
  const { turner, hero, gcd } = strata.front, { svg, html, own, percent, many, say } = strata.draw, { J } = strata.theme, { unpack } = strata.model;
  const $ = id => document.getElementById(id), every = n => Array.from({ length: n }, (_, q) => q), inside = (n, d) => every(n).filter(q => gcd(q, n) === d);
  const best = x => x.indexOf(Math.max(...x));
  const centred = x => { const mean = x.reduce((sum, y) => sum + y, 0) / x.length; return x.map(y => y - mean); };
  let nets = null, drawn = null; // all networks of the picture; what is drawn of one of them

  strata.picture = found => {
    const read = (of, make) => Object.fromEntries(Object.entries(of).map(([d, x]) => [d, make(x)]));
    nets = found.map(x => {
      const primes = x.powers.map(({ q }) => q), count = Object.keys(x.classes).length;
      return { ...x, primes, fits: read(x.fits, votes => votes.map(unpack)), cache: {},
        classes: read(x.classes, y => ({ class: unpack(y.class)[0], quotient: unpack(y.quotient)[0] })),
        // Votes: for each candidate 1 + Σ (p − 1). Classes: each for each candidate, and for each ratio, less a mean that both have.
        free: { votes: x.n * primes.reduce((sum, p) => sum + p - 1, 1), classes: x.n * count + x.n - count } };
    });
    which();
    strata.redraw("votes");
  };
  // What the address says: which network, a pair, whose votes are muted, whether the product's class is left out of the fit.
  function chosen() {
    const net = nets.find(x => x.run === strata.get("net")) ?? nets[0], { n, primes } = net;
    const [a, b] = ["a", "b"].map((key, i) => strata.whole(strata.get(key), Infinity, hero.pair[i]) % n);
    const q = a * b % n, d = gcd(q, n), muted = strata.get("mute").split(".").map(Number).filter(p => primes.includes(p));
    return { net, a, b, q, d, muted, left: strata.get("left") === "out" && d in net.fits };
  }
  const added = (net, votes, q, muted) => Float64Array.from({ length: net.n }, (_, c) =>
    net.primes.reduce((sum, p, i) => muted.includes(p) ? sum : sum + votes[i][q % p][c], 0));
  // The same by classes: the class of q scores all candidates, and inside of it counts the quotient.
  function sorted(net, q, d) {
    const { class: f, quotient: h } = net.classes[d], m = net.n / d;
    return Float64Array.from(f, (x, c) => gcd(c, net.n) === d ? x + h[Array.from({ length: m }, (_, u) => u).find(u => (u * c - q) % m === 0)] : x);
  }
  // The products that votes answer rightly: of all, or of the class that is left out.
  const rightly = (net, name, muted) => net.cache[`${name} ${muted}`] ??= (name === "all" ? every(net.n) : inside(net.n, name))
    .filter(q => best(added(net, net.fits[name], q, muted)) === q);
  const pairs = (net, products) => products.reduce((x, q) => x + net.N[q], 0) / net.n ** 2;

  // ---- grids -----------------------------------------------------------------------------------
  const UNIT = 20, inRows = ({ n, primes }) => primes.filter(x => x * x <= n).at(-1) ?? n;
  function grid({ n, primes }, label, discs, colour = "var(--ink)") {
    const p = inRows({ n, primes }), row = primes.indexOf(p), across = n / p, cells = [], dots = [], names = [];
    for (let c = 0; c < n; c++) {
      const [x, y] = [c % across * UNIT, c % p * UNIT];
      cells.push(svg("rect", { x, y, width: UNIT, height: UNIT, class: "box" }));
      if (discs) dots.push(svg("circle", { cx: x + UNIT / 2, cy: y + UNIT / 2, r: 4.5 }));
      names.push(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2 + 3.5, class: "name" }));
    }
    // Outside stand the remainders of rows and of columns. At the edge stands which rows and columns a prime votes for.
    const edges = primes.flatMap((prime, i) => Array.from({ length: i === row ? p : across }, (_, j) => Object.assign(i === row
      ? svg("rect", { x: -6, y: j * UNIT + 1, width: 4, height: UNIT - 2, class: "edge", style: own(prime) })
      : svg("rect", { x: j * UNIT + 1, y: -6 - 6 * i, width: UNIT - 2, height: 4, class: "edge", style: own(prime) }), { prime, j })));
    const sides = [...Array.from({ length: p }, (_, j) => svg("text", { x: -16, y: (j + 0.5) * UNIT + 3.5, class: "side" }, j)),
      ...Array.from({ length: across }, (_, j) => svg("text", { x: (j + 0.5) * UNIT, y: p * UNIT + 12, class: "side" }, j)),
      svg("text", { x: across * UNIT / 2, y: p * UNIT + 27, class: "side" }, `column: c mod ${across}`),
      svg("text", { transform: `translate(-29 ${p * UNIT / 2}) rotate(-90)`, class: "side" }, `row: c mod ${p}`)];
    const ring = svg("rect", { width: UNIT, height: UNIT, class: "most" }), top = 2 + 6 * primes.length, left = discs ? 40 : 2;
    const image = svg("svg", { viewBox: `${-left} ${-top} ${across * UNIT + left + 2} ${p * UNIT + top + (discs ? 31 : 2)}`, role: "img", "aria-label": label, class: "ballot", style: `--cell: ${colour}` },
      svg("rect", { width: across * UNIT, height: p * UNIT, class: "ground" }), ...cells, ...discs ? [...dots, ...edges, ring, ...names, ...sides] : []);
    return { image, cells, dots, names, ring, edges, at: c => [c % across * UNIT, c % p * UNIT] };
  }
  // Shades: x over the largest, nothing below zero. Cells are more or less opaque, which takes half the time of a colour of
  // its own for each; discs lie on them.
  const share = (x, most) => Math.max(0, Math.min(1, x / most)).toFixed(2);
  const shade = (marks, x, most, put) => marks.forEach((mark, c) => {
    const found = share(x[c], most);
    if (mark.shade !== found) put(mark, mark.shade = found);
  });
  const fill = (cells, x, most) => shade(cells, x, most, (cell, found) => cell.setAttribute("fill-opacity", found));
  const dot = (discs, x) => shade(discs, x, Math.max(...x), (disc, found) => {
    disc.style.fill = `color-mix(in srgb, var(--ink) ${(100 * found).toFixed(0)}%, var(--box))`;
  });
  const light = ({ edges }, on) => edges.forEach(edge => edge.classList.toggle("none", !on(edge)));

  function built(net) {
    box.querySelector(".ballots").replaceChildren();
    const small = strata.dials(box.querySelector(".ballots"), { powers: net.powers },
      { drag: turner(net.n), settle: strata.settle, scores: false, size: 130 });
    const ballots = net.primes.map((p, i) => {
      const own = grid(net, `What ${p} votes`, false, `var(--p${p}, var(--p3))`), says = html("p", { class: "says" });
      const mute = html("button", { type: "button", class: "cut" }, `mute ${p}`), lost = html("small", { role: "status" });
      mute.onclick = () => {
        const { muted } = chosen();
        strata.set({ mute: net.primes.filter(x => muted.includes(x) !== (x === p)).join(".") });
      };
      small.figures[i].append(says, own.image, mute, lost);
      return { ...own, says, mute, lost };
    });
    const sum = grid(net, "The votes, added", true), rival = grid(net, "Sorted first", true);
    const row = inRows(net), columns = net.primes.filter(p => p !== row).join(" and ");
    for (const [name, said] of [["row", row], ["columns", columns], ["across", net.n / row]]) document.querySelectorAll(`#votes .in-${name}`).forEach(x => { x.textContent = said; });
    box.querySelector(".added").replaceChildren(sum.image);
    box.querySelector(".rival").replaceChildren(rival.image);
    return { net, small, ballots, sum, rival };
  }
  // A grid of scores: its largest is ringed, red where it is not q; discs are the network's own scores.
  function put({ image, cells, dots, names, ring, at }, scores, own, q, label) {
    const most = Math.max(...scores), answer = most ? best(scores) : null;
    fill(cells, scores, most || 1);
    if (own) dot(dots, own);
    image.classList.toggle("bare", !own);
    ring.setAttribute("transform", `translate(${at(answer ?? 0)})`);
    ring.setAttribute("class", answer === null ? "none" : answer === q ? "most" : "most wrong");
    names.forEach((name, c) => {
      const said = c === answer || c === q ? `${c}` : "";
      if (name.textContent !== said) name.textContent = said;
      name.classList.toggle("in", c === answer);
    });
    image.setAttribute("aria-label", label);
  }

  // Which network is shown here, and which at the top.
  function which() {
    if (!nets) return;
    const { net } = chosen(), elsewhere = $("elsewhere"), away = net.run !== strata.headline;
    const back = () => act({ net: null, left: null }, `back to ${strata.headline}`);
    elsewhere.hidden = !away;
    elsewhere.replaceChildren(`These dials show ${strata.headline}, modulo ${hero.n}. The boards of votes below show ${net.run}, modulo ${net.n}: `, back(), ".");
    box.querySelector(".controls").replaceChildren(html("span", {}, "Shown: ", html("b", {}, net.run), `, modulo ${net.n}`), away ? back() : "");
  }
  function act(changes, words) {
    const button = html("button", { type: "button", class: "act" }, words);
    button.onclick = () => strata.set(changes);
    return button;
  }
  strata.listen(which);
  strata.ballot = { grid, put, light, best, centred };
  strata.screen("votes", () => {
    if (!nets) return;
    const now = chosen(), { net, a, b, q, d, muted, left } = now, { n, primes, run } = net, name = left ? d : "all", votes = net.fits[name];
    if (drawn?.net !== net) drawn = built(net);
    const { ballots, small } = drawn, most = Math.max(...primes.flatMap((p, i) => [...votes[i][q % p]])), model = strata.loaded(run);
    if (!model) strata.load(run).then(() => strata.redraw("votes"));
    const said = model && centred(strata.model.logits(model, a, b));
    small.show({ a, b, answer: null, means: null }, false);
    primes.forEach((p, i) => {
      const { cells, says, mute, lost, image } = ballots[i], on = !muted.includes(p);
      fill(cells, votes[i][q % p], most);
      image.classList.toggle("muted", !on);
      image.setAttribute("aria-label", `What ${p} votes: most for the ${n / p} candidates that are ${q % p} modulo ${p}`);
      says.replaceChildren("prime ", html("b", {}, p), ` votes for the ${n / p} that are `, html("b", {}, q % p), ` modulo ${p}`);
      mute.setAttribute("aria-pressed", !on);
      lost.textContent = on ? "" : `${percent(pairs(net, rightly(net, "all", muted)))} of pairs right`;
    });
    light(drawn.sum, ({ prime, j }) => !muted.includes(prime) && j % prime === q % prime);
    light(drawn.rival, () => false);
    const voted = added(net, votes, q, muted), answer = best(voted);
    put(drawn.sum, voted, said, q, `Votes added: most for ${answer}`);
    const classes = left ? new Float64Array(n) : sorted(net, q, d);
    put(drawn.rival, classes, said, q, left ? "Sorted first: nothing known" : `Sorted first: most for ${best(classes)}`);
    const size = inside(n, d).length, known = left && rightly(net, d, []).length;
    $("leave").disabled = size < 2;
    $("leave").setAttribute("aria-pressed", left);
    $("leave").textContent = size < 2 ? "0 is alone in its class" : `leave out ${J(d)}, the ${size} products like ${q}`;
    $("left").textContent = left ? `Fitted to all other classes, the votes answer ${known} of these ${size}.` : "";
    $("rival-says").textContent = left ? `Rules of other classes say nothing of ${J(d)}.` : `One form of it: the class of the product scores each answer, and inside the class an answer’s ratio to the product counts. With ${many(net.free.classes)} free numbers it explains ${percent(net.shares.classes)}. Votes have ${many(net.free.votes)}.`;
    $("added-says").textContent = `In ${run} they explain ${percent(net.shares.votes)}. Discs are for ${a} × ${b}.`;
    say(box, `${a} × ${b} = ${q} modulo ${n}. ${muted.length ? "The votes that are left" : "The votes"} say ${answer}${said ? `, the network says ${best(said)}` : ""}.`);
    for (const act of document.querySelectorAll("[data-set]")) act.setAttribute("aria-pressed", Object.entries(JSON.parse(act.dataset.set)).every(([key, value]) => strata.get(key) === (value ?? "")));
  }, () => {
    $("leave").onclick = () => strata.set({ left: chosen().left ? null : "out" });
    // Words that move the picture: each sets what it says.
    document.addEventListener("click", event => {
      const act = event.target.closest("[data-set]");
      if (!act) return;
      const wanted = JSON.parse(act.dataset.set), { to } = act.dataset, on = !to && act.getAttribute("aria-pressed") === "true";
      if (to) strata.goto(to);
      strata.set(on ? Object.fromEntries(Object.keys(wanted).map(key => [key, null])) : wanted);
    });
  });
  strata.front.later();
})();
