"""One forward pass over all n² ordered pairs, in blocks: attention from `=`, MLP activations,
logits."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch

from strata.model import Activations, Weights, forward
from strata.store import Arrays

# Pairs in a block: bounds the memory of a pass, whatever n is.
BLOCK = 16384


def blocks(
    weights: Arrays, n: int, block: int = BLOCK
) -> Iterator[tuple[np.ndarray, np.ndarray, Activations]]:
    """a, b and the activations of block after block of the n² pairs, in the order a·n + b."""
    tensors: Weights = {name: torch.from_numpy(array) for name, array in weights.items()}
    with torch.no_grad():
        for start in range(0, n * n, block):
            a, b = np.divmod(np.arange(start, min(start + block, n * n)), n)
            yield a, b, forward(tensors, torch.from_numpy(a), torch.from_numpy(b))


def columns(a: np.ndarray, b: np.ndarray, n: int, found: Activations) -> dict[str, pa.Array]:
    """One block in the form of ``store.activations``."""
    lists = {"attention": found.attention.flatten(1), "mlp": found.mlp, "logits": found.logits}
    prediction = found.logits.argmax(dim=1).numpy()
    whole = {"a": a, "b": b, "product": a * b % n, "prediction": prediction}
    return {name: pa.array(values, pa.int32()) for name, values in whole.items()} | {
        name: pa.FixedSizeListArray.from_arrays(x.contiguous().numpy().ravel(), x.shape[1])
        for name, x in lists.items()
        if x.shape[1]
    }
