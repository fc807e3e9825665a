"""What workers have made, brought in: what DVC's run cache has of stages becomes what their locks
say, and their outputs are checked out.

`dvc repro` does the same stage by stage and writes a whole lock after each of them: half a second
for each stage at fifty runs. Here a lock is written once.
"""

import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dvc.exceptions import CacheLinkError, CheckoutError
from dvc.repo import Repo
from dvc.utils.serialize import modify_yaml

from ops import files, plan
from ops.grid.state import last_line
from ops.plan import Plan
from strata import store
from strata.run import InputError, read_yaml
from strata.train import snapshots


def dvc(*words: str) -> None:
    """Run DVC, and not with --quiet, which keeps the reason back as well. Raises InputError with
    the reason where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *words], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        raise InputError(f"dvc {words[0]}: {last_line(done.stdout)}")


def planned(remote: str = "") -> Plan:
    """What is to do here, with what DVC's remote holds and, if named, with what workers pushed."""
    with Repo() as repo:
        return plan.plan(repo, read_yaml("params.yaml"), also=remote)


def gather(runs: Collection[str], remote: str = "") -> Plan:
    """Bring in what the run cache has of stages of these runs; what is to do afterwards at most."""
    if remote:
        dvc("fetch", "--run-cache", "--remote", remote, "code")
    found = planned(remote)
    taken = {k: v for k, v in found.taken.items() if k.partition("@")[2] in runs}
    if taken:
        record(taken)
        restore(taken, remote)
        snapshots.prune(".snapshots")
    return found


def restore(names: Collection[str], remote: str) -> None:
    """Bring what these stages wrote, as DVC does where its run cache has a stage. `dvc checkout`
    would read all locks for each of its targets. Raises InputError for what cannot be had."""
    with Repo() as repo, repo.lock:
        stages = [stage for stage in repo.index.stages if getattr(stage, "name", "") in names]
        if remote:
            used = (ids for stage in stages for ids in stage.get_used_objs().values())
            repo.cloud.pull({one for ids in used for one in ids}, remote=remote)
        for out in (out for stage in stages for out in stage.outs):
            try:
                out.checkout(force=True)
            except (CheckoutError, CacheLinkError) as error:
                raise InputError(" ".join(f"{out}: {error}".split())) from None


def record(taken: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the entries of stages into the locks of their pipeline files, as DVC writes them."""
    for file in files.present("", files.FILES):
        stages = read_yaml(file)["stages"]
        own = {name: dict(taken[name]) for name in taken if plan.kind(name) in stages}
        if own:
            path = Path(files.lock(str(file)))
            with store.replacing(path) as new:
                if path.is_file():
                    shutil.copy(path, new)
                else:
                    new.write_text("schema: '2.0'\n", "utf-8")
                with modify_yaml(str(new)) as lock:
                    lock.setdefault("stages", {}).update(own)
