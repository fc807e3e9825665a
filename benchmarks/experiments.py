"""What the commands of docs/experiments.md print and how long they take, tried in a fresh clone.

Writes benchmarks/experiments.md: for each command the last lines that it printed, and its seconds;
those of CPU depend less on what else the machine does.
The clone, which has its own environment, is made in the system's folder for temporary files.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from strata.train import machine

SHOW = "dvc exp show --only-changed --no-pager --drop "
SHOW += "'.*(/|fve|r2|train|first|components|Created|all|validation)'"
STAR = "sed -i 's/^    star: .*/    star: 0.31/' params.yaml"
HEADLINE = "pipelines/headline/dvc.yaml"
SWEEP = "for lr in 0.0005 0.002; do dvc exp run --quiet -S n=35 -S variant=quick- "
SWEEP += f"-S variants.quick.lr=$lr {HEADLINE}; done"
COMMANDS = (
    ("dvc status", 1),
    ("make plan", 1),
    ("make plan SET='n=35 variant=quick'", 5),
    ("make plan SET=n=1", 1),
    ("dvc exp run -S n=1", 1),
    ("make back", 1),
    (f"{STAR}; dvc repro", 1),
    ("make back", 1),
    ("dvc exp run -S n=154", 1),
    (f"dvc exp run -S n=143 {HEADLINE}", 1),
    (f"dvc exp run -S n=35 -S variant=quick- {HEADLINE}", 1),
    (SWEEP, 1),
    (SHOW, 20),
    ("dvc plots diff main --targets data/train/quick-n35-s1/history.csv", 1),
    ("make back", 1),
)
NOISE = re.compile(r"^(make: \*\*\*.*|WARNING.*|\s*)$")


def fresh(folder: Path) -> dict[str, str]:
    """A clone with everything in place, and the environment in which its commands run."""
    clone = folder / "strata"
    subprocess.run(["git", "clone", "--quiet", ".", clone], check=True)
    subprocess.run(["make", "paper"], cwd=clone, check=True)
    for key in ("user.name", "user.email"):
        subprocess.run(["git", "config", key, "strata"], cwd=clone, check=True)
    path = os.pathsep.join([str(clone / ".venv/bin"), os.environ["PATH"]])
    return os.environ | {"PATH": path, "COLUMNS": "100", "PWD": str(clone)}


def tried(command: str, lines: int, env: dict[str, str]) -> str:
    """The command, its last lines and its seconds, as a terminal would show them."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(
        ["bash", "-c", command], cwd=env["PWD"], env=env, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    took, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    said = [x.replace(env["PWD"], ".") for x in done.stdout.splitlines() if not NOISE.match(x)]
    cut = [x if len(x) <= 120 else f"{x[:119]}…" for x in said[-lines:]]
    code = f", exit code {done.returncode}" if done.returncode else ""
    return "\n".join([f"$ {command}", *cut, f"[{took:.0f} s, of CPU {cpu:.0f} s{code}]"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = fresh(Path(folder))
        parts = [tried(command, lines, env) for command, lines in COMMANDS]
    text = "\n\n".join(parts)
    here = machine.describe(machine.device())
    busy = f"at the end {os.getloadavg()[2]:.1f} processes were running on them"
    note = f"The last lines of each; {here.processor}, {here.cores} cores; {busy}."
    Path("benchmarks/experiments.md").write_text(f"```\n{text}\n```\n\n{note}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
