"""Write codemeta.json and .zenodo.json from CITATION.cff."""

from pathlib import Path

from ops import citation
from strata import store
from strata.run import command, read_yaml


def main() -> None:
    cff = read_yaml(Path("CITATION.cff"))
    store.write_text("codemeta.json", citation.codemeta(cff))
    store.write_text(".zenodo.json", citation.zenodo(cff))


if __name__ == "__main__":
    command(main)
