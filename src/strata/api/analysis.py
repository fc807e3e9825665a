"""Measure any model as the pipeline measures its runs, and return numbers and frames of them.

The levels are those of params.yaml, in the clone or in the package, as is the code of the study
that measures the mechanism. Without a split nothing is measured of training and validation.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int

from strata import params, results, store
from strata.api import algebra, circuits, clones, outside, splits, tasks, votes
from strata.api.algebra import Reading
from strata.api.foreign import from_weights, names_run, read_as
from strata.api.model import Model, Source, residues
from strata.api.outside import Outside
from strata.api.repository import load
from strata.api.votes import Blocks, Votes
from strata.inputs import InputError
from strata.measure import all_pairs, metrics
from strata.measure.activations import BLOCK, answers
from strata.measure.all_pairs import AllPairs
from strata.measure.metrics import ClassMetrics, Metrics
from strata.monoid import JClass, axis_primes, prime_powers
from strata.picture import Picture
from strata.results import Row
from strata.run import Run, read_yaml
from strata.tables.format import share
from strata.task import MULTIPLICATION, pair_table, task_of

NOT_STATED = "not stated"
MECHANISM = Path("studies/mechanism/code/any_network.py")
LONGEST = 10**7  # epochs of a history
AGREES = 0.02  # a file may record the accuracy of the weights one step before


def analyse(
    source: Any = None,
    split: Any = None,
    *,
    n: int | None = None,
    embedding: Any = None,
    logits: Any = None,
    task: Any = None,
    n_heads: int | None = None,
    rename: Mapping[str, str] | None = None,
    repository: str | Path | None = None,
    **others: Any,
) -> "Analysis":
    """Measure everything that the pipeline measures of a run, for any model; of a network of any
    other shape what its logits and its embedding say.

    source: a model, what ``train_model`` returns, the name of a run, or what ``from_weights`` makes
    one of, with n, n_heads and rename as there: a file, a module, a state dict. A module is
    compared with its own forward on all pairs; where this gives other logits than what was read
    from its weights, or they cannot be read, its own logits are measured. logits, embedding: in the
    place of a source, as ``outside.Outside`` takes them; logits alone will do. split: the pairs
    that trained and validated, as ``splits.table`` takes them; it is compared with the accuracies
    that the file of the weights records, if any. task: another operation than ab mod n: a name such
    as "C21", a Cayley table (a file, an array, nested lists, a frame), or "answers", the network's
    own table. repository: a clone, as ``load`` takes it. Raises InputError, which ends with what to
    do.
    """
    for name, x in others.items():
        allowed = ", ".join([*inspect.signature(analyse).parameters][:-1])
        hint = f"; give n_heads={x}" * (name == "heads")
        raise InputError(f"analyse: {name} = {x!r:.20}: must be one of {allowed}{hint}")
    if (source is None) == (logits is None) or (source is not None and embedding is not None):
        how = "a file, a module or a model, or logits=net with or without embedding=W_E"
        raise InputError(f"analyse: must have one network: {how}")
    if callable(source) and not isinstance(source, Mapping) and not hasattr(source, "state_dict"):
        raise InputError("analyse: a function: must be strata.analyse(logits=FUNCTION)")
    if isinstance(source, tuple):  # a Training
        source = getattr(source, "model", source)
    if names_run(source):
        source = load(str(source), repository)
    if isinstance(split, int):
        raise InputError(f"analyse: split = {split}: must be pairs; the modulus is n={split}")
    by_answers = isinstance(task, str) and task == tasks.ANSWERS
    named = None if by_answers else task
    if logits is not None:
        network = Outside(embedding, logits, n, named)
    elif isinstance(source, Model):
        if named is None and n not in (None, source.n):
            raise InputError(f"n = {n}: must be {source.n}, that of the model; leave it out")
        network = source if named is None else with_task(source, named, n)
    else:
        weights: Any = source
        try:
            network = from_weights(weights, n, n_heads=n_heads, rename=rename, task=named)
        except InputError as error:
            if not isinstance(source, torch.nn.Module) or n_heads or rename:
                raise
            network = outside.in_its_place(source, n, named, error)
        if isinstance(source, torch.nn.Module) and isinstance(network, Model):
            network = outside.checked(source, network, read_as(network))
    analysis = Analysis(network, split, repository, stated=task is not None)
    if not by_answers:
        return analysis
    table = analysis.table
    if isinstance(network, Outside):
        network.task = tasks.task_with(table, network.n)
    else:
        network = with_task(network, table, network.n)
    return Analysis(network, split, repository, stated=True)


def with_task(model: Model, task: Any, n: int | None) -> Model:
    """Return the model as one of another task. n: the modulus, where the task is a part of its
    residues. Raises InputError where the task has another number of elements."""
    other = tasks.task_with(task, n or model.task.modulus or model.n, model.n)
    return type(model)(model.run, model.weights(), model.source, model.changed, other)


class Analysis:
    """An ``Analysis`` has the numbers of one network: ``metrics`` as a typed object, the properties
    as frames. They are about its ``task``, multiplication if nobody named another, whatever its
    answers are."""

    def __init__(
        self, model: Model | Outside, split: Any, clone: str | Path | None, stated: bool = False
    ):
        """Measure the network. stated: whether the user named its task, of which everything is then
        shown, whatever the answers are."""
        self.model, self.n, self.task = model, model.n, model.task
        self.stated, self.top = stated or model.run is not None, clones.measures(clone)
        self.levels = params.load(self.top / "params.yaml").metrics
        self.run = run_of(model)
        self.recorded = model.source.recorded if model.source else {}
        pairs = pair_table(self.task) if split is None else splits.table(split, self.task)
        losses: Any = self.recorded.get("losses")
        if hasattr(losses, "__len__") and len(losses) > LONGEST:
            raise InputError(f"losses: {len(losses)} epochs, must be at most {LONGEST}")
        self.history = history(self.recorded)
        self.weights = model.weights()
        has_weights = isinstance(model, Model)
        self.forward = (
            all_pairs.over_all_pairs(self.weights, self.task)
            if has_weights
            else model.over_all_pairs()
        )
        heads, weights, forward = writing(self.weights, self.forward)
        measured = metrics.run_metrics(
            self.run, weights, pairs, self.history, forward, self.levels, self.task
        )
        renumbered = (
            x.model_copy(update={"head": h}) for h, x in zip(heads, measured.heads, strict=False)
        )
        seed = self.run.seed if model.run else self.recorded.get("seed")
        updates: dict[str, Any] = {"seed": seed, "heads": tuple(renumbered)}
        if not has_weights:
            updates |= {"architecture": NOT_STATED, "neurons": None, "finite": self.forward.finite}
        self.metrics: Metrics = measured.model_copy(update=updates)
        if split is not None:
            self._agrees()

    @property
    def name(self) -> str:
        """Return the name of the file or the run, and what was done to it."""
        source = self.model.source
        return ", ".join([source.name if source else str(self.run), *self.model.changed])

    @property
    def by(self) -> str:
        """Return the word that names direct factors: modulo a prime power of n, or a factor."""
        return "modulo" if self.task.modulus else "factor"

    def _agrees(self) -> None:
        """Raise InputError where the split is not the one that the file's accuracies are of."""
        if self.model.changed:
            return
        for kind, stated in self.stated_accuracies().items():
            ours = getattr(self.metrics.accuracy, kind)
            if ours is not None and abs(ours - stated) > AGREES:
                shares = f"{ours:.1%} of its {kind} pairs are right, the file records {stated:.1%}"
                raise InputError(f"split: {shares}: it is not that of these weights")

    def stated_accuracies(self) -> dict[str, float]:
        """Return the last accuracies that the file of the weights records."""
        if not len(self.history):
            return {}
        last = self.history.iloc[-1]
        accuracies = {x: float(last[f"{x}_accuracy"]) for x in ("train", "validation")}
        return {name: x for name, x in accuracies.items() if not np.isnan(x)}

    @property
    def accuracy(self) -> pd.DataFrame:
        """Return the share of right answers and over which pairs; of training and validation with a
        split alone."""
        shares, counts = self.metrics.accuracy, self.metrics.pairs
        rows: list[tuple[str, int | None, float | None]] = [("all", self.n**2, shares.all)]
        if counts:
            rows += [("training", counts.train, shares.train)]
            rows += [("validation", counts.validation, shares.validation)]
            rows += [("validation, no mirror in training", None, shares.mirror_free)]
        if len(powers := [*self.task.factors]) > 1:
            rows += [(f"all, {self.by} {q}", self.n**2, self._right(q)) for q in powers]
        sizes = np.bincount(pair_table(self.task)["class_c"])
        rows += [(f"ab in J{d}", int(sizes[d]), x) for d, x in shares.by_target.items()]
        frame = pd.DataFrame(rows, columns=["pairs", "count", "right"])
        return frame.dropna(subset="right").astype({"count": "Int64"})

    def _right(self, q: int) -> float:
        """Return how often the answer is right modulo q."""
        labels = self.task.modulo(q)
        return float((labels[self.forward.prediction] == labels[self.task.table.ravel()]).mean())

    @property
    def table(self) -> Int[np.ndarray, "n n"]:
        """Return the answer to every pair, row a, column b, as ``task`` takes it."""
        return self.forward.prediction.reshape(self.n, self.n)

    @cached_property
    def reading(self) -> Reading:
        """Return what the answers are: their laws, their structure, and operations that give
        them. Where logits are not finite, the answers mean nothing."""
        return Reading(self.table, self.task, self.levels.accuracy, self.stated)

    def __repr__(self) -> str:
        from strata.api import page

        return page.summary(self)

    def _repr_html_(self) -> str:
        from strata.api import page

        return page.body(page.summary(self))

    def __str__(self) -> str:
        from strata.api import page

        return page.text(self)

    @property
    def sentence(self) -> str:
        """Return what the network computes, in a line."""
        counts = [f"{len(x)} of {self.n**2} pairs" for x in self.unanswered]
        if not self.forward.finite:
            return f"logits are not finite in {counts[0]}, so it has no answers"
        if not self.has_answers:
            return "every answer is a tie: for each pair several logits are the largest"
        ties = f"; {counts[1]} are ties" * bool(self.unanswered[1])
        return self._read() + ties + self._beyond()

    @property
    def has_answers(self) -> bool:
        """Whether its logits are finite, and not every answer is a tie."""
        return self.forward.finite and len(self.unanswered[1]) < self.n**2

    @cached_property
    def unanswered(self) -> tuple[list[int], list[int]]:
        """Return the pairs whose logits are not finite, and those in which several are the
        largest, as numbers an + b."""
        broken: list[int] = []
        tied: list[int] = []
        for a, b, logits in self._blocks():
            pairs, finite = a * self.n + b, np.isfinite(logits).all(axis=1)
            lowest, highest = answers(logits[finite]), answers(logits[finite, ::-1])
            broken += pairs[~finite].tolist()
            tied += pairs[finite][lowest + highest < self.n - 1].tolist()
        return broken, tied

    def _beyond(self) -> str:
        count = int(self.model.beyond.sum()) if isinstance(self.model, Outside) else 0
        cut = f"its own answer is beyond {self.n - 1} and was left out"
        return f"; in {count} of {self.n**2} pairs {cut}" * bool(count)

    def _read(self) -> str:
        reading, level = self.reading, self.levels.accuracy
        by_class = self.metrics.accuracy.by_target
        right = [d for d, x in by_class.items() if x >= level]
        wrong = [d for d, x in by_class.items() if x <= 1 - level]
        if not reading.is_task or not right or not wrong or len(right) + len(wrong) < len(by_class):
            return reading.sentence()
        where = f"gcd(ab, {self.task.modulus})" if self.task.modulus else "the number of ab's class"
        parts = [" or ".join(map(str, x)) for x in (right, wrong)]
        return f"{reading.sentence()}: where {where} is {parts[0]}, and not where it is {parts[1]}"

    @property
    def answers(self) -> pd.DataFrame:
        """Return what the answers are: the task and, where it is seldom right, other operations
        that were compared; the share of pairs in which each gives the answer, and what ``task``
        calls it."""
        return pd.DataFrame(self.reading.matches).drop(columns="needed")

    @property
    def left_out(self) -> str:
        """Return why tables of the task are left out, as they would say nothing; empty where the
        answers are those of the task for the most part, or the user named it."""
        if not self.has_answers or self.stated or self.reading.is_task:
            return ""
        best, hint = self.reading.best, ""
        if best and best.task and (best.right == 1 or not self.reading.structure):
            hint = f": task={best.task.partition(' --n')[0]!r} (--task {best.task})"
        elif self.reading.structure and self.reading.laws.commutative == 1:
            hint = f': task="{tasks.ANSWERS}" (--task {tasks.ANSWERS})'
        gives = f"; its own{hint}" if hint else ""
        return f"Tables of {self.task} are left out, as its answers are not those{gives}."

    @property
    def classes(self) -> pd.DataFrame:
        """Return algebra, spectrum and dimension of each class; missing for a class of one
        element."""
        names = ["d", "m", "size", "regular", "key", "total", *metrics.SPECTRUM]
        rows = []
        for c in self.metrics.classes:
            pca = {"components": c.pca.components, "random": c.pca.random_mean} if c.pca else {}
            keys = " ".join(",".join(map(str, k)) for k in c.key_frequencies or ())
            group = algebra.group_name(q for q in c.orders if q > 1)
            numbers = {name: getattr(c, name) for name in names}
            texts = {"group": group, "key_frequencies": keys, "note": without_content(c)}
            rows.append(numbers | pca | texts)
        return pd.DataFrame(rows).astype({"key": "Int64", "total": "Int64"})

    @property
    def spectra(self) -> pd.DataFrame:
        """Return the share of the energy of each class at each frequency, and whether it is key."""
        parts = []
        for c in self.metrics.classes:
            if c.key_frequencies is not None:
                energy = circuits.spectrum(self.weights, self.task, c.d)
                columns = {"frequency": energy.index, "share": energy.values}
                frame = pd.DataFrame({"d": c.d} | columns)
                key = frame["frequency"].isin(c.key_frequencies)
                parts.append(frame.assign(key=key, note=without_content(c)))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @property
    def character_fit(self) -> pd.DataFrame:
        """Return how much of the logits of each class characters explain."""
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
        """Return OV circuit and attention pattern of each head."""
        rows = [
            (h.head, h.ov.components, h.ov.of, h.self_attention.mean, h.block_score,
             h.block_score_shuffled.mean)
            for h in self.metrics.heads
        ]  # fmt: skip
        names = ["head", "ov_components", "ov_of", "self_attention", "block_score", "shuffled"]
        return pd.DataFrame(rows, columns=names)

    @property
    def neurons(self) -> pd.DataFrame:
        """Count neurons by the prime power that explains most of each, and return what it explains
        of all."""
        neurons, rows = self.metrics.neurons, []
        if neurons:
            rows = [(q, neurons.neurons[q], neurons.modulo[q]) for q in neurons.modulo]
        heading = "prime_power" if self.task.modulus else "factor"
        return pd.DataFrame(rows, columns=[heading, "neurons", "explained"])

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Return the share of right answers after each change of the network, over all pairs and
        modulo prime powers."""
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
        """Yield each change, the model, and why the change says nothing, where it does not."""
        all_key = all(c.key == c.total for c in self.metrics.classes)
        nothing, means = "every character is key: ", "class means are left"
        yield "none", model, ""
        keys_alone, without_keys = model.keeping_key_characters(), model.without_key_characters()
        yield "key characters alone", keys_alone, f"{nothing}nothing is removed" * all_key
        yield "without key characters", without_keys, f"{nothing}{means}" * all_key
        units = self.task.jclass(1)
        for p in sorted({*axis_primes(units)} if isinstance(units, JClass) else ()):
            try:
                yield f"without the axis of {p}", model.without(prime=p), ""
            except InputError:  # no key character lies on it alone
                continue
        for h in range(len(self.metrics.heads)):
            yield f"without head {h}", model.without(head=h), ""

    @cached_property
    def voting(self) -> Votes:
        """Return the votes of the direct factors that explain most of the logits. Raises InputError
        where logits are not finite, the answers are not those of the task, or there are no unique
        factors."""
        if not self.has_answers or self.left_out:
            raise InputError(f"votes: {self.left_out or self.sentence}")
        return votes.fit(self._blocks(), self.task, self.forward.prediction)

    def votes(self, q: int) -> pd.DataFrame:
        """Return what the remainder of the product modulo q, a prime power of n or the number of a
        direct factor, gives to each candidate, less the mean over all pairs: a row for each
        remainder. Raises InputError for another q."""
        return self.voting.frame(q)

    def _blocks(self) -> Blocks:
        if isinstance(self.model, Outside):
            yield from self.model.blocks()
            return
        for start in range(0, self.n**2, BLOCK):
            a, b = np.divmod(np.arange(start, min(start + BLOCK, self.n**2)), self.n)
            with torch.no_grad():
                yield a, b, self.model(a, b).cpu().numpy()

    def plot(self, name: str = "votes", *, a: int = 1, b: int = 1) -> Picture:
        """Draw the votes on the product of a and b, or a figure of the paper by its number, such as
        "fig07", which takes a clone with its environment. A notebook shows what is returned, and
        its ``save`` writes a file. Raises InputError for another name."""
        from strata.api import page

        if name != "votes":
            return page.figure(self, name)
        from strata.plots.pictures import ballots  # matplotlib, for figures alone

        pair = [int(residues(x, k, self.n)) for k, x in (("a", a), ("b", b))]
        return ballots(self.voting, int(self.task.table[tuple(pair)]), f"{pair[0]} · {pair[1]}")

    @property
    def no_mechanism(self) -> str:
        """Return why the mechanism's measures would say nothing; empty where they say something."""
        powers = prime_powers(self.n) if self.task is task_of(self.n) else ()
        if not self.has_answers:
            return self.sentence
        if not powers:
            return f"the study is about multiplication modulo n, the task is {self.task}"
        if not (self.reading.is_task or self.model.run):
            return f"{share(self.reading.compared[0].right)} of the answers are ab, too few for it"
        if len(powers) == 1:
            return f"{self.n} is a prime power, so that one vote is any function of the product"
        if not (self.top / MECHANISM).is_file():
            return f"{self.top} has no study of the mechanism"
        return ""

    @cached_property
    def mechanism(self) -> pd.DataFrame:
        """Return what studies/mechanism measures and says, a row each (``strata.results``), with
        the levels from which a statement holds and does not hold. There are no rows where they
        would say nothing: ``no_mechanism`` says why, as do the attributes of the frame.

        Of embedding and logits it measures accounts, votes and the law of the bias; of logits alone
        votes.
        """
        if self.no_mechanism:
            frame = results.read_rows().assign(holds=None, fails=None)
            frame.attrs["reason"] = self.no_mechanism
            return frame
        measures = read_yaml(self.top / "studies/params.yaml")["mechanism"]["measures"]
        settings = measures | {"key_threshold": self.levels.key_threshold}
        arrays = self.weights
        if isinstance(self.model, Outside):
            arrays = {k: x for k, x in arrays.items() if np.isfinite(x).all()}
            arrays["logits"] = np.concatenate([x for _, _, x in self.model.blocks()])
        with TemporaryDirectory() as scratch:
            paths = [f"{scratch}/{x}" for x in ("settings", "arrays", "rows", "levels")]
            Path(paths[0]).write_text(json.dumps(settings))
            content = store.tensors_bytes(arrays, imported(self.model, self.run))
            store.write_bytes(Path(paths[1]), content)
            clones.run_script(self.top, MECHANISM, str(self.run), *paths)
            rows, levels = results.read_rows(paths[2]), store.read_json(paths[3])
        text = "answers of the votes that are the network's, too"
        row = Row(str(self.run), "votes-network", text, unit="accuracy", value=self.voting.same)
        rows = pd.concat([rows.astype({"value": float}), pd.DataFrame([row])], ignore_index=True)
        limits = [levels.get(x, [None, None]) for x in rows["id"]]
        return rows.assign(holds=[x for x, _ in limits], fails=[x for _, x in limits])

    def write_weights(self, path: Path) -> None:
        """Write the weights as a file of strata, which says that they are imported. Embedding and
        logits are no weights."""
        store.write_bytes(path, store.tensors_bytes(self.weights, imported(self.model, self.run)))

    @property
    def training(self) -> pd.DataFrame:
        """Return what the files say of the model and its training; what none says is marked so."""
        W, settings = self.weights, self.recorded.get("train") or {}
        whole_monoid = self.task.modulus == self.n
        rows: dict[str, Any] = {"modulus": self.n} if whole_monoid else {"task": self.task}
        if isinstance(self.model, Model):
            sizes = W["W_E"].shape[1], len(self.metrics.heads), len(W["W_out"])
            rows |= {
                "kind": self.metrics.architecture,
                "d_model, heads, neurons": ", ".join(map(str, sizes)),
                "parameters": sum(x.size for x in W.values()),
                "seed": self.metrics.seed,
                "epochs": self.metrics.epochs or settings.get("epochs"),
                "learning rate": settings.get("lr"),
                "weight decay": settings.get("weight_decay"),
            }
        if (loss := self.metrics.final_loss) is not None:
            rows["last loss"] = f"{loss:.3g}"
        for kind, x in self.stated_accuracies().items():
            rows[f"{kind} accuracy, as recorded"] = f"{x:.4g}"
        texts = [(name, NOT_STATED if x is None else str(x)) for name, x in rows.items()]
        return pd.DataFrame(texts, columns=["of", "stated"])

    @cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        """Return all frames but the mechanism, which takes longer, by name."""
        names = ("training", "answers", "accuracy", "changes", "classes", "spectra")
        return {name: getattr(self, name) for name in (*names, "character_fit", "heads", "neurons")}


def without_content(c: ClassMetrics) -> str:
    """Say why the key frequencies of a class say nothing; empty where they do."""
    if c.total == 1:
        return "two elements: one frequency, which has all"
    return "every frequency is key" if c.key is not None and c.key == c.total else ""


def writing(weights: store.Arrays, forward: AllPairs) -> tuple[list[int], store.Arrays, AllPairs]:
    """Return the heads that write anything, and the weights and the pass with these alone: a head
    whose W_OV is zero, as in small networks that are written down, has no directions."""
    if "W_V" not in weights:
        return [], weights, forward
    heads = [h for h, x in enumerate(weights["W_V"]) if (x @ weights["W_O"][h]).any()]
    parts = {k: x[heads] for k, x in weights.items() if k[2:] in ("Q", "K", "V") or k == "W_O"}
    return heads, weights | parts, replace(forward, scores=forward.scores[:, heads])


def run_of(model: Model | Outside) -> Run:
    """Return the run or, for a model from elsewhere, the name by which the pipeline calls it."""
    if model.run:
        return model.run
    source = model.source or Source("model", "")
    variant = re.sub(r"[^a-z0-9]", "", Path(source.name).stem.lower()) or "model"
    seed = source.recorded.get("seed")
    valid_seed = seed if isinstance(seed, int) and seed >= 0 else 0
    return Run(model.task.modulus or model.n, valid_seed, variant)


def imported(model: Model | Outside, run: Run) -> dict[str, Any]:
    """Return what the metadata of a weights file says of a model that was not trained here."""
    source = model.source or Source(str(run), "")
    origin = {"file": source.name, "format": source.format, "sha256": source.sha256}
    split = {} if model.task.setting == MULTIPLICATION else {"split": {"task": model.task.setting}}
    return {"run": str(run), "imported": origin} | split


def history(recorded: Any) -> pd.DataFrame:
    """Return loss and accuracies per epoch where a published file records them; else none.

    A validation at epoch 0 comes before the first row and is left out; there is no mirror-free
    accuracy. Raises InputError where the lists do not fit each other.
    """
    losses, train = recorded.get("losses"), recorded.get("train_accs")
    if not losses or train is None:
        return store.no_history()
    validated, accuracies = recorded.get("eval_epochs", []), recorded.get("eval_accs", [])
    epochs = len(losses)
    if len(train) != epochs or len(validated) != len(accuracies):
        raise InputError("must have a train_acc for each loss, an eval_acc for each epoch")
    if [*validated] != sorted({*validated}) or not {*validated} <= {*range(epochs + 1)}:
        raise InputError(f"eval_epochs must be rising epochs from 0 to {epochs}")
    validation = np.full(epochs + 1, np.nan)
    validation[list(validated)] = accuracies
    return pd.DataFrame(
        {
            "epoch": np.arange(1, epochs + 1, dtype=np.int32),
            "loss": np.array(losses, dtype=np.float32),
            "train_accuracy": np.array(train, dtype=float),
            "validation_accuracy": validation[1:],
            "mirror_free_accuracy": np.full(epochs, np.nan),
        }
    )
