"""The report: pages over everything that the pipelines made, whole in their folder.

In: the list of inputs and what it names: figures, tables and notebooks' pages, metrics; docs/ and
the READMEs of studies; what the front page draws of the headline run; the curves of all runs;
measures over the training of runs that have them; CITATION.cff. Out, in the folder given:
index.html, the front page; appendix/, pages of figures and tables; docs/ as pages; site/, their
style and scripts; files/, a copy of every figure, table and notebook's page linked to.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from report.code import appendix, front, numbers, training, words
from report.code.hero import votes
from report.code.sections import Section, sections
from report.code.site import dressed, rendered, script
from strata import store
from strata.params import load
from strata.run import command, read_yaml

SITE, DOCS = Path("report/site"), Path("docs")
# Tables over the training of a run: measures, its embedding. There are none without this study.
TRAININGS = ("studies/dynamics/data/dynamics", "studies/dynamics/data/grokking")
PICTURE = Path("studies/mechanism/data/picture.json")  # votes of three networks


def target(root: str, files: Mapping[str, str]) -> words.Target:
    """Where a page, ``root`` below the report's folder, finds a file of the repository; ``files``
    says where the report has what it has of them."""

    def found(path: str) -> str | None:
        name = Path(path)
        if name.parent == DOCS and name.suffix == ".md" and name.is_file():
            return f"{root}docs/{name.stem}.html"
        if name.name == "README.md" and name.parent.parent == Path("studies"):
            return f"{root}appendix/{name.parent.name}.html"
        # The picture of a README is that of the study's figure of this name.
        parts = ((x, Path(x).parts) for x in sorted(files))
        drawn = (x for x, (*at, last) in parts if last == name.name and "figures" in at)
        known = path if path in files else next(drawn, None)
        return known and f"{root}{files[known]}"

    return found


def tutorials() -> dict[str, words.Text]:
    """What the notebooks of the tutorials say, by name; nothing links anywhere."""
    found = {}
    for path in sorted(Path("report/notebooks").glob("*.ipynb")):
        cells = store.read_json(path)["cells"]
        said = ["".join(x["source"]) for x in cells if x["cell_type"] == "markdown"]
        found[path.stem] = words.text("\n\n".join(said), "", lambda _: None)
    return found


def copied(shown: list[Section], out: Path) -> None:
    """Nothing of an earlier report; files under the names that they have in the repository."""
    for name in ("site", "files", "appendix", "docs"):
        shutil.rmtree(out / name, ignore_errors=True)
    for s in shown:
        for path, _ in s.files:
            store.write_bytes(out / "files" / path, store.read_bytes(path))
        if s.notebook:
            root = "../" * s.path.count("/")
            store.write_text(out / f"{s.path}.html", dressed(s.page, root))
    for path in sorted(SITE.iterdir()):
        if path.suffix in {".js", ".css"}:
            store.write_bytes(out / "site" / path.name, store.read_bytes(path))


def trainings(run: str, out: Path) -> list[int]:
    """What panels show of a run over its training, as scripts; its checkpoints, if it has any."""
    paths = [Path(folder, f"{run}.parquet") for folder in TRAININGS]
    if not all(path.is_file() for path in paths):
        return []
    measured, embedding = map(pd.read_parquet, paths)
    found = training.embedding(run, embedding, measured)
    store.write_text(out / f"embedding-{run}.js", script("through", found))
    own = training.measures(run, measured)
    store.write_text(out / f"epochs-{run}.js", script("checkpoints", own))
    return found["epochs"]


def main(inputs: str, hero: str, curves: str, folder: str) -> None:
    out, run, md5s = Path(folder), load("params.yaml").headline(), store.read_json(inputs)
    by_folder = sections(md5s)
    shown = [s for own in by_folder.values() for s in own]
    copied(shown, out)

    trained = [
        x | {"checkpoints": trainings(x["run"], out / "site")} for x in store.read_json(curves)
    ]
    store.write_text(out / "site/runs.js", script("list", trained))
    told = store.read_json(hero)
    if told:
        own = next((x for x in trained if x["run"] == str(run)), {})
        told |= {"epochs": own.get("checkpoints", []), "first": own.get("first_099")}
        nets = [votes(x) for x in store.read_json(PICTURE)] if PICTURE.is_file() else []
        told |= {"picture": [{name: x[name] for name in ("run", "n", "powers")} for x in nets]}
        if nets:
            store.write_text(out / "site/picture.js", script("picture", nets))

    files = {path: f"files/{path}" for s in shown for path, _ in s.files}
    files |= {s.file(".png").as_posix(): s.shown for s in shown if s.notebook}
    pages = appendix.pages(by_folder, target("../", files))
    docs = {x.stem: words.page(x, target("../", files)) for x in sorted(DOCS.glob("*.md"))}
    others = {"tutorials": tutorials(), "docs": docs}
    metrics = [store.read_json(x) for x in md5s if x.startswith("data/metrics/")]
    results = numbers.Results(
        run.n,
        {s.name: s.records for s in shown if not s.notebook},
        numbers.seeds(metrics, run.n),
        store.read_json("paper/printed_values.json"),
    )
    html = front.page(pages, run, results, told, read_yaml("CITATION.cff"))
    store.write_text(out / "index.html", html)
    store.write_text(out / "glossary.html", rendered("glossary.html", ""))
    store.write_text(
        out / "site/words.js", appendix.index(pages, others, run, [x["run"] for x in trained])
    )
    for path, html in appendix.written(pages, run, others):
        store.write_text(out / path, html)
    for name, text in docs.items():
        html = rendered("doc.html", "../", title=text.title, text=text.html, colours="")
        store.write_text(out / f"docs/{name}.html", html)


if __name__ == "__main__":
    command(main)
