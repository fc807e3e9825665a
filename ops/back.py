"""Bring the published state back after any experiment, finished or interrupted: ``make back``.

That is the state of the last commit: params.yaml, the locks and summary.json, the branch that DVC
leaves while an experiment runs, and every output. Outputs of runs that are not published are
deleted. Nothing is lost: results stay in DVC's cache, and values of params.yaml that no experiment
has recorded go to git's stash. Where an output has a content that is recorded nowhere, it is named,
and no output is replaced.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ops import files, recover, shipped
from ops.calls import alive, check_out
from ops.git import ANYBODY, git
from ops.shipped import Out, Outs
from strata.inputs import InputError, shortened
from strata.run import command

PARAMS = ("params.yaml", "studies/params.yaml")
DERIVED = ("data/code", "data/config", "data/params.json")  # made from code and parameters alone
STASHED = "before make back"
RUN = re.compile(r"\$\{(?:item\.run|key)\}|\$\{variant\}n\$\{n\}-s\$\{seed\}")


def leave_experiment() -> None:
    """Return to the branch that DVC left for an experiment which did not come to its end."""
    left = git("for-each-ref", "--format=%(refname)", recover.RUNNING).splitlines()
    if left and not git("branch", "--show-current"):
        with suppress(InputError):  # a clone of a tag was on no branch before
            branch = git("rev-parse", "--symbolic-full-name", "@{-1}")
            if git("rev-parse", branch) == git("rev-parse", "HEAD"):
                git("symbolic-ref", "HEAD", branch)
    for name in left:
        git("update-ref", "-d", name)


def restore_tracked() -> list[str]:
    """Restore parameters, locks and summary.json from the last commit, and unstage what DVC staged.
    Values that no experiment has recorded are stashed. Return what the user should know."""
    ours = (*PARAMS, "summary.json", *map(files.lock, files.pipelines()), ".dvc/tmp")
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--", *ours)
    changed = [line.split(maxsplit=1)[1] for line in git(*words).split("\0") if line]
    unrecorded = [name for name in PARAMS if name in changed and not recorded(name)]
    advice = []
    if unrecorded:
        git(*ANYBODY, "stash", "push", "--message", STASHED, "--", *unrecorded)
        advice.append(f"{shortened(unrecorded)} as it was: git stash show --patch")
    if changed:
        git("restore", "--source=HEAD", "--staged", "--worktree", "--", *changed)
    stashes = git("stash", "list", "--format=%gs").splitlines()
    if others := [name for name in stashes if STASHED not in name]:
        advice.append(f"git stash list has {others[0]!r}, as a killed experiment leaves it")
    return advice


def recorded(name: str) -> bool:
    """Whether the last commit or an experiment has this file as it is."""
    refs = git("for-each-ref", "--format=%(refname)", "refs/exps/*/*/*").splitlines()
    commits = ["HEAD", *(ref for ref in refs if not ref.startswith(recover.RUNNING))]
    return git("hash-object", name) in {git("rev-parse", f"{x}:{name}") for x in commits}


def unpublished(outs: Outs) -> Iterator[Path]:
    """Yield the outputs of runs that no lock names. They lie where a pipeline file has the outputs
    of a run, with the name of another run in the path."""
    templates = (x for stage in files.stages().values() for x in files.paths(stage["outs"]))
    for template in {x for x in templates if RUN.search(x)}:
        before, after = RUN.split(template)
        for path in Path().glob(f"{before}*{after}"):
            name = path.as_posix().removeprefix(before).removesuffix(after)
            if path.as_posix() not in outs.by_path and files.run_of(f"@{name}"):
                yield path


def restore_outputs(outs: Iterable[Out]) -> list[str]:
    """Check out what is not as published, and return what stays as it is because it would be lost.
    DVC is called only in projects that have such outputs, as it takes seconds to read a project."""
    caches = {name: recover.cache(name) for name in files.projects()}
    wrong = set()
    for out in outs:
        project, md5 = files.project(out.stage), shipped.md5_on_disk(out.path)
        if md5 != out.md5 and (md5 or shipped.at(out.md5, caches[project]).is_file()):
            wrong.add(project)
            if out.path.endswith(DERIVED):
                shipped.make_room(Path(out.path))
    return [path for project in caches if project in wrong for path in check_out(project)]


@alive("back")
def main() -> None:
    files.require_top()
    for project in files.projects():
        if process := recover.busy(project):
            raise InputError(f"{process}: wait for its end, or end it; then make back")
    leave_experiment()
    for project in files.projects():
        for line in (*recover.delete_empty(project), *recover.clear_experiments(project)):
            print(line, flush=True)
        with suppress(InputError):  # a lock is cut off
            recover.forget_unrun(project)  # or DVC would bring such outputs in later
    advice = restore_tracked()
    outs = Outs(files.locked_stages())
    deleted = list(unpublished(outs))
    for path in deleted:
        path.unlink()
        with suppress(OSError):  # it has other files
            path.parent.rmdir()
    if unsaved := restore_outputs(outs):
        raise InputError(
            f"{shortened(unsaved)}: this content is recorded nowhere and would be lost;"
            " move it or delete it, then make back"
        )
    if changed := git("diff", "--name-only", "HEAD").splitlines():  # as an applied experiment has
        advice.append(f"not taken back: {shortened(changed)} (git diff HEAD; git restore)")
    print("; ".join([f"back: outputs as published, {len(deleted)} of other runs deleted", *advice]))


if __name__ == "__main__":
    command(main)
