"""The report: pages over everything that the pipelines made, whole in their folder.

In: the list of inputs and what it names: figures, tables and notebooks' pages, metrics; docs/ and
the READMEs of studies; what the front page draws of the
headline run; the curves of all runs; measures over the
training of runs that have them; CITATION.cff. Out, in the folder given: index.html, the front page;
appendix/, pages of figures and tables; docs/ as pages; site/, their style and scripts; files/, a
copy of every figure, table and notebook's page linked to.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from report.code import appendix, front, numbers, training, words
from report.code.sections import Section, carried, sections
from report.code.site import PLAIN, dressed, rendered, script
from report.code.words import Text
from strata import store
from strata.params import load
from strata.run import command, read_yaml

SITE, DOCS = Path("report/site"), Path("docs")
# Tables over the training of a run: measures, its embedding. There are none without this study.
TRAININGS = ("studies/dynamics/data/dynamics", "studies/dynamics/data/grokking")
PICTURE = Path("studies/mechanism/data/picture.json")  # of the headline run, if it is its code
Json = dict[str, Any]


def target(root: str, files: set[str]) -> words.Target:
    """Where a page, ``root`` below the report's folder, finds a file of the repository."""

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
        return known and f"{root}files/{known}"

    return found


def documents(files: set[str]) -> dict[str, Text]:
    """The pages of docs/ by name."""
    return {x.stem: words.page(x, target("../", files)) for x in sorted(DOCS.glob("*.md"))}


def texts(docs: dict[str, Text]) -> Iterator[tuple[str, str]]:
    """Each page of docs/ by its path."""
    for name, text in docs.items():
        page = rendered("doc.html", "../", title=text.title, text=text.html, scripts=PLAIN)
        yield f"docs/{name}.html", page


def tutorials() -> dict[str, Text]:
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
    for path in carried(shown):
        store.write_bytes(out / "files" / path, store.read_bytes(path))
    for s in shown:
        if s.notebook:
            root = "../" * s.path.count("/")
            store.write_text(out / f"{s.path}.html", dressed(s.page, root))
    for path in sorted(SITE.iterdir()):
        if path.suffix in {".js", ".css"}:
            store.write_bytes(out / "site" / path.name, store.read_bytes(path))


def known(curves: str, out: Path) -> dict[str, list[int]]:
    """What every page knows of every run, as scripts; the checkpoints of those that have any."""
    listed, checkpoints = store.read_json(curves), {}
    for name in (x["run"] for x in listed):
        paths = [Path(folder, f"{name}.parquet") for folder in TRAININGS]
        if all(path.is_file() for path in paths):
            measured, embedding = map(pd.read_parquet, paths)
            found = training.embedding(name, embedding, measured)
            checkpoints[name] = found["epochs"]
            store.write_text(out / f"embedding-{name}.js", script("through", found))
            found = training.measures(name, measured)
            store.write_text(out / f"epochs-{name}.js", script("checkpoints", found))
    listed = [x | {"checkpoints": checkpoints.get(x["run"], [])} for x in listed]
    store.write_text(out / "runs.js", script("list", listed))
    return checkpoints


def main(inputs: str, hero: str, curves: str, folder: str) -> None:
    out, run, md5s = Path(folder), load("params.yaml").headline(), store.read_json(inputs)
    found = sections(md5s)
    shown = [s for own in found.values() for s in own]
    files = carried(shown)
    copied(shown, out)
    checkpoints = known(curves, out / "site")

    pages = appendix.pages(found, target("../", {*files}))
    others = {"tutorials": tutorials(), "docs": documents({*files})}
    metrics = [store.read_json(x) for x in md5s if x.startswith("data/metrics/")]
    tables = {s.name: s.records for s in shown if not s.notebook}
    printed = store.read_json("paper/printed_values.json")
    results = numbers.Results(run.n, tables, numbers.seeds(metrics, run.n), printed)
    told = store.read_json(hero)
    firsts = {x["run"]: x["first_099"] for x in store.read_json(curves)}
    picture = store.read_json(PICTURE) if PICTURE.is_file() else {"run": ""}
    more = {"epochs": checkpoints.get(str(run), []), "first": firsts.get(str(run))}
    more |= {"picture": picture["run"] == str(run)}
    if more["picture"]:
        store.write_text(out / "site/picture.js", script("picture", picture))
    told = told and told | more
    html = front.page(pages, run, results, told, read_yaml("CITATION.cff"))
    store.write_text(out / "index.html", html)
    store.write_text(out / "glossary.html", rendered("glossary.html", "", scripts=PLAIN))
    store.write_text(out / "site/words.js", appendix.index(pages, others))
    for path, html in (*appendix.written(pages, run, others), *texts(others["docs"])):
        store.write_text(out / path, html)


if __name__ == "__main__":
    command(main)
