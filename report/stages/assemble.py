"""The report: pages over everything that the pipeline made, whole in their folder.

In: figures/, tables/, notebooks/, docs/ and report/runs/, and the files that these were made from,
as the pipeline files name them; data/hero/ of the headline run; data/dynamics/ and data/grokking/
of the runs that have them; CITATION.cff. Out, in the folder given: index.html, the front page;
share.png, its still; appendix/, a page for each part; docs/ as pages; site/, their style and
scripts; files/, a copy of every figure, table, notebook page and data file linked to.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ops import files, provenance
from report.code import appendix, docs, epochs, front, network, page, site
from strata import store
from strata.params import load
from strata.run import Run, command, read_yaml
from studies.dynamics.code import grokking, table

SITE, HERO = Path("report/site"), Path("data/hero")
DYNAMICS, GROKKING = Path("data/dynamics"), Path("data/grokking")
Json = dict[str, Any]


def copied(carried: Collection[str], out: Path) -> None:
    """Nothing of an earlier report; files under the names that they have in the repository."""
    for folder in ("site", "files", "appendix", "docs"):
        shutil.rmtree(out / folder, ignore_errors=True)
    for path in carried:
        store.write_bytes(out / "files" / path, store.read_bytes(path))
    for path in sorted(SITE.iterdir()):
        if path.suffix in {".js", ".css"}:
            store.write_bytes(out / "site" / path.name, store.read_bytes(path))


def pages(
    out: Path, shown: list[Json], carried: Collection[str], run: Run, told: Json | None
) -> Iterator[tuple[str, str]]:
    """Every page by its path, and the list of words that the search looks through."""
    bar = site.bar(out)
    cited = docs.pages(carried, bar)
    yield "index.html", front.page(shown, run, bar, told, read_yaml("CITATION.cff"))
    yield "site/words.js", appendix.words(shown, cited)
    for name, html in appendix.pages(shown, carried, run, bar).items():
        yield f"appendix/{name}", html
    for name, html in cited.items():
        yield f"docs/{name}", html


def runs(names: list[str], kept: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, str]]:
    """The list of the runs, and of those with kept weights what is known of them over training."""
    measured = {name: epochs.of(frame) for name, frame in kept.items()}
    yield "site/runs.js", page.runs([f"report/runs/{name}.js" for name in names], measured)
    for name, frame in kept.items():
        yield from epochs.scripts(name, table.read(DYNAMICS / f"{name}.parquet"), frame)


def main(folder: str) -> None:
    out = Path(folder)
    settings = load("params.yaml")
    params = files.variables() | settings.model_dump()
    pipeline = provenance.stages(files.stages(), params)
    called = files.addresses()
    pipeline = {k: replace(stage, name=called.get(k, k)) for k, stage in pipeline.items()}
    shown = page.sections(pipeline, params)
    carried = page.carried(shown)
    copied(carried, out)
    listed = [provenance.filled(x, params) for x in files.stages()["page"]["matrix"]["run"]]
    run, names = settings.headline(), [*dict.fromkeys(listed)]
    paths = {name: GROKKING / f"{name}.parquet" for name in names}
    kept = {name: grokking.read(path) for name, path in paths.items() if path.is_file()}
    told = store.read_json(HERO / f"{run}.json")
    told = told and told | {"epochs": epochs.of(kept.get(str(run)))}
    written = [*pages(out, shown, carried, run, told), *runs(names, kept)]
    for name, text in written:
        store.write_text(out / name, text)
    if told:
        network.save(network.still(told, settings.n), out / "share.png")


if __name__ == "__main__":
    command(main)
