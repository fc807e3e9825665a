"""The project in one folder for an archive that gives DOIs: the files of the last commit, the
objects of the remote that its locks name, checksums, and a text that says how to go on from there.

The same commit gives the same bytes. An archive takes about a hundred files a record, so the
objects are in a few zips.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ops import replay, verify
from ops.git import git
from ops.verify import Out
from strata import store
from strata.run import InputError

SUMS = "SHA256SUMS"
COPIED = ("CITATION.cff", "codemeta.json", ".zenodo.json", "LICENSE")
CRATE = "ro-crate-metadata.json"
PARTS = ("0123", "4567", "89ab", "cdef")  # of the objects, by the first digit of their md5
README = """\
# {title} {version}

{abstract}

This is commit {commit} of {date}: its files are in `{title}-source.zip`, and the
trained models, tables and figures that its lock files name in the other zips.

Needed are Git (the program, no hosting), make, unzip, Python 3.11 or later, and for `make paper` a
network for pip.

```
sha256sum --check {sums}
unzip -q '{title}-*.zip'
cd {title}
git init --quiet
git add --force .
make paper
make verify
```

`make paper` brings every table and figure; `report/index.html` shows them. `make verify` makes a
sample of the results again and compares the bytes. `python ops/scripts/replay.py TARGET` runs
stages without DVC. `docs/deposit.md` has more.

`{crate}` in `{title}/` describes how each file was made, as a Workflow Run RO-Crate.
`CITATION.cff`, `codemeta.json` and `.zenodo.json` say who made what, and which paper is reproduced.
Licence: {license}; `NOTICE` in `{title}/` names what is of others.
"""


def named(stages: Mapping[str, Any], kept: Iterable[str]) -> list[Path]:
    """The objects of the remote that the locks name: these outputs, and what stages read as far as
    it is there, with all files of folders. Raises InputError where an output is missing or
    damaged."""
    outs = verify.outs(dict(stages))
    for path in kept:
        if path not in outs or not replay.whole(outs[path].md5):
            raise InputError(f"{path}: {replay.REMOTE}: must hold what dvc.lock names: dvc push")
    read = (Out("", x["path"], x["md5"]) for y in stages.values() for x in y.get("deps", ()))
    whole = [out for out in (*outs.values(), *read) if replay.whole(out.md5)]
    parts = {part.md5 for out in whole for part in (out, *verify.files(replay.REMOTE, out))}
    return sorted(verify.at(replay.REMOTE, md5) for md5 in parts)


class Commit(NamedTuple):
    """A commit's name and time."""

    sha: str
    made: datetime


def commit() -> Commit:
    """The last commit. Raises InputError where files differ from it."""
    if changed := git("status", "--porcelain"):
        path = changed.splitlines()[0].split()[-1]
        raise InputError(f"{path}: must be as in the last commit: git commit, or git stash")
    seconds = int(git("show", "--no-patch", "--format=%ct"))
    return Commit(git("rev-parse", "HEAD"), datetime.fromtimestamp(seconds, UTC))


def write(
    folder: Path, last: Commit, cff: Mapping[str, Any], crate: str, paths: list[Path]
) -> None:
    """Write the deposit of the project in the current folder to a new folder. ``last`` is the
    commit checked out, ``cff`` what CITATION.cff holds, ``crate`` the text of the RO-Crate,
    ``paths`` the objects of the remote."""
    (sha, made), title = last, cff["title"]
    folder.mkdir()
    _source(folder, title, crate)
    for part in PARTS:
        own = [path for path in paths if path.parent.name[0] in part]
        if own:
            _zipped(folder / f"{title}-objects-{part[0]}-{part[-1]}.zip", title, own, made)
    for name in COPIED:
        store.write_text(folder / name, Path(name).read_text(encoding="utf-8"))
    said = README.format(commit=sha, date=made.date(), sums=SUMS, crate=CRATE, **cff)
    store.write_text(folder / "README.md", said)
    store.write_text(folder / SUMS, _sums(folder))


def _source(folder: Path, title: str, crate: str) -> None:
    """The files of the last commit without the remote, and the crate, which tells of both."""
    added = folder / CRATE
    store.write_text(added, crate)
    git(
        "archive", f"--output={folder / f'{title}-source.zip'}", f"--prefix={title}/",
        f"--add-file={added}", "HEAD", ".", f":(exclude){replay.REMOTE}", f":(exclude){CRATE}",
    )  # fmt: skip
    added.unlink()


def _zipped(target: Path, title: str, paths: Iterable[Path], made: datetime) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            entry = zipfile.ZipInfo(f"{title}/{path.as_posix()}", made.timetuple()[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, path.read_bytes())


def _sums(folder: Path) -> str:
    """A line for each file, as sha256sum writes it."""
    paths = sorted(folder.iterdir())
    return "".join(f"{hashlib.sha256(x.read_bytes()).hexdigest()}  {x.name}\n" for x in paths)
