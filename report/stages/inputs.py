"""What the report is made of: every output and input that the locks of the paper and the studies
name, but code.

Out: JSON, the md5 of each path from the top; of a folder what DVC says of it. The other stages
depend on this file, so that a study that is not there is missed by none of them.
"""

from ops import files
from strata import store
from strata.run import command


def main(out: str) -> None:
    named = [
        x
        for address, stage in files.locked().items()
        if files.project(address) != "report"
        for x in (*stage.get("deps", ()), *stage.get("outs", ()))
    ]
    kept = {x["path"]: x["md5"] for x in named if "/code" not in x["path"] and "md5" in x}
    store.write_json(out, dict(sorted(kept.items())))


if __name__ == "__main__":
    command(main)
