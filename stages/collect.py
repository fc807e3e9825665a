"""The results of all listed runs in a file, so that tables over them are not made again where the
results of some other run change.

In: the names of the runs as JSON, a file to write, folders with a JSON file for each run. Out: what
the files hold, in the order of the names.
"""

from pathlib import Path

from strata import collected, store
from strata.run import command


def main(names: str, out: str, *folders: str) -> None:
    paths = [[Path(folder, f"{x}.json") for folder in folders] for x in collected.read_names(names)]
    # A run without a file is read from the first folder, so that the error names that path.
    existing = (next((x for x in places if x.is_file()), places[0]) for places in paths)
    collected.write_collected(out, map(store.read_bytes, existing))


if __name__ == "__main__":
    command(main)
