"""What goes into a model, checked, and the activations that come out."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from strata.inputs import InputError


class Cache(dict[Any, Tensor]):
    """Activations by the path of their hook point, in the order in which they are computed.

    ``cache["pattern"]`` and ``cache["pattern", 0]`` are short for
    ``cache["blocks.0.attn.hook_pattern"]``.
    """

    def __missing__(self, key: Any) -> Tensor:
        short = key[0] if isinstance(key, tuple) else key
        for name, x in self.items():
            if name.endswith(f"hook_{short}"):
                return x
        raise InputError(f"{key!r}: no such activation; there are {', '.join(self)}")


def residues(x: Any, name: str, n: int) -> Int[Tensor, "..."]:
    """Integers from 0 to n − 1 as a tensor. Raises InputError for anything else."""
    try:
        found = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} = {x!r:.60}: must be integers from 0 to {n - 1}") from None
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise InputError(f"{name} is {found.dtype}: must be integers from 0 to {n - 1}")
    for bad in found[(found < 0) | (found >= n)].flatten()[:1].tolist():
        raise InputError(f"{name} = {bad}: must be from 0 to {n - 1}")
    return found.long()
