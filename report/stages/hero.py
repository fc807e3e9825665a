"""What the front page's live drawing of the headline run needs beside its weights.

In: a run's name, its weights. Out: JSON described in report.code.hero, with what each change of
the network costs over all pairs; null where the run diverged.
"""

from report.code import hero
from strata import store
from strata.params import load
from strata.run import Run, command


def main(name: str, weights: str, out: str) -> None:
    run, threshold = Run.parse(name), load("params.yaml").metrics.key_threshold
    store.write_json(out, hero.data(store.read_weights(weights, run), run.n, threshold))


if __name__ == "__main__":
    command(main)
