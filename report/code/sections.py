"""The tables and figures that the pipelines make, with their words and how they were made.

They are found in the pipeline files: every PNG below a folder figures/, every CSV below a folder
tables/. A figure has title and words from its notebook, a table its caption and, where there are
any, words from tables.yaml of the paper or of its study. What is not there is not shown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from ops import files
from ops.provenance import fill, leaves, md5, value
from report.code.words import prose
from strata import store
from strata.run import read_yaml

Json = dict[str, Any]
# The function of site/ that draws a figure for any run, by what the paper calls it, or its name.
VIEWS = {
    "Figure 3": "attention",
    "Figure 5": "training",
    "Figure 9": "spectra",
    "Figure 10": "pca",
    "Figure 11": "neurons",
    "logits": "logits",
    "progress-order": "epochs",
}
LARGE = 250_000  # bytes of an SVG that a page rather shows as a PNG


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to make a file again, or to check that it is the one: the stage as DVC
    names it in its project, its command, parameters and inputs, each with a value or an md5."""

    project: str
    stage: str
    command: str
    parameters: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...]
    output: str
    """The md5 of what the lock names: the file, or its folder."""

    @property
    def headline(self) -> bool:
        """Whether the output is of the run that params.yaml names."""
        return any(name == "n" for name, _ in self.parameters)


@dataclass(frozen=True)
class Section:
    """A table or a figure: ``stem``.csv, .json, .md and .tex, or .png, .pdf, .svg and .html."""

    stem: Path
    provenance: Provenance
    label: str
    """What the paper calls it; empty beyond the paper."""
    title: str
    text: Markup
    notebook: str = ""
    """Of a figure."""

    id: str = ""
    """Its place on a page."""

    @property
    def name(self) -> str:
        """Return the name of the files, without an ending."""
        return self.stem.name

    @property
    def view(self) -> str:
        """Return the name of the panel, empty if the section has none."""
        return VIEWS.get(self.label or self.name, "")

    def file(self, ending: str) -> Path:
        """Return the file with this ending."""
        return self.stem.with_name(self.name + ending)

    @property
    def files(self) -> list[tuple[str, str]]:
        """Return the files that a reader takes away, with their md5."""
        endings = (".png", ".pdf", ".svg") if self.notebook else (".csv",)
        return [(self.file(x).as_posix(), md5(self.file(x))) for x in endings]

    @property
    def path(self) -> str:
        """Return where the report has the files, without an ending."""
        return f"files/{self.stem.as_posix()}"

    @property
    def picture(self) -> str:
        """Return the picture that pages show: an SVG, which follows the reader's setting, or a PNG
        where the SVG is large, as maps are."""
        is_small = self.file(".svg").stat().st_size < LARGE
        return f"{self.path}{'.svg' if is_small else '.png'}"

    @property
    def place(self) -> str:
        """Return the place in the report: on the page of the study, or of the paper's figures or
        tables."""
        first, study, *_ = self.stem.parts
        return f"appendix/{study if first == 'studies' else first}.html#{self.id}"

    @cached_property
    def page(self) -> str:
        """Return the page of a figure's notebook, which shows the image that lies beside it."""
        return store.read_bytes(self.file(".html")).decode()

    @cached_property
    def alt(self) -> str:
        """Return what is seen in a figure, as the page of its notebook says."""
        return unescape("".join(re.findall(r'<img[^>]* alt="([^"]*)"', self.page)[-1:]))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Read the width and height of a figure from the header of its PNG."""
        head = store.read_bytes(self.file(".png"))[:24]
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:])

    @property
    def records(self) -> list[Json]:
        """Return the rows of a table. A missing value is None; whole numbers in its column stay
        whole."""
        frame = pd.read_csv(self.file(".csv"), dtype_backend="numpy_nullable")
        frame = frame.astype(dict.fromkeys(frame.select_dtypes("Float64"), float))
        rows = frame.to_dict("records")
        return [{str(k): None if pd.isna(v) else v for k, v in row.items()} for row in rows]

    @cached_property
    def cells(self) -> Json:
        """Return a table as it is read: caption, headings, rows, alignment of each column."""
        return store.read_json(self.file(".json"))


def sections(md5s: Mapping[str, str]) -> dict[str, list[Section]]:
    """Return the sections of each folder that has a pipeline, from the top, in the paper's order or
    that of the pipeline; ``md5s`` is what the locks say of each path."""
    by_folder: dict[str, list[Section]] = {}
    for address, stage in files.stages().items():
        pipeline = address.rpartition(":")[0] or "dvc.yaml"
        # Stages over all runs, by a matrix or a list of another file, make no table and no figure.
        items = stage.get("foreach", {"": ""})
        in_report = files.project(pipeline) == "report"
        if not in_report and "matrix" not in stage and isinstance(items, Mapping):
            group = by_folder.setdefault(Path(pipeline).parent.as_posix(), [])
            for key, item in items.items():
                group += stage_sections(address, pipeline, stage, {"key": key, "item": item}, md5s)
    return {
        folder: sort_sections(x, table_words(Path(folder))) for folder, x in by_folder.items() if x
    }


def sort_sections(sections: Sequence[Section], words: Mapping[str, Any]) -> list[Section]:
    """Sort figures before tables, the paper's by number, tables as tables.yaml has them. A table
    that has the name of a figure gets an id of its own."""
    places = {name: place for place, name in enumerate(words)}

    def order(s: Section) -> tuple[bool, int, int]:
        number = int(s.label.split()[1]) if s.label else len(places)
        return not s.notebook, number, places.get(s.name, len(places))

    figures = {x.name for x in sections if x.notebook}
    twins = {x for x in sections if not x.notebook and x.name in figures}
    numbered = (replace(x, id=f"{x.name}-table" if x in twins else x.name) for x in sections)
    return sorted(numbered, key=order)


def stage_sections(
    address: str, pipeline: str, stage: Mapping[str, Any], values: Json, md5s: Mapping[str, str]
) -> Iterator[Section]:
    """Yield the sections of one stage."""
    values, folder = files.variables(pipeline) | values, Path(pipeline).parent
    deps = [fill(path, values) for path in stage["deps"]]
    code = [Path(path).stem for path in deps if Path(path).parent.name == "code"]
    parameters = tuple(parameter_values(folder, stage.get("params", ())))
    inputs = tuple((x, md5s.get(x, "")) for x in deps if Path(x).parent.name != "code")
    for out in files.paths(stage["outs"]):
        path = Path(fill(out, values))
        provenance = Provenance(
            files.project(pipeline), files.inside(address), fill(stage["cmd"], values),
            parameters, inputs, md5s.get(path.as_posix(), ""),
        )  # fmt: skip
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.is_file() and file.suffix == ".png" and "figures" in file.parts:
                # Figures of one notebook share their stage's only code.
                code_name = file.stem if file.stem in code else code[0]
                notebook = folder / "notebooks" / f"{code_name}.ipynb"
                yield figure(file.with_suffix(""), provenance, notebook, values["item"])
            elif file.is_file() and file.suffix == ".csv" and "tables" in file.parts:
                yield table(file.with_suffix(""), provenance, table_words(folder))


def parameter_values(folder: Path, entries: Iterable[str | Json]) -> Iterator[tuple[str, str]]:
    """Yield every parameter of a stage, with its value."""
    for entry in entries:
        [(file, keys)] = entry.items() if isinstance(entry, Mapping) else [("params.yaml", [entry])]
        parameters = read_yaml(folder / file)
        for key in keys or parameters:
            yield from leaves(key, value(parameters, key))


def table_words(folder: Path) -> Json:
    """Return label, title and text of the tables of a folder."""
    path = Path("paper" if folder == Path() else folder, "tables.yaml")
    return read_yaml(path) if path.is_file() else {}


def table(stem: Path, provenance: Provenance, words: Mapping[str, Mapping[str, str]]) -> Section:
    """Return the section of a table; its caption is its title where tables.yaml has none."""
    entry = words.get(stem.name, {})
    title = entry.get("title") or store.read_json(stem.with_name(f"{stem.name}.json"))["caption"]
    return Section(stem, provenance, entry.get("label", ""), title, prose(entry.get("text", "")))


def figure(stem: Path, provenance: Provenance, notebook: Path, n: object = "") -> Section:
    """Return the section of a figure, by the first cell of its notebook: `# Figure 9: its title`,
    then its words. Where a notebook draws several figures, each is named by its number,
    fig14-attn-seeds, and its moduli."""
    first = "".join(store.read_json(notebook)["cells"][0]["source"])
    heading, _, text = first.removeprefix("# ").partition("\n")
    label, colon, title = heading.partition(": ")
    if label.startswith("Figures"):
        moduli = str(n).replace(" ", ", ")
        label, title = f"Figure {int(stem.name[3:5])}", f"{title}, n = {moduli}" if n else title
    elif not (colon and label.startswith("Figure")):
        label, title = "", heading
    title = title[:1].upper() + title[1:].replace("`", "")
    return Section(stem, provenance, label, title, prose(text), notebook.as_posix())
