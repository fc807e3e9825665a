"""Use a trained model as a torch module: look inside, change it, get a model back."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from strata.api import layers
from strata.api.layers import HookPoint
from strata.api.names import PATHS
from strata.architecture import architecture_of
from strata.inputs import InputError
from strata.measure import activations
from strata.run import Run
from strata.store import Arrays
from strata.task import Task, operation, task_of

if TYPE_CHECKING:
    import pandas as pd

Hook = Callable[[Tensor, HookPoint], Tensor | None]
Filter = str | Sequence[str] | Callable[[str], bool] | None
# A forked child has none of the threads that torch counts on, and would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


@dataclass(frozen=True)
class Source:
    """A ``Source`` says where a model is from: the name of its file and the format that it was read
    as; what the file records beside the weights; its SHA-256, empty without a file; what was done
    to the weights, in sentences."""

    name: str
    format: str
    recorded: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}, taken for {self.format}"


class Cache(dict[Any, Tensor]):
    """A ``Cache`` holds activations by the path of their hook point, in the order of computation.

    ``cache["pattern"]``, ``cache["pattern", 0]`` and ``cache["attn_pattern"]`` are short for
    ``cache["blocks.0.attn.hook_pattern"]``.
    """

    def __init__(self, model: "Model"):
        super().__init__()
        self.model = model

    def __missing__(self, key: Any) -> Tensor:
        short = key[0] if isinstance(key, tuple) else key
        return self[path_of(short, self)]

    def stack_head_results(self) -> Float[Tensor, "n_heads pairs pos d_model"]:
        """Return what each head writes."""
        return torch.einsum("pqhd,hdm->hpqm", self["z"], self.model.get_parameter(PATHS["W_O"]))


def path_of(short: Any, paths: Iterable[str]) -> str:
    """Return the path of an activation: "post" and "mlp_post" are short for blocks.0.mlp.hook_post.
    Raises InputError where there is none."""
    for name in paths:
        ends = name.endswith(f"hook_{short}") or name.replace(".hook", "").endswith(f".{short}")
        if name == short or ends:
            return name
    raise InputError(f"{short!r}: no such activation; there are {', '.join(paths)}")


def residues(values: Any, name: str, n: int) -> Int[Tensor, "..."]:
    """Return integers from 0 to n − 1 as a tensor. Raises InputError for anything else."""
    try:
        tensor = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} = {values!r:.60}: must be integers from 0 to {n - 1}") from None
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise InputError(f"{name} is {tensor.dtype}: must be integers from 0 to {n - 1}")
    for bad in tensor[(tensor < 0) | (tensor >= n)].flatten()[:1].tolist():
        raise InputError(f"{name} = {bad}: must be from 0 to {n - 1}")
    return tensor.long()


def _weight(name: str, axes: str, doc: str) -> Any:
    def weight(model: "Model") -> Float[Tensor, axes]:  # pyright: ignore[reportInvalidTypeForm]
        return model.get_parameter(PATHS[name])

    weight.__doc__ = doc
    return property(weight)


def _circuits() -> Any:
    """Load circuits at their first use: pandas and scipy take a second to import."""
    from strata.api import circuits

    return circuits


class Model(nn.Module):
    """A ``Model`` is a run's network. Call it with a and b, integers or arrays of them, for logits
    (pairs, n).

    Parameters and hook points have the names of TransformerLens; the parameters ask for no gradient
    until ``requires_grad_()``. ``run`` says which run it is, ``source`` where weights from
    elsewhere came from, ``changed`` what was done to it.
    """

    # The last token of a transformer is =. The width is d_model, or twice it without attention.
    W_E = _weight("W_E", "tokens d_model", "Return the embedding of the tokens.")
    W_in = _weight("W_in", "width d_mlp", "Return what each neuron reads.")
    b_in = _weight("b_in", "d_mlp", "Return the biases of the neurons.")
    W_out = _weight("W_out", "d_mlp d_model", "Return what each neuron writes.")
    b_out = _weight("b_out", "d_model", "Return the bias of what the neurons write.")
    W_U = _weight("W_U", "d_model n", "Return the unembedding.")
    b_U = _weight("b_U", "n", "Return the biases of the logits.")

    def __init__(
        self,
        run: Run | None,
        weights: Arrays,
        source: Source | None = None,
        changed: tuple[str, ...] = (),
        task: Task | None = None,
    ):
        super().__init__()
        self.run, self.source, self.changed = run, source, changed
        self.n = weights["W_U"].shape[1]
        self.task = task_of(task or self.n)
        copies = {name: torch.tensor(x) for name, x in weights.items()}
        layers.build(self, copies, HookPoint)
        for name, point in self.points().items():
            point.name = name
        self.requires_grad_(False)

    def points(self) -> dict[str, HookPoint]:
        """Return the hook points by their paths, such as blocks.0.hook_resid_mid."""
        return {k: x for k, x in self.named_modules() if isinstance(x, HookPoint)}

    def extra_repr(self) -> str:
        """Return what the printed model begins with: its run or file, and what was done to it."""
        return ", ".join([str(self.source or self.run), *self.changed])

    def weights(self) -> Arrays:
        """Return the weights by the names of the run's file, in float32."""
        state = self.state_dict()
        return {k: state[path].cpu().numpy() for k, path in PATHS.items() if path in state}

    def to_tokens(self, a: Any, b: Any) -> Int[Tensor, "pairs pos"]:
        """Return what the network reads for a and b, which are integers from 0 to n − 1, or arrays
        of them. Raises InputError for anything else."""
        device = self.W_E.device
        pairs = [residues(x, name, self.n).to(device) for name, x in (("a", a), ("b", b))]
        try:
            pairs = torch.broadcast_tensors(*pairs)
        except RuntimeError:
            sizes = " and ".join(str(tuple(x.shape)) for x in pairs)
            raise InputError(f"a, b: shapes {sizes}: must be equal, or one a number") from None
        tokens = [x.reshape(-1) for x in pairs]
        if len(self.W_E) > self.n:
            tokens.append(torch.full_like(tokens[0], self.n))
        return torch.stack(tokens, dim=1)

    @property
    def n_heads(self) -> int:
        """Return how many heads it has, 0 without attention."""
        return len(self.get_parameter(PATHS["W_Q"])) if len(self.W_E) > self.n else 0

    @property
    def cfg(self) -> SimpleNamespace:
        """Return its sizes by the names of TransformerLens: d_model, n_heads, d_mlp, d_vocab …"""
        from strata.api import lens

        return SimpleNamespace(**lens.config(self))

    def forward(self, a: Any, b: Any = None) -> Float[Tensor, "pairs n"]:
        """Return the logits of the n candidates for ab, pair by pair. Raises InputError for
        tokens in the place of a and b."""
        if b is None:
            raise InputError("b is missing: must be model(a, b); model.hooked() takes tokens")
        return layers.run(self, self.to_tokens(a, b))[:, -1]

    def run_with_cache(
        self, a: Any, b: Any = None, names_filter: Filter = None
    ) -> tuple[Float[Tensor, "pairs n"], Cache]:
        """Return the logits, and the activations on the way: all of them, or those that
        names_filter names, as a name, several, or a function of the path."""
        cache, points = Cache(self), self.points()
        if names_filter is None or callable(names_filter):
            wanted = [x for x in points if names_filter is None or names_filter(x)]
        else:
            listed = isinstance(names_filter, Iterable) and not isinstance(names_filter, str)
            names = names_filter if listed else [names_filter]
            wanted = [path_of(x, points) for x in names]
        hooks = [(name, lambda x, point: cache.update({point.name: x})) for name in wanted]
        return self.run_with_hooks(a, b, hooks), cache

    def run_with_hooks(
        self,
        a: Any,
        b: Any = None,
        hooks: Sequence[tuple[str, Hook]] = (),
        *,
        fwd_hooks: Sequence[tuple[str, Hook]] = (),
    ) -> Float[Tensor, "pairs n"]:
        """Return the logits where each named activation is what its function makes of it, called
        with the activation and its hook point; None leaves it as it is. Names are those of the
        cache, short or whole; fwd_hooks are hooks by TransformerLens's name."""
        with self.hooks([*hooks, *fwd_hooks]):
            return self(a, b)

    @contextmanager
    def hooks(self, hooks: Sequence[tuple[str, Hook]]) -> Iterator["Model"]:
        """Yield the model with these functions at its hook points, inside a with block."""
        points, handles = self.points(), []
        paths = [path_of(name, points) for name, _ in hooks]
        try:
            for name, (_, hook) in zip(paths, hooks, strict=True):
                called = lambda point, _, x, hook=hook: hook(x, point)  # noqa: E731
                handles.append(points[name].register_forward_hook(called))
            yield self
        finally:
            for handle in handles:
                handle.remove()

    def attribution(self, a: int, b: int, answer: int | None = None) -> "pd.DataFrame":
        """Return direct logit attribution at a pair: what each part of the network adds to the
        logit of an answer, by default the right one, less the mean over all candidates. The sum of
        column ``logit`` is that difference. Columns are part (embedding, head, neuron, bias),
        index, and the ``prime`` power that explains most of a neuron."""
        right = self.task.product(a, b) if answer is None else residues(answer, "answer", self.n)
        return _circuits().attribution(self, a, b, int(right))

    @torch.no_grad()
    def activations(self, name: str) -> Float[np.ndarray, "pairs *shape"]:
        """Return one activation of all n² pairs, a-major, with its axes in the cache."""
        blocks: list[np.ndarray] = []
        hooks: list[tuple[str, Hook]] = [
            (path_of(name, self.points()), lambda x, point: blocks.append(x.cpu().numpy()))
        ]
        with self.hooks(hooks):
            for start in range(0, self.n**2, activations.BLOCK):
                a, b = np.divmod(
                    np.arange(start, min(start + activations.BLOCK, self.n**2)), self.n
                )
                self(a, b)
        return np.concatenate(blocks)

    @torch.no_grad()
    def answers(self) -> Int[np.ndarray, "n n"]:
        """Return the answer to every pair, row a, column b; the least residue where logits are
        equal."""
        a, b = np.divmod(np.arange(self.n**2), self.n)
        blocks = np.array_split(np.arange(self.n**2), 1 + self.n**2 // activations.BLOCK)
        parts = [activations.answers(self(a[x], b[x]).cpu().numpy()) for x in blocks]
        return np.concatenate(parts).reshape(self.n, self.n)

    def accuracy(self, q: int | None = None) -> float:
        """Return how often the answer is ab; with q, a divisor of n, how often it is so modulo
        q."""
        return self.accuracies(q)[0]

    def accuracies(self, *moduli: int | None) -> list[float]:
        """Return the accuracy for several q or None, in one pass over all pairs."""
        a = np.arange(self.n)
        labels = [a if q is None else self.task.modulo(q) for q in moduli]
        answers, right = self.answers(), operation(a[:, None], a, self.task)
        return [float((x[answers] == x[right]).mean()) for x in labels]

    def spectrum(self, d: int) -> "pd.Series":
        """Return the share of the non-constant Fourier energy of the embedding of J_d at each
        frequency.

        Raises InputError where J_d has one element, or d does not divide n.
        """
        return _circuits().spectrum(self.weights(), self.task, d)

    def key_frequencies(self, d: int, threshold: float | None = None) -> list[tuple[int, ...]]:
        """Return the frequencies of J_d with at least threshold times the uniform share of its
        energy; the threshold is a half by default."""
        return _circuits().key_frequencies(self.weights(), self.task, d, threshold)

    def without(self, prime: int | None = None, *, head: int | None = None, d: int = 1) -> "Model":
        """Return the model without the directions of a prime, or with one head ablated.

        prime: the directions that key characters of J_d take up on the axis of that prime are
        removed from the embedding of every residue, within its class. head: what it writes becomes
        its mean over all pairs. studies/interventions/criteria.md, sections 2 and 4, defines both.
        """
        if (prime is None) == (head is None):
            raise InputError("without: give one of prime and head")
        if prime is not None:
            changed = _circuits().without_prime(self.weights(), self.task, prime, d)
            return self._with(changed, f"without prime {prime}")
        changed = _circuits().without_head(self.weights(), self.task, head)
        return self._with(changed, f"without head {head}")

    def keeping_key_characters(self) -> "Model":
        """Return the model whose embedding has class means and key characters alone."""
        keep, _ = _circuits().key_characters(self.weights(), self.task)
        return self._with(keep, "key characters alone")

    def without_key_characters(self) -> "Model":
        """Return the model whose embedding has no key characters, but all else."""
        _, remove = _circuits().key_characters(self.weights(), self.task)
        return self._with(remove, "without key characters")

    def swapped(self, a: int, other: int, prime: int) -> tuple["Model", int]:
        """Return the model in which the token a has the part of another residue on the axis of a
        prime, and the residue that it should then act as. studies/interventions/criteria.md,
        section 3, defines both."""
        for name, x in (("a", a), ("other", other)):
            residues(x, name, self.n)
        changed, acts_as = _circuits().swapped(self.weights(), self.task, a, other, prime)
        return self._with(changed, f"{a} as {other} on the axis of {prime}"), acts_as

    def hooked(self) -> Any:
        """Return this network as a HookedRootModule of TransformerLens 3.9 or 4 (extra ``lens``),
        which takes tokens: ``hooked.to_tokens(a, b)``."""
        from strata.api import lens

        return lens.hooked(self)

    def _with(self, weights: Arrays, change: str) -> "Model":
        device = self.W_E.device
        changes = (*self.changed, change)
        new = type(self)(self.run, self.weights() | weights, self.source, changes, self.task)
        return new.to(device)


class Transformer(Model):
    """The one-layer transformer reads a, b, = and answers at =."""

    W_Q = _weight("W_Q", "n_heads d_model d_head", "Return the query matrix of each head.")
    W_K = _weight("W_K", "n_heads d_model d_head", "Return the key matrix of each head.")
    W_V = _weight("W_V", "n_heads d_model d_head", "Return the value matrix of each head.")
    W_O = _weight("W_O", "n_heads d_head d_model", "Return what each head writes of its values.")
    b_Q = _weight("b_Q", "n_heads d_head", "Return the biases of the queries.")
    b_K = _weight("b_K", "n_heads d_head", "Return the biases of the keys.")
    b_V = _weight("b_V", "n_heads d_head", "Return the biases of the values.")
    b_O = _weight("b_O", "d_model", "Return the bias of what the heads write.")

    def by_formula(self) -> "ByFormula":
        """Return the network with formulas in the place of its scores, its neurons and what these
        write. W_U, the biases and a constant stay as they were trained;
        studies/mechanism/criteria-3.md defines the formulas. Fitting them takes some seconds."""
        from strata.api import formula

        return ByFormula(self, formula.parts(self.weights(), self.task))

    @property
    def W_OV(self) -> Float[Tensor, "n_heads d_model d_model"]:
        """Return the OV circuit of each head: from x at a position attended to, x @ W_OV is
        written."""
        return self.W_V @ self.W_O

    @property
    def W_QK(self) -> Float[Tensor, "n_heads d_model d_model"]:
        """Return the QK circuit of each head: the score of x for y, without biases, is x @ W_QK @ y
        / √d_head."""
        return self.W_Q @ self.W_K.mT


class ByFormula(Transformer):
    """A ``ByFormula`` is a network whose heads score by zeros and two characters, whose neurons sum
    characters in two channels, and which writes what follows from these. W_U, the biases and a
    constant stay as they were trained.

    ``free_numbers`` counts the numbers in the formulas, ``replaced`` the weights in whose place
    they stand. Hooks work as in any model, and get what the formulas give.
    """

    scores: Tensor
    preactivations: Tensor
    stream: Tensor

    def __init__(self, model: Transformer, parts: Arrays):
        weights = model.weights() | {"W_out": parts["W_out"].astype("float32")}
        changes = (*model.changed, "by formula")
        super().__init__(model.run, weights, model.source, changes, model.task)
        self.free_numbers, self.replaced = (int(x) for x in parts["counts"])
        for name in ("scores", "preactivations", "stream"):
            self.register_buffer(name, torch.tensor(parts[name]).float(), persistent=False)
        self.to(model.W_E.device)

    def forward(self, a: Any, b: Any) -> Float[Tensor, "pairs n"]:
        """Return the logits of the n candidates for ab, pair by pair, by formula."""
        tokens, points, handles = self.to_tokens(a, b), self.points(), []
        parts = {
            "blocks.0.attn.hook_attn_scores": self.scores[tokens].movedim(-1, 1)[:, :, None],
            "blocks.0.hook_resid_mid": self.stream.expand(len(tokens), 1, -1),
            "blocks.0.mlp.hook_pre": self.preactivations[tokens[:, 0], tokens[:, 1], None],
        }
        try:
            for name, part in parts.items():
                # First of all hooks, so that those of a caller see the formula and can change it.
                hook = lambda point, given, x, part=part: part  # noqa: E731
                handles.append(points[name].register_forward_hook(hook, prepend=True))
            return layers.run(self, tokens)[:, -1]
        finally:
            for handle in handles:
                handle.remove()

    def _with(self, weights: Arrays, change: str) -> Model:
        raise InputError(f"{change}: change the network first, then ask for it by_formula()")


class MLP(Model):
    """The model without attention reads the embeddings of a and b side by side."""


def model_of(
    run: Run | None, weights: Arrays, source: Source | None = None, task: Task | None = None
) -> Transformer | MLP:
    """Return the weights as a module of their architecture, for (Z_n, ·) where no task is given."""
    kind = Transformer if architecture_of(weights).attends else MLP
    return kind(run, weights, source, task=task)
