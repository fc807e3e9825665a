"""The tables over the courses of some runs: when each class comes, in which order, trained where.

In: a folder, the folders of course and of train, the names of the runs. Out: NAME.csv, NAME.tex and
NAME.md for each table.
"""

import sys
from pathlib import Path

from strata import store
from strata.course_params import CourseParams
from strata.dynamics import courses, order
from strata.params import GridParams
from strata.run import Run, TrainParams, command, section
from strata.tables import format
from strata.training import environment, network


def main() -> None:
    folder, measured, trained, *names = sys.argv[1:]
    runs = [Run.parse(name) for name in names]
    params = section("params.yaml", "grid", GridParams)
    course = section("params.yaml", "course", CourseParams)
    train = section("params.yaml", "train", TrainParams)
    frames = {run: courses.read(Path(measured, f"{run}.parquet")) for run in runs}
    origins = {
        run: (
            store.read_json(Path(measured, f"{run}.json")),
            environment.read(Path(trained, f"{run}/environment.json")),
        )
        for run in runs
    }
    ends = {
        run: (
            network.initial(run, train)["W_E"][: run.n].numpy(),
            store.read_weights(Path(trained, f"{run}/weights.safetensors"), run)["W_E"][: run.n],
        )
        for run in runs
    }
    format.write(order.tables(frames, origins, ends, params, course), folder)


if __name__ == "__main__":
    command(main)
