"""Refuse a checkpoint that would never end or fill the memory, before torch is loaded for the rest.

CHECKPOINT: the file that `make published` is given. Says nothing where it may be read.
"""

from contextlib import suppress
from zipfile import BadZipFile

from strata.archive import whole_archive
from strata.inputs import regular
from strata.run import command

LARGEST = 2**28  # bytes; the paper's has 1.4 million


def main(checkpoint: str) -> None:
    with suppress(BadZipFile, ValueError):  # the stage convert says what is wrong with it
        whole_archive(regular(checkpoint, LARGEST).read_bytes(), checkpoint)


if __name__ == "__main__":
    command(main)
