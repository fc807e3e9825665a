"""strata in one file: a small transformer learns a·b mod n, and is asked how it does it.

    python docs/nano_strata.py

It takes about half a minute and ends with a picture of the votes on one product. Read it from top
to bottom; it needs torch and numpy alone. src/strata does the same faster and for
every n; a test compares the two. Here n is square-free: no prime divides it twice. A pair is
(a, b), a token a residue or the sign =. A comment at the end of a line is the shape of its value.
"""

import math

import numpy as np
import torch
from torch.nn.functional import cross_entropy, relu

Weights = dict[str, torch.Tensor]

# A small modulus, and a training that is short because it is strongly regularised: large weight
# decay drives the network from a table of its training pairs to a rule for all of them.
N, SEED = 35, 1
D_MODEL, N_HEADS, D_MLP = 64, 4, 256
EPOCHS, LR, WEIGHT_DECAY, BETAS, EPS = 3000, 0.003, 2.0, (0.9, 0.98), 1e-5
TENTHS = 8  # of the pairs that train


# The split ----------------------------------------------------------------------------------------
def split(n: int, seed: int, tenths: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the pairs that train, and all others, as numbers a·n + b. Seeds torch's generator."""
    torch.manual_seed(seed)
    dealt = torch.randperm(n * n)
    count = n * n * tenths // 10
    return dealt[:count], dealt[count:]


def product(pairs: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return a, b and the right answer of pairs that are given by number."""
    a, b = pairs // n, pairs % n
    return a, b, a * b % n


# The network --------------------------------------------------------------------------------------
def initial(n: int, d_model: int, n_heads: int, d_mlp: int) -> Weights:
    """Draw the weights before training as torch's own layers draw theirs, in the same order."""

    def uniform(bound: float, *shape: int) -> torch.Tensor:
        return torch.empty(shape).uniform_(-bound, bound)

    def linear(width: int, out: int) -> tuple[torch.Tensor, torch.Tensor]:
        bound = 1 / math.sqrt(width)  # torch keeps matrices the other way round
        return uniform(bound, out, width).T, uniform(bound, out)  # width out, out

    heads = (n_heads, d_model // n_heads)
    W: Weights = {"W_E": torch.randn(n + 1, d_model)}  # tokens d_model; the last one is =
    W["W_O"] = linear(d_model, d_model)[0].reshape(*heads, d_model)  # n_heads d_head d_model
    W["b_O"] = torch.zeros(d_model)
    # Queries, keys and values are drawn as one matrix, its rows by head.
    drawn = uniform(math.sqrt(1.5 / d_model), 3 * d_model, d_model).chunk(3)
    for name, rows in zip("QKV", drawn, strict=True):
        W[f"W_{name}"] = rows.reshape(*heads, d_model).mT  # n_heads d_model d_head
        W[f"b_{name}"] = torch.zeros(heads)  # n_heads d_head
    W["W_in"], W["b_in"] = linear(d_model, d_mlp)  # d_model d_mlp, d_mlp
    W["W_out"], W["b_out"] = linear(d_mlp, d_model)  # d_mlp d_model, d_model
    W["W_U"], W["b_U"] = linear(d_model, n)  # d_model n, n
    return {name: x.clone().requires_grad_() for name, x in W.items()}


def forward(
    W: Weights, a: torch.Tensor, b: torch.Tensor, fixed: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits (pairs n) of the candidates for ab, and the attention of `=` (3 pairs
    n_heads), which is ``fixed`` where that is given.

    The network reads the three tokens a, b, = and answers at the place of =. No place has an
    embedding of its own, so it cannot tell (a, b) from (b, a), which suits multiplication.
    """
    x = W["W_E"]  # tokens d_model
    # Only = asks, with the same query for every pair. So a token has one score for each head.
    query = x[-1] @ W["W_Q"] + W["b_Q"]  # n_heads d_head
    keys = torch.einsum("td,hdk->thk", x, W["W_K"]) + W["b_K"]  # tokens n_heads d_head
    values = torch.einsum("td,hdk->thk", x, W["W_V"]) + W["b_V"]  # tokens n_heads d_head
    scores = (keys * query).sum(-1) / math.sqrt(query.shape[1])  # tokens n_heads
    tokens = torch.stack([a, b, torch.full_like(a, len(x) - 1)])  # 3 pairs
    pattern = scores[tokens].softmax(dim=0) if fixed is None else fixed  # 3 pairs n_heads
    z = (pattern[..., None] * values[tokens]).sum(0)  # pairs n_heads d_head
    # The residual stream at =: its embedding, and what heads and neurons add to it.
    stream = x[-1] + torch.einsum("phk,hkd->pd", z, W["W_O"]) + W["b_O"]  # pairs d_model
    neurons = relu(stream @ W["W_in"] + W["b_in"])  # pairs d_mlp
    stream = stream + neurons @ W["W_out"] + W["b_out"]  # pairs d_model
    return stream @ W["W_U"] + W["b_U"], pattern  # pairs n


# A training ---------------------------------------------------------------------------------------
def train(
    W: Weights, pairs: torch.Tensor, epochs: int, lr: float, decay: float, eps: float
) -> list[float]:
    """Train in place, on all pairs in each epoch, and return the loss before each step. A long
    training prints ten times how far it is."""
    a, b, c = product(pairs, W["W_U"].shape[1])
    adam = torch.optim.AdamW(W.values(), lr, BETAS, eps, weight_decay=decay, fused=True)
    losses = []
    for epoch in range(1, epochs + 1):
        loss = cross_entropy(forward(W, a, b)[0], c)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
        if epochs >= 1000 and epoch % (epochs // 10) == 0:
            print(f"epoch {epoch} of {epochs}: loss {losses[-1]:.1e}", flush=True)
    return losses


@torch.no_grad()
def accuracy(W: Weights, pairs: torch.Tensor) -> float:
    """Return the share of the pairs whose largest logit is that of ab mod n."""
    a, b, c = product(pairs, W["W_U"].shape[1])
    return (forward(W, a, b)[0].argmax(dim=1) == c).double().mean().item()


# The spectrum of a class --------------------------------------------------------------------------
def primes(n: int) -> list[int]:
    """Return the primes that divide n."""
    return [p for p in range(2, n + 1) if n % p == 0 and all(p % r for r in range(2, p))]


def exponent(a: int, p: int) -> int:
    """Return the t with a = g^t modulo p, for the least g whose powers are all nonzero residues."""
    powers = ([pow(g, t, p) for t in range(p - 1)] for g in range(1, p))
    return next(x for x in powers if len({*x}) == p - 1).index(a % p)


def spectrum(W_E: np.ndarray, n: int, d: int) -> dict[tuple[int, ...], float]:
    """Return the share of each frequency in the energy of the embedding of J_d less its mean.

    The class J_d has the residues a with gcd(a, n) = d, which are 0 modulo the primes of d. Modulo
    each other prime p they are powers g^t of a root g, and to multiply two is to add their t. So a
    residue is a point on a torus with an axis for each such p, and a function on it is a sum of
    characters exp(2πi Σ_p k_p t_p / (p − 1)), one for each frequency k.
    """
    axes = [p for p in primes(n) if d % p]
    sizes = [p - 1 for p in axes]
    grid = np.zeros((*sizes, W_E.shape[1]))  # p1−1 p2−1 … d_model
    for a in range(n):
        if math.gcd(a, n) == d:
            grid[tuple(exponent(a, p) for p in axes)] = W_E[a]
    energy = (np.abs(np.fft.fftn(grid, axes=range(len(sizes)))) ** 2).sum(-1)  # p1−1 p2−1 …
    energy.flat[0] = 0  # frequency 0 is the class mean
    return {k: energy[k] / energy.sum() for k in np.ndindex(*sizes)}


# The votes ----------------------------------------------------------------------------------------
def by_product(logits: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return y(q, c), the mean logit of candidate c over the pairs with product q, less the mean
    over c, which changes no answer; and N(q), the number of these pairs. Row a·n + b of logits is
    the pair (a, b)."""
    q = np.outer(np.arange(n), np.arange(n)).ravel() % n  # n²
    y = np.stack([logits[q == x].mean(axis=0) for x in range(n)])  # n n
    return y - y.mean(axis=1, keepdims=True), np.bincount(q)  # n n, n


def votes(y: np.ndarray, count: np.ndarray, q: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """Return the share of y that votes Σ_p g_p(q mod p, c) explain, with g_p any function, and g_p,
    a row for each residue, for each prime.

    Each prime p knows the product modulo p alone, votes for or against each candidate, and votes
    are added. Row i of y stands for the product q[i] and for count[i] pairs.
    """
    residues = np.concatenate([np.eye(p)[q % p] for p in primes(len(y))], axis=1)  # n Σp
    root = np.sqrt(count)[:, None]  # n 1
    g = np.linalg.lstsq(root * residues, root * y)[0]  # Σp n: least squares over all pairs
    share = float(1 - (count @ (y - residues @ g) ** 2).sum() / (count @ y**2).sum())
    return share, np.split(g, np.cumsum(primes(len(y)))[:-1])


def picture(g: list[np.ndarray], q: int) -> str:
    """Draw the votes on the product q: a line for each prime and one for their sum, a bar for each
    candidate 0, 1, …; and an arrow below the candidate that is q."""
    rows = [(f"{len(x)} votes", x[q % len(x)]) for x in g]  # n each
    rows.append(("sum", np.sum([x for _, x in rows], axis=0)))
    lines = []
    for name, x in rows:
        heights = np.rint(7 * (x - x.min()) / np.ptp(x)).astype(int)
        lines.append(f"{name:>9} " + "".join(" ▁▂▃▄▅▆█"[h] for h in heights))
    return "\n".join([*lines, " " * (10 + q) + f"↑ {q}"])


# The hole -----------------------------------------------------------------------------------------
def vote(logits: np.ndarray, n: int, p: int, k: int) -> list[float]:
    """Return how strongly logits follow the product's character of frequency k modulo p, for each
    difference δ = 0, 1, …, (p − 1)/2 of the exponents of a and b.

    cos(α + φ) + cos(β + φ) vanishes where the angles α and β are opposite. So a network that only
    adds such waves has a hole there, and its vote falls as |cos(kδπ/(p − 1))|.
    """
    t = np.array([exponent(x, p) if x % p else -1 for x in range(n)])  # n
    chi = np.where(t < 0, 0, np.exp(2j * np.pi * k * t / (p - 1)))  # n
    a, b = np.divmod(np.arange(n * n), n)  # n²
    strength = np.real(chi[a * b % n] * (logits @ chi.conj())) / n  # n²
    units = (t[a] >= 0) & (t[b] >= 0)  # n²: neither is 0 modulo p
    delta = np.abs(t[a] - t[b])[units]
    delta = np.minimum(delta, p - 1 - delta)
    return [float(strength[units][delta == x].mean()) for x in range(p // 2 + 1)]


# What it found ------------------------------------------------------------------------------------
def main() -> None:
    """Train one network, and print what is in it."""
    training, validation = split(N, SEED, TENTHS)
    W = initial(N, D_MODEL, N_HEADS, D_MLP)
    losses = train(W, training, EPOCHS, LR, WEIGHT_DECAY, EPS)
    right, new = (f"{accuracy(W, pairs):.1%} of {len(pairs)}" for pairs in (training, validation))
    print(f"n = {N}: loss {losses[-1]:.1e}; right are {right} pairs that trained, {new} others")
    for d in (d for d in range(1, N) if N % d == 0):  # J_N is 0 alone
        shares = spectrum(W["W_E"].detach().numpy(), N, d)
        strongest = sorted(shares, key=lambda k: -shares[k])[:6]
        text = ", ".join(f"{k} {shares[k]:.0%}" for k in strongest)
        print(f"J_{d}, {len(shares)} residues: strongest frequencies of the embedding {text}")
    with torch.no_grad():
        a, b, _ = product(torch.arange(N * N), N)
        logits, pattern = forward(W, a, b)
        fixed = forward(W, a, b, pattern.mean(dim=1, keepdim=True).expand_as(pattern))[0]
    text = ", ".join(f"{x:.1%}" for x in pattern[2].mean(dim=0).tolist())
    print(f"= attends to itself with {text} by head, with the rest to a and b")
    p = max(primes(N))
    for name, x in (("as it is", logits), ("fixed at its mean", fixed)):
        by_delta = [vote(x.double().numpy(), N, p, k) for k in range(1, p // 2)]
        text = ", ".join(f"{v:.1f}" for v in max(by_delta, key=sum))
        print(f"attention {name}: votes modulo {p} on angles further and further apart {text}")
    y, count = by_product(logits.double().numpy(), N)
    (explained, g), rng = votes(y, count, np.arange(N)), np.random.default_rng(SEED)
    chance = np.mean([votes(y, count, rng.permutation(N))[0] for _ in range(20)])
    print(f"votes of {primes(N)} explain {explained:.1%} of y, of shuffled products {chance:.1%}")
    a, b = 12, 34
    print(
        f"the votes on {a} · {b} = {a * b % N}: each prime is for the candidates with its remainder"
    )
    print(picture(g, a * b % N))


if __name__ == "__main__":
    main()
