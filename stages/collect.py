"""The results of all listed runs in a file each, so that tables over them are not made again where
the results of some other run change.

In: the names of the runs as JSON, a folder with a JSON file for each, a file to write. Out: a list
of what the files hold, in the order of the names.
"""

import sys
from pathlib import Path

from strata import store
from strata.run import command


def main() -> None:
    listed, folder, out = map(Path, sys.argv[1:])
    names = store.parsed(list[str], store.read_bytes(listed), str(listed))
    texts = [store.read_bytes(folder / f"{name}.json").decode() for name in names]
    store.write_text(out, f"[{','.join(texts)}]\n")


if __name__ == "__main__":
    command(main)
