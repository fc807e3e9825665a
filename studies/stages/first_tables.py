"""Tables of a study that nothing computes any more, as they were published: pages and other studies
read them.

In: the folder that git has them in. Out: folders of the same names as those in it, with copies.
"""

import shutil
from pathlib import Path

from strata.run import command


def main(frozen: str, *folders: str) -> None:
    for folder in folders:
        shutil.copytree(Path(frozen, Path(folder).name), folder, dirs_exist_ok=True)


if __name__ == "__main__":
    command(main)
