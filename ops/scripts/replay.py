"""Run stages without DVC: ``python ops/scripts/replay.py TARGET …``, for a stage such as tables, or
for a path that one writes.

Commands are those of dvc.lock, inputs are taken from remote/ and made where it lacks them. With
``--all`` first everything that the targets need is made again but trained models. A line for each
stage; exit code 1 where an output has another md5 than dvc.lock names.
"""

from ops import replay
from strata.run import InputError, command


def main(*words: str) -> None:
    targets = [word for word in words if word != "--all"]
    if not targets:
        raise InputError("TARGET: must be a stage of dvc.lock or a path that one writes")
    stages, failed = 0, 0
    for name, other, seconds in replay.replayed(targets, "--all" in words):
        said = f"other bytes: {', '.join(other)}" if other else "the same bytes"
        print(f"{name} … {said}, {seconds:.0f} s", flush=True)
        stages, failed = stages + 1, failed + bool(other)
    if failed:
        raise InputError(f"{failed} of {stages} stages wrote other bytes than dvc.lock names")
    print(f"{stages} stages, all with the bytes that dvc.lock names")


if __name__ == "__main__":
    command(main)
