"""A key for the code of every stage, so that a stage is run again where its code does something
else, and not where a comment is another.

In: where to write. Out: FOLDER/NAME.txt for each script stages/NAME.py but figure.py,
tutorial.py and this one, and for each notebook, which one of these executes: every definition that
it reaches, with its md5.
"""

from pathlib import Path

from strata import store
from strata.pipeline.code import Code
from strata.run import InputError, command

FIGURE, TUTORIAL = Path("stages/figure.py"), Path("stages/tutorial.py")
APART = {"code", "figure", "tutorial"}


def main(folder: str) -> None:
    code = Code()
    alone = [(path,) for path in Path("stages").glob("*.py") if path.stem not in APART]
    drawn = [(FIGURE, path) for path in Path("notebooks").glob("*.ipynb")]
    drawn += [(TUTORIAL, path) for path in Path("notebooks/tutorials").glob("*.ipynb")]
    for name in sorted({x.stem for (x,) in alone} & {path.stem for _, path in drawn}):
        raise InputError(f"stages/{name}.py: there is a notebook of that name; rename one of them")
    for files in (*alone, *drawn):
        store.write_text(Path(folder) / f"{files[-1].stem}.txt", "".join(code.lines(*files)))


if __name__ == "__main__":
    command(main)
