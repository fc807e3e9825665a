"""Any model, measured as the pipeline measures its runs: numbers, and frames of them.

The levels are those of params.yaml of the clone, whose study measures the mechanism. Without a
split nothing is said of training and validation.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from strata import params, results, store
from strata.api import circuits, operations, repository, splits
from strata.api.model import Model, Source
from strata.api.operations import Tried
from strata.api.outside import Outside
from strata.inputs import InputError
from strata.measure import all_pairs, metrics
from strata.measure.metrics import ClassMetrics, Metrics
from strata.monoid import JClass, axis_primes
from strata.run import Run, read_yaml
from strata.task import MULTIPLICATION, pair_table, task_of

NOT_STATED = "not stated"
MECHANISM = Path("studies/mechanism/stages/measure.py")
LOGITS = Path("studies/mechanism/code/any_network.py")  # of what embedding and logits say
AGREES = 0.02  # what a file records may be of the weights one step before


def analyse(
    model: Model | None = None,
    split: Any = None,
    *,
    embedding: Any = None,
    logits: Any = None,
    n: int | None = None,
    task: Any = None,
    repository: str | Path | None = None,
) -> "Analysis":
    """Everything that the pipeline measures of a run, of any model; of a network of any other shape
    what its embedding and logits say.

    split: the pairs that trained and validated, as ``splits.table`` takes them; it is held against
    the accuracies that the file of the weights records, if any. embedding, logits, n, task: in the
    place of a model, as ``outside.Outside`` takes them. repository: a clone, as ``load`` takes it.
    Raises InputError for a split that cannot be that of the model.
    """
    whole, rest = isinstance(model, Model), [x is not None for x in (embedding, logits)]
    if (model is None) == whole or rest != [not whole] * 2:
        how = "give a model, as from_weights makes one of a file, or both embedding and logits"
        raise InputError(f"analyse: {how}")
    return Analysis(model or Outside(embedding, logits, n, task), split, repository)


class Analysis:
    """Numbers of one network: ``metrics`` as a typed object, the properties as frames."""

    def __init__(self, model: Model | Outside, split: Any, where: str | Path | None):
        self.model, self.n, self.task = model, model.n, model.task
        self.top = repository.folder(where)
        self.levels = params.load(self.top / "params.yaml").metrics
        self.run = run_of(model)
        self.recorded = model.source.recorded if model.source else {}
        pairs = pair_table(self.task) if split is None else splits.table(split, self.task)
        self.history = history(self.recorded)
        self.weights = model.weights()
        whole = isinstance(model, Model)
        self.forward = (
            all_pairs.over_all_pairs(self.weights, self.task) if whole else model.over_all_pairs()
        )
        found = metrics.run_metrics(
            self.run, self.weights, pairs, self.history, self.forward, self.levels,
            self.task,
        )  # fmt: skip
        own: dict[str, Any] = {"seed": self.run.seed if model.run else self.recorded.get("seed")}
        if not whole:
            own |= {"architecture": NOT_STATED, "neurons": None}
        self.metrics: Metrics = found.model_copy(update=own)
        if split is not None:
            self._agrees()

    @property
    def name(self) -> str:
        """The file or the run, and what was done to it."""
        source = self.model.source
        return ", ".join([source.name if source else str(self.run), *self.model.changed])

    @property
    def by(self) -> str:
        """How the direct factors of the task are named: residues have prime powers."""
        return "modulo" if self.task.modulus else "factor"

    def _agrees(self) -> None:
        """Raises InputError where the split is not the one that the file's accuracies are of."""
        if self.model.changed:
            return
        for kind, said in self.stated_accuracies().items():
            ours = getattr(self.metrics.accuracy, kind)
            if ours is not None and abs(ours - said) > AGREES:
                both = f"{ours:.1%} of its {kind} pairs are right, the file records {said:.1%}"
                raise InputError(f"split: {both}: it is not that of these weights")

    def stated_accuracies(self) -> dict[str, float]:
        """The last accuracies that the file of the weights records."""
        if not len(self.history):
            return {}
        last = self.history.iloc[-1]
        named = {x: float(last[f"{x}_accuracy"]) for x in ("train", "validation")}
        return {name: x for name, x in named.items() if not np.isnan(x)}

    @property
    def accuracy(self) -> pd.DataFrame:
        """Right answers, over which pairs; of training and validation with a split alone."""
        found, counts = self.metrics.accuracy, self.metrics.pairs
        rows: list[tuple[str, int | None, float | None]] = [("all", self.n**2, found.all)]
        if counts:
            rows += [("training", counts.train, found.train)]
            rows += [("validation", counts.validation, found.validation)]
            rows += [("validation, no mirror in training", None, found.mirror_free)]
        if len(powers := [*self.task.factors]) > 1:
            rows += [(f"all, {self.by} {q}", self.n**2, self._right(q)) for q in powers]
        sizes = np.bincount(pair_table(self.task)["class_c"])
        rows += [(f"ab in J{d}", int(sizes[d]), x) for d, x in found.by_target.items()]
        frame = pd.DataFrame(rows, columns=["pairs", "count", "right"])
        return frame.dropna(subset="right").astype({"count": "Int64"})

    def _right(self, q: int) -> float:
        """How often the answer is right modulo q."""
        shown = self.task.modulo(q)
        return float((shown[self.forward.prediction] == shown[self.task.table.ravel()]).mean())

    @cached_property
    def tried(self) -> list[Tried]:
        """The operations that the answers were compared with; the first is the task."""
        return operations.compared(self._square, self.task, self.levels.accuracy)

    @property
    def _square(self) -> Int[np.ndarray, "n n"]:
        return self.forward.prediction.reshape(self.n, self.n)

    @property
    def answers(self) -> pd.DataFrame:
        """What the answers are: the task, and where it is seldom right other operations that were
        tried; the share of pairs in which each gives the answer, and what ``task`` calls it."""
        return pd.DataFrame(self.tried)

    @property
    def elsewhere(self) -> bool:
        """Whether most answers are an operation of which the measures of the task say nothing: a
        constant may be on the way to the task."""
        found = operations.known(self.tried, operations.most_frequent(self._square))
        return found not in (None, self.tried[0])

    @property
    def classes(self) -> pd.DataFrame:
        """Algebra, spectrum and dimension of each class; missing for a class of one element."""
        names = ["d", "m", "size", "regular", "key", "total", *metrics.SPECTRUM]
        rows = []
        for c in self.metrics.classes:
            pca = {"components": c.pca.components, "random": c.pca.random_mean} if c.pca else {}
            keys = " ".join(",".join(map(str, k)) for k in c.key_frequencies or ())
            group = " x ".join(f"Z{q}" for q in c.orders if q > 1)
            own = {name: getattr(c, name) for name in names}
            more = {"group": group, "key_frequencies": keys, "note": without_content(c)}
            rows.append(own | pca | more)
        return pd.DataFrame(rows).astype({"key": "Int64", "total": "Int64"})

    @property
    def spectra(self) -> pd.DataFrame:
        """Share of the energy of each class at each frequency, and whether that is key."""
        parts = []
        for c in self.metrics.classes:
            if c.key_frequencies is not None:
                share = circuits.spectrum(self.weights, self.task, c.d)
                frame = pd.DataFrame({"d": c.d, "frequency": share.index, "share": share.values})
                key = frame["frequency"].isin(c.key_frequencies)
                parts.append(frame.assign(key=key, note=without_content(c)))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @property
    def character_fit(self) -> pd.DataFrame:
        """How much of the logits of each class characters explain."""
        names = ["r2", "r2_ceiling", "r2_product", "r2_uniform", "r2_all", "prompts"]
        rows = [
            {"d": c.d, "note": without_content(c)}
            | {name: getattr(c.character_fit, name) for name in names}
            for c in self.metrics.classes
            if c.character_fit
        ]
        return pd.DataFrame(rows, columns=["d", *names, "note"])

    @property
    def heads(self) -> pd.DataFrame:
        """OV circuit and pattern of each head."""
        rows = [
            (h.head, h.ov.components, h.ov.of, h.self_attention.mean, h.block_score,
             h.block_score_shuffled.mean)
            for h in self.metrics.heads
        ]  # fmt: skip
        names = ["head", "ov_components", "ov_of", "self_attention", "block_score", "shuffled"]
        return pd.DataFrame(rows, columns=names)

    @property
    def neurons(self) -> pd.DataFrame:
        """Neurons by the prime power that explains most of each, and what it explains of all."""
        found = self.metrics.neurons
        rows = [(q, found.neurons[q], found.modulo[q]) for q in found.modulo] if found else []
        own = "prime_power" if self.task.modulus else "factor"
        return pd.DataFrame(rows, columns=[own, "neurons", "explained"])

    @cached_property
    def changes(self) -> pd.DataFrame:
        """What is right after each change of the network, of all pairs and modulo prime powers."""
        if not self.metrics.finite or isinstance(self.model, Outside):
            return pd.DataFrame()
        powers = list(self.task.factors)
        rows = [
            (name, *x.accuracies(None, *powers), note)
            for name, x, note in self._changed(self.model)
        ]
        names = [*(f"{self.by} {q}" for q in powers), "note"]
        return pd.DataFrame(rows, columns=["change", "all", *names])

    def _changed(self, model: Model) -> Iterator[tuple[str, Model, str]]:
        """Each change, the model, and why it says nothing, where it does not."""
        every = all(c.key == c.total for c in self.metrics.classes)
        nothing, means = "every character is key: ", "class means are left"
        yield "none", model, ""
        kept, rest = model.keeping_key_characters(), model.without_key_characters()
        yield "key characters alone", kept, f"{nothing}nothing is removed" * every
        yield "without key characters", rest, f"{nothing}{means}" * every
        units = self.task.jclass(1)
        for p in sorted({*axis_primes(units)} if isinstance(units, JClass) else ()):
            try:
                yield f"without the axis of {p}", model.without(prime=p), ""
            except InputError:  # no key character lies on it alone
                continue
        for h in range(len(self.metrics.heads)):
            yield f"without head {h}", model.without(head=h), ""

    @cached_property
    def mechanism(self) -> pd.DataFrame:
        """What studies/mechanism measures and says, a row each (``strata.results``); none without
        it, and of another task than (Z_n, ·). Of embedding and logits: accounts, votes, the law of
        the bias."""
        known = (self.top / MECHANISM).is_file() and self.task is task_of(self.n)
        if not known or not self.metrics.finite:
            return results.read_rows()
        own = read_yaml(self.top / "studies/params.yaml")["mechanism"]["measures"]
        settings = own | {"key_threshold": self.levels.key_threshold}
        script, arrays = MECHANISM, self.weights
        if isinstance(self.model, Outside):
            logits = np.concatenate([x for _, _, x in self.model.blocks()])
            script, arrays = LOGITS, self.weights | {"logits": logits}
        with TemporaryDirectory() as scratch:
            paths = [f"{scratch}/{x}" for x in ("settings", "arrays", "found")]
            Path(paths[0]).write_text(json.dumps(settings))
            content = store.tensors_bytes(arrays, imported(self.model, self.run))
            store.write_bytes(Path(paths[1]), content)
            self.in_clone(str(script), str(self.run), *paths)
            return results.read_rows(paths[2])

    def in_clone(self, script: str, *words: str) -> None:
        """Run a script of the clone, whose code no library imports. Raises InputError."""
        own = {"PYTHONSAFEPATH": "1", "PYTHONPATH": "src:.", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, script, *words], cwd=self.top, env=os.environ | own,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise InputError(f"{script}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")

    def write_weights(self, path: Path) -> None:
        """The weights as a file of ours, which says that they are imported. Embedding and
        logits are none."""
        store.write_bytes(path, store.tensors_bytes(self.weights, imported(self.model, self.run)))

    @property
    def training(self) -> pd.DataFrame:
        """What is known of the model and its training; what no file states is said to be so."""
        W, stated = self.weights, self.recorded.get("train") or {}
        whole = self.task.modulus == self.n
        rows: dict[str, Any] = {"modulus": self.n} if whole else {"task": self.task}
        if isinstance(self.model, Model):
            sizes = W["W_E"].shape[1], len(self.metrics.heads), len(W["W_out"])
            rows |= {
                "kind": self.metrics.architecture,
                "d_model, heads, neurons": ", ".join(map(str, sizes)),
                "parameters": sum(x.size for x in W.values()),
                "seed": self.metrics.seed,
                "epochs": self.metrics.epochs or stated.get("epochs"),
                "learning rate": stated.get("lr"),
                "weight decay": stated.get("weight_decay"),
            }
        if (loss := self.metrics.final_loss) is not None:
            rows["last loss"] = f"{loss:.3g}"
        for kind, x in self.stated_accuracies().items():
            rows[f"{kind} accuracy, as recorded"] = f"{x:.4g}"
        said = [(name, NOT_STATED if x is None else str(x)) for name, x in rows.items()]
        return pd.DataFrame(said, columns=["of", "stated"])

    @cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        """All frames but the mechanism, which takes longer, by name."""
        names = ("training", "answers", "accuracy", "changes", "classes", "spectra")
        return {name: getattr(self, name) for name in (*names, "character_fit", "heads", "neurons")}


def without_content(c: ClassMetrics) -> str:
    """Why the key frequencies of a class say nothing; empty where they do."""
    if c.total == 1:
        return "two elements: one frequency, which has all"
    return "every frequency is key" if c.key is not None and c.key == c.total else ""


def run_of(model: Model | Outside) -> Run:
    """The run, or for a model from elsewhere the name by which the pipeline calls it."""
    if model.run:
        return model.run
    source = model.source or Source("model", "")
    variant = re.sub(r"[^a-z0-9]", "", Path(source.name).stem.lower()) or "model"
    seed = source.recorded.get("seed")
    own = seed if isinstance(seed, int) and seed >= 0 else 0
    return Run(model.task.modulus or model.n, own, variant)


def imported(model: Model | Outside, run: Run) -> dict[str, Any]:
    """What the metadata of a weights file says of a model that was not trained here."""
    source = model.source or Source(str(run), "")
    origin = {"file": source.name, "format": source.format, "sha256": source.sha256}
    other = {} if model.task.said == MULTIPLICATION else {"split": {"task": model.task.said}}
    return {"run": str(run), "imported": origin} | other


def history(recorded: Any) -> pd.DataFrame:
    """Loss and accuracies per epoch where a file of the published format records them; else none.

    A validation at epoch 0 comes before the first row and is left out; there is no mirror-free
    accuracy. Raises InputError where the lists do not fit each other.
    """
    losses, train = recorded.get("losses"), recorded.get("train_accs")
    if not losses or train is None:
        return store.no_history()
    when, known = recorded.get("eval_epochs", []), recorded.get("eval_accs", [])
    epochs = len(losses)
    if len(train) != epochs or len(when) != len(known):
        raise InputError("must have a train_acc for each loss, an eval_acc for each epoch")
    if [*when] != sorted({*when}) or not {*when} <= {*range(epochs + 1)}:
        raise InputError(f"eval_epochs must be rising epochs from 0 to {epochs}")
    validation = np.full(epochs + 1, np.nan)
    validation[list(when)] = known
    return pd.DataFrame(
        {
            "epoch": np.arange(1, epochs + 1, dtype=np.int32),
            "loss": np.array(losses, dtype=np.float32),
            "train_accuracy": np.array(train, dtype=float),
            "validation_accuracy": validation[1:],
            "mirror_free_accuracy": np.full(epochs, np.nan),
        }
    )
