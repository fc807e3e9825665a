"""Artifacts as git has them, in packs, and the DVC remotes that they are unpacked to.

Beside each lock a folder artifacts/ holds what its stages made, apart by how often that changes:
RUN.tar.xz has the weights of a run, KIND.tar.xz what else a stage makes of every run, code.tar.xz
the keys for code, figures.tar.xz figures, results.tar.xz the rest.
A pack is a tar of these files by their paths from the top, compressed by xz, with DVC's listing of
a folder as FOLDER.dir; what two packs would have is in the first of them.

``python -m ops.packs`` unpacks them to the remotes, which git ignores; ``make pack`` writes those
packs anew whose content is another; ``python -m ops.packs RUN`` refuses a run that is trained.
"""

import fcntl
import hashlib
import io
import json
import lzma
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from ops import copied, files, recover, shipped
from ops.git import settled
from ops.shipped import DIR, REMOTE, Outs, at, content, parts
from strata.inputs import InputError
from strata.run import Run, command

SUFFIX = ".tar.xz"
WEIGHTS, FIGURES = "weights.safetensors", "figures"
USUAL = {"id": lzma.FILTER_LZMA2, "preset": 6}
BY_FOUR = USUAL | {"lc": 1, "lp": 2, "pb": 2}  # smallest for float32: a byte's place counts
KNOWN = "packs.json"  # in a remote: of each pack its size, its time, and the objects that it has
# What revisions do not have, and must not: there DVC would look for the folder at the root of the
# machine. It reads this file as it is here, whatever the revision.
LOCAL = shipped.SETTINGS.format(f"../{REMOTE}")


def packs(project: str = "", top: Path | str = ".") -> list[str]:
    """The packs of a project that are here."""
    folders = {Path(x).parent for x in files.pipelines(top) if files.project(x) == project}
    found = (path for x in folders for path in Path(top, x, files.ARTIFACTS).glob(f"*{SUFFIX}"))
    return sorted(path.relative_to(top).as_posix() for path in found)


def inside(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The paths in a pack of that name, each with its bytes. Raises InputError."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as tar:
            for member in tar:
                file = tar.extractfile(member)
                yield member.name, file.read() if file else b""
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise InputError(f"{name}: is damaged ({error}): git checkout {name}") from None


def unpack(project: str, *, whole: bool = False) -> None:
    """Bring what the packs of a project have into its remote, where that lacks it; with ``whole``
    also where it is damaged. Raises InputError."""
    remote = Path(project, REMOTE)
    try:
        _local(Path(project, ".dvc"))
        known = _known(remote)
        found = {x: _state(Path(x)) for x in packs(project)}
        new = [x for x, state in found.items() if whole or not _there(known.get(x), state, remote)]
        if not new and known.keys() <= found.keys():
            return
        remote.mkdir(exist_ok=True)
        with (remote / "lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in remote.glob(".*.part"):  # of one that was killed
                path.unlink()
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                had = dict(zip(new, pool.map(lambda x: _unpacked(x, remote), new), strict=True))
            settled()
            known = {x: [*found[x], had[x]] if x in had else known[x] for x in found}
            _replace(remote / KNOWN, json.dumps(known).encode(), remote)
    except OSError as error:
        raise InputError(f"{error.filename or remote}: {error.strerror}: repeat") from None


def _local(folder: Path) -> None:
    """Name the remote in the settings of this clone."""
    path = folder / "config.local"
    text = path.read_text("utf-8") if path.is_file() else ""
    if folder.is_dir() and '"shipped"' not in text:
        path.write_text(text + LOCAL, "utf-8")


def _known(remote: Path) -> dict[str, Any]:
    """What was noted of the packs that were unpacked; nothing where nothing was."""
    with suppress(OSError, ValueError):
        return json.loads((remote / KNOWN).read_bytes())
    return {}


def _state(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _there(noted: Any, state: list[int], remote: Path) -> bool:
    """Whether a pack was unpacked as it is, and all of it is in the remote."""
    return bool(noted) and noted[:2] == state and all(at(x, remote).is_file() for x in noted[2])


def _unpacked(name: str, remote: Path) -> list[str]:
    """Unpack one, leaving alone what is there whole; the objects that it has."""
    had = []
    for path, data in inside(Path(name).read_bytes(), name):
        had.append(hashlib.md5(data).hexdigest() + (DIR if path.endswith(DIR) else ""))
        target = at(had[-1], remote)
        if not target.is_file() or target.read_bytes() != data:
            _replace(target, data, remote)
    return had


def _replace(target: Path, data: bytes, remote: Path) -> None:
    """Write a file in one step. It is not synced: a second unpacking makes good a power cut."""
    part = remote / f".{target.parent.name}{target.name}.part"
    part.write_bytes(data)
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)


def pack_of(stage: str, path: str) -> str:
    """The pack that has an output of a stage.

    >>> pack_of("runs/dvc.yaml:train@n6-s1", "data/train/n6-s1/weights.safetensors")
    'runs/artifacts/n6-s1.tar.xz'
    >>> pack_of("studies/seeds/dvc.yaml:tables", "studies/seeds/tables")
    'studies/seeds/artifacts/results.tar.xz'
    """
    folder = Path(stage.rpartition(":")[0] or "dvc.yaml").parent / files.ARTIFACTS
    run, kind = files.run_of(stage), files.kind(stage)
    if run:
        name = str(run) if path.endswith(WEIGHTS) else kind
    else:
        name = kind if kind == "code" else "figures" if FIGURES in Path(path).parts else "results"
    return (folder / f"{name}{SUFFIX}").as_posix()


def contents(project: str) -> dict[str, dict[str, str]]:
    """What each pack of a project must have: the md5 of each path, of what DVC keeps of the stages
    in its locks. Raises InputError where neither cache nor remote has something."""
    stages = {k: v for k, v in files.locked().items() if files.project(k) == project}
    kept = copied.resolved(Path.cwd(), [project])
    found: dict[str, dict[str, str]] = {}
    shared: set[str] = set()
    outs = [
        (pack_of(x.stage, x.path), x)
        for x in Outs(stages)
        if x.stage in kept and x.path in kept[x.stage].kept
    ]
    # Weights first, which other packs then need not have.
    for name, out in sorted(outs, key=lambda x: (not x[1].path.endswith(WEIGHTS), x)):
        own = {out.path + DIR: out.md5} if out.md5.endswith(DIR) else {}
        own |= {x.path: x.md5 for x in parts(out, stores(project))}
        if new := {k: v for k, v in own.items() if v not in shared}:
            found.setdefault(name, {}).update(new)
            shared |= {*new.values()}
    return found


def stores(project: str) -> list[Path]:
    """Where objects of a project are: its cache, its remote."""
    return [recover.cache(project), Path(project, REMOTE)]


def packed(objects: Mapping[str, str], where: Sequence[Path]) -> bytes:
    """A pack of these objects by their paths, always with the same bytes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(objects):
            found, member = content(objects[path], where), tarfile.TarInfo(path)
            member.size = len(found)
            tar.addfile(member, io.BytesIO(found))
    by_four = all(path.endswith(WEIGHTS) for path in objects)
    return lzma.compress(data.getvalue(), filters=[BY_FOUR if by_four else USUAL])


def write(project: str) -> Iterator[str]:
    """Write the packs of a project that are not as they must be, delete those of nothing; the
    names of both."""
    must, where = contents(project), stores(project)
    for name in sorted({*packs(project)} - must.keys()):
        Path(name).unlink()
        yield name
    todo = [name for name, own in must.items() if not same(Path(name), own)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = pool.map(lambda x: packed(must[x], where), todo)
        for name, data in zip(todo, made, strict=True):
            Path(name).parent.mkdir(exist_ok=True)
            _replace(Path(name), data, Path(name).parent)
            yield name


def same(path: Path, objects: Mapping[str, str]) -> bool:
    """Whether a pack has just these objects: another version of xz may write other bytes."""
    with suppress(InputError, FileNotFoundError):
        there = inside(path.read_bytes(), str(path))
        return {k: hashlib.md5(x).hexdigest() for k, x in there} == {
            k: x.removesuffix(DIR) for k, x in objects.items()
        }
    return False


def refuse_kept(run: Run) -> None:
    """Raises InputError where a lock names the weights of a run with all that it would be trained
    with now, and cache, remote or a pack has them."""
    for name, stage in files.locked().items():
        if files.kind(name) != "train" or files.run_of(name) != run:
            continue
        if any(shipped.on_disk(dep["path"]) != dep["md5"] for dep in stage["deps"]):
            continue
        project = files.project(name)
        for out in (x for x in stage["outs"] if x["path"].endswith(WEIGHTS)):
            there = [at(out["md5"], store) for store in stores(project)]
            if any(path.is_file() for path in (*there, Path(pack_of(name, out["path"])))):
                pull = f"dvc --cd {project} pull" if project else "dvc pull"
                raise InputError(f"{run}: is trained already: {pull} brings it; GO=1 trains again")


def main(what: str = "") -> None:
    files.at_top()
    if what not in {"", "write"}:
        return refuse_kept(Run.parse(what))
    for project in files.projects():
        unpack(project)
        if what:
            for name in write(project):
                print(name, flush=True)
            unpack(project)


if __name__ == "__main__":
    command(main)
