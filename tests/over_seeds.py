"""Runs by the dozen: untrained ones, and ones whose numbers are planted."""

from pathlib import Path

from handmade import changed, run_metrics
from small import history_of, measured, split_of, weights_of

from strata import params, store
from strata.measure.accuracy import Accuracy, Epochs, StayingEpochs
from strata.measure.heads import MeanStd
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.printed import Printed

ROOT = Path(__file__).parents[1]
PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)
ALL = params.load(ROOT / "params.yaml")
GRID = ALL.grid
NEVER = Epochs(train=None, validation=None, mirror_free=None)
DIVERGED = {
    "finite": False, "generalised": False, "pca": None, "token_order": None, "neurons": None,
    "heads": (), "first_099": NEVER, "epoch_099": StayingEpochs(**dict(NEVER), train_relapses=None),
    "accuracy": Accuracy(
        all=0.01, train=0.01, validation=0.01, mirror_free=0.01, by_target={}, by_operands={}
    ),
}  # fmt: skip


def untrained(name: str, validation: float = 0.5) -> Metrics:
    run = Run.parse(name)
    split, history = split_of(run.n, run.seed), history_of([validation])
    return measured(run, weights_of(run), split, history)


def planted(n: int, seed: int, **values: object) -> Metrics:
    """The metrics of a run that generalised, with numbers that follow its seed."""
    run = run_metrics(n, seed)
    assert run.pca and run.neurons
    units, *others = run.classes
    heads = tuple(
        changed(
            head,
            ov=changed(head.ov, components=4 + seed % 2),
            block_score=seed / 100,
            block_score_shuffled=MeanStd(mean=0.04, std=0.01),
        )
        for head in run.heads
    )
    followed = {
        "classes": (changed(units, fve=0.9 + seed / 1000), *others),
        "pca": changed(run.pca, components=9 + seed % 3, fve=0.95 + seed / 1000),
        "neurons": changed(run.neurons, one_power=0.8 + seed / 100),
        "first_099": Epochs(train=50 * seed, validation=100 * seed, mirror_free=150 * seed),
        "epoch_099": StayingEpochs(
            train=100 * seed, validation=200 * seed, mirror_free=300 * seed, train_relapses=0
        ),
        "heads": heads,
    }
    return changed(run, **(followed | values))
