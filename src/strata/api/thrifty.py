"""A network written by hand whose heads look at zeros, and which has a smaller norm.

In ``by_hand`` all heads look at both operands alike. Where a prime divides one of them, the zero of
the embedding has to hold back all neurons of this prime, and that takes large weights.

**Heads.** Here each prime has a head. It gives the score LOOK to an operand that the prime divides
and 0 to one that it does not divide. So it looks at both operands where both are units. Otherwise
it looks at a zero, whose waves are nothing: no neuron of the prime is on. z(ab) is what the head
carries of the zero, so it takes no neuron.

**Neurons.** A character of odd order has no opposite angles, so the seven neurons of a sum add it
up without doubled frequencies (see ``second_adder``). Each of 7, 11 and 13 has one beside its
frequency 1. All else is as in ``by_hand``.
"""

import numpy as np

from strata.api.by_hand import (
    AWAY,
    D_MLP,
    D_MODEL,
    HEADS,
    MARGIN,
    Character,
    adder,
    frequencies,
    values,
)
from strata.api.second_adder import FILLED, Neurons, Part, lead, sign_neurons, sum_neurons
from strata.architecture import TABLE
from strata.arithmetic import primefactors
from strata.store import Arrays

LOOK = 6.0  # the score of an operand that the prime of a head divides


def doubled_neurons() -> Neurons:
    """Return the neurons that fill the hole by doubled frequencies."""
    read, write, _ = adder()
    return Neurons(read, np.zeros_like(read), np.zeros(read.shape[1]), write, np.zeros(2))


def parts(p: int) -> list[Part]:
    """Return the characters of a prime with their neurons."""
    if p == 3:
        return [Part(3, 1, sign_neurons(), False)]
    odd = FILLED.get(p)
    doubled = frequencies(p) if odd is None else frequencies(p)[:1]
    return [Part(p, k, doubled_neurons(), False) for k in doubled] + [
        Part(p, k, sum_neurons(p, k), False) for k in odd or ()
    ]


def weights(n: int) -> Arrays:
    """Return the weights of the network, float32, for square-free n with a head for each prime."""
    w = {
        name: np.zeros(shape)
        for name, shape in TABLE["transformer"].sizes(n, D_MODEL, HEADS, D_MLP).items()
    }
    primes, d_head = primefactors(n), D_MODEL // HEADS
    equals, dimension, neuron = 0, 1, 0  # the dimension of `=`; the first ones that are free
    w["W_E"][n, equals] = 1
    for head, p in enumerate(primes):
        characters = parts(p)
        least, score = lead(p, characters) if characters else (1.0, 0.0)
        zero_factor, slot = max(2 - score / least, 1), 1
        zero, zero_out = dimension, dimension + 1
        dimension += 2
        w["W_E"][:n, zero] = np.arange(n) % p == 0
        w["W_E"][n, zero_out] = 1 / zero_factor - 1
        w["W_Q"][head, equals, 0] = np.sqrt(d_head)
        w["W_K"][head, [equals, zero], 0] = -AWAY, LOOK
        w["W_V"][head, zero, 0] = w["W_O"][head, 0, zero_out] = 1
        w["W_U"][zero_out] = MARGIN * zero_factor * w["W_E"][:n, zero]
        for part in characters:
            read, write = part.neurons.read_sum, part.neurons.write
            waves = values(n, Character({p: part.k}), len(read))
            (R, N), F = read.shape, write.shape[1]
            signals, sums, outputs = (
                dimension + start + np.arange(size) for start, size in ((0, R), (R, R), (2 * R, F))
            )
            slots, columns = slot + np.arange(R), neuron + np.arange(N)
            w["W_E"][:n, signals] = waves
            w["W_V"][head, signals, slots] = 2 + np.exp(-AWAY)
            w["W_O"][head, slots, sums] = 1
            w["W_in"][np.ix_(sums, columns)], w["W_out"][np.ix_(columns, outputs)] = read, write
            w["W_E"][n, outputs] = -part.neurons.constant  # of a unit; the zero takes it back
            w["W_O"][head, 0, outputs] = part.neurons.constant
            w["W_U"][outputs] = MARGIN / least * waves[:, :F].T
            dimension, neuron, slot = outputs[-1] + 1, columns[-1] + 1, slots[-1] + 1
    w["W_U"] -= w["W_U"].mean(axis=1, keepdims=True)
    return {name: x.astype(np.float32) for name, x in w.items()}
