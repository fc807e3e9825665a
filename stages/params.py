"""Refuse a params.yaml that no stage could work with, before anything else runs.

In: a file to write. Out: what params.yaml holds, as JSON.
"""

from strata import store
from strata.params import load
from strata.run import command


def main(out: str) -> None:
    store.write_json(out, load("params.yaml"))


if __name__ == "__main__":
    command(main)
