"""A network of the paper's account, written by hand, whose neurons add: the class of the product
first, then characters of each prime with frequencies of its own for each class.

Embedding, attention and neurons of a character are those of ``api.by_hand``. A neuron that must be
on in one class of products alone is one of several with signs: each is off where any prime of a set
divides an operand, and the sets are the primes that do not divide the class with some of those that
do. So what they write adds up to the character of the product in that class, and to nothing in any
other.
"""

from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from strata.api.by_hand import AWAY, D_MLP, D_MODEL, HEADS, SIGN, Adder, Character, adder, values
from strata.architecture import TABLE
from strata.arithmetic import divisors, primefactors
from strata.store import Arrays

# Frequencies of each prime, one entry after the other for the classes.
CHOICES: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((),),
    3: ((1,),),
    5: ((1,),),
    7: ((1, 2), (2, 3), (1, 3)),
    11: ((1, 3), (2, 5), (1, 2), (3, 4), (2, 3), (1, 4)),
}
OFF = 3.0  # a zero of an operand pushes neurons this far down
CLASS, INSIDE = 60.0, 20.0  # factors of zeros and of characters in the logits


class Wave(NamedTuple):
    """A character of one prime by its frequency."""

    p: int
    k: int

    @property
    def adder(self) -> Adder:
        """Return the neurons that write it of the product."""
        return SIGN if 2 * self.k == self.p - 1 else adder()


def weights(n: int) -> Arrays:
    """Return the weights of the network for a square-free n of the primes of ``CHOICES``, float32;
    it is as wide as it must be."""
    primes, residues = primefactors(n), np.arange(n)
    use = {
        d: [Wave(p, k) for p in primes if d % p for k in CHOICES[p][i % len(CHOICES[p])]]
        for i, d in enumerate(divisors(n))
    }
    zero = (residues[:, None] % primes == 0).astype(np.float64)
    signals, heard = [zero], dict[Wave, slice]()
    end = len(primes)
    for wave in sorted({x for waves in use.values() for x in waves}):
        signals.append(values(n, Character({wave.p: wave.k}), len(wave.adder.read)))
        heard[wave] = slice(end, end := end + signals[-1].shape[1])
    R, code, coded = end, [zero], dict[tuple[int, Wave], slice]()
    end = len(primes)
    for d, waves in use.items():
        inside = (np.gcd(residues, n) == d)[:, None]
        for wave in waves:
            code.append(inside * values(n, Character({wave.p: wave.k}), wave.adder.parts))
            coded[d, wave] = slice(end, end := end + wave.adder.parts)
    signal, written, C = np.concatenate(signals, axis=1), np.concatenate(code, axis=1), end

    reads, biases, writes = [], [], []

    def add(read: np.ndarray, bias: float, write: np.ndarray) -> None:
        reads.append(read)
        biases.append(bias)
        writes.append(write)

    for i in range(len(primes)):
        add(-np.eye(R)[i], 1.0, -np.eye(C)[i])
    for d, waves in use.items():
        dividing = [p for p in primes if d % p == 0]
        sizes = range(len(dividing) + 1)
        for some in chain.from_iterable(combinations(dividing, size) for size in sizes):
            off, sign = np.zeros(R), (-1) ** len(some)
            off[[i for i, p in enumerate(primes) if d % p or p in some]] = -1
            constant = np.zeros(C)
            for wave in waves:
                neurons = wave.adder
                constant[coded[d, wave].start] += sign * neurons.offset
                for reading, writing in zip(neurons.read.T, neurons.write, strict=True):
                    read, write = OFF * off, np.zeros(C)
                    read[heard[wave]], write[coded[d, wave]] = reading, sign * writing
                    add(read, 0.0, write)
            if constant.any():
                add(off, 1.0, constant)

    width = max(D_MODEL, HEADS * -(-(2 * R + C + 1) // HEADS))
    shapes = TABLE["transformer"].sizes(n, width, HEADS, max(D_MLP, len(biases)))
    w, score = {name: np.zeros(shape) for name, shape in shapes.items()}, 2 * R + C
    w["W_E"][:n, :R], w["W_E"][n, 2 * R :][: len(primes)], w["W_E"][n, score] = signal, 0.5, 1
    w["W_Q"][:, score, 0], w["W_K"][:, score, 0] = AWAY * np.sqrt(width // HEADS), -1
    slot, head = np.divmod(np.arange(R), HEADS)
    w["W_V"][head, np.arange(R), slot] = 2 + np.exp(-AWAY)
    w["W_O"][head, slot, R + np.arange(R)] = 1
    w["W_in"][R : 2 * R, : len(reads)] = np.transpose(reads)
    w["b_in"][: len(reads)], w["W_out"][: len(reads), 2 * R : score] = biases, writes
    logits = np.concatenate(
        [CLASS * (written[:, : len(primes)] - 0.5), INSIDE * written[:, len(primes) :]], axis=1
    )
    w["W_U"][2 * R : score] = (logits - logits.mean(axis=0)).T
    return {name: x.astype(np.float32) for name, x in w.items()}
