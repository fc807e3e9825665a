"""What each part of the pipeline takes for the headline run: every stage is run again and timed.

Training's time is the one that its run recorded. The studies over several runs are left out: some
of them train. Writes benchmarks/stages.md.
"""

import json
import subprocess
import time
from pathlib import Path

from strata.params import load
from strata.pipeline import files
from strata.training import machine


def seconds(stage: str) -> float:
    """Wall time of one stage, DVC's own share included."""
    began = time.perf_counter()
    subprocess.run(["dvc", "repro", "--quiet", "--force", "--single-item", stage], check=True)
    return time.perf_counter() - began


def what(stage: dict) -> str:
    """What a stage makes: its notebooks' titles with links, or the folder of its outputs."""
    code = [Path(dep).stem for dep in stage["deps"] if dep.startswith("data/code/")]
    notebooks = [x for x in (Path("notebooks", f"{name}.ipynb") for name in code) if x.is_file()]
    if not notebooks:
        first = stage["outs"][0]
        path = Path(first if isinstance(first, str) else next(iter(first)))
        if len(path.parts) > 2 or not path.suffix:
            return "/".join(path.parts[:2])
        return f"{path.parent}/"
    texts = ["".join(json.loads(x.read_text())["cells"][0]["source"]) for x in notebooks]
    titles = [text.splitlines()[0].lstrip("# ") for text in texts]
    return "<br>".join(f"[{x}](../{path})" for x, path in zip(titles, notebooks, strict=True))


def main() -> None:
    params, stages = load("params.yaml"), files.stages()
    run = str(params.headline())
    environment = json.loads(Path(f"data/train/{run}/environment.json").read_text())
    lines = ["| what, and the notebook that draws it | stage | time |", "|:--|:--|--:|"]
    for name, stage in stages.items():
        item = [run] if "matrix" in stage else list(stage.get("foreach", ()))
        where = files.address("@".join([name, *item]))
        if where.startswith("pipelines/studies/"):
            continue
        took = environment["seconds"] if name == "train" else seconds(where)
        shown = f"{took:.0f} s" if took < 100 else f"{took / 60:.0f} min"
        lines.append(f"| {what(stage)} | `{where}` | {shown} |")
    text = "\n".join(lines)
    note = f"n = {params.n}, seed {params.seed}, {machine.threads()} CPU cores"
    how = "DVC's own time included; for training, the time that its run recorded"
    Path("benchmarks/stages.md").write_text(f"{text}\n\n{note}; {how}.\n")
    print(text)


if __name__ == "__main__":
    main()
