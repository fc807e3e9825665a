"""The report: pages over everything that the pipelines made, whole in their folder.

In: the list of inputs and what it names: figures, tables and notebooks' pages, metrics; docs/ and
the READMEs of studies; what the front page draws of the headline run; the curves of all runs;
measures over the training of runs that have them; CITATION.cff. Out, in the folder given:
index.html, the front page; appendix/, pages of figures and tables; docs/, its pages and
programs; site/, their style and scripts; files/, a copy of every figure, table and notebook's page
linked to.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from report.code import appendix, decide, front, numbers, training, words
from report.code.hero import pack_votes
from report.code.sections import Section, sections
from report.code.site import render, render_notebook, script
from strata import store
from strata.params import load
from strata.run import command, read_yaml
from strata.tables import format

SITE, DOCS = Path("report/site"), Path("docs")
# Tables over the training of a run: measures, its embedding. There are none without this study.
TRAININGS = ("studies/dynamics/frozen/measures", "studies/dynamics/frozen/spectra")
PICTURE = Path("studies/mechanism/data/picture.json")  # votes of three networks


def target(root: str, files: Mapping[str, str]) -> words.Target:
    """Return a function that says where a page, ``root`` below the report's folder, finds a file of
    the repository; ``files`` says where the report has what it has of these files."""

    def locate(path: str) -> str | None:
        path = path.removeprefix("gallery/")  # where git keeps what stages wrote
        name = Path(path)
        if name.parent == DOCS and name.suffix == ".md" and name.is_file():
            return f"{root}docs/{name.stem}.html"
        if name.name == "README.md" and name.parent.parent == Path("studies"):
            return f"{root}appendix/{name.parent.name}.html"
        # The picture of a README is that of the study's figure of this name.
        parts = ((x, Path(x).parts) for x in sorted(files))
        figures = (x for x, (*folders, last) in parts if last == name.name and "figures" in folders)
        source = path if path in files else next(figures, None)
        return source and f"{root}{files[source]}"

    return locate


def tutorials() -> dict[str, words.Text]:
    """Return the words of the notebooks of the tutorials, by name; no link leads anywhere."""
    texts = {}
    for path in sorted(Path("report/notebooks").glob("*.ipynb")):
        cells = store.read_json(path)["cells"]
        markdown = ["".join(x["source"]) for x in cells if x["cell_type"] == "markdown"]
        texts[path.stem] = words.text("\n\n".join(markdown), "", lambda _: None)
    return texts


def listing(path: Path) -> words.Text:
    """Show a program as a page."""
    source = path.read_text("utf-8")
    return words.text(f"# {path.name}\n\n````python\n{source}````\n", "", lambda _: None)


def copy_files(sections: list[Section], out: Path) -> None:
    """Remove what an earlier report left, and copy files under the names that they have in the
    repository."""
    for name in ("site", "files", "appendix", "docs"):
        shutil.rmtree(out / name, ignore_errors=True)
    for s in sections:
        for path, _ in s.files:
            store.write_bytes(out / "files" / path, store.read_bytes(path))
        if s.notebook:
            root = "../" * s.path.count("/")
            store.write_text(out / f"{s.path}.html", render_notebook(s.page, root))
    for path in sorted(SITE.iterdir()):
        if path.suffix in {".js", ".css"}:
            store.write_bytes(out / "site" / path.name, store.read_bytes(path))


def write_trainings(run: str, out: Path) -> list[int]:
    """Write what panels show of a run over its training, as scripts, and return its checkpoints,
    none if it has no such tables."""
    paths = [Path(folder, f"{run}.parquet") for folder in TRAININGS]
    if not all(path.is_file() for path in paths):
        return []
    measured_rows, spectra_rows = map(pd.read_parquet, paths)
    spectra = training.embedding(run, spectra_rows, measured_rows)
    store.write_text(out / f"embedding-{run}.js", script("through", spectra))
    measures = training.measures(run, measured_rows)
    store.write_text(out / f"epochs-{run}.js", script("checkpoints", measures))
    return spectra["epochs"]


def main(inputs: str, hero: str, curves: str, verdicts: str, folder: str) -> None:
    out, run, md5s = Path(folder), load("params.yaml").headline(), store.read_json(inputs)
    by_folder = sections(md5s)
    all_sections = [s for group in by_folder.values() for s in group]
    copy_files(all_sections, out)

    trained = store.read_json(curves)
    for line in trained:
        line["checkpoints"] = write_trainings(line["run"], out / "site")
    store.write_text(out / "site/runs.js", script("list", trained))
    hero_data = store.read_json(hero)
    if hero_data:
        headline = next(x for x in trained if x["run"] == str(run))
        hero_data |= {"epochs": headline["checkpoints"], "first": headline["first_099"]}
        nets = [pack_votes(x) for x in store.read_json(PICTURE)] if PICTURE.is_file() else []
        hero_data |= {"picture": [{name: x[name] for name in ("run", "n", "powers")} for x in nets]}
        if nets:
            store.write_text(out / "site/picture.js", script("picture", nets))

    files = {path: f"files/{path}" for s in all_sections for path, _ in s.files}
    files |= {s.file(".png").as_posix(): s.picture for s in all_sections if s.notebook}
    pages = appendix.make_pages(by_folder, target("../", files))
    docs = {x.stem: words.read_page(x, target("../", files)) for x in sorted(DOCS.glob("*.md"))}
    docs |= {x.stem: listing(x) for x in sorted(DOCS.glob("*.py"))}
    others = {"docs": docs, "tutorials": tutorials()}
    metrics = [store.read_json(x) for x in md5s if x.startswith("data/metrics/")]
    results = numbers.Results(
        run.n,
        {s.name: s.records for s in all_sections if not s.notebook},
        numbers.seeds(metrics, run.n),
        store.read_json("paper/printed_values.json"),
    )
    store.write_text(verdicts, format.markdown(decide.table(decide.claims(results))))
    html = front.page(pages, run, results, hero_data, read_yaml("CITATION.cff"))
    store.write_text(out / "index.html", html)
    store.write_text(out / "docs/index.html", render("docs.html", "../", others=others))
    store.write_text(out / "glossary.html", render("glossary.html", ""))
    store.write_text(
        out / "site/words.js", appendix.index(pages, others, run, [x["run"] for x in trained])
    )
    for path, html in appendix.render_pages(pages, run):
        store.write_text(out / path, html)
    for name, text in docs.items():
        html = render("doc.html", "../", title=text.title, text=text.html, colours="")
        store.write_text(out / f"docs/{name}.html", html)


if __name__ == "__main__":
    command(main)
