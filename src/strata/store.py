"""Read and write safetensors, Parquet and JSON files, and check each against what it must hold.

Every writer writes a temporary name beside the target and renames it, so a file is whole or absent.
Every reader raises InputError with one line that names the file and what is wrong with it.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialise

from strata.architecture import Shapes, architecture, architecture_of
from strata.inputs import InputError, regular_file, shortened
from strata.result import parse
from strata.run import M, Run, TrainParams, validate
from strata.task import HELD_BACK, MULTIPLICATION, TRAIN, VALIDATION, Task, parse_task, task_of

if TYPE_CHECKING:
    import pandas as pd  # takes half a second to import, which histories alone need

Arrays = dict[str, np.ndarray]

SPLIT = pa.schema(
    [(name, pa.int32()) for name in ("a", "b", "c", "class_a", "class_b", "class_c")]
    + [("split", pa.dictionary(pa.int32(), pa.string())), ("mirror_in_train", pa.bool_())]
)
HISTORY = pa.schema(
    [
        ("epoch", pa.int32()),
        ("loss", pa.float32()),
        ("train_accuracy", pa.float64()),
        ("validation_accuracy", pa.float64()),
        ("mirror_free_accuracy", pa.float64()),
    ]
)


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that takes its place if the block ends well."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write the bytes to disk, synced, so that a power cut leaves the old file or the new one."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_text(path: Path | str, content: str) -> None:
    """Write text as UTF-8."""
    write_bytes(path, content.encode())


def read_bytes(path: Path | str) -> bytes:
    """Return the bytes of a file."""
    try:
        return regular_file(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def write_json(path: Path | str, value: Any, indent: int | None = 1) -> None:
    """Write a value or a model as JSON with sorted keys. Raises ValueError for a number that is not
    finite."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    write_text(path, json.dumps(plain, indent=indent, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Return the value in a JSON file."""
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None


def read_model(path: Path | str, model: type[M]) -> M:
    """Return what a JSON file holds, as an object of ``model``."""
    return parse(model, read_bytes(path), str(path))


def tensors_bytes(tensors: Mapping[str, np.ndarray], metadata: Any) -> bytes:
    """Return the bytes of a safetensors file. The metadata is JSON under one key, as more keys
    would shuffle the bytes."""
    plain = {name: np.asarray(tensor, order="C") for name, tensor in sorted(tensors.items())}
    return serialise(plain, {"strata": json.dumps(metadata, sort_keys=True)})


def read_tensors(path: Path | str) -> tuple[Arrays, dict[str, Any]]:
    """Return the tensors of a safetensors file that strata wrote, and its metadata."""
    try:
        with safe_open(regular_file(path), framework="numpy") as file:
            metadata = dict(json.loads((file.metadata() or {})["strata"]))
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (SafetensorError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a safetensors file of ours, or truncated: {error}") from None
    except AttributeError as error:  # of numpy, for a type of numbers that it lacks
        raise InputError(f"{path}: not a safetensors file of ours: {error}") from None


def read_weights(path: Path | str, run: Run | None = None) -> Arrays:
    """Return the weights of a run by name, in float32. They are exactly the tensors of its
    configuration or, where it was trained elsewhere, of a model of some size."""
    weights, config = read_tensors(path)
    if "imported" not in config:
        return _trained(path, run, weights, config)[0]
    file_run, kind = run_in(path, config, run), architecture_of(weights)
    try:
        d_mlp, d_model = weights["W_out"].shape
        heads = len(weights["W_Q"]) if kind.attends else 1
        expected = kind.sizes(task_in(path, config, file_run).order, d_model, heads, d_mlp)
    except (KeyError, ValueError, ZeroDivisionError):
        raise InputError(f"{path}: its tensors are not those of a model") from None
    check_tensors(path, weights, expected)
    return weights


def _trained(
    path: Path | str, run: Run | None, weights: Arrays, config: Mapping[str, Any]
) -> tuple[Arrays, TrainParams]:
    kind = {"architecture": architecture_of(weights).name}  # not every file records it
    try:
        params = validate(TrainParams, kind | config["train"], "", "train")
    except (KeyError, TypeError):
        raise InputError(f"{path}: its metadata names no run and no train parameters") from None
    except InputError as error:
        raise InputError(f"{path}: its metadata is not valid: {error}") from None
    file_run = run_in(path, config, run)
    order = task_in(path, config, file_run).order
    check_tensors(path, weights, architecture(params).shapes(order, params))
    return weights, params


def read_task(path: Path | str, run: Run | None = None) -> Task:
    """Return the task that a weights file says its model learnt, which is (Z_n, ·) where it names
    no other."""
    config = read_tensors(path)[1]
    return task_in(path, config, run_in(path, config, run))


def task_in(path: Path | str, config: Mapping[str, Any], run: Run) -> Task:
    """Return the task that the metadata of a weights file names."""
    split = config.get("split")
    setting = split.get("task", MULTIPLICATION) if isinstance(split, dict) else MULTIPLICATION
    try:
        return parse_task(setting, run.n)
    except InputError as error:
        raise InputError(f"{path}: its metadata is not valid: {error}") from None


def run_in(path: Path | str, config: Mapping[str, Any], run: Run | None) -> Run:
    """Return the run that a weights file is of. Raises InputError where it is not ``run``."""
    try:
        file_run = Run.parse(config["run"])
    except (KeyError, TypeError):
        raise InputError(f"{path}: its metadata names no run") from None
    except InputError as error:
        raise InputError(f"{path}: its metadata is not valid: {error}") from None
    if run and run != file_run:
        raise InputError(f"{path}: weights of {file_run}, must be those of {run}")
    return file_run


def check_tensors(path: Path | str, weights: Arrays, expected: Shapes) -> None:
    """Raise InputError unless these are the tensors, all of them float32."""
    for name in sorted({*weights, *expected}):
        got = f"{weights[name].dtype} {weights[name].shape}" if name in weights else "missing"
        must = f"float32 {expected[name]}" if name in expected else "missing"
        if got != must:
            raise InputError(f"{path}: tensor {name} is {got}, must be {must}")


def table_writer(path: Path | str, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a Parquet writer whose bytes depend on the data alone."""
    numbers = [x.name for x in schema if pa.types.is_floating(x.type)]
    numbers += [f"{x.name}.list.element" for x in schema if pa.types.is_fixed_size_list(x.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=False,
        use_byte_stream_split=numbers,  # pyright: ignore[reportArgumentType]
    )


def write_table(path: Path | str, columns: Mapping[str, Any], schema: pa.Schema) -> None:
    """Write columns of equal length as Parquet with that schema, in its order."""
    with replacing(path) as temporary, table_writer(temporary, schema) as writer:
        writer.write_table(pa.table({name: columns[name] for name in schema.names}, schema=schema))


@contextmanager
def parquet(path: Path | str) -> Iterator[pq.ParquetFile]:
    """Yield an open Parquet file. Raises InputError for whatever is wrong with it."""
    try:
        with pq.ParquetFile(regular_file(path, math.inf)) as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'not a whole Parquet file'}") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not a whole Parquet file ({reason})") from None


def read_blocks(
    path: Path | str,
    schema: pa.Schema,
    columns: Iterable[str] | None = None,
    rows: int | None = None,
) -> Iterator[Arrays]:
    """Yield columns of a Parquet file of that schema, a row group at a time. Fixed-size lists
    become 2-D arrays."""
    with parquet(path) as file:
        if not file.schema_arrow.equals(schema):
            must = ", ".join(schema.names)
            raise InputError(f"{path}: its columns must be {must} as strata has them")
        count = file.metadata.num_rows
        if rows not in (None, count) or not count:
            raise InputError(f"{path}: {count} rows, must be {rows or 'at least 1'}")
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, list(columns or schema.names))
            yield {x: _array(table.column(x).combine_chunks()) for x in table.column_names}


def read_table(
    path: Path | str,
    schema: pa.Schema,
    columns: Iterable[str] | None = None,
    rows: int | None = None,
) -> Arrays:
    """Return columns of a Parquet file of that schema whole."""
    blocks = list(read_blocks(path, schema, columns, rows))
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _array(column: pa.Array) -> np.ndarray:
    if pa.types.is_dictionary(column.type):
        return np.asarray(column.dictionary_decode().to_numpy(zero_copy_only=False))
    if pa.types.is_fixed_size_list(column.type):
        return column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return column.to_numpy(zero_copy_only=False)


def read_split(path: Path | str, n: Task | int) -> Arrays:
    """Return the pair table of a task with its split. Raises InputError for that of another."""
    task, order = task_of(n), task_of(n).order
    table = read_table(path, SPLIT, rows=order**2)
    a, b = np.divmod(np.arange(order**2), order)
    expected = {"a": a, "b": b, "c": task.product(a, b)}
    if not all(np.array_equal(table[k], v) for k, v in expected.items()):
        raise InputError(f"{path}: is not the pair table of {task}")
    if others := {*table["split"]} - {TRAIN, VALIDATION, HELD_BACK}:
        raise InputError(
            f"{path}: split = {shortened(sorted(map(str, others)))}: must be one of a split"
        )
    return table


def write_history(path: Path | str, history: Mapping[str, np.ndarray]) -> None:
    """Write loss and accuracies per epoch; epochs without validation hold NaN."""
    write_table(path, history, HISTORY)


def no_history() -> "pd.DataFrame":
    """Return a history without epochs, which a model has whose training is not recorded."""
    import pandas as pd

    return pd.DataFrame({x.name: np.empty(0, x.type.to_pandas_dtype()) for x in HISTORY})


def read_history(path: Path | str) -> "pd.DataFrame":
    """Return loss and accuracies per epoch from epoch 1; none for a model trained elsewhere."""
    import pandas as pd

    with parquet(path) as file:
        if not file.metadata.num_rows:
            return no_history()
    history = pd.DataFrame(read_table(path, HISTORY))
    if not np.array_equal(history["epoch"], np.arange(1, len(history) + 1)):
        raise InputError(f"{path}: epochs must be 1, 2, 3, …")
    loss, end = history["loss"].to_numpy(), divergence_epoch(history) or len(history) + 1
    if (loss[: end - 1] < 0).any() or np.isfinite(loss[end - 1 :]).any():
        raise InputError(f"{path}: loss must be finite and at least 0, or from some epoch on not")
    for name in history.columns[2:]:
        x = history[name].dropna() if name.startswith(("validation", "mirror")) else history[name]
        if not x.between(0, 1).all():
            raise InputError(f"{path}: {name} must be from 0 to 1")
    return history


def divergence_epoch(history: "pd.DataFrame") -> int:
    """Return the first epoch whose loss is not finite, or 0 where all are finite."""
    infinite = ~np.isfinite(history["loss"].to_numpy())
    return int(np.argmax(infinite)) + 1 if infinite.any() else 0


def thin(history: "pd.DataFrame", points: int) -> "pd.DataFrame":
    """Return about ``points`` of the validated epochs, counted from the end, so the last stays."""
    frame = history.dropna(subset="validation_accuracy")
    return frame.iloc[:: -max(1, math.ceil(len(frame) / points))].iloc[::-1]


def write_thinned(path: Path | str, history: Mapping[str, np.ndarray], points: int = 250) -> None:
    """Write about ``points`` of the validated epochs as CSV, for ``dvc plots``."""
    import pandas as pd

    frame = thin(pd.DataFrame(history), points)
    write_text(path, frame.to_csv(index=False, float_format="%.6g"))
