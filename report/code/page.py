"""The sections of the report with their words, tables, claims and provenance.

Figures, tables and notebooks are read where their stages wrote them; pages link to copies of them
under files/, so that the report's folder is whole wherever it is put.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mistune
import pandas as pd
from markupsafe import Markup

from ops import provenance
from ops.provenance import Made, Stage
from report.code import claims, strips
from report.code.claims import Claim
from report.code.section import Section
from report.code.sections import SECTIONS
from strata import store
from strata.run import InputError, Run
from strata.tables.format import SUBSCRIPT, read, shown

Json = dict[str, Any]
SHOWN = ("figures/", "tables/")
HEADLINE = "pipelines/headline/"  # what its stages make is of the run that params.yaml names
DOC = r"\b(docs/([\w-]+)\.md)\b"
# Carried along. Activations are not: they are large, and made again in seconds.
CARRIED = (*SHOWN, "paper/", "data/train/", "data/metrics/", "data/collected/")


def sections(pipeline: Mapping[str, Stage], params: Mapping[str, Any]) -> list[Json]:
    """What the template shows of each section that a stage makes.

    Raises InputError where a stage makes a figure or a table that is no section.
    """
    made: dict[str, Made] = {}
    for stage in pipeline.values():
        if names := {Path(path).stem for path in stage.outs if path.startswith(SHOWN)}:
            made |= dict.fromkeys(names, provenance.made(stage, params))
    for name in sorted(set(made) - {s.name for s in SECTIONS}):
        paths = ", ".join(path for path, _ in made[name].outputs if Path(path).stem == name)
        raise InputError(f"{paths}: no section of report/code/sections.py; give it a line")
    rows = claims.claims(frame("claims"))
    return [_section(s, made[s.name], rows) for s in SECTIONS if s.name in made]


def _section(s: Section, made: Made, rows: list[Claim]) -> Json:
    """Name, part, view, claims and provenance; the rest is a table's or a figure's own."""
    files = [pair for pair in made.outputs if Path(pair[0]).stem == s.name]
    found = {"name": s.name, "part": s.part, "view": s.view, "made": made, "files": files}
    found |= {"headline": HEADLINE in made.stage}
    own = _table(s) if s.table else _figure(s)
    return found | {"claims": claims.matching(rows, s.claims)} | own


def _figure(s: Section) -> Json:
    """Heading and words from the notebook; what it printed, and what is seen, from its page; the
    size of its image."""
    first = "".join(store.read_json(s.notebook)["cells"][0]["source"])
    heading, _, text = first.partition("\n")
    label, title = re.fullmatch(r"# (?:(Figures? [\d to]+): )?(.+)", heading).groups(default="")  # pyright: ignore
    width, height = size(f"figures/{s.name}.png")
    html = store.read_bytes(f"figures/{s.name}.html").decode()
    own = {"label": s.label or label, "title": headed(s.title or title), "text": prose(text)}
    own |= {"printed": lines(html), "alt": described(html), "notebook": s.notebook}
    own |= {"width": width, "height": height}
    return own | {"stem": f"files/figures/{s.name}", "table": None}


def _table(s: Section) -> Json:
    """Its words from the list of sections, its caption and its cells from tables/."""
    data, caption = frame(s.name), store.read_bytes(f"tables/{s.name}.md").decode()
    cells = shown(data)
    table = {"headings": list(cells), "rows": cells.to_numpy().tolist()}
    table["align"] = ["r" if x.align == "r" else "l" for x in read(data).values()]
    own = {"label": s.label, "title": s.title, "text": prose(s.text), "table": table}
    own |= {"caption": caption.split("\n")[0], "differences": claims.differences(data)}
    return own | {"chart": strips.chart(data)}


def frame(name: str) -> pd.DataFrame:
    """A table of tables/; a column of whole numbers stays one where some are missing."""
    path = Path("tables", f"{name}.csv")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    data = pd.read_csv(path, dtype_backend="numpy_nullable")
    return data.astype(dict.fromkeys(data.select_dtypes("Float64"), float))


def size(path: str) -> tuple[int, int]:
    """Width and height of a PNG, with which its header begins."""
    head = store.read_bytes(path)[:24]
    if head[1:4] != b"PNG":
        raise InputError(f"{path}: is not a PNG")
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:])


def headed(title: str) -> str:
    """A heading as it stands alone.

    >>> headed("how much `=` attends")
    'How much ‘=’ attends'
    """
    return re.sub(r"`(.+?)`", r"‘\1’", title[:1].upper() + title[1:])


def lines(html: str) -> list[str]:
    """The lines that a notebook printed, from its page.

    >>> lines('<div class="output_stdout output_text"><pre>J_3: 4 of 7, &lt; 1\\n</pre></div>')
    ['J₃: 4 of 7, < 1']
    """
    found = re.findall(r'output_stdout output_text">\s*<pre>(.*?)</pre>', html, re.DOTALL)
    text = Markup("\n".join(found)).unescape()
    text = re.sub(r"J_(\d+)", lambda m: "J" + m[1].translate(SUBSCRIPT), text)
    return [line for line in text.splitlines() if line.strip()]


def described(html: str) -> str:
    """What is seen in the image of a notebook, from its page.

    >>> described('<img alt="A map for each head, &amp; borders." src="data:image/png;base64,AA">')
    'A map for each head, & borders.'
    """
    found = re.search(r'<img alt="([^"]*)"', html)
    return Markup(found[1]).unescape() if found else ""


def prose(text: str) -> Markup:
    """Markdown as HTML, the index of J_d, W_E and the like set low, pages of docs/ as links.

    >>> prose("of each W_OV")
    Markup('<p>of each W<sub>OV</sub></p>\\n')
    """
    parts = re.split(r"(<code>.*?</code>)", str(mistune.html(text.strip())))
    parts[::2] = [re.sub(r"\b([JWCZ])_(\w+)", r"\1<sub>\2</sub>", part) for part in parts[::2]]
    return Markup(re.sub(DOC, r'<a href="../docs/\2.html">\1</a>', "".join(parts)))


def carried(shown: Iterable[Json]) -> list[str]:
    """The files that the page links to: those that are shown, and those that these are made of."""
    named = {x for s in shown for pairs in (s["made"].inputs, s["made"].outputs) for x, _ in pairs}
    return sorted(path for path in named if path.startswith(CARRIED))


def runs(paths: Iterable[str], measured: Mapping[str, Sequence[int]] | None = None) -> str:
    """The list of the runs that these pages show, with their curves, as a page loads it.

    ``measured`` has the epochs of the checkpoints of those that have any.
    """
    names = ("run", "n", "seed", "architecture", "first_099", "epoch_099", "curve")

    def order(run: Json) -> tuple[str, Run]:
        return Run.parse(run["run"]).variant, Run.parse(run["run"])

    found = [provenance.scripted(store.read_bytes(path).decode()) for path in set(paths)]
    found.sort(key=order)
    listed = [{name: run[name] for name in names} for run in found]
    return provenance.script(
        "list", [run | {"checkpoints": (measured or {}).get(run["run"], [])} for run in listed]
    )
