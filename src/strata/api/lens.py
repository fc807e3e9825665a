"""A model as a HookedRootModule of TransformerLens: its hooks, caches and patching on ours."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from packaging.version import Version
from torch import nn

from strata.api import layers
from strata.inputs import InputError

OLDEST, NEXT = Version("3.9"), Version("5")


def installed() -> tuple[Any, type[nn.Module]]:
    """HookedRootModule and HookPoint. Raises InputError where TransformerLens is missing, or is
    another major version than those that this was tried with."""
    how = "must be 3.9 or 4: pip install 'transformer-lens>=3.9,<5'"
    try:
        found = Version(version("transformer-lens"))
    except PackageNotFoundError:
        raise InputError(f"TransformerLens is not installed; it {how}") from None
    if not OLDEST <= found < NEXT:
        raise InputError(f"TransformerLens {found}: {how}")
    from transformer_lens import HookedRootModule  # pyright: ignore[reportMissingImports]
    from transformer_lens.hook_points import HookPoint  # pyright: ignore[reportMissingImports]

    return HookedRootModule, HookPoint


def hooked(model: Any) -> Any:
    """The network of a Model with hook points of TransformerLens. It shares no memory with it."""
    root, point = installed()

    class Hooked(root):
        """Call it with a and b, as a strata Model."""

        def __init__(self) -> None:
            super().__init__()
            weights = {
                name: model.get_parameter(path).clone()
                for name, path in layers.PATHS.items()
                if path in model.state_dict()
            }
            layers.build(self, weights, point)
            self.requires_grad_(False)
            self.setup()

        def forward(self, a: Any, b: Any) -> Any:
            """Logits of the n candidates for ab, pair by pair."""
            return layers.run(self, model.tokens(a, b))

    return Hooked()
