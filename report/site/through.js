"use strict";
// The embedding of a run at the checkpoints of its training: its spectra, and the residues on the components of the last
// one. Loaded when someone moves a slider away from the end.
{
  const { unpack } = strata.model, { many } = strata.draw, held = new Map();

  strata.through = data => held.set(data.run, { ...data, points: data.points.map(unpack),
    classes: Object.fromEntries(Object.entries(data.classes).map(([d, rows]) => [d, unpack(rows)])) });
  function spectrum(K, amplitudes) {
    if (!K.share.length || !amplitudes) return K;
    const energy = Array.from(amplitudes, x => x * x), sum = energy.reduce((x, y) => x + y) || 1, share = energy.map(x => x / sum);
    return { ...K, share, fve: K.key.reduce((x, i) => x + share[i], 0) };
  }
  // The run as it was at a checkpoint: keys are those of the end.
  function at(run, i) {
    const found = held.get(run.run), { epochs, right, classes, points, share } = found, correct = right[i];
    return { ...run, classes: run.classes.map(K => spectrum(K, classes[K.d]?.[i])),
      pca: { share: share[i], points: Array.from({ length: run.n }, (_, a) => [0, 1, 2].map(k => points[k]?.[i][a] ?? 0)) },
      when: `Epoch ${many(epochs[i])}` + (correct === null ? "" :
        `, ${(100 * correct).toFixed(1)} % of mirror-free pairs right`) };
  }
  // The same when it is there; `again` is called when it is. Null until then.
  strata.at = (run, i, again) => {
    if (held.has(run.run)) return at(run, i);
    strata.script(`site/embedding-${run.run}.js`).then(() => again(null), again);
    return null;
  };
  // What a panel shows: the run at the checkpoint that its slider is at; the run itself at the last.
  strata.slid = (slot, run) => {
    const epochs = strata.runs().find(r => r.run === run.run)?.checkpoints ?? [], last = Math.max(epochs.length - 1, 0);
    const i = slot.slide("checkpoint", "checkpoint", 0, last, String(last), !last);
    return i === last ? run : strata.at(run, i, error => error ? slot.nothing(error.message) : slot.again());
  };
}
