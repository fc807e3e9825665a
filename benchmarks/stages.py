"""What each part of the pipeline takes: runs every stage but the training again and times it.

Training's time is the one that its run recorded. Writes benchmarks/stages.md.
"""

import json
import subprocess
import time
from pathlib import Path

from strata import machine, pipelines
from strata.params import load


def seconds(stage: str) -> float:
    """Wall time of one stage, DVC's own share included."""
    began = time.perf_counter()
    subprocess.run(["dvc", "repro", "--quiet", "--force", "--single-item", stage], check=True)
    return time.perf_counter() - began


def what(name: str, stage: dict) -> str:
    """What a stage makes: a notebook's title with a link, or the folder of its outputs."""
    notebook = Path(f"notebooks/{name}.ipynb")
    if str(notebook) not in stage["deps"]:
        first = stage["outs"][0]
        path = Path(first if isinstance(first, str) else next(iter(first)))
        return "/".join(path.parts[:2]) if len(path.parts) > 2 else f"{path.parent}/"
    title = "".join(json.loads(notebook.read_text())["cells"][0]["source"]).splitlines()[0]
    return f"[{title.lstrip('# ')}]({notebook})"


def main() -> None:
    params, stages = load("params.yaml"), pipelines.stages()
    run = f"n{params.n}-s{params.seed}"
    environment = json.loads(Path(f"data/train/{run}/environment.json").read_text())
    lines = ["| what, and the notebook that draws it | stage | time |", "|:--|:--|--:|"]
    for name, stage in stages.items():
        matrix = stage.get("matrix", {})
        one = run if "run" in matrix else next(iter(matrix.values()), [""])[0]
        where = pipelines.address(f"{name}@{one}" if matrix else name)
        took = environment["seconds"] if name == "train" else seconds(where)
        shown = f"{took:.0f} s" if took < 100 else f"{took / 60:.0f} min"
        lines.append(f"| {what(name, stage)} | `{where}` | {shown} |")
    text = "\n".join(lines)
    note = f"n = {params.n}, seed {params.seed}, {machine.threads()} CPU cores"
    Path("benchmarks/stages.md").write_text(f"{text}\n\n{note}; DVC's own time included.\n")
    print(text)


if __name__ == "__main__":
    main()
