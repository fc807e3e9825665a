"""Put right, before DVC is called, what it would trust unseen or stumble over after a kill, a full
disk or a power cut."""

import base64
import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil
from dvc.config import Config
from dvc.utils.flatten import flatten
from ruamel.yaml import YAML

from ops import files, provenance, shipped
from ops.git import git
from strata.inputs import InputError, shortened
from strata.run import read_yaml

# A command of DVC that has one of these words changes nothing.
READS = {"status", "diff", "show", "list", "ls", "logs", "dag", "daemon", "check-ignore"}
MD5 = re.compile(r"[0-9a-f]{32}(\.dir)?")
EXPERIMENTS = Path(".dvc", "tmp", "exps")  # of a project: the queue, and copies for experiments
RUNNING = "refs/exps/exec"  # what DVC keeps of an experiment while it runs
OUTPUTS = ("data", "figures", "tables")  # the folders that stages write to, of projects and studies


def try_lock(path: Path) -> TextIO | None:
    """Return the lock of that file, or None where another process has it. The system takes a lock
    back however its owner ends, and flock also holds between hosts that share the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def busy(project: str = "") -> str:
    """Return which DVC writes in this repository, or that one on another host writes in this
    project; return nothing where none does.

    DVC has its lock, or names itself in its list, only at times, and not between two stages: so
    its processes are looked for. The list of a DVC that was killed is deleted, because DVC refuses
    one that was cut off, and waits where another process has the number of one that has ended.
    """
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # the process has ended, or is another user's
            words = dvc_words(process.cmdline())
            if not words or not READS.isdisjoint(words):
                continue
            if Path(process.cwd()).is_relative_to(Path.cwd()):
                return f"process {process.pid} ({' '.join(words)}) is at work here"
    path = Path(project, ".dvc", "tmp", "lock")
    # Where this is set, DVC's locks are files that have a time to come while they are held.
    linked = settings(project)["core"].get("hardlink_lock", False)
    if linked and path.exists() and path.stat().st_mtime > time.time():
        return f"DVC is at work here, or was killed and left {path}, which you may delete then"
    lock = try_lock(path)
    if lock is None:
        return "DVC is at work here"
    with lock:
        path.with_name("rwlock").unlink(missing_ok=True)
        for name in ("lock", "rwlock.lock") if linked else ():  # else DVC would wait for them
            path.with_name(name).unlink(missing_ok=True)
    return ""


def dvc_words(command: list[str]) -> list[str]:
    """Return dvc and the first words that it is called with, without options; nothing for another
    program.

    >>> dvc_words(["/usr/bin/python3", "-m", "dvc", "--cd", "studies", "exp", "run", "-S", "n=6"])
    ['dvc', 'studies', 'exp', 'run']
    """
    names = [Path(word).name for word in command[:3]]
    if "dvc" not in names:
        return []
    words = command[names.index("dvc") + 1 :]
    return ["dvc", *[word for word in words if not word.startswith("-")][:3]]


def delete_damaged(project: str = "") -> Iterator[str]:
    """Delete each object of the cache that a lock of the project names and whose bytes have another
    md5, and yield a line about it. DVC would trust it, because the file is read-only."""
    store = cache(project)
    stages = [
        stage for name, stage in files.locked_stages().items() if files.project(name) == project
    ]
    unchecked = {out.get("md5") for stage in stages for out in stage.get("outs", ())}
    while unchecked:
        md5 = str(unchecked.pop())
        if not MD5.fullmatch(md5) or not (path := shipped.at(md5, store)).is_file():
            continue
        if provenance.md5(path) != md5.removesuffix(".dir"):
            path.unlink()
            yield f"{path} was damaged: deleted"
        elif md5.endswith(".dir"):
            unchecked |= {entry["md5"] for entry in json.loads(path.read_bytes())}


def forget(project: str = "") -> None:
    """Make DVC compute all checksums again, and look again for what a pull has to fetch. Its
    records of both are partial where a pull was killed, and a damaged database ends DVC. It uses
    them only while this file has the time at which they were begun."""
    Path(project, ".dvc", "tmp", "btime").unlink(missing_ok=True)


def delete_partial(project: str = "") -> None:
    """Delete what killed writes left beside outputs: ``store.replacing`` writes to a hidden file
    first, and figures are drawn in a hidden folder. Call it only while nothing writes there."""
    for pattern in (*OUTPUTS, *(f"*/{name}" for name in OUTPUTS)):
        for folder in Path(project).glob(pattern):
            for path in folder.rglob(".*.tmp"):
                path.unlink(missing_ok=True)
            for path in folder.glob(".figures-*"):
                shutil.rmtree(path)


def delete_empty(project: str = "") -> Iterator[str]:
    """Delete empty folders of the run cache, on which `dvc exp run` fails, and yield a line about
    them."""
    folders = (x for x in (cache(project) / "runs").glob("*/*") if x.is_dir())
    if empty := [x for x in folders if not any(x.iterdir())]:
        for folder in empty:
            folder.rmdir()
        names = shortened([os.path.relpath(x) for x in empty])
        yield f"{names}: empty, as a kill or a full disk leaves it: deleted"


def clear_experiments(project: str = "") -> Iterator[str]:
    """Delete what experiments in folders of their own left when they or their worker were killed,
    and yield a line that names those that are not recorded. What is queued stays. Call it only
    while DVC is not at work."""
    folder = project / EXPERIMENTS
    folders = [x for y in ("tmp*", "standalone/tmp*") for x in folder.glob(y) if x.is_dir()]
    copies = {str(x.resolve()): x for x in folders if not is_used(x)}
    names = set[str]()
    for path in [*folder.glob("run/*/*.run"), *folder.glob("standalone/run/*/*.run")]:
        with suppress(ValueError):  # its writing was cut off
            task = json.loads(path.read_bytes())
            if task["root_dir"] in copies:
                names.add(task["name"])
                shutil.rmtree(path.parent)
    for path in folder.glob("celery/broker/processed/*.celery.msg"):
        with suppress(ValueError):
            message = json.loads(path.read_bytes())
            result = folder / "celery" / "result" / f"celery-task-meta-{message['headers']['id']}"
            if message["headers"]["task"].endswith(".run_exp") and not result.exists():
                names.add(json.loads(base64.b64decode(message["body"]))[0][0]["name"])
                path.unlink()
    for path in folder.glob("celery/broker/*/*.pidbox.msg"):  # of which one may end a new worker
        path.unlink()
    for copy in copies.values():
        shutil.rmtree(copy, ignore_errors=True)
    refs = git("for-each-ref", "--format=%(refname)", "refs/exps").splitlines()
    for name in (x for x in refs if x.startswith("refs/exps/temp/")):
        git("update-ref", "-d", name)
    lost = sorted(filter(None, names - {x.rpartition("/")[2] for x in refs}))
    if lost:
        yield f"{shortened(lost)}: killed, so not recorded: repeat what queued or started it"
    if copies:
        yield f"{len(copies)} copies for experiments that were killed: deleted"


def is_used(folder: Path) -> bool:
    """Whether a process is at work in a folder."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(folder.resolve()):
                return True
    return False


def unfinished() -> Iterator[str]:
    """Yield a line about an experiment that did not come to its end, and what params.yaml still has
    of it."""
    if git("for-each-ref", f"{RUNNING}/EXEC_BASELINE") and not busy():
        values = changed_values()
        what = f"params.yaml still has {shortened(values)}: " if values else ""
        yield f"an experiment did not come to its end: {what}make back undoes it"


def changed_values() -> list[str]:
    """Return the values of params.yaml that are not those of git's last commit, with their keys."""
    before = flatten(YAML(typ="safe").load(git("show", "HEAD:params.yaml")))
    now = flatten(read_yaml("params.yaml"))
    return [f"{k} = {v}" for k, v in now.items() if k not in before or v != before[k]]


def forget_unrun(project: str = "") -> list[str]:
    """Return the stages that a lock has with other parameters or sources than git's last commit,
    but whose outputs are older than these: `dvc exp save` records what did not run. DVC is made to
    forget them, or it would restore such outputs in place of a run."""
    paths = [files.lock(x) for x in files.pipelines() if files.project(x) == project]
    with suppress(InputError):  # there is no commit yet
        paths = git("diff", "--name-only", "HEAD", "--", *paths).splitlines()
    outs, unrun = shipped.Outs(files.locked_stages()) if paths else None, {}
    for path in filter(lambda x: Path(x).is_file(), paths):
        pipeline = str(Path(path).with_suffix(".yaml"))
        last = YAML(typ="safe").load(git("show", f"HEAD:{path}"))["stages"]
        for name, stage in read_yaml(path)["stages"].items():
            address = name if pipeline == "dvc.yaml" else f"{pipeline}:{name}"
            before = last.get(name, stage)
            at = Path() if pipeline == files.RUNS else Path(path).parent
            read = [x for x in stage.get("deps", ()) if x not in before.get("deps", ())]
            sources = {at / x["path"] for x in read}
            if stage.get("params") != before.get("params"):
                sources |= {at / x for x in stage.get("params", ())}
            sources = {x for x in sources if outs and not outs.at(os.path.normpath(x))}
            written = [at / x["path"] for x in stage.get("outs", ())]
            if newest(sources) > newest(written) > 0:
                unrun[address] = stage
    for path in (cache(project) / "runs").glob("*/*/*") if unrun else ():
        with suppress(InputError):
            if read_yaml(path) in unrun.values():
                path.unlink()
    list(delete_empty(project))  # on what is empty now
    return [*unrun]


def newest(paths: Iterable[Path]) -> float:
    """Return when the last of these files, and of those in these folders, was written, or 0."""
    within = (x for path in paths for x in ([path] if path.is_file() else path.rglob("*")))
    return max((x.stat().st_mtime for x in within if "__pycache__" not in x.parts), default=0)


def cache(project: str = "") -> Path:
    """Return the folder of a project's cache."""
    default = Path(project, ".dvc", "cache")
    return Path(settings(project)["cache"].get("dir", default)).resolve()


def settings(project: str = "") -> Config:
    """Return DVC's settings for a project, with those of the user and of the machine."""
    return Config(dvc_dir=str(Path(project, ".dvc").resolve()))
