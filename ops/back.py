"""The published state again, after any experiment, finished or interrupted: ``make back``.

That of the last commit: params.yaml, the locks and summary.json, the branch that DVC leaves while
an experiment runs, and every output. Outputs of runs that are not published are deleted. Nothing is
lost: results stay in DVC's cache, values of params.yaml that no experiment has recorded in git's
stash, and an output whose content is recorded nowhere is named, and no output replaced.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ops import files, recover, shipped
from ops.calls import checked_out
from ops.git import ANYBODY, git
from ops.shipped import Out, Outs
from strata.inputs import InputError, few
from strata.run import command

PARAMS = ("params.yaml", "studies/params.yaml")
DERIVED = ("data/code", "data/config")  # made from the code and parameters alone
STASHED = "before make back"
EXECUTED = "refs/exps/exec"  # what DVC keeps of an experiment while it runs
OF_A_RUN = re.compile(r"\$\{(?:item\.run|key)\}|\$\{variant\}n\$\{n\}-s\$\{seed\}")


def unpublished(outs: Outs) -> Iterator[Path]:
    """The outputs of runs that no published stage wrote: they lie where those of a run do."""
    for out in {x for stage in files.stages().values() for x in files.paths(stage["outs"])}:
        found = OF_A_RUN.search(out)
        before, after = (out[: found.start()], out[found.end() :]) if found else ("", "")
        for path in Path().glob(f"{before}*{after}") if found else ():
            run = path.as_posix().removeprefix(before).removesuffix(after)
            if path.as_posix() not in outs.by_path and files.run_of(f"@{run}"):
                yield path


def branch() -> None:
    """Back to the branch that DVC left for an experiment which did not come to its end."""
    left = git("for-each-ref", "--format=%(refname)", EXECUTED).splitlines()
    if left and not git("branch", "--show-current"):
        try:
            before = git("rev-parse", "--symbolic-full-name", "@{-1}")
        except InputError:  # a clone of a tag was on no branch before
            before = ""
        if before and git("rev-parse", before) == git("rev-parse", "HEAD"):
            git("symbolic-ref", "HEAD", before)
    for name in left:
        git("update-ref", "-d", name)


def tracked() -> str:
    """What git tracks of ours as it was, and nothing staged of it, nor of what DVC stages; how to
    see what was in its place, where that was kept."""
    ours = [*PARAMS, "summary.json", *map(files.lock, files.pipelines())]
    asked = ("status", "--porcelain", "--no-renames", "--untracked-files=no")
    said = git(*asked, "--", *ours, ".dvc/tmp").splitlines()  # on disk or staged
    changed = [line.split(maxsplit=1)[1] for line in said]
    refs = git("for-each-ref", "--format=%(refname)", "refs/exps/*/*/*").splitlines()
    known = ["HEAD", *(ref for ref in refs if EXECUTED not in ref)]
    kept = [
        name
        for name in set(PARAMS) & set(changed)
        if git("hash-object", name) not in {git("rev-parse", f"{ref}:{name}") for ref in known}
    ]
    if kept:
        git(*ANYBODY, "stash", "push", "--message", STASHED, "--", *kept)
    if changed:
        git("restore", "--source=HEAD", "--staged", "--worktree", "--", *changed)
    said = f"; {few(kept)} as it was: git stash show --patch" if kept else ""
    others = [x for x in git("stash", "list", "--format=%gs").splitlines() if STASHED not in x]
    if others:
        said += f"; git stash list has {others[0]!r}, as a killed experiment leaves it"
    return said


def restored(outs: Iterable[Out]) -> list[str]:
    """Check out what is not as published, unless it would be lost; what would be. DVC is called in
    those projects alone that have such outputs, as it takes seconds to read a project."""
    caches = {name: recover.cache(name) for name in files.projects()}
    wrong = set()
    for out in outs:
        name, found = files.project(out.stage), shipped.on_disk(out.path)
        if found != out.md5 and (found or shipped.at(out.md5, caches[name]).is_file()):
            wrong.add(name)
            if out.path.endswith(DERIVED):
                shipped.make_room(Path(out.path))
    return [path for name in caches if name in wrong for path in checked_out(name)]


def main() -> None:
    files.at_top()
    projects = files.projects()
    for project in projects:
        if said := recover.busy(project):
            raise InputError(f"{said}: wait for its end, or end it; then make back")
    branch()
    said = tracked()
    outs = Outs(files.locked())
    gone = list(unpublished(outs))
    for path in gone:
        path.unlink()
    for folder in sorted((x for p in projects for x in Path(p, "data").glob("**/")), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    if lost := restored(outs):
        raise InputError(
            f"{few(lost)}: this content is recorded nowhere and would be lost;"
            " move it or delete it, then make back"
        )
    print(f"back: outputs as published, {len(gone)} of other runs deleted{said}")


if __name__ == "__main__":
    command(main)
