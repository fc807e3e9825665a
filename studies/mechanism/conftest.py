"""What several tests of the mechanism need."""

from pathlib import Path

import pytest

from strata import store


@pytest.fixture(scope="session")
def settings():
    """The settings of the study."""
    from studies.mechanism.code.decide import Settings

    return store.read_model(Path(__file__).parent / "settings.json", Settings)
