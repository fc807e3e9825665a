"""Fill README.md and docs/ with the tables that they show, each from the file its markers name.

``<!-- tables/key-freqs.md -->`` … ``<!-- end -->``. With --check nothing is written: exit code 1
where a block differs from its file.
"""

import re
import sys
from pathlib import Path

from strata.pipeline import files

BLOCK = re.compile(r"(<!-- (\S+\.md) -->\n)(?:(?!<!-- \S+\.md -->).)*?(<!-- end -->)", re.DOTALL)


def content(name: str, page: Path) -> str:
    """A file's text, with its links as the page needs them: from the working tree where git tracks
    it, else as its dvc.lock names it."""
    stages = files.locked().values()
    outs = {out["path"]: out["md5"] for stage in stages for out in stage.get("outs", ())}
    md5 = outs.get(name)
    path = Path("remote/files/md5", md5[:2], md5[2:]) if md5 else Path(name)
    text = path.read_text(encoding="utf-8").strip()
    return text.replace("](../", "](") if page.parent == Path() else text


def filled(text: str, page: Path) -> str:
    """The text of a page with every block as its file has it."""
    return BLOCK.sub(lambda found: f"{found[1]}{content(found[2], page)}\n{found[3]}", text)


def main() -> None:
    for page in [Path("README.md"), *sorted(Path("docs").glob("*.md"))]:
        old = page.read_text(encoding="utf-8")
        new = filled(old, page)
        if "--check" not in sys.argv:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{page}: a table is not as its file has it: run `python scripts/readme.py`")


if __name__ == "__main__":
    main()
