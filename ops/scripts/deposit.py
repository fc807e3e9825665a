"""Write the folder deposit/, for an archive that gives DOIs: ``make deposit`` (docs/deposit.md)."""

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dvc.repo import Repo

from ops import citation, compare, crate, deposit, files, replay, verify
from strata.run import command, read_yaml
from strata.train import environment

FOLDER = Path("deposit")
PARTIAL = Path("deposit.part")
LOCKS = ("requirements.lock", "requirements-cpu.lock")


def described(cff: dict[str, Any], last: deposit.Commit) -> crate.Described:
    """What the locks do not say, from CITATION.cff, the last commit, the locks of packages
    and the records of where runs were trained."""
    outs = verify.outs(files.locked()).values()
    records = [x for x in outs if x.path.endswith("/environment.json")]
    where = {x.stage: environment.read(verify.at(replay.REMOTE, x.md5)) for x in records}
    packages = "".join(Path(name).read_text(encoding="utf-8") for name in LOCKS)
    return crate.Described(
        name=cff["title"],
        description=cff["abstract"],
        license=f"https://spdx.org/licenses/{cff['license']}",
        date=last.made.date().isoformat(),
        version=cff["version"],
        agent=citation.entities(cff["authors"])[0],
        engine=version("dvc"),
        citation=citation.papers(cff)[0],
        software=dict(compare.PINNED.findall(packages)),
        machines={stage: record.words() for stage, record in where.items()},
    )


def main() -> None:
    cff = read_yaml(Path("CITATION.cff"))
    last = deposit.commit()
    with Repo() as repo:
        kept = [out.def_path for out in repo.index.outs if out.use_cache]
    objects = deposit.named(files.locked(), kept)
    text = crate.written(Path(), [files.lock(name) for name in files.FILES], described(cff, last))
    shutil.rmtree(PARTIAL, ignore_errors=True)
    deposit.write(PARTIAL, last, cff, text, objects)
    shutil.rmtree(FOLDER, ignore_errors=True)
    PARTIAL.rename(FOLDER)
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    print(f"{FOLDER}/: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB; README.md says how to go on")


if __name__ == "__main__":
    command(main)
