"""Measure how much of the logits within one class the characters of its group explain.

A prompt is a pair (a, b) whose product lies in J_d, a candidate c is an element of J_d. Each
frequency k gives one feature, 2 cos θ_k(u(ab) u(c)^−1) with θ_k(x) = 2π Σ_j k_j t_j(x)/q_j. It is
the character of the real representation that k and −k share, at ab c^♯ where the class is regular.
Chughtai, Chan and Nanda, A Toy Model of Universality, 2023.

A fit knows the quotient of ab and c alone. In the saturated model of product and candidate each
product has a profile of its own over the candidates: the mean of the centred logits over the
prompts with that product. What it leaves differs between prompts with one product.
"""

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from jaxtyping import Bool, Complex, Float, Int
from scipy.sparse import csr_array

from strata.arithmetic import factorint
from strata.measure.fourier import conjugate
from strata.monoid import chi, frequencies
from strata.result import Result
from strata.task import AnyClass, Task, task_of


class CharacterFit(Result):
    """A ``CharacterFit`` fits key characters of a b c^♯ to centred logits, over prompts of one
    pair."""

    pair: tuple[int, int]
    """Classes of a and b whose prompts are used, of all those whose product is in the class."""
    prompts: int
    largest: float
    """The largest centred logit, absolute."""
    r2: float
    r2_ceiling: float
    """With every frequency: all that depends on the quotient of ab and c alone."""
    r2_product: float
    """What the mean logits of each product explain."""
    r2_uniform: float
    """What as many frequencies drawn at random explain on average."""
    frequencies: tuple[tuple[int, ...], ...]
    """One of each pair k, −k; shape (fitted, axes)."""
    coefficients: tuple[float, ...]
    """Logit amplitude at each fitted frequency."""
    prompts_all: int
    """All prompts whose product is in the class."""
    r2_all: float


@dataclass(frozen=True)
class Fit:
    """A ``Fit`` is least squares of centred logits on one feature for each pair ±k."""

    r2: float
    prompts: int
    frequencies: tuple[tuple[int, ...], ...]
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Sums:
    """``Sums`` are all that a description of the logits needs to know of its prompts; the sums of
    two sets of prompts add up.

    total[q] is the sum over the prompts of the centred logit of the candidate c with u(ab) u(c)^−1
    = q, for every q in algebraic order. by_product[p, c] is that of candidate c over the prompts
    with product p, of which there are prompts_of[p]. squares is the sum of all squared centred
    logits, and largest is the largest size of one.
    """

    total: Float[np.ndarray, " size"]
    by_product: Float[np.ndarray, "size size"]
    prompts_of: Int[np.ndarray, " size"]
    squares: float
    largest: float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.total + other.total,
            self.by_product + other.by_product,
            self.prompts_of + other.prompts_of,
            self.squares + other.squares,
            max(self.largest, other.largest),
        )

    @property
    def prompts(self) -> int:
        """Return how many prompts there are."""
        return int(self.prompts_of.sum())

    @property
    def profiles(self) -> Float[np.ndarray, "size size"]:
        """Return the mean centred logit by product (row) and candidate; 0 without a prompt."""
        return self.by_product / np.maximum(self.prompts_of, 1)[:, None]

    @property
    def r2_product(self) -> float:
        """Return R² of the saturated model of product and candidate."""
        between = (self.by_product**2).sum(axis=1) / np.maximum(self.prompts_of, 1)
        return float(between.sum()) / self.squares


def no_sums(size: int) -> Sums:
    """Return the sums over no prompt."""
    zero = np.zeros(size)
    return Sums(zero, np.zeros((size, size)), zero.astype(np.int64), 0.0, 0.0)


def half(mask: Bool[np.ndarray, " size"], orders: tuple[int, ...]) -> Bool[np.ndarray, " size"]:
    """Keep one of each pair ±k in the mask, the lexicographically smaller; k = −k stays, 0 does
    not.

    >>> half(np.array([True, True, True, True]), (4,)).tolist()
    [False, True, True, False]
    """
    minus = conjugate(orders)
    halved = (mask | mask[minus]) & (np.arange(len(mask)) <= minus)
    halved[0] = False
    return halved


def centred(logits: Float[np.ndarray, "prompts size"]) -> Float[np.ndarray, "prompts size"]:
    """Subtract from the logits their mean over the candidates of a prompt; equal logits give 0."""
    logits = logits - logits[:, :1].astype(np.float64)
    return logits - logits.mean(axis=1, keepdims=True)


@cache
def quotients(orders: tuple[int, ...]) -> Int[np.ndarray, "size size"]:
    """Return in row i, column j the index of x_i x_j^−1 in C_q1 × … × C_qr, in algebraic order.

    >>> quotients((3,)).tolist()
    [[0, 2, 1], [1, 0, 2], [2, 1, 0]]
    """
    t = frequencies(orders).T  # as tuples, they are the elements' coordinates as well
    return np.asarray(np.ravel_multi_index(tuple(t[:, :, None] - t[:, None]), orders, mode="wrap"))


def by_quotient(
    logits: Float[np.ndarray, "prompts size"],
    product: Int[np.ndarray, " prompts"],
    orders: tuple[int, ...],
) -> Float[np.ndarray, "prompts size"]:
    """Return the centred logits with column q for the candidate c that has u(ab) u(c)^−1 = q."""
    return np.take_along_axis(centred(logits), quotients(orders)[product], axis=1)


def sums(
    logits: Float[np.ndarray, "prompts size"],
    product: Int[np.ndarray, " prompts"],
    orders: tuple[int, ...],
) -> Sums:
    """Return the sums over these prompts. `product` is the index of ab in its class.

    Candidates are in algebraic order.
    """
    count, size = logits.shape
    membership = csr_array((np.ones(count), (product, np.arange(count))), shape=(size, count))
    with np.errstate(invalid="ignore"):  # the fit refuses inf − inf
        x = centred(logits)
        y = np.take_along_axis(x, quotients(orders)[product], axis=1)
        largest = float(np.abs(y).max(initial=0))
        prompts_of = np.bincount(product, minlength=size)
        return Sums(y.sum(axis=0), membership @ x, prompts_of, float(np.vdot(y, y)), largest)


def _characters(
    k: tuple[tuple[int, ...], ...], orders: tuple[int, ...]
) -> Complex[np.ndarray, "size count"]:
    columns = np.array([chi(i, orders) for i in k], dtype=np.complex128)
    return columns.reshape(len(k), prod(orders)).T


def fit(prompt_sums: Sums, orders: tuple[int, ...], key: Bool[np.ndarray, " size"]) -> Fit:
    """Fit the centred logits that the sums are over by the features of the key frequencies.

    Over the candidates of any prompt the features are centred and orthogonal, of squared length 2
    size, or 4 size where k = −k. So the least squares solution, with intercept 0, is one inner
    product for each k, and the squares that it explains add up. Without key frequencies R² is 0.
    Raises ValueError where no prompt tells its candidates apart, or a logit is not finite.
    """
    if not 0 < prompt_sums.squares < np.inf:
        raise ValueError("nothing to fit: logits constant within every prompt, or not finite")
    fitted = half(key, orders)
    k = tuple(map(tuple, frequencies(orders)[fitted].tolist()))
    inner = 2 * np.real(prompt_sums.total @ _characters(k, orders))
    self_inverse = (conjugate(orders) == np.arange(len(fitted)))[fitted]
    coefficients = inner / (prompt_sums.prompts * len(fitted) * np.where(self_inverse, 4, 2))
    r2 = float(coefficients @ inner) / prompt_sums.squares
    return Fit(r2, prompt_sums.prompts, k, tuple(coefficients.tolist()))


def character_fit(
    J: AnyClass,
    operands: tuple[int, int],
    pair: Sums,
    all_prompts: Sums,
    key: Bool[np.ndarray, " size"],
) -> CharacterFit | None:
    """Fit the logits of a class as in Table 3: over the prompts of one pair of operand classes, and
    over all prompts.

    `r2_ceiling` is R² with every frequency, which is what depends on the quotient of ab and c
    alone. `r2_uniform` is what as many frequencies drawn at random explain on average, `r2_product`
    that of the saturated model of product and candidate. Returns None where the logits of the
    pair's prompts are all equal, which leaves nothing to fit.
    """
    if not pair.squares:
        return None
    key_fit, ceiling = fit(pair, J.orders, key), fit(pair, J.orders, np.arange(len(J)) > 0)
    all_fit = fit(all_prompts, J.orders, key)
    return CharacterFit(
        pair=operands,
        prompts=key_fit.prompts,
        largest=pair.largest,
        r2=key_fit.r2,
        r2_ceiling=ceiling.r2,
        r2_product=pair.r2_product,
        r2_uniform=ceiling.r2 * len(key_fit.frequencies) / len(ceiling.frequencies),
        frequencies=key_fit.frequencies,
        coefficients=key_fit.coefficients,
        prompts_all=all_fit.prompts,
        r2_all=all_fit.r2,
    )


def profile(fitted: Fit, orders: tuple[int, ...]) -> Float[np.ndarray, " size"]:
    """Return the centred logit Σ_k β_k 2 cos θ_k(q) that a fit gives each q = u(ab) u(c)^−1."""
    return 2 * np.real(_characters(fitted.frequencies, orders) @ np.array(fitted.coefficients))


def predicted_logits(
    fitted: Fit, product: Int[np.ndarray, " prompts"], orders: tuple[int, ...]
) -> Float[np.ndarray, "prompts size"]:
    """Return the centred logits of a fit, Σ_k β_k 2 cos θ_k(u(ab) u(c)^−1), by candidate."""
    return profile(fitted, orders)[quotients(orders)[product]]


def default_pair(d: int, n: Task | int) -> tuple[int, int]:
    """Return two classes whose products all lie in J_d.

    Of residues these are the smallest prime-power part of d and the rest where both exceed 1, else
    the units, which are class 1, and d itself. Raises ValueError unless d is a class.

    >>> default_pair(15, 165), default_pair(11, 165), default_pair(12, 36)
    ((3, 5), (1, 11), (3, 4))
    """
    task = task_of(n)
    task.jclass(d)
    parts = [p**k for p, k in factorint(d).items()] if task.modulus else []
    return (min(parts), d // min(parts)) if len(parts) > 1 else (1, d)
