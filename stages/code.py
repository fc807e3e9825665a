"""A key for the code of every stage, so that a stage is run again where its code does something
else, and not where a comment is another.

In: where to write, and the folders that hold stages/ and notebooks/: the top where none is given.
Out: FOLDER/NAME.txt for each script stages/NAME.py but figure.py, tutorial.py and this one, and for
each notebook, which one of these executes: every definition that it reaches, with its md5. all.txt
has those of the library, or of a study's code/. sources.txt has every file of the library, with
comments and docstrings.

It is the first stage of each project. So it brings what git has in packs into DVC's cache, where a
fresh clone has nothing yet and the stages after it would train and compute all of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ops import files, packages, packs, provenance
from ops.code import Code
from strata import store
from strata.inputs import InputError
from strata.run import command

FIGURE = Path("stages/figure.py")
WITHOUT_KEY = {"code", "figure", "tutorial"}


def pieces(top: Path) -> Iterator[tuple[Path, ...]]:
    """Yield the files of each key: a script, or a notebook after the script that executes it."""
    for path in sorted(top.glob("stages/*.py")):
        if path.stem not in WITHOUT_KEY:
            yield (path,)
    tutorial = top / "stages" / "tutorial.py"
    for path in sorted(top.glob("notebooks/*.ipynb")):
        yield (tutorial if tutorial.is_file() else FIGURE, path)


def main(folder: str, *tops: str) -> None:
    packages.refuse()
    project = files.project(folder)
    first = Path(folder) == Path(project, "data", "code")
    if first and "DVC_STAGE" in os.environ and not os.environ.get("GO"):
        packs.fetch(project)
    code, files_of = Code(), dict[str, tuple[Path, ...]]()
    for sources in (x for top in tops or (".",) for x in pieces(Path(top))):
        path = sources[-1]
        if path.stem in files_of:
            raise InputError(
                f"{path}: {files_of[path.stem][-1]} has that name too; rename one of them"
            )
        files_of[path.stem] = sources
    for name, sources in files_of.items():
        store.write_text(Path(folder) / f"{name}.txt", "".join(code.hashes(*sources)))
    shared = sorted(x for top in tops for x in Path(top).glob("code/**/*.py"))
    library = sorted(Path("src/strata").rglob("*.py"))
    store.write_text(Path(folder) / "all.txt", "".join(code.hashes(*(shared if tops else library))))
    if not tops:
        texts = (f"{provenance.md5(path)}  {path.as_posix()}\n" for path in library)
        store.write_text(Path(folder) / "sources.txt", "".join(texts))


if __name__ == "__main__":
    command(main)
