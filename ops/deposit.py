"""The project in one folder for an archive that gives DOIs: ``make deposit`` (docs/operating.md).

It holds the files of the last commit, the objects of the remote that the locks name, checksums, and
a text that says how to go on from there. The same commit gives the same bytes. An archive takes
about a hundred files a record, so the objects are in a few zips.
"""

import hashlib
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ops import copied, crate, files, shipped
from ops.git import git
from ops.shipped import Out, Outs
from strata import store
from strata.run import InputError, command, read_yaml
from strata.train import environment

FOLDER, PARTIAL = Path("deposit"), Path("deposit.part")
SUMS = "SHA256SUMS"
COPIED = ("CITATION.cff", "LICENSE")
CRATE = "ro-crate-metadata.json"
PARTS = ("0123", "4567", "89ab", "cdef")  # of the objects, by the first digit of their md5
README = """\
# {title} {version}

{abstract}

This is commit {commit} of {date}: its files are in `{title}-source.zip`, and the
trained models, tables and figures that its locks name in the other zips.

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

`make paper` brings the paper's tables and figures. `make verify` makes again what the locks name,
and compares the bytes. `docs/operating.md` has more.

`{crate}` in `{title}/` describes how each file was made, as a Process Run Crate.
`CITATION.cff` says who made what, and which paper is reproduced.
Licence: {license}; `NOTICE` in `{title}/` names what is of others.
"""


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


def objects(stages: Mapping[str, Any], kept: Iterable[str]) -> list[Path]:
    """The objects of the remote that hold these outputs of the locks, and what stages read where it
    is there. Raises InputError where an output is missing or damaged."""
    outs = Outs(stages).by_path
    read = (Out("", x["path"], x["md5"]) for s in stages.values() for x in s.get("deps", ()))
    found = shipped.objects(x for x in read if shipped.at(x.md5).is_file())
    for path in kept:
        try:
            found |= shipped.objects([outs[path]] if path in outs else [])
        except InputError as fault:
            must = "the remote must hold what the locks name: dvc push"
            raise InputError(f"{path}: {fault}; {must}") from None
    return sorted(found)


def write(
    folder: Path, last: Commit, cff: Mapping[str, Any], crate: str, paths: Iterable[Path]
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
    sums = (f"{_sha256(x)}  {x.name}\n" for x in sorted(folder.iterdir()))
    store.write_text(folder / SUMS, "".join(sums))


def _source(folder: Path, title: str, crate: str) -> None:
    """The files of the last commit without the remote, and the crate, which tells of both."""
    added = folder / CRATE
    store.write_text(added, crate)
    git(
        "archive", f"--output={folder / f'{title}-source.zip'}", f"--prefix={title}/",
        f"--add-file={added}", "HEAD", ".", f":(exclude){shipped.REMOTE}", f":(exclude){CRATE}",
    )  # fmt: skip
    added.unlink()


def _zipped(target: Path, title: str, paths: Iterable[Path], made: datetime) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            entry = zipfile.ZipInfo(f"{title}/{path.as_posix()}", made.timetuple()[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, path.read_bytes())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def described(cff: Mapping[str, Any], last: Commit) -> dict[str, Any]:
    """What is said of the whole deposit, as linked data."""
    licence = f"https://spdx.org/licenses/{cff['license']}"
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": cff["title"],
        "description": cff["abstract"],
        "license": {"@id": licence, "@type": "CreativeWork", "name": cff["license"]},
        "datePublished": last.made.date().isoformat(),
        "version": cff["version"],
        "author": person(cff["authors"][0]),
        "citation": paper(cff["references"][0]),
    }


def person(author: Mapping[str, str]) -> dict[str, Any]:
    """An author of CITATION.cff as linked data: an object with an @id and an @type."""
    if "name" in author:
        return {"@id": f"#{quote(author['name'])}", "@type": "Organization", "name": author["name"]}
    given, family = author["given-names"], author["family-names"]
    said = {"name": f"{given} {family}", "givenName": given, "familyName": family}
    works = {"affiliation": person({"name": author["affiliation"]})}
    return {"@id": f"#{quote(said['name'])}", "@type": "Person", **said, **works}


def paper(reference: Mapping[str, Any]) -> dict[str, Any]:
    """A paper of CITATION.cff as linked data. It has no DOI: the address of its code stands for
    it."""
    return {
        "@id": reference["repository-code"],
        "@type": "ScholarlyArticle",
        "name": reference["title"],
        "datePublished": str(reference["year"]),
        "author": [person(x) for x in reference["authors"]],
    }


def main() -> None:
    files.at_top()
    cff, last, stages = read_yaml("CITATION.cff"), commit(), files.locked()
    kept = (path for x in copied.resolved(Path().resolve()).values() for path in sorted(x.kept))
    paths = objects(stages, kept)
    records = [x for x in Outs(stages) if x.path.endswith("/environment.json")]
    machines = {x.stage: environment.read(shipped.at(x.md5)).words() for x in records}
    text = crate.written(stages, described(cff, last), machines)
    shutil.rmtree(PARTIAL, ignore_errors=True)
    write(PARTIAL, last, cff, text, paths)
    shutil.rmtree(FOLDER, ignore_errors=True)
    PARTIAL.rename(FOLDER)
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    print(f"{FOLDER}/: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB; README.md says how to go on")


if __name__ == "__main__":
    command(main)
