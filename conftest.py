"""Shapes and types of every strata function are checked while the tests run."""

import os
import sys
from pathlib import Path

import hypothesis
import jaxtyping
import pytest

# Scripts, which no other module imports.
collect_ignore_glob = ["ops/scripts/*", "studies/*/stages/*"]

# What make test leaves out without ALL=1: kills, a server, SLURM, other processors, a browser,
# whole deposits. A test elsewhere that belongs to these has the mark slow.
SLOW = {
    "test_faults", "test_grid", "test_workers", "test_processors", "test_remotes", "test_deposit",
    "test_pages", "test_front", "test_appendix", "test_kills", "test_deleted", "test_verify",
    "test_artifacts", "test_experiments", "test_back", "test_two_layers",
}  # fmt: skip

STUDIES = [f"studies.{x.parent.name}.code" for x in Path(__file__).parent.glob("studies/*/code")]
jaxtyping.install_import_hook(["strata", *STUDIES], "beartype.beartype")

# How long an example takes shows how busy the machine is, not whether the law holds.
hypothesis.settings.register_profile("strata", deadline=None)
hypothesis.settings.load_profile("strata")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker("slow")

    # Files are dealt out in this order, and at the end none that takes long is left to one process:
    # planted networks of the studies take longest, then pipelines.
    def place(item: pytest.Item) -> tuple[bool, bool]:
        return item.get_closest_marker("slow") is None, "studies" not in item.path.parts

    items.sort(key=place)


@pytest.fixture(autouse=True)
def subnormal_numbers():
    """Restore subnormal numbers, which a training sets to 0, for the tests after it."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture
def double():
    """Make weights float64, so that two programs that do the same differ by less than 1e-9."""
    import torch

    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="session")
def together(tmp_path_factory):
    """Return the folder that all of pytest's processes share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def made_project(together):
    """Return the paper's tiny pipeline with all its outputs, built once for all tests to copy."""
    from tiny import shared

    return shared(together)


@pytest.fixture(scope="session")
def both(together):
    """Return the tiny pipeline of the paper together with tiny studies."""
    from tiny import shared

    return shared(together, beside=True)
