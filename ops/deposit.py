"""The project in one folder for an archive that gives DOIs: ``make deposit`` (docs/operating.md).

It holds a zip of the last commit, in whose packs is what the locks name, checksums, and a text that
says how to go on from there. The same commit gives the same bytes.
"""

import hashlib
import shutil
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from ops import files, packs
from ops.calls import alive
from ops.git import git, list_tree
from strata import store
from strata.inputs import InputError
from strata.run import command, read_yaml

FOLDER, PARTIAL = Path("deposit"), Path("deposit.part")
SUMS = "SHA256SUMS"
COPIED = ("CITATION.cff", "LICENSE")
README = """\
# {title} {version}

{abstract}

This is commit {commit} of {date}: its files are in `{title}.zip`, with the
trained models, tables and figures that its locks name.

Needed are Git (the program, no hosting), make, unzip, Python 3.11 or later, and for `make paper` a
network for pip.

```
sha256sum --check {sums}
unzip -q {title}.zip
cd {title}
git init --quiet
git add --force .
make paper
make verify
```

`make paper` brings the paper's tables and figures. `make verify` makes again what the locks name,
and compares the bytes. `docs/operating.md` has more.

How each file was made stands in the locks, `dvc.lock` at the top and in folders of `studies/`: of
every stage the command, the parameters, and each file that it read or wrote by path and md5.
Without any program of ours, `tar -xf` takes these files out of the packs in `artifacts/`, beside
each lock; one whose name ends in `.dir` lists the files of a folder. `environment.json` beside the
weights of a run says on what machine, and with which versions, it was trained. `requirements*.lock`
name every package with its hashes. `README.md` in `{title}/` says what came out.

`CITATION.cff` says who made what, and which paper is reproduced.
Licence: {license}; `NOTICE` in `{title}/` names what is of others.
"""


def commit() -> tuple[str, date]:
    """Return the last commit and its day. Raises InputError where files differ from it."""
    if changed := git("status", "--porcelain"):
        path = changed.splitlines()[0].split()[-1]
        raise InputError(f"{path}: must be as in the last commit: git commit, or git stash")
    seconds = int(git("show", "--no-patch", "--format=%ct"))
    return git("rev-parse", "HEAD"), datetime.fromtimestamp(seconds, UTC).date()


def refuse_other(archive: Path, prefix: str) -> None:
    """Refuse a zip that has not the bytes of each file of the last commit: attributes of git's may
    leave files out of it, or write others. Raises InputError."""
    with ZipFile(archive) as zipped:
        there = {*zipped.namelist()}
        for path, (_, name) in list_tree("HEAD").items():
            content = zipped.read(prefix + path) if prefix + path in there else b""
            if hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() != name:
                must = "must be in the zip as git has it: delete what gives it export-ignore or"
                raise InputError(f"{path}: {must} -subst in .gitattributes or .git/info/attributes")


def write(folder: Path, last: str, day: date, cff: Mapping[str, Any]) -> None:
    """Write the deposit of the project in the current folder to a new folder. ``last`` is the
    commit checked out, of that day, ``cff`` what CITATION.cff holds."""
    title = cff["title"]
    folder.mkdir()
    archive = folder / f"{title}.zip"
    git("archive", f"--output={archive}", f"--prefix={title}/", "HEAD")
    refuse_other(archive, f"{title}/")
    for name in COPIED:
        store.write_text(folder / name, Path(name).read_text(encoding="utf-8"))
    text = README.format(commit=last, date=day, sums=SUMS, **cff)
    store.write_text(folder / "README.md", text)
    digests = {x.name: hashlib.sha256(x.read_bytes()) for x in sorted(folder.iterdir())}
    sums = (f"{digest.hexdigest()}  {name}\n" for name, digest in digests.items())
    store.write_text(folder / SUMS, "".join(sums))


def main() -> None:
    files.require_top()
    cff, (last, day) = read_yaml("CITATION.cff"), commit()
    shutil.rmtree(PARTIAL, ignore_errors=True)
    with alive("deposit"):
        for project in files.projects():
            packs.unpack(project)
            for name, objects in packs.contents(project).items():
                if not packs.has_objects(Path(name), objects):
                    raise InputError(f"{name}: the packs must hold what the locks name: make pack")
        write(PARTIAL, last, day, cff)
    shutil.rmtree(FOLDER, ignore_errors=True)
    PARTIAL.rename(FOLDER)
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    print(f"{FOLDER}/: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB; README.md says how to go on")


if __name__ == "__main__":
    command(main)
