"""SLURM itself on loopback, run by whoever runs the tests: a controller and a node of one
processor, in a folder of its own, with a munge of its own."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PATH = f"{os.environ['PATH']}:/usr/sbin:/usr/bin:/sbin:/bin"  # with those for administrators
MISSING = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
USER = pwd.getpwuid(os.getuid()).pw_name
CONF = """
ClusterName=strata
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
KillWait=5
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 Port={node} CPUs=1
PartitionName=cpu Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Cluster:
    """A controller and a node."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
        self.processes: list[subprocess.Popen] = []

    def start(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        # slurmd demands control groups of some kind, though it tracks processes without them.
        (self.folder / "cgroup.conf").write_text(
            f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={self.folder}/cgroup\n"
        )
        (self.folder / "slurm.conf").write_text(
            CONF.format(
                host=socket.gethostname().partition(".")[0], controller=free_port(),
                node=free_port(), user=USER, folder=self.folder,
            )
        )  # fmt: skip
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        files = [f"--{x}-file={self.folder}/munge.{x}" for x in ("key", "log", "pid", "seed")]
        socket_file = self.folder / "munge.socket"
        self.spawn("munged", "--foreground", "--force", f"--socket={socket_file}", *files)
        self.until(socket_file.exists)
        self.spawn("slurmctld", "-D")
        self.spawn("slurmd", "-D", "-N", "node")
        self.until(lambda: self.call("sinfo", "-h", "-o", "%T") == "idle")

    def spawn(self, program: str, *words: str) -> None:
        with (self.folder / f"{program}.out").open("ab") as log:
            process = subprocess.Popen(
                [program, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.environment, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)

    def idle(self) -> bool:
        """Whether no job is left."""
        return not self.call("squeue", "-h", "-o", "%A")

    def call(self, *words: str) -> str:
        process = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        return process.stdout.strip()

    def until(self, condition) -> None:
        deadline = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.2)

    def logs(self) -> str:
        paths = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"{x.name}: {x.read_text(errors='replace')[-2000:]}" for x in paths)

    def stop(self) -> None:
        self.call("scancel", "--user", USER)
        self.until(self.idle)
        for process in self.processes:
            process.kill()
            process.wait()
