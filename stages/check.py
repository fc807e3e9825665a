"""Refuse a params.yaml or a list of runs that no stage could work with, before anything expensive
starts.

In: params.yaml, the names of the runs. Out: a constant file that every split depends on.
"""

import sys

from strata import store
from strata.params import load
from strata.run import Run, command


def main() -> None:
    out, *names = sys.argv[1:]
    load("params.yaml")
    for name in names:
        Run.parse(name)
    store.write_text(out, "params.yaml is valid\n")


if __name__ == "__main__":
    command(main)
