"""Every table and figure, from what the remote holds and, where it lacks something, by computing:
``make paper``, and ``python -m ops.paper studies`` for the studies after it. One line a step."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from ops import dynamics, files, packages, packs, plan, recover, shipped
from ops.calls import checked_out, last_line, pulled
from ops.calls import command as called
from ops.git import loses_queued, nameless
from ops.times import Times, counted, shared
from strata.inputs import InputError
from strata.params import load
from strata.run import command

LONG = 600  # seconds that nobody is surprised with
KEPT = Path(".dvc", "tmp", "replaced")
TIMED = Path("ops", "scripts", "timed")


class Paper:
    """The projects, one after the other."""

    def __init__(self) -> None:
        self.interrupted = False
        self.lock: TextIO | None = None  # until this process ends
        self.ahead = plan.Ahead(pulled=True)
        signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, *_: object) -> None:
        self.interrupted = True  # DVC has the signal too, and ends in order

    def up_to_date(self, project: str) -> None:
        """Bring a project up to date, when those before it are. Raises InputError."""
        began = time.monotonic()
        packs.unpack(project)
        self._wait(lambda: recover.busy(project))
        name = f"{project}: " if project else ""
        status = called("status", "--quiet", project=project)
        quiet = subprocess.run(status, capture_output=True, check=False).returncode == 0
        self._goes_on()
        if quiet and not told(recover.objects(project)):
            print(f"{name}up to date: nothing to do … {since(began)}", flush=True)
            return
        told(recover.lock_files(project))
        recover.forget(project)
        told(recover.objects(project))
        print(f"{name}pull … ", end="", flush=True)
        at = time.monotonic()
        if lacks := pulled(project):  # the remote may be damaged
            packs.unpack(project, whole=True)
            lacks = pulled(project)
        unrecorded = checked_out(project) if lacks else []
        self._goes_on()
        print(since(at) + (f", not all of it: {lacks}" if lacks else ""), flush=True)
        for path in unrecorded:
            print(f"{path} is not as recorded: it was copied to {kept(path)}", flush=True)
        print(f"{name}plan … {self._planned(project)}", flush=True)
        began = time.monotonic()
        self._reproduced(project)
        print(f"{name}repro … {since(began)}", flush=True)

    def _goes_on(self) -> None:
        if self.interrupted:
            sys.exit(130)

    def alone(self) -> None:
        """Wait for another that does the same here."""

        def other() -> str:
            self.lock = recover.taken(Path(".dvc", "tmp", "paper"))
            return "" if self.lock else "another make paper is at work here"

        self._wait(other)

    def _wait(self, what: Callable[[], str]) -> None:
        """Wait while something is at work, and say what."""
        waits = ""
        while said := what():
            if said != waits:
                print(f"{said}: waiting for its end", flush=True)
            waits = said
            time.sleep(0.5)
            self._goes_on()

    def _planned(self, project: str) -> str:
        """What is left to run, in a line. Raises InputError where it takes long and nobody said
        that it may."""
        run, times = self.ahead.stages(project), Times(load("params.yaml"))
        trained, seconds = [x for x in run if files.kind(x) in plan.TRAINS], times.all(run)
        parts = [f"train {counted(len(trained), 'model')}"] * bool(trained)
        parts += [f"run {counted(len(run), 'stage')} at most"] * bool(run)
        said = f"{', '.join(parts) or 'nothing to do'}: about {shared(seconds)}"
        if seconds > LONG and not os.environ.get("GO"):
            again = f"make {project or 'paper'} GO=1 goes on; make plan says with what"
            raise InputError(f"{said}: more than ten minutes: {again}")
        self._goes_on()
        return said

    def _reproduced(self, project: str) -> None:
        """Run what is left. DVC's own remarks go nowhere, its errors and what the stages print go
        to our output; of frozen stages we say more. Raises InputError with the reason."""
        said = ""
        timed = Path(shutil.copy(TIMED, KEPT.parent)).resolve()
        timed.chmod(0o755)  # which some copies of a repository do not keep
        environment = os.environ | {"SHELL": str(timed)}
        with subprocess.Popen(
            called("repro", "--all-pipelines", project=project), env=environment, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            for line in process.stderr or ():
                if " is frozen. Its dependencies " not in line:
                    print(line, end="", flush=True)
                    said += line
        self._goes_on()
        if process.returncode:
            raise InputError(f"dvc repro did not run to its end: {last_line(said)}")


def kept(path: str) -> Path:
    """Where a copy of an output is kept that a stage is about to replace."""
    copy = KEPT / path
    shipped.make_room(copy)
    shutil.copytree(path, copy) if Path(path).is_dir() else shutil.copy(path, copy)
    return copy


def told(lines: Iterable[str]) -> int:
    """How many lines there are, each printed as it comes."""
    count = 0
    for line in lines:
        print(line, flush=True)
        count += 1
    return count


def since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def main(*beside: str) -> None:
    files.at_top()
    packages.refuse()
    paper = Paper()
    paper.alone()
    told(filter(None, [loses_queued()]))
    for project in ("", *beside):
        if project and project not in files.PROJECTS:
            raise InputError(f"{project}: must be one of {', '.join(files.PROJECTS)}")
        paper.up_to_date(project)
        if project == "studies" and (said := dynamics.line()):
            print(said)
    if said := nameless():
        print(said)


if __name__ == "__main__":
    command(main)
