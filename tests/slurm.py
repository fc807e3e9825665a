"""SLURM itself on loopback, run by whoever runs the tests: a controller and some nodes of one
processor each, in a folder of its own, with a munge of its own."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
CONF = """
ClusterName=strata
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
ReturnToService=2
JobRequeue=1
SlurmctldTimeout=10
SlurmdTimeout=9
KillWait=5
MinJobAge=300
{nodes}
PartitionName=cpu Nodes=ALL Default=YES MaxTime=60 State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"


def found() -> dict[str, str]:
    """Where the programs of SLURM are, those of the system's administrator included."""
    path = f"{os.environ['PATH']}:{SYSTEM}"
    return {name: where for name in PROGRAMS if (where := shutil.which(name, path=path))}


def ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    with ExitStack() as held:
        free = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [x.getsockname()[1] for x in free]


class Cluster:
    """A controller and nodes n1, n2, …"""

    def __init__(self, folder: Path, nodes: int):
        self.folder, self.programs = folder, found()
        self.names = [f"n{number + 1}" for number in range(nodes)]
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{os.environ['PATH']}:{SYSTEM}",
        }
        self.processes: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        for path in (self.folder / "state", *(self.folder / f"spool-{x}" for x in self.names)):
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        # slurmd wants a kind of control groups; as it tracks processes otherwise, it never uses it.
        (self.folder / "cgroup.conf").write_text(
            f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={self.folder}/cgroup\n"
        )
        host, (ctld, *own) = socket.gethostname().partition(".")[0], ports(1 + len(self.names))
        lines = [
            NODE.format(name=name, host=host, port=port)
            for name, port in zip(self.names, own, strict=True)
        ]
        text = CONF.format(
            host=host, ctld=ctld, user=getpass.getuser(), folder=self.folder,
            nodes="\n".join(lines),
        )  # fmt: skip
        (self.folder / "slurm.conf").write_text(text)
        self.munge()
        self.spawn("slurmctld", "-D")
        for name in self.names:
            self.node(name)
        self.until(lambda: self.said("sinfo", "-h", "-o", "%D %T") == f"{len(self.names)} idle")

    def munge(self) -> None:
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        own = [f"--{x}-file={self.folder}/munge.{x}" for x in ("key", "log", "pid", "seed")]
        own.append(f"--socket={self.folder}/munge.socket")
        self.spawn("munged", "--foreground", "--force", *own)
        self.until((self.folder / "munge.socket").exists)

    def spawn(self, program: str, *words: str, name: str = "") -> None:
        log = (self.folder / f"{name or program}.out").open("ab")
        self.processes[name or program] = subprocess.Popen(
            [self.programs[program], *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=self.environment, start_new_session=True,
        )  # fmt: skip
        log.close()

    def node(self, name: str) -> None:
        """Start a node, for the first time or again."""
        self.spawn("slurmd", "-D", "-N", name, name=name)

    def kill(self, name: str) -> None:
        """Kill the daemon of a node, or slurmctld, and nothing else."""
        self.processes[name].kill()
        self.processes.pop(name).wait()
        if name in self.names:  # which the controller finds out itself in half a minute
            down = ("State=DOWN", "Reason=killed")
            self.said("scontrol", "update", f"NodeName={name}", *down)

    def lose(self, name: str) -> None:
        """Kill a node with all that runs on it; first what would tell the controller of the end."""
        steps = [psutil.Process(pid) for pid in self.steps(name)]
        daemons = {x for step in steps for x in step.parents() if "slurmstepd" in x.name()}
        self.kill(name)
        for process in (*daemons, *steps):
            end(process.pid)

    def steps(self, name: str) -> list[int]:
        """The processes that a node runs, by the name of the node in their environment."""
        return processes(f"SLURMD_NODENAME={name}\0", str(self.folder))

    def said(self, *words: str) -> str:
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def until(self, holds, seconds: float = 20) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, self.logs()
            time.sleep(0.2)

    def logs(self) -> str:
        return "\n".join(
            f"{path.name}: {path.read_text(errors='replace')[-2000:]}"
            for path in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        )

    def stop(self) -> None:
        self.said("scancel", "--user", getpass.getuser())
        for name in self.names:
            for pid in self.steps(name):
                end(pid)
        for process in self.processes.values():
            process.kill()
            process.wait()


def processes(*texts: str) -> list[int]:
    """The processes that have all of this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            there = path.read_bytes()
            if all(text.encode() in there for text in texts):
                found.append(int(path.parent.name))
    return found


def end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
