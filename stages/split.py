"""The pair table of a run's task with its split.

In: a run's name, its settings. Out: Parquet of n² rows: a, b, c = ab, their classes, the
split, whether the mirror trains.
"""

from strata import store, task
from strata.run import Run, SplitParams, command


def main(name: str, config: str, out: str) -> None:
    run, params = Run.parse(name), store.read_model(config, SplitParams)
    learnt = task.parse_task(params.task, run.n)
    split = task.split(learnt.order, run.seed, params.train_fraction, params.validation_fraction)
    columns = task.pair_table(learnt) | {
        "split": split,
        "mirror_in_train": task.mirrored(split, learnt.order),
    }
    store.write_table(out, columns, store.SPLIT)


if __name__ == "__main__":
    command(main)
