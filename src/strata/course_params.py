"""The section of params.yaml that the courses of training rest on.

Apart from ``metrics``, though it repeats two of its thresholds: where the kept weights are gone a
change here trains the courses again, and a threshold of the metrics must train nothing.
"""

from typing import Annotated

from strata.run import Above0, Fraction, Section, allowed


class CourseParams(Section):
    """At how many epochs a course is looked at, and the thresholds of its measures."""

    moments: Annotated[int, allowed("an integer from 2 to 1000", ge=2, le=1000)]
    key_threshold: Above0  # key: at least this times the uniform share
    variance: Fraction  # components are counted until this share of the variance
