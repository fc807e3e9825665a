"""Two accounts of the mean logits of a network, equally free.

y(q, c) is the mean logit of candidate c over the pairs whose product is q (``profile``). Where
primes come first, y is a sum over the primes p of n, and each term depends on q modulo p alone.
Where classes come first, each class of products, those with one greatest common divisor with n, has
functions of its own. Candidates are *free* where every function of q is multiplied by any function
of c. They are *tied* where y is any function of c (one for each class, where classes come first)
and functions of how q and c compare: of both remainders modulo p, or of their quotient. All fits
are least squares over products and candidates, where product q counts as often as pairs have it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import block_array, csr_array, diags_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from strata.measure.activations import answers
from strata.monoid import classes, prime_powers
from strata.patch.projections import Masks
from strata.results import Row
from strata.task import primes
from studies.mechanism.code import characters, votes
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.profile import Profile

PRECISION = 1e-12  # relative, at which least squares by iteration end

Labels = Int[np.ndarray, "#n #n"]  # what a function may know of a product (row) and a candidate
Fit = Callable[[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]], Float[np.ndarray, "n n"]]


class Account(NamedTuple):
    """A form that y may have."""

    sentence: str
    numbers: int
    """The dimension of all y of this form: how many numbers are free."""
    fit: Fit
    """From y and a weight of each product, 0 of one that is not fitted, the prediction of all."""
    shared: bool
    """Whether what is fitted to some classes says something of another."""


def accounts(n: int, key: Masks) -> dict[str, Account]:
    """Return all accounts of a modulus, with these key frequencies in each class; those by
    quotients where n is square-free."""
    q, c = np.ogrid[:n, :n]
    d, e, powers = np.gcd(q, n), np.gcd(c, n), prime_powers(n)
    remainders = [join_labels(q % Q, c % Q) for Q in powers]
    forms = {
        "free-votes": free("any function of q mod p and c", votes.remainders(n), shared=True),
        "free-classes": free(
            "any function of c for each class, and for each key character of q in it",
            of_classes(n, key), shared=False,
        ),
        "tied-primes": tied("any function of q mod p and c mod p", c, *remainders, shared=True),
    }  # fmt: skip
    if [*powers] != primes(n):
        return forms
    ratios = [quotients(n, p) for p in powers]
    # Zeros say the classes of q and c, so all quotients together are that of every pair of classes.
    between = join_labels(*ratios)
    inside = np.where(d == e, between, -1)
    return forms | {
        "tied-quotients": tied("any function of q/c mod p", c, *ratios, shared=True),
        "tied-classes": tied(
            "any function of q/c for each pair of classes", join_labels(d, c), between, shared=False
        ),
        "tied-inside": tied(
            "any function of q/c inside each class", join_labels(d, c), inside, shared=False
        ),
    }


def of_classes(n: int, key: Masks) -> Float[np.ndarray, "n columns"]:
    """Return for each class a function that is 1 on it, and its key characters."""
    member = np.equal.outer(np.gcd(np.arange(n), n), [J.d for J in classes(n)])
    return np.hstack([member, functions.real(characters.strata_characters(n, key).values)])


def quotients(n: int, p: int) -> Int[np.ndarray, "n n"]:
    """Return q/c modulo p, below 0 where p divides q (−1), c (−2) or both (−3)."""
    r = np.arange(n) % p
    inverse = np.array([0, *(pow(x, -1, p) for x in range(1, p))])
    zero = r == 0
    return np.outer(r, inverse[r]) % p - zero[:, None] - 2 * zero


def join_labels(*labels: Labels) -> Int[np.ndarray, "n n"]:
    """Number the combinations of some labels, from 0 on."""
    joined = np.stack(np.broadcast_arrays(*labels))
    _, number = np.unique(joined.reshape(len(labels), -1), axis=1, return_inverse=True)
    return number.reshape(joined.shape[1:])


def free(sentence: str, columns: Float[np.ndarray, "n columns"], *, shared: bool) -> Account:
    """Return the account by these functions of q, each times any function of c."""

    def fit(y: Float[np.ndarray, "n n"], weight: Float[np.ndarray, " n"]) -> np.ndarray:
        return columns @ functions.least_squares(columns, y, weight)

    return Account(sentence, int(np.linalg.matrix_rank(columns)) * len(columns), fit, shared)


def tied(sentence: str, *labels: Labels, shared: bool) -> Account:
    """Return the account by the sums of any function of each of these labels."""
    n = max(labels[0].shape)
    parts = [indicators(np.broadcast_to(x, (n, n))) for x in labels]
    columns = csr_array(hstack(parts))

    def fit(y: Float[np.ndarray, "n n"], weight: Float[np.ndarray, " n"]) -> np.ndarray:
        root = np.sqrt(np.repeat(weight, n))
        rows, right = diags_array(root) @ columns, root * y.ravel()
        coefficients, *_ = lsqr(rows, right, atol=PRECISION, btol=PRECISION, conlim=0)
        return (columns @ coefficients).reshape(n, n)

    return Account(sentence, dimension(*parts), fit, shared)


def indicators(labels: Int[np.ndarray, "n n"]) -> csr_array:
    """Return a row for each product and candidate and a column for each label: 1 where it is."""
    _, number = np.unique(labels, return_inverse=True)
    return csr_array((np.ones(number.size), number.ravel(), np.arange(number.size + 1)))


def dimension(first: Any, *others: Any) -> int:
    """Return the dimension of all sums of functions of labels, from their indicators. What the
    others add to functions of the first must be independent.

    A function of either of two labels is constant on each connected part of the graph that joins
    the labels that occur together.
    """
    count = first.shape[1]
    for indicator in others:
        counts = first.T @ indicator
        graph = block_array([[None, counts], [counts.T, None]])
        count += indicator.shape[1] - connected_components(graph, return_labels=False)
    return count


def predict_left_out(y: Profile, fit: Fit) -> votes.LeftOut:
    """Predict each class of two elements or more from the fit to all other products."""
    group, predicted, shares = functions.by_class(len(y.y)), np.zeros_like(y.y), []
    for i in range(group.max() + 1):
        in_class = group == i
        predicted[in_class] = fit(y.y, np.where(in_class, 0, y.N))[in_class]
        shares.append(y.share(predicted, in_class))
    right = (answers(predicted) == np.arange(len(y.y)))[group >= 0]
    return votes.LeftOut(np.array(shares), float(right.mean()), 1.0)


def measure(y: Profile, key: Masks) -> list[Row]:
    """Return of each account the share of y that it explains, the share of all pairs that it
    answers rightly and its free numbers; and, of one that is shared by classes, the median share of
    left-out classes that it explains and the share of their products that it answers rightly."""
    n, rows = len(y.y), []
    for id, account in accounts(n, key).items():
        predicted = account.fit(y.y, y.N)
        values = [
            ("share", "share", y.share(predicted)),
            ("right", "accuracy", y.right(predicted)),
            ("numbers", "count", float(account.numbers)),
        ]
        if account.shared and len(prime_powers(n)) > 1:
            left_out = predict_left_out(y, account.fit)
            values += [
                ("left out", "share", left_out.median),
                ("left out, right", "accuracy", left_out.right),
            ]
        rows += [Row("", id, account.sentence, *value) for value in values]
    return rows
