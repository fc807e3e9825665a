"""The code of every stage, a file each, so that a stage depends on one file and not on many.

In: where to write. Out: FOLDER/NAME.txt for each script stages/NAME.py but figure.py and this one,
and for each figure's notebooks/NAME.ipynb: the md5 of what runs and of every module it reaches.
"""

import sys
from pathlib import Path

from strata import store
from strata.pipeline.code import reached
from strata.pipeline.provenance import hashed
from strata.run import command

FIGURE = Path("stages/figure.py")


def main() -> None:
    folder = Path(sys.argv[1])
    alone = [(path,) for path in Path("stages").glob("*.py") if path.stem not in {"figure", "code"}]
    drawn = [(FIGURE, path) for path in Path("notebooks").glob("*.ipynb")]
    for files in (*alone, *drawn):
        modules = sorted(f"src/strata/{module}.py" for module in reached(*files))
        paths = [*(path.as_posix() for path in files), *modules]
        lines = [f"{md5}  {path}\n" for path, md5 in hashed(paths)]
        store.write_text(folder / f"{files[-1].stem}.txt", "".join(lines))


if __name__ == "__main__":
    command(main)
