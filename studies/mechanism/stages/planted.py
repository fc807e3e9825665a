"""Every measure of mechanism/criteria-2.md on networks that are written by hand.

In: the settings as JSON, the file to write. Out: Parquet, as stages/measure.py writes it, with the
names of the models.
"""

from strata import results, store
from strata.run import command
from studies.mechanism.code import adding_planted, measures
from studies.params import MechanismSettings


def main(settings: str, out: str) -> None:
    mechanism_settings = store.read_model(settings, MechanismSettings)
    rows = [
        row._replace(run=name)
        for name, model in adding_planted.written().items()
        for row in measures.measure(model.weights, len(model.weights["b_U"]), mechanism_settings)
    ]
    results.write_rows(out, rows)


if __name__ == "__main__":
    command(main)
