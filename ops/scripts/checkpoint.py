"""Refuse a checkpoint that would fill the memory, before torch is loaded for the rest.

CHECKPOINT: the file that `make published` is given. Says nothing where it may be read.
"""

from strata.inputs import regular
from strata.run import command

LARGEST = 2**28  # bytes; the paper's has 1.4 million


def main(checkpoint: str) -> None:
    regular(checkpoint, LARGEST)


if __name__ == "__main__":
    command(main)
