"""The measures of all runs in one long table.

In: the names of the runs as JSON, a file to write, the folder with a table of each, and tables of
other models as NAME=PATH, whose rows get that name for their run. Out: Parquet, in that order.
"""

from pathlib import Path

from strata import results
from strata.collected import listed
from strata.run import command


def main(names: str, out: str, folder: str, *others: str) -> None:
    paths = {name: str(Path(folder, f"{name}.parquet")) for name in listed(names)}
    for other in others:
        name, _, path = other.partition("=")
        paths[name] = path
    rows = (
        (name, *row)
        for name, path in paths.items()
        for row in results.read(path).drop(columns="run").itertuples(index=False)
    )
    results.write(out, rows)


if __name__ == "__main__":
    command(main)
