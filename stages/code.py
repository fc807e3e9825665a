"""A key for the code of every stage, so that a stage is run again where its code does something
else, and not where a comment is another.

In: where to write, and the folders that hold stages/ and notebooks/: the top where none is given.
Out: FOLDER/NAME.txt for each script stages/NAME.py but figure.py, tutorial.py and this one, and for
each notebook, which one of these executes: every definition that it reaches, with its md5. all.txt
has those of the library, or of a study's code/. sources.txt has every file of the library, with
comments and docstrings.
"""

from collections.abc import Iterator
from pathlib import Path

from ops import packages, provenance
from ops.code import Code
from strata import store
from strata.inputs import InputError
from strata.run import command

FIGURE = Path("stages/figure.py")
APART = {"code", "figure", "tutorial"}


def pieces(top: Path) -> Iterator[tuple[Path, ...]]:
    """The files of each key: a script, or a notebook after the script that executes it."""
    for path in sorted(top.glob("stages/*.py")):
        if path.stem not in APART:
            yield (path,)
    own = top / "stages" / "tutorial.py"
    for path in sorted(top.glob("notebooks/*.ipynb")):
        yield (own if own.is_file() else FIGURE, path)


def main(folder: str, *tops: str) -> None:
    packages.refuse()
    code, found = Code(), dict[str, tuple[Path, ...]]()
    for files in (x for top in tops or (".",) for x in pieces(Path(top))):
        path = files[-1]
        if path.stem in found:
            raise InputError(
                f"{path}: {found[path.stem][-1]} has that name too; rename one of them"
            )
        found[path.stem] = files
    for name, files in found.items():
        store.write_text(Path(folder) / f"{name}.txt", "".join(code.lines(*files)))
    shared = sorted(x for top in tops for x in Path(top).glob("code/**/*.py"))
    library = sorted(Path("src/strata").rglob("*.py"))
    store.write_text(Path(folder) / "all.txt", "".join(code.lines(*(shared if tops else library))))
    if not tops:
        texts = (f"{provenance.md5(path)}  {path.as_posix()}\n" for path in library)
        store.write_text(Path(folder) / "sources.txt", "".join(texts))


if __name__ == "__main__":
    command(main)
