"""Keep the results of many runs: a folder with a JSON file of each, or one Parquet file with all of
them as rows, which has a sixth of their size."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from strata import store
from strata.result import parse
from strata.run import M, Run

ROWS = pa.schema([("result", pa.string())])


def write_collected(path: Path | str, results: Iterable[bytes]) -> None:
    """Write the contents of JSON files as rows of a Parquet file, in their order."""
    store.write_table(path, {"result": list(results)}, ROWS)


def read_collected(path: Path | str, model: type[M]) -> list[M]:
    """Return the results in a file of ``write_collected``, in its order.

    Raises InputError for a file that is none, or holds something else.
    """
    rows = store.read_table(path, ROWS)["result"]
    return [parse(model, text.encode(), f"{path}, row {i}") for i, text in enumerate(rows)]


def read_names(path: Path | str) -> list[str]:
    """Return the names of runs in a JSON file. Raises InputError where the file is no list of
    names."""
    names = store.parse(list[str], store.read_bytes(path), str(path))
    return [str(Run.parse(name)) for name in names]


def read_all(names: Path | str, folder: Path | str, model: type[M]) -> list[M]:
    """Return the results of the runs that a JSON file names, each in a JSON file of its own. Raises
    InputError where a file is missing or not valid."""
    return [store.read_model(Path(folder, f"{name}.json"), model) for name in read_names(names)]


def read_moduli(folder: Path | str, moduli: Sequence[int], model: type[M]) -> dict[Run, M]:
    """Return the results in a folder with RUN.json of each run, of one modulus after the other,
    each in the order of its seeds."""
    runs = sorted(Run.parse(path.stem) for path in Path(folder).glob("*.json"))
    selected = [run for n in moduli for run in runs if run.n == n]
    return {run: store.read_model(Path(folder, f"{run}.json"), model) for run in selected}
