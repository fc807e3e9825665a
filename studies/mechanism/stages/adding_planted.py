"""Attention and adding in models whose answer is known, as mechanism/criteria-3.md lists them.

In: the settings as JSON, the file to write, the name and the weights of a trained run, whose
residues are renamed, and in whose formulas random functions stand; the name of a run, and models of
its modulus as NAME=PATH. Out: Parquet, as stages/adding.py writes it, with the names of the models.
"""

from strata import results, store
from strata.run import Run, command
from studies.mechanism.code import adding_planted
from studies.params import AddingMeasures


def main(settings: str, out: str, name: str, weights: str, control_run: str, *others: str) -> None:
    measures, trained, run = (
        store.read_model(settings, AddingMeasures),
        Run.parse(name),
        Run.parse(control_run),
    )
    controls = {
        control: adding_planted.Model(store.read_weights(path, run), run.n)
        for control, _, path in (other.partition("=") for other in others)
    }
    network = adding_planted.Model(store.read_weights(weights, trained), trained.n)
    rows = adding_planted.measure(adding_planted.models(network, measures) | controls, measures)
    rows += adding_planted.random_functions(network, measures)
    results.write_rows(out, rows)


if __name__ == "__main__":
    command(main)
