"""SLURM itself on loopback, run by whoever runs the tests: a controller and some nodes of one
processor each, in a folder of its own, with a munge of its own."""

import os
import pwd
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
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
ReturnToService=2
SlurmdTimeout=9
KillWait=5
PartitionName=cpu Nodes=ALL Default=YES MaxTime=60 State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"


def programs() -> dict[str, str]:
    """Return the paths of SLURM's programs, those of the system's administrator included."""
    path = f"{os.environ['PATH']}:{SYSTEM}"
    return {name: where for name in PROGRAMS if (where := shutil.which(name, path=path))}


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [server.getsockname()[1] for server in servers]


class Cluster:
    """A controller and nodes n1, n2, …"""

    def __init__(self, folder: Path, nodes: int):
        self.folder, self.programs = folder, programs()
        self.names = [f"n{number + 1}" for number in range(nodes)]
        path = f"{os.environ['PATH']}:{SYSTEM}"
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
        self.processes: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        for name in ("state", *(f"spool-{x}" for x in self.names)):
            (self.folder / name).mkdir(mode=0o755)
        # slurmd demands control groups of some kind, though it tracks processes without them.
        (self.folder / "cgroup.conf").write_text(
            f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={self.folder}/cgroup\n"
        )
        host, ports = socket.gethostname().partition(".")[0], free_ports(1 + len(self.names))
        text = CONF.format(
            host=host, port=ports[0], user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder
        )
        nodes = zip(self.names, ports[1:], strict=True)
        text += "".join(NODE.format(name=name, host=host, port=port) for name, port in nodes)
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        files = [f"--{x}-file={self.folder}/munge.{x}" for x in ("key", "log", "pid", "seed")]
        socket_file = self.folder / "munge.socket"
        self.spawn("munged", "munged", "--foreground", "--force", f"--socket={socket_file}", *files)
        self.until(socket_file.exists)
        self.spawn("slurmctld", "slurmctld", "-D")
        for name in self.names:
            self.node(name)
        count = f"{len(self.names)} idle"
        self.until(lambda: self.call("sinfo", "-h", "-o", "%D %T") == count)

    def spawn(self, name: str, program: str, *words: str) -> None:
        with (self.folder / f"{name}.out").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [self.programs[program], *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.environment, start_new_session=True,
            )  # fmt: skip

    def node(self, name: str) -> None:
        """Start a node, for the first time or again."""
        self.spawn(name, "slurmd", "-D", "-N", name)

    def kill(self, name: str) -> None:
        """Kill the daemon of a node and nothing else."""
        self.processes[name].kill()
        self.processes.pop(name).wait()
        # The controller finds that out itself in half a minute.
        self.call("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=killed")

    def lose(self, name: str) -> None:
        """Kill a node and its processes, first those that would tell the controller of the end."""
        steps = [psutil.Process(pid) for pid in self.steps(name)]
        daemons = {x for step in steps for x in step.parents() if "slurmstepd" in x.name()}
        self.kill(name)
        for process in (*daemons, *steps):
            kill_process(process.pid)

    def requeue(self) -> None:
        """Wait until the job is queued again, and start it now instead of after two minutes."""
        job = self.call("squeue", "-h", "-o", "%A")
        self.until(lambda: "PENDING" in self.call("squeue", "-h", "-j", job, "-o", "%T"))
        self.call("scontrol", "update", f"JobId={job}", "StartTime=now")

    def steps(self, name: str) -> list[int]:
        """Return the processes that a node runs, which have its name in their environment."""
        return processes(f"SLURMD_NODENAME={name}\0", str(self.folder))

    def idle(self) -> bool:
        """Whether no job is left."""
        return not self.call("squeue", "-h", "-o", "%A")

    def call(self, *words: str) -> str:
        process = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        return process.stdout.strip()

    def until(self, condition, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.2)

    def logs(self) -> str:
        paths = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"{x.name}: {x.read_text(errors='replace')[-2000:]}" for x in paths)

    def stop(self) -> None:
        self.call("scancel", "--user", pwd.getpwuid(os.getuid()).pw_name)
        for name in self.names:
            for pid in self.steps(name):
                kill_process(pid)
        for process in self.processes.values():
            process.kill()
            process.wait()


def processes(*texts: str) -> list[int]:
    """Return the ids of the processes that have all of these texts in their environment."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            environment = path.read_bytes()
            if all(text.encode() in environment for text in texts):
                pids.append(int(path.parent.name))
    return pids


def kill_process(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
