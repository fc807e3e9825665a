"""A trained model as a torch module: look inside, change it, get a model back."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
# A forked child has none of the threads that torch counts on, and would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


@dataclass(frozen=True)
class Source:
    """Where a model is from: the name of its file, and what that was taken for; what the file
    records beside the weights; its SHA-256, empty of what is no file; what was done to the weights,
    in sentences."""

    name: str
    format: str
    recorded: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}, taken for {self.format}"


class Cache(dict[Any, Tensor]):
    """Activations by the path of their hook point, in the order in which they are computed.

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
        """What each head writes."""
        return torch.einsum("pqhd,hdm->hpqm", self["z"], self.model.get_parameter(PATHS["W_O"]))


def path_of(short: Any, paths: Iterable[str]) -> str:
    """The path of an activation: "post" and "mlp_post" are short for blocks.0.mlp.hook_post. Raises
    InputError where there is none."""
    for name in paths:
        if name.endswith(f"hook_{short}") or name.replace(".hook", "").endswith(f".{short}"):
            return name
    raise InputError(f"{short!r}: no such activation; there are {', '.join(paths)}")


def residues(given: Any, name: str, n: int) -> Int[Tensor, "..."]:
    """Integers from 0 to n − 1 as a tensor. Raises InputError for anything else."""
    try:
        found = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} = {given!r:.60}: must be integers from 0 to {n - 1}") from None
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise InputError(f"{name} is {found.dtype}: must be integers from 0 to {n - 1}")
    for bad in found[(found < 0) | (found >= n)].flatten()[:1].tolist():
        raise InputError(f"{name} = {bad}: must be from 0 to {n - 1}")
    return found.long()


def _weight(name: str, axes: str, what: str) -> Any:
    def weight(model: "Model") -> Float[Tensor, axes]:  # pyright: ignore[reportInvalidTypeForm]
        return model.get_parameter(PATHS[name])

    weight.__doc__ = what
    return property(weight)


def _circuits() -> Any:
    """What needs pandas, sympy and scipy, whose imports take a second: loaded at the first use."""
    from strata.api import circuits

    return circuits


class Model(nn.Module):
    """A run's network. Call it with a and b, integers or arrays of them, for logits (pairs, n).

    Parameters and hook points have the names of TransformerLens; the parameters ask for no gradient
    until ``requires_grad_()``. ``run`` says which run it is, ``source`` where weights from
    elsewhere came from, ``changed`` what was done to it.
    """

    W_E = _weight("W_E", "tokens d_model", "Embedding; the last row of a transformer's is =.")
    W_in = _weight("W_in", "width d_mlp", "The width is d_model; of the MLP-only model 2 d_model.")
    b_in = _weight("b_in", "d_mlp", "Biases of the neurons.")
    W_out = _weight("W_out", "d_mlp d_model", "What each neuron writes.")
    b_out = _weight("b_out", "d_model", "Bias of what the neurons write.")
    W_U = _weight("W_U", "d_model n", "Unembedding.")
    b_U = _weight("b_U", "n", "Biases of the logits.")

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
        """The hook points by their paths, such as blocks.0.hook_resid_mid."""
        return {k: x for k, x in self.named_modules() if isinstance(x, HookPoint)}

    def extra_repr(self) -> str:
        """What the printed model begins with: its run or file, and what was done to it."""
        return ", ".join([str(self.source or self.run), *self.changed])

    def weights(self) -> Arrays:
        """The weights by the names of the run's file, float32."""
        state = self.state_dict()
        return {k: state[path].cpu().numpy() for k, path in PATHS.items() if path in state}

    def to_tokens(self, a: Any, b: Any) -> Int[Tensor, "pairs pos"]:
        """What the network reads for a and b, which are integers from 0 to n − 1, or arrays of
        them. Raises InputError for anything else."""
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

    def forward(self, a: Any, b: Any) -> Float[Tensor, "pairs n"]:
        """Logits of the n candidates for ab, pair by pair."""
        return layers.run(self, self.to_tokens(a, b))[:, -1]

    def run_with_cache(self, a: Any, b: Any) -> tuple[Float[Tensor, "pairs n"], Cache]:
        """The logits, and all activations on the way."""
        cache = Cache(self)
        hooks = [(name, lambda x, point: cache.update({point.name: x})) for name in self.points()]
        return self.run_with_hooks(a, b, hooks), cache

    def run_with_hooks(
        self, a: Any, b: Any, hooks: Sequence[tuple[str, Hook]]
    ) -> Float[Tensor, "pairs n"]:
        """The logits where each named activation is what its function makes of it, called with the
        activation and its hook point; None leaves it as it is."""
        with self.hooks(hooks):
            return self(a, b)

    @contextmanager
    def hooks(self, hooks: Sequence[tuple[str, Hook]]) -> Iterator["Model"]:
        """The model with these functions at its hook points, inside a with block."""
        points, handles = self.points(), []
        for name, _ in hooks:
            if name not in points:
                raise InputError(f"{name}: no such hook point; there are {', '.join(points)}")
        try:
            for name, hook in hooks:
                called = lambda point, _, x, hook=hook: hook(x, point)  # noqa: E731
                handles.append(points[name].register_forward_hook(called))
            yield self
        finally:
            for handle in handles:
                handle.remove()

    def attribution(self, a: int, b: int, answer: int | None = None) -> "pd.DataFrame":
        """Direct logit attribution at a pair: what each part of the network adds to the logit of an
        answer, by default the right one, less the mean over all candidates. The sum of column
        ``logit`` is that difference. Columns part (embedding, head, neuron, bias), index, and the
        ``prime`` power that explains most of a neuron."""
        right = self.task.product(a, b) if answer is None else residues(answer, "answer", self.n)
        return _circuits().attribution(self, a, b, int(right))

    @torch.no_grad()
    def activations(self, name: str) -> Float[np.ndarray, "pairs *shape"]:
        """One activation of all n² pairs, a-major, with its axes in the cache."""
        found: list[np.ndarray] = []
        hooks: list[tuple[str, Hook]] = [
            (path_of(name, self.points()), lambda x, point: found.append(x.cpu().numpy()))
        ]
        with self.hooks(hooks):
            for start in range(0, self.n**2, activations.BLOCK):
                a, b = np.divmod(
                    np.arange(start, min(start + activations.BLOCK, self.n**2)), self.n
                )
                self(a, b)
        return np.concatenate(found)

    @torch.no_grad()
    def answers(self) -> Int[np.ndarray, "n n"]:
        """The answer to every pair, row a, column b; the least residue where logits are equal."""
        a, b = np.divmod(np.arange(self.n**2), self.n)
        blocks = np.array_split(np.arange(self.n**2), 1 + self.n**2 // activations.BLOCK)
        found = [activations.answers(self(a[x], b[x]).cpu().numpy()) for x in blocks]
        return np.concatenate(found).reshape(self.n, self.n)

    def accuracy(self, q: int | None = None) -> float:
        """How often the answer is ab; with q, a divisor of n, how often it is so modulo q."""
        return self.accuracies(q)[0]

    def accuracies(self, *of: int | None) -> list[float]:
        """The same for several q or None, in one pass over all pairs."""
        a = np.arange(self.n)
        shown = [a if q is None else self.task.modulo(q) for q in of]
        found, right = self.answers(), operation(a[:, None], a, self.task)
        return [float((x[found] == x[right]).mean()) for x in shown]

    def spectrum(self, d: int) -> "pd.Series":
        """Share of the non-constant Fourier energy of the embedding of J_d at each frequency.

        Raises InputError where J_d has one element, or d does not divide n.
        """
        return _circuits().spectrum(self.weights(), self.task, d)

    def key_frequencies(self, d: int, threshold: float | None = None) -> list[tuple[int, ...]]:
        """The frequencies of J_d with at least threshold times the uniform share of its energy, by
        default half of it."""
        return _circuits().key_frequencies(self.weights(), self.task, d, threshold)

    def without(self, *, prime: int | None = None, head: int | None = None, d: int = 1) -> "Model":
        """The model without the directions of a prime, or with one head ablated.

        prime: the directions that key characters of J_d take up on the axis of that prime are
        removed from the embedding of every residue, within its class. head: what it writes becomes
        its mean over all pairs. studies/interventions/criteria.md, sections 2 and 4.
        """
        if (prime is None) == (head is None):
            raise InputError("without: give one of prime and head")
        if prime is not None:
            changed = _circuits().without_prime(self.weights(), self.task, prime, d)
            return self._with(changed, f"without prime {prime}")
        changed = _circuits().without_head(self.weights(), self.task, head)
        return self._with(changed, f"without head {head}")

    def keeping_key_characters(self) -> "Model":
        """The model whose embedding has class means and key characters alone."""
        keep, _ = _circuits().key_characters(self.weights(), self.task)
        return self._with(keep, "key characters alone")

    def without_key_characters(self) -> "Model":
        """The model whose embedding has no key characters, but all else."""
        _, remove = _circuits().key_characters(self.weights(), self.task)
        return self._with(remove, "without key characters")

    def swapped(self, a: int, other: int, prime: int) -> tuple["Model", int]:
        """The model in which the token a has the part of another residue on the axis of a prime,
        and the residue that it should then act as. studies/interventions/criteria.md, section 3."""
        for name, x in (("a", a), ("other", other)):
            residues(x, name, self.n)
        changed, acts_as = _circuits().swapped(self.weights(), self.task, a, other, prime)
        return self._with(changed, f"{a} as {other} on the axis of {prime}"), acts_as

    def hooked(self) -> Any:
        """This network as a HookedRootModule of TransformerLens 3.9 or 4 (extra ``lens``), which
        takes tokens: ``hooked.to_tokens(a, b)``."""
        from strata.api import lens

        return lens.hooked(self)

    def _with(self, changed: Arrays, what: str) -> "Model":
        device = self.W_E.device
        done = (*self.changed, what)
        new = type(self)(self.run, self.weights() | changed, self.source, done, self.task)
        return new.to(device)


class Transformer(Model):
    """The one-layer transformer: it reads a, b, = and answers at =."""

    W_Q = _weight("W_Q", "n_heads d_model d_head", "Queries, of each head.")
    W_K = _weight("W_K", "n_heads d_model d_head", "Keys.")
    W_V = _weight("W_V", "n_heads d_model d_head", "Values.")
    W_O = _weight("W_O", "n_heads d_head d_model", "What each head writes of its values.")
    b_Q = _weight("b_Q", "n_heads d_head", "Biases of the queries.")
    b_K = _weight("b_K", "n_heads d_head", "Biases of the keys.")
    b_V = _weight("b_V", "n_heads d_head", "Biases of the values.")
    b_O = _weight("b_O", "d_model", "Bias of what the heads write.")

    @property
    def W_OV(self) -> Float[Tensor, "n_heads d_model d_model"]:
        """The OV circuit of each head: from x at a position attended to, x @ W_OV is written."""
        return self.W_V @ self.W_O

    @property
    def W_QK(self) -> Float[Tensor, "n_heads d_model d_model"]:
        """The QK circuit of each head: the score of x for y, without biases, is x @ W_QK @ y /
        √d_head."""
        return self.W_Q @ self.W_K.mT


class MLP(Model):
    """The model without attention: it reads the embeddings of a and b side by side."""


def model_of(
    run: Run | None, weights: Arrays, source: Source | None = None, task: Task | None = None
) -> Transformer | MLP:
    """The module of the architecture that these weights are of; of (Z_n, ·) where no task is
    given."""
    kind = Transformer if architecture_of(weights).attends else MLP
    return kind(run, weights, source, task=task)
