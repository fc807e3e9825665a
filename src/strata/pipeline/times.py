"""How long stages take on this machine, from recorded times: trainings from what the runs in the
locks recorded, other stages from benchmarks/stages.json."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from strata import store
from strata.params import Params
from strata.pipeline.objects import Objects
from strata.run import Run, Settings, validated

RECORDED = Path("benchmarks/stages.json")
BY_PAIR = {"forward"}  # of the stages without a run in their names


def threads() -> int:
    """How many threads a training takes here."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(os.environ.get("STRATA_THREADS", found or 1))


def gflop(n: int, settings: Settings) -> float:
    """What the matrix products of one epoch take: the formula of benchmarks/training.md."""
    train, left_out = settings.train, 1 - settings.split.train_fraction
    pairs = (1 - left_out**2) * n * n / 2  # a pair and its mirror are computed once
    widths = train.d_model**2 + 2 * train.d_model * train.d_mlp + train.d_model * n
    return (6 * pairs * widths + 12 * (n + 1) * train.d_model**2) / 1e9


class Times:
    """Recorded times, applied to this machine and these values of params.yaml."""

    def __init__(self, params: Params, locked: Mapping[str, Any], objects: Objects):
        self.params, self.locked, self.objects = params, locked, objects
        found = store.read_json(RECORDED)
        self.nothing: float = found["nothing"]  # seconds of DVC where no stage runs
        self.epoch: float = found["epoch"]  # seconds of an epoch beside its products
        self.n: int = found["n"]
        self.known: dict[str, float] = found["seconds"]

    def stage(self, name: str) -> float:
        """Seconds of one stage. Those of a run compute over its pairs: what comes on top of
        starting Python grows with n²."""
        kind, _, run = name.partition("@")
        if kind in {"train", "checkpoints"}:
            return self.training(Run.parse(run))
        took = self.known.get(name, self.known.get(kind, median(self.known.values())))
        if not run and kind not in BY_PAIR:
            return took
        n = Run.parse(run).n if run else self.params.n
        start = min(took, min(self.known.values()))
        return start + (took - start) * (n / self.n) ** 2

    def training(self, run: Run) -> float:
        """Seconds to train a run with the threads of this machine."""
        settings = self.params.settings(run)
        products = gflop(run.n, settings) / (self.rate * threads())
        return settings.train.epochs * (self.epoch + products)

    @cached_property
    def rate(self) -> float:
        """Gflop per second and thread: the median over recorded trainings."""
        return median(
            settings.train.epochs * gflop(n, settings) / (seconds * threads)
            for n, settings, seconds, threads in self._trainings()
        )

    def _trainings(self) -> Iterator[tuple[int, Settings, float, int]]:
        for name, stage in self.locked.items():
            kind, _, run = name.partition("@")
            if kind == "train":
                [record] = [x for x in stage["outs"] if x["path"].endswith("/environment.json")]
                config = next(x for x in stage["deps"] if x["path"].startswith("data/config/"))
                found, settings = self._json(record), self._json(config)
                if found and settings:
                    own = validated(Settings, settings, config["path"])
                    yield Run.parse(run).n, own, found["seconds"], found["threads"]

    def _json(self, entry: Mapping[str, str]) -> Any:
        """What a file held when it was recorded; None where that is nowhere on this machine."""
        path = self.objects.find(entry["md5"]) or Path(entry["path"])
        return json.loads(path.read_bytes()) if path.is_file() else None
