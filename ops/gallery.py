"""Keep in git what a reader on a host wants to see and git has not: gallery/ has the paper's tables
and figures, and of other outputs those that pages link, each by its path.

``python -m ops.gallery`` writes it, as ``make pack`` does; with --check it only names what is
another. Tables are copies. Figures are smaller than those that stages drew; README.md there says of
each what it shows, and the md5 of its figure.
"""

import io
import re
import shutil
import sys
from html import unescape
from os.path import normpath
from pathlib import Path

from PIL import Image

from ops import readme, shipped
from strata import store
from strata.run import command

FOLDER = Path("gallery")
WIDTH, QUALITY = 850, 40  # of figures, in pixels and in WebP's scale: 0.9 MB for all of them
LINK = re.compile(r"\]\(([^)#\s]+)")
HEAD = """\
# Gallery

These are the paper's figures and tables as this commit has them. `make paper` brings the figures in
full, as PDF, SVG, PNG and HTML. [claims.md](tables/claims.md) has the paper's numbers beside ours.
"""


def linked_outputs() -> set[str]:
    """Return the outputs to which pages link, as paths from the top."""
    pages = (x for x in readme.pages() if x.parent != FOLDER)
    links = ((x, link) for x in pages for link in LINK.findall(x.read_text("utf-8")))
    paths = (Path(normpath(page.parent / link)) for page, link in links)
    names = (x.relative_to(FOLDER).as_posix() for x in paths if x.is_relative_to(FOLDER))
    return {x for x in names if x.endswith((".csv", ".md")) and x != "README.md"}


def tables() -> dict[str, str]:
    """Return the md5 of each table of the gallery by its path from the top."""
    of_paper = {x.path for x in readme.outs() if re.fullmatch(r"tables/[\w-]+\.(csv|md)", x.path)}
    names = {x for x in of_paper | linked_outputs() if not readme.is_of_deleted_study(x)}
    return {name: readme.output(name).md5 for name in sorted(names)}


def figures() -> dict[str, str]:
    """Return the md5 of each figure of the paper by its path."""
    drawn = {x.path: x.md5 for x in readme.outs() if x.path.startswith("figures/")}
    return {name: md5 for name, md5 in sorted(drawn.items()) if name.endswith(".png")}


def page() -> str:
    """Return the page that shows the figures and lists the paper's tables."""
    parts = [HEAD, "## Tables\n"]
    parts += [f"- [{x}]({x})" for x in tables() if x.startswith("tables/")]
    for name, md5 in figures().items():
        html = readme.read(str(Path(name).with_suffix(".html")))
        alt = unescape("".join(re.findall(r'<img[^>]* alt="([^"]*)"', html)[-1:]))
        picture = Path(name).with_suffix(".webp")
        parts += [f"\n## {picture.stem}\n\n![{alt}]({picture})\n\n`{name}`, md5 {md5}"]
    return "\n".join([*parts, ""])


def shrink(png: bytes) -> bytes:
    """Return a figure as a smaller picture."""
    image, small = Image.open(io.BytesIO(png)).convert("RGB"), io.BytesIO()
    image.thumbnail((WIDTH, 10 * WIDTH), Image.Resampling.LANCZOS)
    image.save(small, "WEBP", quality=QUALITY, method=6)
    return small.getvalue()


def faults() -> list[str]:
    """Return what of the gallery is not as the locks and the pages have it."""
    must = {FOLDER / name: md5 for name, md5 in tables().items()}
    wrong = [path for path, md5 in must.items() if shipped.md5_on_disk(str(path)) != md5]
    pictures = {FOLDER / Path(name).with_suffix(".webp") for name in figures()}
    index = FOLDER / "README.md"
    if not index.is_file() or index.read_text("utf-8") != page():
        wrong.append(index)
    files = {path for path in FOLDER.rglob("*") if path.is_file()}
    wrong += {*must, *pictures, index} ^ files
    return sorted({str(path) for path in wrong})


def main(flag: str = "") -> None:
    wrong = faults()
    if wrong and flag == "--check":
        sys.exit("\n".join([*wrong, "`python -m ops.gallery` writes them"]))
    if not wrong:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, md5 in tables().items():
        store.write_bytes(FOLDER / name, shipped.content(md5, readme.stores()))
    for name, md5 in figures().items():
        picture = shrink(shipped.content(md5, readme.stores()))
        store.write_bytes(FOLDER / Path(name).with_suffix(".webp"), picture)
    store.write_text(FOLDER / "README.md", page())
    print(FOLDER)


if __name__ == "__main__":
    command(main)
