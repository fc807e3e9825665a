"""Load trained models of multiplication modulo n, see what they compute with, and change them.

>>> import strata
>>> model = strata.load("n154-s3")
>>> logits, cache = model.run_with_cache([2, 3], 5)
>>> logits.argmax(dim=1), cache["pattern"].shape
(tensor([10, 15]), torch.Size([2, 4, 1, 3]))
>>> model.W_OV[0].shape, model.key_frequencies(d=22)
(torch.Size([128, 128]), [(1,), (3,), (5,)])
>>> broken = model.without(prime=11)
>>> 2 * 3 % 7 == broken(2, 3).argmax() % 7
tensor(True)
"""

from importlib import import_module
from typing import Any

# The module of each public name is loaded at its first use, because the pipeline imports this
# package and needs none of them. __init__.pyi says the same to editors.
PUBLIC = {
    "Analysis": "strata.api.analysis",
    "InputError": "strata.inputs",
    "MLP": "strata.api.model",
    "Run": "strata.run",
    "Transformer": "strata.api.model",
    "activations": "strata.api.repository",
    "analyse": "strata.api.analysis",
    "by_hand": "strata.api.hand",
    "classes": "strata.monoid",
    "from_weights": "strata.api.foreign",
    "load": "strata.api.repository",
    "runs": "strata.api.repository",
    "train_model": "strata.api.training",
}
MODULES = ("monoid",)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("strata")
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name in MODULES:
        return import_module(f"strata.{name}")
    raise AttributeError(f"module 'strata' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *PUBLIC, *MODULES])
