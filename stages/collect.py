"""The results of all listed runs in a file each, so that tables over them are not made again where
the results of some other run change.

In: the names of the runs as JSON, a folder with a JSON file for each, a file to write. Out: what
the files hold, in the order of the names.
"""

from strata import store
from strata.collected import write_collected
from strata.run import Run, command


def main(listed: str, folder: str, out: str) -> None:
    names = store.parsed(list[str], store.read_bytes(listed), listed)
    found = (store.read_bytes(f"{folder}/{Run.parse(name)}.json") for name in names)
    write_collected(out, found)


if __name__ == "__main__":
    command(main)
