"""The prime that is named is the one modulo which answers are wrong."""

import numpy as np

from strata.api import by_hand
from studies.mechanism.code import lost_primes


def test_where_residues_modulo_one_prime_are_exchanged_that_prime_is_lost():
    weights, n = by_hand.weights(35), 35
    exchange = np.array([0, 3, 2, 1, 4, 5, 6])  # modulo 7
    a = np.arange(n)
    other = (a % 5 * 21 + exchange[a % 7] * 15) % n  # modulo 5 the same
    weights["W_E"][:n] = weights["W_E"][other]
    for row in lost_primes.rows("n35-s1", weights, 0):
        assert row["prime"] == 7 and row["lost"] < 0.7 and row["others"] > 0.95
        assert abs(row["right"] - row["lost"]) < 0.05
