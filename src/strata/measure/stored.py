"""Keep forward passes in files: all activations of one, and of every run what its measures need."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata import store
from strata.measure import neurons
from strata.measure.activations import BLOCK, answers, blocks, n_heads
from strata.measure.all_pairs import AllPairs, Prompts, large
from strata.measure.character_fit import Sums
from strata.measure.neurons import Explained
from strata.store import Arrays
from strata.task import Task, task_of

# The metadata of each field has the unit and meaning of its column.
MEANINGS = {
    "a": ("residue", "first operand"),
    "b": ("residue", "second operand"),
    "product": ("residue", "right answer"),
    "prediction": ("residue", "answer of the network to (a, b)"),
    "mirrored_prediction": ("residue", "answer of the network to (b, a)"),
    "finite": ("truth", "whether all logits are"),
    "scores": ("nat", "attention scores at = of each token, all heads of a token together"),
    "neuron_squares": ("activation²", "of each neuron, summed over all pairs"),
    "neuron_variance": ("activation²", "deviations from the neuron's mean, summed over all pairs"),
    "neuron_between": (
        "activation²",
        "what classes, then residues modulo each prime power, explain",
    ),
    "total": ("nat", "centred logits, summed by quotient of product and candidate"),
    "by_product": ("nat", "centred logits, summed by product and candidate"),
    "prompts_of": ("pair", "how many prompts have each product"),
    "squares": ("nat²", "squared centred logits, summed over each class"),
    "largest": ("nat", "the largest centred logit of each class in size"),
}
PROMPTS = {
    "pair": "; prompts of the default pair of operand classes",
    "every": "; all prompts whose product lies in the class",
}


def described(name: str, kind: pa.DataType, prompts: str = "") -> pa.Field:
    """Return a column with its unit and meaning; that of sums names their prompts."""
    unit, meaning = MEANINGS[name]
    column = f"{prompts}_{name}" if prompts else name
    meaning += PROMPTS.get(prompts, "")
    return pa.field(column, kind, metadata={"unit": unit, "meaning": meaning})


def forward_schema(n: int, n_heads: int, d_mlp: int) -> pa.Schema:
    """Return the schema with a row for each pair, a-major, and a column for each number: the
    weights from `=` to a, to b and to `=` of each head, the neurons after the ReLU, the logits."""
    fields = [described(name, pa.int32()) for name in ("a", "b", "product", "prediction")]
    numbers = [
        (f"attention_{h}_{to}", "share", f"attention of head {h} from = to {symbol}")
        for h in range(n_heads)
        for to, symbol in (("a", "a"), ("b", "b"), ("equals", "="))
    ]
    numbers += [(f"neuron_{i}", "activation", f"neuron {i} at =, after ReLU") for i in range(d_mlp)]
    numbers += [(f"logit_{c}", "nat", f"logit of the answer {c}") for c in range(n)]
    for name, unit, meaning in numbers:
        fields.append(pa.field(name, pa.float32(), metadata={"unit": unit, "meaning": meaning}))
    return pa.schema(fields)


def write_forward(path: Path | str, weights: Arrays, n: Task | int, block: int = BLOCK) -> None:
    """Run the network over all pairs and write all activations, a row group for each block."""
    task = task_of(n)
    schema = forward_schema(task.order, n_heads(weights), len(weights["W_out"]))
    with store.replacing(path) as temporary, store.table_writer(temporary, schema) as writer:
        for a, b, activations in blocks(weights, task, block):
            numbers = (a, b, task.product(a, b), answers(activations.logits))
            integers = [x.astype(np.int32) for x in numbers]
            parts = (activations.attention.reshape(len(a), -1), activations.mlp, activations.logits)
            numbers = [pa.array(x) for part in parts for x in part.T]
            writer.write_table(pa.table([*map(pa.array, integers), *numbers], schema=schema))


def read_forward(path: Path | str, n: int, kinds: Iterable[str]) -> Iterator[Arrays]:
    """Yield activations of modulus n, block after block of the pairs, a-major: a, b, product and
    prediction, or attention, neuron and logit, which are (pairs, width)."""
    with store.parquet(path) as file:
        names = file.schema_arrow.names
    by_kind = {kind: [x for x in names if x.startswith(f"{kind}_")] or [kind] for kind in kinds}
    heads, d_mlp = (sum(x.startswith(kind) for x in names) for kind in ("attention_", "neuron_"))
    schema = forward_schema(n, heads // 3, d_mlp)
    columns = [x for group in by_kind.values() for x in group]
    for block in store.read_blocks(path, schema, columns, rows=n * n):
        parts = {kind: np.stack([block[x] for x in group], 1) for kind, group in by_kind.items()}
        yield {kind: x[:, 0] if by_kind[kind] == [kind] else x for kind, x in parts.items()}


# Each array of `character_fit.Sums` has a type, and so many axes of the size of a class.
SUMS = {
    "total": (pa.float64(), 1),
    "by_product": (pa.float64(), 2),
    "prompts_of": (pa.int32(), 1),
    "squares": (pa.float64(), 0),
    "largest": (pa.float64(), 0),
}


def all_pairs_schema(n: Task | int, n_heads: int, d_mlp: int) -> pa.Schema:
    """Return the schema of one row, with a list for each array.

    Pairs are unordered, a ≤ b, row after row of the upper triangle. Scores are the attention scores
    at `=` of the tokens 0 … n − 1 and `=`, all heads of a token together. What labels explain of
    neurons runs over ``neurons.labels``. Sums run over the classes of more than one element;
    ``pair_`` are those over the prompts of the default pair, ``every_`` those over all.
    """
    task, order = task_of(n), task_of(n).order
    pairs = order * (order + 1) // 2
    lists = {
        "prediction": (pa.int32(), pairs),
        "mirrored_prediction": (pa.int32(), pairs),
        "scores": (pa.float32(), (order + 1) * n_heads),
        "neuron_squares": (pa.float64(), d_mlp),
        "neuron_variance": (pa.float64(), d_mlp),
        "neuron_between": (pa.float64(), d_mlp * len(neurons.labels(task))),
    }
    fields = [described("finite", pa.bool_())]
    fields += [described(k, pa.list_(kind, size)) for k, (kind, size) in lists.items() if size]
    for prompts in Prompts._fields if large(task) else ():
        for name, (kind, axes) in SUMS.items():
            size = sum(len(J) ** axes for J in large(task))
            fields.append(described(name, pa.list_(kind, size), prompts))
    return pa.schema(fields)


def write_all_pairs(path: Path | str, forward: AllPairs, n: Task | int) -> None:
    """Write a pass over all pairs as Parquet in the form of ``all_pairs_schema``."""
    task, n = task_of(n), task_of(n).order
    a, b = np.triu_indices(n)
    arrays: Arrays = {
        "prediction": forward.prediction[a * n + b],
        "mirrored_prediction": forward.prediction[b * n + a],
        "scores": forward.scores,
        "neuron_squares": forward.neurons.squares,
        "neuron_variance": forward.neurons.variance,
        "neuron_between": np.stack([*forward.neurons.between.values()]),
    }
    for prompts in Prompts._fields if large(task) else ():
        for name in SUMS:
            parts = [getattr(getattr(x, prompts), name) for x in forward.logit_sums.values()]
            arrays[f"{prompts}_{name}"] = np.concatenate([np.ravel(x) for x in parts])
    schema = all_pairs_schema(task, forward.scores.shape[1], len(forward.neurons.squares))
    row = {name: [x.ravel()] for name, x in arrays.items()} | {"finite": [forward.finite]}
    store.write_table(path, row, schema)


def read_all_pairs(path: Path | str, n: Task | int, weights: Arrays) -> AllPairs:
    """Return what ``write_all_pairs`` has written of these weights. Raises InputError for other
    shapes."""
    heads, d_mlp, task, n = n_heads(weights), len(weights["W_out"]), task_of(n), task_of(n).order
    columns = store.read_table(path, all_pairs_schema(task, heads, d_mlp), rows=1)
    finite, row = bool(columns.pop("finite")[0]), {name: x[0] for name, x in columns.items()}
    a, b = np.triu_indices(n)
    prediction = np.empty(n * n, np.int32)
    prediction[b * n + a] = row["mirrored_prediction"]
    prediction[a * n + b] = row["prediction"]
    scores = row["scores"].reshape(n + 1, heads) if heads else np.zeros((n, 0), np.float32)
    between = row["neuron_between"].reshape(-1, d_mlp)
    explained = Explained(
        row["neuron_squares"],
        row["neuron_variance"],
        dict(zip(neurons.labels(task), between, strict=True)),
    )
    return AllPairs(prediction, scores, _logit_sums(row, task), explained, finite)


def _logit_sums(row: Arrays, task: Task) -> dict[int, Prompts]:
    """Return the sums of each class, from lists that hold them one class after the other."""
    logit_sums: dict[int, Prompts] = {}
    offsets = np.zeros(3, int)  # numbers of the classes before, in lists with 0, 1 and 2 axes
    for J in large(task):
        size, sums = len(J), {}
        for prompts in Prompts._fields:
            parts = {}
            for name, (_, axes) in SUMS.items():
                part = row[f"{prompts}_{name}"][offsets[axes] :][: size**axes]
                parts[name] = part.reshape((size,) * axes) if axes else float(part[0])
            sums[prompts] = Sums(**parts)
        logit_sums[J.d] = Prompts(**sums)
        offsets += size ** np.arange(3)
    return logit_sums
