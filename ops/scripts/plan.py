"""What would be restored and run, and how long it takes: ``make plan SET='n=35 variant=quick'``.

Arguments are values of params.yaml as ``dvc exp run -S`` takes them; none: as it is. With --paper
one line for ``make paper``, which has pulled: exit code 1 where what is left takes more than ten
minutes and GO is not set.
"""

import os
import re
from collections import Counter

from dvc.repo import Repo

from ops import files, plan, resolved
from ops.plan import Plan, kind
from ops.times import Times, threads
from strata.params import Params
from strata.run import InputError, command, validated

LONG = 600  # seconds that nobody is surprised with


def words(seconds: float) -> str:
    """A duration as one says it.

    >>> words(8), words(95), words(3000), words(70000)
    ('10 s', '2 min', '50 min', '19 h')
    """
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def short(found: Plan, seconds: float) -> str:
    """The plan in one line."""
    trained = [name for name in found.run if kind(name) in plan.TRAINS]
    parts = [f"restore {counted(found.restored, 'output')}"] * bool(found.restored)
    parts += [f"train {counted(len(trained), 'model')}"] * bool(trained)
    parts += [f"run {counted(len(found.run), 'stage')} at most"] * bool(found.run)
    return f"{', '.join(parts) or 'nothing to do'}: about {words(seconds)}"


def lines(found: Plan, times: Times, seconds: float) -> list[str]:
    """The plan: what is restored, the models that are trained, the stages by kind, the time."""
    trained = [name for name in found.run if kind(name) in plan.TRAINS]
    kinds = Counter(kind(name) for name in found.run if name not in trained)
    many = [f"{name} ({count})" if count > 1 else name for name, count in kinds.items()]
    shown = [f"restore  {counted(found.restored, 'output')}"] * bool(found.restored)
    if trained:
        names = ", ".join(name.removeprefix("train@") for name in trained)
        took = words(sum(map(times.stage, trained)))
        shown.append(f"train    {counted(len(trained), 'model')}, about {took}: {names}")
    if kinds:
        most = counted(sum(kinds.values()), "stage")
        shown.append(f"run      at most {most}: {', '.join(many)}")
    about = f"about {words(seconds)} with {counted(threads(), 'thread')}"
    return [*shown, f"in all   {about}"] if shown else ["nothing to do"]


def main(*given: str) -> None:
    files.at_top()
    paper = given == ("--paper",)
    # The name of a variant alone will do: pipeline files need it with its dash.
    given = () if paper else tuple(re.sub(r"^(variant=[a-z0-9]+)$", r"\1-", x) for x in given)
    params = resolved.values(given)
    valid = validated(Params, params, "params.yaml")
    with Repo() as repo:
        found = plan.plan(repo, params, remote=not paper)
    times = Times(valid)
    seconds = times.nothing + sum(map(times.stage, found.run))
    if not paper:
        print("\n".join(lines(found, times, seconds)))
        if given:
            print("do it    dvc exp run", *(f"-S {x}" for x in given))
        return
    print(f"plan … {short(found, seconds)}", flush=True)
    if seconds > LONG and not os.environ.get("GO"):
        raise InputError("more than ten minutes: make paper GO=1 goes on; make plan says with what")


if __name__ == "__main__":
    command(main)
