"""The tables and figures that the pipelines make, with their words and how they were made.

They are found in the pipeline files: every PNG below a folder figures/, every CSV below a folder
tables/. A figure has title and words from its notebook, a table its caption and, where there are
any, words from tables.yaml of the paper or of its study. What is not there is not shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from ops import files
from ops.provenance import filled, leaves, md5, value
from report.code import strips
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
class Made:
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
        """Whether it is of the run that params.yaml names."""
        return any(name == "n" for name, _ in self.parameters)


@dataclass(frozen=True)
class Section:
    """A table or a figure: ``stem``.csv, .json, .md and .tex, or .png, .pdf, .svg and .html."""

    stem: Path
    made: Made
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
        """That of its files."""
        return self.stem.name

    @property
    def view(self) -> str:
        """Its panel, if it has one."""
        return VIEWS.get(self.label or self.name, "")

    def file(self, ending: str) -> Path:
        """One of its files."""
        return self.stem.with_name(self.name + ending)

    @property
    def files(self) -> list[tuple[str, str]]:
        """Its files that a reader takes away, with their md5."""
        endings = (".png", ".pdf", ".svg") if self.notebook else (".csv",)
        return [(self.file(x).as_posix(), md5(self.file(x))) for x in endings]

    @property
    def path(self) -> str:
        """Where the report has its files, without the ending."""
        return f"files/{self.stem.as_posix()}"

    @property
    def shown(self) -> str:
        """The picture that pages show: an SVG, which follows the reader's setting; a PNG where that
        is large, as maps are."""
        small = self.file(".svg").stat().st_size < LARGE
        return f"{self.path}{'.svg' if small else '.png'}"

    @property
    def place(self) -> str:
        """Where it stands in the report: on the page of its study, or that of the paper's figures
        or tables."""
        first, own, *_ = self.stem.parts
        return f"appendix/{own if first == 'studies' else first}.html#{self.id}"

    @cached_property
    def page(self) -> str:
        """The page of a figure's notebook, which shows the image that lies beside it."""
        return store.read_bytes(self.file(".html")).decode()

    @cached_property
    def seen(self) -> "Seen":
        """What is in a figure's page."""
        return Seen(self.page)

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height of a figure, with which the header of a PNG begins."""
        head = store.read_bytes(self.file(".png"))[:24]
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:])

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A table; a column of whole numbers stays one where some are missing."""
        data = pd.read_csv(self.file(".csv"), dtype_backend="numpy_nullable")
        return data.astype(dict.fromkeys(data.select_dtypes("Float64"), float))

    @property
    def records(self) -> list[Json]:
        """The rows of a table, what is missing None."""
        rows = self.frame.to_dict("records")
        return [{str(k): None if pd.isna(v) else v for k, v in row.items()} for row in rows]

    @cached_property
    def cells(self) -> Json:
        """A table as it is read: caption, headings, rows, alignment of each column, chart."""
        return store.read_json(self.file(".json")) | {"chart": strips.chart(self.frame)}


class Seen(HTMLParser):
    """From the page of a notebook: the lines that it printed, and what is seen in its image."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.printed: list[str] = []
        self.alt, self._inside = "", False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An image, or the output of a cell."""
        values = dict(attrs)
        if tag == "img":
            self.alt = values.get("alt") or ""
        elif tag == "div":
            self._inside = "output_stdout" in (values.get("class") or "").split()

    def handle_endtag(self, tag: str) -> None:
        """The end of an output."""
        self._inside &= tag != "div"

    def handle_data(self, data: str) -> None:
        """What an output says."""
        if self._inside:
            self.printed += [line for line in data.splitlines() if line.strip()]


def sections(md5s: Mapping[str, str]) -> dict[str, list[Section]]:
    """Those of each folder that has a pipeline, from the top, in the paper's order or that of the
    pipeline; ``md5s`` is what the locks say of each path."""
    by_folder: dict[str, list[Section]] = {}
    for address, stage in files.stages().items():
        file = address.rpartition(":")[0] or "dvc.yaml"
        # Stages over all runs, by a matrix or a list of another file, make no table and no figure.
        items = stage.get("foreach", {"": ""})
        if files.project(file) != "report" and "matrix" not in stage and isinstance(items, Mapping):
            own = by_folder.setdefault(Path(file).parent.as_posix(), [])
            for key, item in items.items():
                own += of_stage(address, file, stage, {"key": key, "item": item}, md5s)
    return {folder: ordered(own, words(Path(folder))) for folder, own in by_folder.items() if own}


def ordered(shown: Sequence[Section], said: Mapping[str, Any]) -> list[Section]:
    """Figures first; the paper's by number, tables as tables.yaml has them. A table that has the
    name of a figure has a place of its own."""
    places = {name: place for place, name in enumerate(said)}

    def order(s: Section) -> tuple[bool, int, int]:
        number = int(s.label.split()[1]) if s.label else len(places)
        return not s.notebook, number, places.get(s.name, len(places))

    figures = {x.name for x in shown if x.notebook}
    twins = {x for x in shown if not x.notebook and x.name in figures}
    own = (replace(x, id=f"{x.name}-table" if x in twins else x.name) for x in shown)
    return sorted(own, key=order)


def of_stage(
    address: str, file: str, stage: Mapping[str, Any], values: Json, md5s: Mapping[str, str]
) -> Iterator[Section]:
    """The sections of one stage."""
    values, folder = files.variables(file) | values, Path(file).parent
    deps = [filled(path, values) for path in stage["deps"]]
    code = [Path(path).stem for path in deps if Path(path).parent.name == "code"]
    parameters = tuple(named(folder, stage.get("params", ())))
    inputs = tuple((x, md5s.get(x, "")) for x in deps if Path(x).parent.name != "code")
    for out in files.paths(stage["outs"]):
        path = Path(filled(out, values))
        made = Made(
            files.project(file), files.inside(address), filled(stage["cmd"], values),
            parameters, inputs, md5s.get(path.as_posix(), ""),
        )  # fmt: skip
        for each in sorted(path.iterdir()) if path.is_dir() else [path]:
            if each.is_file() and each.suffix == ".png" and "figures" in each.parts:
                # Figures of one notebook share their stage's only code.
                own = each.stem if each.stem in code else code[0]
                notebook = folder / "notebooks" / f"{own}.ipynb"
                yield figure(each.with_suffix(""), made, notebook, values["item"])
            elif each.is_file() and each.suffix == ".csv" and "tables" in each.parts:
                yield table(each.with_suffix(""), made, words(folder))


def named(folder: Path, entries: Iterable[str | Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every parameter of a stage, with its value."""
    for entry in entries:
        [(file, keys)] = entry.items() if isinstance(entry, Mapping) else [("params.yaml", [entry])]
        known = read_yaml(folder / file)
        for key in keys or known:
            yield from leaves(key, value(known, key))


def words(folder: Path) -> Json:
    """Label, title and text of the tables of a folder."""
    path = Path("paper" if folder == Path() else folder, "tables.yaml")
    return read_yaml(path) if path.is_file() else {}


def table(stem: Path, made: Made, said: Mapping[str, Mapping[str, str]]) -> Section:
    """A table; its caption is its title where nothing else is said."""
    own = said.get(stem.name, {})
    title = own.get("title") or store.read_json(stem.with_name(f"{stem.name}.json"))["caption"]
    return Section(stem, made, own.get("label", ""), title, prose(own.get("text", "")))


def figure(stem: Path, made: Made, notebook: Path, n: object = "") -> Section:
    """A figure, by the first cell of its notebook: `# Figure 9: its title`, then its words. Of a
    notebook that draws several, each is named by its number, fig14-attn-seeds, and its moduli."""
    first = "".join(store.read_json(notebook)["cells"][0]["source"])
    heading, _, text = first.removeprefix("# ").partition("\n")
    label, colon, title = heading.partition(": ")
    if label.startswith("Figures"):
        moduli = str(n).replace(" ", ", ")
        label, title = f"Figure {int(stem.name[3:5])}", f"{title}, n = {moduli}" if n else title
    elif not (colon and label.startswith("Figure")):
        label, title = "", heading
    title = title[:1].upper() + title[1:].replace("`", "")
    return Section(stem, made, label, title, prose(text), notebook.as_posix())
