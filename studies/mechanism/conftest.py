"""What several tests of the mechanism need."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def settings():
    """Return the settings of the measures."""
    from studies.params import MechanismSettings, load

    params = load(Path(__file__).parents[2])
    measures, threshold = params.mechanism.measures, params.metrics.key_threshold
    return MechanismSettings(**measures.model_dump(), key_threshold=threshold)
