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
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from dvc.config import Config

from ops import calls, copied, files, recover, shipped
from ops.calls import alive
from ops.git import git, install_hook, why_files_lack
from ops.shipped import DIR, REMOTE, Outs, at, content, parts
from strata.inputs import InputError
from strata.run import Run, command

SUFFIX = ".tar.xz"
WEIGHTS, FIGURES = "weights.safetensors", "figures"
USUAL = {"id": lzma.FILTER_LZMA2, "preset": 6}
BY_FOUR = USUAL | {"lc": 1, "lp": 2, "pb": 2}  # smallest for float32: a byte's place counts
RECORD = "packs.json"  # in a remote: of each pack its size, its time, and the objects that it has
# What revisions do not have, and must not: there DVC would look for the folder at the root of the
# machine. It reads this file as it is here, whatever the revision.
LOCAL = shipped.SETTINGS.format(f"../{REMOTE}")
SITE = "tmp/site"  # in .dvc


def packs(project: str = "", top: Path | str = ".") -> list[str]:
    """List the packs of a project that the checkout has."""
    folders = {Path(x).parent for x in files.pipelines(top) if files.project(x) == project}
    paths = (path for x in folders for path in Path(top, x, files.ARTIFACTS).glob(f"*{SUFFIX}"))
    return sorted(path.relative_to(top).as_posix() for path in paths)


def inside(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the paths in a pack of that name, each with its bytes. Raises InputError."""
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
        unpacked = _record(remote)
        states = {x: _state(Path(x)) for x in packs(project)}
        new = [
            x
            for x, state in states.items()
            if whole or not _is_unpacked(unpacked.get(x), state, remote)
        ]
        if not new and unpacked.keys() <= states.keys():
            return
        remote.mkdir(exist_ok=True)
        with (remote / "lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in remote.glob(".*.part"):  # of one that was killed
                path.unlink()
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                contents = dict(
                    zip(new, pool.map(lambda x: _unpack_one(x, remote), new), strict=True)
                )
            install_hook()
            unpacked = {
                x: [*states[x], contents[x]] if x in contents else unpacked[x] for x in states
            }
            _replace(remote / RECORD, json.dumps(unpacked).encode(), remote)
    except OSError as error:
        raise InputError(f"{error.filename or remote}: {error.strerror}: repeat") from None


def _local(folder: Path) -> None:
    """Name the remote in the settings of this clone, and a folder in it for DVC's databases. DVC
    would keep them where each user of the machine may write, and unpickles what they hold."""
    if not folder.is_dir():
        return
    site = (folder / SITE).resolve()
    # DVC lets each user write to a folder that it makes itself.
    (site / "repo").mkdir(parents=True, exist_ok=True)
    path = folder / "config.local"
    text = path.read_text("utf-8") if path.is_file() else ""
    settings: Any = Config(dvc_dir=str(folder.resolve()))
    before = settings.read("local").get("core", {}).get("site_cache_dir", "")
    if f'"{shipped.NAME}"' not in text:
        path.write_text(text + LOCAL, "utf-8")
    # Another one of ours is of a clone that was moved. DVC could not write other letters again.
    ours = not before or before.endswith(f".dvc/{SITE}")
    if ours and before != str(site) and str(site).isascii():
        with settings.edit("local") as edited:
            edited.setdefault("core", {})["site_cache_dir"] = str(site)


def _record(remote: Path) -> dict[str, Any]:
    """Read the record of the packs that were unpacked, which is empty at first."""
    with suppress(OSError, ValueError):
        return json.loads((remote / RECORD).read_bytes())
    return {}


def _state(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _is_unpacked(noted: Any, state: list[int], remote: Path) -> bool:
    """Whether a pack was unpacked as it is, and all of it is in the remote."""
    return bool(noted) and noted[:2] == state and all(at(x, remote).is_file() for x in noted[2])


def _unpack_one(name: str, remote: Path) -> list[str]:
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
    """Return the pack that has an output of a stage.

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
    """Return what each pack of a project must have, as the md5 of each path that DVC keeps of the
    stages in its locks. Raises InputError where neither cache nor remote has an object."""
    stages = {k: v for k, v in files.locked_stages().items() if files.project(k) == project}
    kept = copied.resolve_stages(Path.cwd(), [project])
    by_pack: dict[str, dict[str, str]] = {}
    shared: set[str] = set()
    outs = [
        (pack_of(x.stage, x.path), x)
        for x in Outs(stages)
        if x.stage in kept and x.path in kept[x.stage].kept
    ]
    # Weights first, which other packs then need not have.
    for name, out in sorted(outs, key=lambda x: (not x[1].path.endswith(WEIGHTS), x)):
        objects = {out.path + DIR: out.md5} if out.md5.endswith(DIR) else {}
        objects |= {x.path: x.md5 for x in parts(out, stores(project))}
        if new := {k: v for k, v in objects.items() if v not in shared}:
            by_pack.setdefault(name, {}).update(new)
            shared |= {*new.values()}
    return by_pack


def stores(project: str) -> list[Path]:
    """Return the folders with the objects of a project: its cache and its remote."""
    return [recover.cache(project), Path(project, REMOTE)]


def pack(objects: Mapping[str, str], where: Sequence[Path]) -> bytes:
    """Return a pack of these objects by their paths."""
    return compress({path: content(md5, where) for path, md5 in objects.items()})


def compress(contents: Mapping[str, bytes]) -> bytes:
    """Return a pack of these files by their paths, always with the same bytes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, content in sorted(contents.items()):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    by_four = all(path.endswith(WEIGHTS) for path in contents)
    return lzma.compress(data.getvalue(), filters=[BY_FOUR if by_four else USUAL])


def write(project: str) -> Iterator[str]:
    """Write the packs of a project that are not as they must be, and delete those of nothing, but
    never the weights of a run that something still names. Yields the names of both."""
    must, where = contents(project), stores(project)
    for name in sorted({*packs(project)} - must.keys()):
        if not is_named(Path(name).name.removesuffix(SUFFIX)):
            Path(name).unlink()
            yield name
    todo = [name for name, objects in must.items() if not has_objects(Path(name), objects)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        written = pool.map(lambda x: pack(must[x], where), todo)
        for name, data in zip(todo, written, strict=True):
            Path(name).parent.mkdir(exist_ok=True)
            _replace(Path(name), data, Path(name).parent)
            yield name


def is_named(run: str) -> bool:
    """Whether the list of runs, or a lock of any branch, names a run, whose weights must stay."""
    try:
        Run.parse(run)
    except InputError:
        return False
    listed = Path("studies/runs.yaml")
    if listed.is_file() and re.search(rf"(?<![\w-]){run}:", listed.read_text("utf-8")):
        return True
    branches = git("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes").split()
    grep = ["git", "grep", "-qF", f"train@{run}:", *{*branches}, "--", "*dvc.lock"]
    return bool(branches) and subprocess.run(grep, check=False).returncode == 0


def has_objects(path: Path, objects: Mapping[str, str]) -> bool:
    """Whether a pack has just these objects: another version of xz may write other bytes."""
    with suppress(InputError, FileNotFoundError):
        members = inside(path.read_bytes(), str(path))
        return {k: hashlib.md5(x).hexdigest() for k, x in members} == {
            k: x.removesuffix(DIR) for k, x in objects.items()
        }
    return False


def fetch(project: str) -> None:
    """Bring what packs have into the cache of a project, from which ``dvc repro`` takes the outputs
    of each stage whose inputs are those of its lock: so a fresh clone trains nothing."""
    unpack(project)
    stages = {k: v for k, v in files.locked_stages().items() if files.project(k) == project}
    cache, remote = stores(project)
    in_packs = [out for out in Outs(stages) if at(out.md5, remote).is_file()]
    if all(at(out.md5, cache).is_file() for out in in_packs):
        return
    print(
        f"{len(in_packs)} outputs that git has come into DVC's cache: a stage whose inputs are as"
        " its lock says takes them from there, and does not run; with GO=1 it runs",
        flush=True,
    )
    subprocess.run(calls.command("fetch", "--quiet", project=project), check=False)


def refuse_trained(run: Run) -> None:
    """Refuse a run that is trained: a lock names its weights with all that it would be trained with
    now, and cache, remote or a pack has them. Raises InputError."""
    for name, stage in files.locked_stages().items():
        if files.kind(name) != "train" or files.run_of(name) != run:
            continue
        unpack(files.project(name))  # so that a pull finds it
        if any(shipped.md5_on_disk(dep["path"]) != dep["md5"] for dep in stage["deps"]):
            continue
        project = files.project(name)
        for out in (x for x in stage["outs"] if x["path"].endswith(WEIGHTS)):
            there = [at(out["md5"], store) for store in stores(project)]
            if any(path.is_file() for path in (*there, Path(pack_of(name, out["path"])))):
                pull = f"dvc --cd {project} pull" if project else "dvc pull"
                raise InputError(f"{run}: is trained already: {pull} brings it; GO=1 trains again")
            if why := why_files_lack():
                raise InputError(f"{run}: is trained already; {why}, then make studies")


def main(what: str = "") -> None:
    files.require_top()
    if what not in {"", "write"}:
        return refuse_trained(Run.parse(what))
    with alive("packs"):
        for project in files.projects():
            unpack(project)
            if what:
                for name in write(project):
                    print(name, flush=True)
                unpack(project)


if __name__ == "__main__":
    command(main)
