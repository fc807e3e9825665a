"""The report: pages over everything that the pipeline made, whole in their folder.

In: figures/, tables/, notebooks/ and report/runs/, and the files that these were made from, as the
pipeline files name them. Out, in the folder given: index.html, the front page; appendix/, a page
for each part; site/, their style and scripts; files/, a copy of every figure, table, notebook page
and data file linked to.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from plotly.offline import get_plotlyjs

from strata import store
from strata.params import load
from strata.pipeline import files, provenance
from strata.report import appendix, front, page, site
from strata.run import command

SITE = Path("site")


def copied(paths: list[str], out: Path) -> None:
    """Each under the name that it has in the repository."""
    for path in paths:
        store.write_bytes(out / path, store.read_bytes(path))


def main(folder: str) -> None:
    out = Path(folder)
    settings = load("params.yaml")
    params = files.variables() | settings.model_dump()
    pipeline = provenance.stages(files.stages(), params)
    called = files.addresses()
    pipeline = {k: replace(stage, name=called.get(k, k)) for k, stage in pipeline.items()}
    shown = page.sections(pipeline, params)
    carried = page.carried(shown)
    for folder in ("site", "files", "appendix"):
        shutil.rmtree(out / folder, ignore_errors=True)
    copied(carried, out / "files")
    for path in sorted(SITE.iterdir()):
        if path.suffix in {".js", ".css"}:
            store.write_bytes(out / "site" / path.name, store.read_bytes(path))
    store.write_text(out / "site" / "plotly.min.js", get_plotlyjs())
    names = files.stages()["page"]["matrix"]["run"]
    pages = [f"report/runs/{provenance.filled(name, params)}.js" for name in names]
    store.write_text(out / "site" / "runs.js", page.runs(pages))
    run, bar = settings.headline(), site.bar(out)
    for name, html in appendix.pages(shown, carried, run, bar).items():
        store.write_text(out / "appendix" / name, html)
    store.write_text(out / "index.html", front.page(shown, run, bar))


if __name__ == "__main__":
    command(main)
