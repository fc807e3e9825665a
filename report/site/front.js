"use strict";
// The front page: what is chosen, what the network makes of it, the dials at the top, and when each screen is drawn.
// At first the scores are those that the page holds of one pair; then all are computed from the weights.
addEventListener("DOMContentLoaded", () => {
  const data = document.getElementById("hero-data");
  if (!data) return;
  const hero = JSON.parse(data.textContent), { html, percent, many } = strata.draw, { n } = hero, $ = id => document.getElementById(id);
  const made = new Map(), screens = [], LATE = ["steps", "votes", "through", "hand", "screens", "inside", "swaps", "parts"];
  let run = null, asked = 0, smooth = false, resized = false, shared = null;

  // ---- what is chosen: the address has it ------------------------------------------------------
  const pair = () => ["a", "b"].map((key, i) => strata.whole(strata.get(key), n, hero.pair[i]));
  const change = () => hero.changes.find(x => x.name === strata.get("change")) ?? hero.changes[0];
  const cut = name => { smooth = true; strata.set({ change: name === hero.changes[0].name ? null : name }); };

  // ---- what the network does -------------------------------------------------------------------
  const network = which => {
    if (!made.has(which.name)) made.set(which.name, strata.network.changed(run, hero, which));
    return made.get(which.name);
  };
  function computed(which, a, b) {
    if (run?.model) return strata.model.forward(network(which), a, b);
    return which === hero.changes[0] && a === hero.pair[0] && b === hero.pair[1] ? { logits: hero.logits } : null;
  }
  const means = logits => hero.powers.map(({ q }) => {
    const sums = new Array(q).fill(0);
    logits.forEach((x, c) => { sums[c % q] += x * q / n; });
    return sums;
  });
  function state() {
    const [a, b] = pair(), which = change(), found = computed(which, a, b);
    return { a, b, change: which, run,
      answer: found ? found.logits.indexOf(Math.max(...found.logits)) : null, means: found && means(found.logits) };
  }

  // ---- the dials -------------------------------------------------------------------------------
  // To the residue modulo n that is r modulo q and as before modulo the others.
  const turner = n => (key, q, r) => {
    const now = pair()[key === "a" ? 0 : 1] % n, rest = n / q;
    strata.set({ [key]: Array.from({ length: q }, (_, i) => (now + i * rest) % n).find(x => x % q === r) }, true);
  };
  const dials = strata.dials($("dials"), hero, { drag: turner(n), settle: strata.settle, size: 230, labelled: hero.powers.at(-1).q });
  const scissors = hero.powers.map(({ prime }, i) => {
    const own = hero.changes.find(x => x.kind === "axis" && x.prime === prime);
    if (!own) return null;
    const button = html("button", { type: "button", class: "cut", "data-change": own.name });
    button.onclick = () => cut(change().name === own.name ? "none" : own.name);
    dials.figures[i].append(button);
    return { own, button };
  }).filter(x => x);

  // Of what goes wrong modulo a prime power, how much that is of what would by guessing; modulo 2 a zero says all.
  const ofGuessing = (wrong, q) => hero.chance[q] && wrong / hero.chance[q];
  const filled = (wrong, q) => `${100 * Math.min(1, ofGuessing(wrong, q))}%`;
  function bar(line, wrong, q) {
    line.querySelector("i").style.width = filled(wrong, q);
    line.querySelector("b").textContent = `${percent(wrong)}, ${Math.abs(ofGuessing(wrong, q) - 1) < 0.05 ? "as by guessing" : `by guessing ${percent(hero.chance[q])}`}`;
  }
  // How the primes vote, where nothing is done to the network; or else what is done, and what that does to the pair.
  function done({ a, b, answer, change: which }) {
    const product = a * b % n;
    if (which.kind === "none" && answer === product)
      return `${hero.powers.map(({ q }, i) => `${i ? "prime" : "Prime"} ${q}${i ? "" : " votes"} for ${n / q}${i ? "" : " answers"}`).join(", ")}: only ${product} gets all votes.`;
    const words = which.directions ? `${which.directions} of ${hero.width} directions cut` : strata.changed(which);
    const [wrong, right] = [false, true].map(is => hero.powers.map(({ q }) => q).filter(q => (answer % q === product % q) === is).join(" and "));
    const said = wrong ? `wrong modulo ${wrong}${right && `, right modulo ${right}`}` : "right";
    return `${words[0].toUpperCase()}${words.slice(1)}${answer === null ? "" : `: ${a} × ${b} is ${said}`}.`;
  }
  function verdict(now) {
    const { a, b, answer, change: which } = now;
    const product = a * b % n, uncut = which.kind !== "none" && answer !== product && !hero.changes.find(x => x.kind === "none").wrong.all;
    $("done").textContent = done(now);
    for (const [key, value] of [["a", a], ["b", b]]) $(key).value = value;
    const box = $("verdict");
    box.className = answer === null ? "" : answer === product ? "is-right" : "is-wrong";
    box.replaceChildren(...answer === null ? ["…"] : [uncut ? html("span", {}, `= ${product} ✓ uncut, now`) : "= ", html("b", {}, answer), ...hero.powers.map(({ q }) => {
      const right = answer % q === product % q;
      return html("span", { class: right ? "ok" : "off", title: `modulo ${q}` }, right ? "✓" : "✗", html("small", {}, ` mod ${q}`));
    }), answer === product || uncut ? "" : html("span", { class: "truth" }, `it is ${product}`)]);
    $("cost").classList.toggle("uncut", which.kind === "none");
    hero.powers.forEach(({ q }, i) => bar($("cost").children[i], which.wrong.modulo[q], q));
    for (const { own, button } of scissors) {
      const on = own.name === which.name;
      button.setAttribute("aria-pressed", on);
      button.replaceChildren(`✂ cut${on ? ":" : ""} ${own.directions} of ${hero.width}`, html("span", {}, " directions"));
    }
  }

  // ---- drawing: once a frame, only what is in view, and of a slider its screen alone -------------
  // What the address says that more than one screen may show.
  function common() {
    const query = new URLSearchParams(strata.address().split("?")[1]);
    screens.forEach(screen => screen.keys.forEach(key => query.delete(key)));
    return query.toString();
  }
  function draw() {
    asked = 0;
    const now = state(), { drawn } = document.documentElement.dataset;
    const name = `${now.a} ${now.b} ${now.change.name}${run ? "" : " first"}`, all = name !== drawn || resized;
    const before = shared;
    shared = common();
    if (all) {
      verdict(now);
      dials.show(now, smooth);
    }
    for (const screen of screens) {
      screen.stale ||= all || shared !== before || screen.keys.length > 0;
      if (screen.near && screen.stale) redraw(screen, now);
    }
    smooth = resized = false;
    performance.mark(run ? "ready" : "drawn");
    document.documentElement.dataset.drawn = name;
  }
  const later = () => { asked ||= requestAnimationFrame(draw); };
  function redraw(screen, now) {
    screen.stale = false;
    screen.draw(screen.box, Math.max(272, screen.box.clientWidth), now);
    screen.box.dataset.drawn = "";
  }
  const seen = new IntersectionObserver(found => found.forEach(({ target, isIntersecting }) => {
    const screen = screens.find(x => x.box === target);
    screen.near = isIntersecting;
    if (isIntersecting && screen.stale) redraw(screen, state());
  }), { rootMargin: "200px" });
  const gcd = (x, y) => y ? gcd(y, x % y) : x, classOf = c => hero.classes.findIndex(x => x.d === gcd(c, n));
  strata.front = { hero, cut, later, classOf, turner, gcd, filled };
  // keys: of the address, what this screen alone shows.
  strata.screen = (name, draw, setup = () => {}, keys = []) => {
    const box = $(`${name}-picture`);
    if (!box) return;
    setup(box);
    const screen = { box, draw, keys, near: false, stale: true };
    screens.push(screen);
    seen.observe(box);
  };
  strata.redraw = name => {
    const screen = screens.find(x => x.box.id === `${name}-picture`);
    screen.stale = true;
    if (screen.near) redraw(screen, state());
  };

  // What is typed is taken modulo n; what is no whole number is refused.
  for (const key of ["a", "b"]) $(key).onchange = ({ target: field }) => {
    const x = field.value === "" ? NaN : +field.value, value = (x % n + n) % n;
    $("reduced").textContent = !Number.isInteger(x) ? `${key} is a whole number.` : x === value ? "" : `${x} is ${value} modulo ${n}.`;
    if (!Number.isInteger(x)) return void (field.value = pair()[key === "a" ? 0 : 1]);
    smooth = true;
    field.value = value;
    strata.set({ [key]: value });
  };
  $("factors").onsubmit = event => event.preventDefault();
  $("another").onclick = () => {
    smooth = true;
    strata.set({ a: 1 + Math.floor(Math.random() * (n - 1)), b: 1 + Math.floor(Math.random() * (n - 1)) });
  };
  if (innerWidth <= 700) document.querySelectorAll(".deep").forEach(x => { x.open = false; });
  // A link inside the page keeps the choices.
  document.addEventListener("click", event => {
    const link = event.target.closest("a[href^='#']");
    if (!link || link.className === "skip") return;
    event.preventDefault();
    strata.goto(link.hash.slice(1));
  });
  strata.listen(later);
  let wide = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== wide) { wide = innerWidth; resized = true; later(); } });
  addEventListener("beforeprint", () => { const now = state(); screens.forEach(x => redraw(x, now)); });
  draw();
  // The weights when somebody is there, or else a while after the first picture.
  const inTurn = names => names.reduce((before, name) => before.then(() => strata.script(`site/${name}.js`)), Promise.resolve());
  const load = () => inTurn(["model", "network"]).then(() => strata.load(strata.headline)).then(found => {
    if (run) return;
    run = found;
    document.documentElement.dataset.run = run.run;
    if (run.fidelity) {
      const { pairs, answers } = run.fidelity;
      $("kept").textContent = `Computed in this page from weights of 8 bits, which change ${pairs - answers} of ${many(pairs)} answers.`;
    }
    draw();
  }, error => { $("kept").textContent = error.message; });
  // The pictures of the screens, one after the other, once somebody is there.
  let late = null;
  const pictures = () => late ??= inTurn(LATE).then(() => { if (hero.picture?.length) strata.script("site/picture.js"); });
  const wake = () => load().then(pictures);
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll", "focusin"]) addEventListener(kind, wake, { once: true, passive: true });
  if (state().answer === null) wake(); else setTimeout(wake, 3000);
});
