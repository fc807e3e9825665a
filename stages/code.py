"""The code of stages that every run repeats, a file each.

In: a folder, the names of stages. Out: FOLDER/NAME.txt, with the md5 of stages/NAME.py and of every
module that it reaches; the stage of that name depends on it.
"""

import sys
from pathlib import Path

from strata import store
from strata.imports import reached
from strata.provenance import hashed
from strata.run import command


def main() -> None:
    folder, *names = sys.argv[1:]
    for name in names:
        script = Path("stages", f"{name}.py")
        modules = sorted(f"src/strata/{module}.py" for module in reached(script))
        lines = [f"{md5}  {path}\n" for path, md5 in hashed([str(script), *modules])]
        store.write_text(Path(folder, f"{name}.txt"), "".join(lines))


if __name__ == "__main__":
    command(main)
