"""What the report is made of: every output and input that the locks of the paper and the studies
name, but code; and the words of studies, their READMEs and tables.yaml.

Out: JSON, the md5 of each path from the top, of a folder what DVC says of it; the same of the
words, which the pages alone read. The other stages depend on these files, so that a study that is
not there is missed by none of them.
"""

from pathlib import Path

from ops import files
from ops.provenance import md5
from strata import store
from strata.run import command

WORDS = ("README.md", "tables.yaml")


def main(out: str, words: str) -> None:
    entries = [
        x
        for address, stage in files.locked_stages().items()
        if files.project(address) != "report"
        for x in (*stage.get("deps", ()), *stage.get("outs", ()))
    ]
    md5s = {x["path"]: x["md5"] for x in entries if "/code" not in x["path"] and "md5" in x}
    store.write_json(out, dict(sorted(md5s.items())))
    paths = sorted(x for x in Path("studies").glob("*/*") if x.name in WORDS)
    store.write_json(words, {x.as_posix(): md5(x) for x in paths})


if __name__ == "__main__":
    command(main)
