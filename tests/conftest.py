"""Shapes and types of every strata function are checked while the tests run."""

import hypothesis
import jaxtyping

jaxtyping.install_import_hook("strata", "beartype.beartype")

# How long an example takes says how busy the machine is, not whether the law holds.
hypothesis.settings.register_profile("strata", deadline=None)
hypothesis.settings.load_profile("strata")
