"""The table of what was tried on other machines, from the list that the tests go through: writes
benchmarks/machines.md.

    PYTHONPATH=.:src:tests python benchmarks/machines.py
"""

from pathlib import Path

from anywhere import SETTINGS, WAYS
from tabulate import tabulate

from strata.run import command

COLUMNS = [
    "",
    "`make paper`, `make plan`, `dvc exp run`, `make back` do the same, byte for byte, in",
]


def text() -> str:
    rows = [("obtained as", x.__doc__) for x in WAYS] + [("set to", x.__doc__) for x in SETTINGS]
    return tabulate(rows, COLUMNS, tablefmt="github", disable_numparse=True) + "\n"


def main() -> None:
    Path("benchmarks/machines.md").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    command(main)
