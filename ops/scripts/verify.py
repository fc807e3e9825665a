"""Was dvc.lock made up? Make again what it names, in a copy of the project, and see.

``python ops/scripts/verify.py`` takes a sample of the runs, ``--all`` every one. The project itself
is only read. A line for each check as it ends, those that failed once more at the end; exit code 1
where one did.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from ops import again, compare, files, first_epochs, verify
from ops.again import Task
from ops.claim import REMOTE, Claim
from ops.first_epochs import Again
from ops.verify import Outcome
from strata.run import InputError, command
from strata.train import environment, machine

WORDS = {True: "pass", False: "FAIL", None: "—"}
MOST = 8  # processes at once
FIRST, END = "first epochs of ", "end of "  # the tasks beside those of the stages


def head(claim: Claim, reasons: list[str]) -> str:
    """Which machine this is, where the runs were trained, and what follows for the checks."""
    here = machine.describe(torch.device("cpu"))
    made = Counter(environment.read(path).words() for path in records(claim))
    must = "give the same bytes, as on every x86-64 Linux machine with AVX2 and FMA"
    may = f"be alike within a tolerance ({'; '.join(reasons)})"
    whole = ", ".join(sorted(str(run) for run in claim.sample if run))
    limits = ", ".join(f"{x:g} up to epoch {end}" for end, x in first_epochs.LIMITS)
    return (
        f"Here: {here.processor or 'a processor without a name'}, {here.capability},"
        f" {here.platform}, torch {here.torch}, MKL {here.mkl}.\n"
        f"Trained: {'; '.join(f'{x} runs on {words}' for words, x in made.most_common())}.\n"
        f"Made again: {len(claim.again)} of {len(claim.stages)} stages, activations and metrics of"
        f" every run and all of {'every run' if len(claim.sample) > 9 else whole}.\n"
        f"Analyses made again must {may if reasons else must}.\n"
        f"Runs are trained again for {first_epochs.EPOCHS} epochs: to the same bytes where this"
        f" machine rounds as theirs,\nelse at most so many epochs apart: {limits}.\n"
    )


def records(claim: Claim) -> list[Path]:
    """The records of where runs were trained, as far as the remote holds them."""
    outs = (claim.outs.get(f"{folder}/environment.json") for folder in claim.runs.values())
    return [verify.at(REMOTE, out.md5) for out in outs if out and claim.objects.get(out.md5)]


def tasks(claim: Claim, folder: Path) -> dict[str, Task]:
    """All that is made again, trained again or measured."""
    found = again.stages(claim, folder)
    for run, path in sorted(claim.runs.items()):
        settings = claim.params.settings(run)
        given = (run, settings.split, settings.train)
        split = f"split@{run}"
        table = folder / next(x.path for x in claim.outs.values() if x.stage == split)
        end = Task(verify.ending, (folder / path, table, *given), frozenset({split}))
        found[f"{END}{run}"] = end
        found[f"{FIRST}{run}"] = Task(first_epochs.compared, (folder / path, *given))
    return found


def outcomes(claim: Claim, folder: Path, exact: bool) -> Iterator[Outcome]:
    """Each check as it ends; runs whose bytes differ wait for the others of their kind."""
    yield from claim.checked(folder)
    for name in claim.unrepeated:
        yield Outcome(f"{name}: made again", None, "it trains: only its objects are checked")
    for name in claim.frozen:
        yield Outcome(f"{name}: made again", None, "it is frozen: only its objects are checked")
    trained: dict[str, Again] = {}
    for name, found in again.done(tasks(claim, folder), min(machine.threads(), MOST)):
        if name in claim.again:
            yield again.compared(claim, name, found, folder, exact)
        elif name.startswith(END):
            yield found
        else:
            run = name.removeprefix(FIRST)
            trained[run] = found
            if found.settled:
                yield first_epochs.judged(run, found, set())
    like = {found.kind for found in trained.values() if found.same}
    for run, found in trained.items():
        if not found.settled:
            yield first_epochs.judged(run, found, like)


def line(found: Outcome) -> str:
    return f"{WORDS[found.passed]:4}  {found.what}" + (f": {found.note}" if found.note else "")


def main() -> None:
    files.at_top()
    everything = sys.argv[1:] == ["--all"]
    if sys.argv[1:] and not everything:
        raise InputError("must be called with --all or nothing")
    claim, report = Claim(everything), []
    reasons = compare.reasons(machine.describe(torch.device("cpu")), Path())
    print(head(claim, reasons), flush=True)
    with TemporaryDirectory(prefix="strata-verify-") as scratch:
        folder = Path(scratch).resolve()
        again.copy(claim, folder)
        for found in outcomes(claim, folder, exact=not reasons):
            report.append(found)
            print(line(found), flush=True)
    failed = [found for found in report if found.passed is False]
    print("", *map(line, failed), sep="\n", flush=True)
    if failed:
        sys.exit(f"verify: {len(failed)} of {len(report)} checks failed")
    print(f"verify: {len(report)} checks, none failed")


if __name__ == "__main__":
    command(main)
