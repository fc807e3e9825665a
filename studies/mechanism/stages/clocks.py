"""The table of the networks of Zhong et al.

In: their measures as CSV, as code/measure_clocks.py writes them; a folder. Out: clocks.csv,
clocks.tex, clocks.md and clocks.json.
"""

import io

import pandas as pd

from strata import store
from strata.run import command
from strata.tables import format
from studies.mechanism.code import clocks


def main(measured: str, folder: str) -> None:
    frame = pd.read_csv(io.BytesIO(store.read_bytes(measured)))
    format.write([clocks.table(frame)], folder)


if __name__ == "__main__":
    command(main)
