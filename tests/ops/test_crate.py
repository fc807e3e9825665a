"""The RO-Crate of the pipelines says what their locks say, and the validator accepts it."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rocrate

from ops import crate

ROOT = Path(__file__).parents[2]
CONTEXT = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
VALIDATOR = ROOT / ".venv" / "validator" / "bin" / "python"
AUTHOR = {"@id": "#Ada", "@type": "Person", "name": "Ada"}
WHOLE = {
    "@id": "./", "@type": "Dataset", "name": "tiny", "description": "Two stages.",
    "license": {"@id": "https://spdx.org/licenses/MIT", "@type": "CreativeWork", "name": "MIT"},
    "datePublished": "2026-01-31", "version": "1.0", "author": AUTHOR,
    "citation": {"@id": "https://example.org/p", "@type": "ScholarlyArticle", "name": "A paper",
                 "author": [AUTHOR]},
}  # fmt: skip
MACHINES = {"studies/dvc.yaml:train@a": "AMD, AVX2, 1 thread"}
FILES = {"given": b"4", "code/x.txt": b"x = 1\n"}
OUTS = {"model": b"7", "figures/a.svg": b"<svg/>", "passing": b"not kept"}
# The validator knows the profile up to 0.5, which rests on RO-Crate 1.1.
EARLIER = {crate.VERSION: "https://w3id.org/ro/crate/1.1"}
EARLIER |= {crate.PROFILE: crate.PROFILE.replace("0.6", "0.5")}


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def named(*paths: str) -> list[dict]:
    return [{"path": x, "md5": md5((FILES | OUTS)[x]), "size": 1} for x in paths]


def listing(files: dict[str, bytes]) -> bytes:
    return json.dumps([{"md5": md5(x), "relpath": name} for name, x in files.items()]).encode()


DRAWN, CODE = listing({"a.svg": OUTS["figures/a.svg"]}), listing({"x.txt": FILES["code/x.txt"]})
# given, code/ → train@a → model, passing; model → draw → figures/. No remote holds passing, and
# given has changed since it was drawn.
STAGES = {
    "draw": {
        "cmd": "python draw.py",
        "deps": [*named("model"), {"path": "given", "md5": md5(b"3")}],
        "params": {"params.yaml": {"train": {"epochs": 5, "rate": 0.1}}},
        "outs": [{"path": "figures", "md5": f"{md5(DRAWN)}.dir"}],
    },
    "studies/dvc.yaml:train@a": {
        "cmd": "python train.py",
        "deps": [*named("given"), {"path": "code", "md5": f"{md5(CODE)}.dir"}],
        "params": {"../params.yaml": {"train": {"epochs": 5, "rate": 0.1}, "note": None}},
        "outs": named("model", "passing"),
    },
}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    kept = {md5(x): x for x in (OUTS["model"], OUTS["figures/a.svg"])}
    stored = {f"remote/files/md5/{x[:2]}/{x[2:]}": y for x, y in kept.items()}
    folder = f"remote/files/md5/{md5(DRAWN)[:2]}/{md5(DRAWN)[2:]}.dir"
    pipelines = {"dvc.yaml": b"stages:\n", "studies/dvc.yaml": b"stages:\n", ".dvcignore": b""}
    for path, content in (FILES | stored | {folder: DRAWN} | pipelines).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ro-crate-metadata.json").write_text(crate.written(STAGES, WHOLE, MACHINES))
    return tmp_path


@pytest.fixture
def entities(project) -> dict[str, Any]:
    """Each entity of the crate by its @id."""
    found = json.loads((project / "ro-crate-metadata.json").read_text())["@graph"]
    assert len({x["@id"] for x in found}) == len(found)
    return {x["@id"]: x for x in found}


def linked(entity: dict[str, Any], key: str, entities: dict[str, Any]) -> list[dict[str, Any]]:
    value = entity.get(key, [])
    return [entities[x["@id"]] for x in (value if isinstance(value, list) else [value])]


def test_the_actions_say_what_the_locks_say(entities):
    for name, stage in STAGES.items():
        action = entities[f"#run-{name}"]
        assert stage["cmd"] in action["description"]
        (tool,) = linked(action, "instrument", entities)
        assert tool["name"] == name.partition("@")[0] and entities[tool["url"]]
        read = linked(action, "object", entities)
        wrote = linked(action, "result", entities)
        for listed, found in ((stage["deps"], read), (stage["outs"], wrote)):
            named = {x["alternateName"]: x["md5"] for x in found if "md5" in x}
            assert named == {x["path"]: x["md5"] for x in listed}
        values = {x["name"]: x["value"] for x in read if x["@type"] == "PropertyValue"}
        assert values["train.epochs"] == "5" and values["train.rate"] == "0.1"
    assert "AMD" in entities["#run-studies/dvc.yaml:train@a"]["description"]


def test_a_file_of_the_crate_lies_there_with_its_md5(project, entities):
    files = [x for x in entities.values() if "File" in x["@type"] and "md5" in x]
    assert {x["name"] for x in files} == {"given", "model", "figures/a.svg"}
    for file in files:
        assert md5((project / file["@id"]).read_bytes()) == file["md5"]
    others = [x for x in entities.values() if x["@type"] == "CreativeWork" and "md5" in x]
    assert {(x["name"], x["md5"]) for x in others} == {
        ("given", md5(b"3")),
        ("passing", md5(OUTS["passing"])),
    }
    (part,) = linked(
        entities[f"#figures-{md5(listing({'a.svg': b'<svg/>'}))}.dir"], "hasPart", entities
    )
    assert part["encodingFormat"] == "image/svg+xml"


def test_who_made_what_is_linked(entities):
    root = entities["./"]
    assert [x["@id"] for x in linked(root, "conformsTo", entities)] == [crate.PROFILE]
    assert linked(root, "citation", entities)[0]["author"] == [{"@id": AUTHOR["@id"]}]
    assert {x["name"] for x in linked(root, "mentions", entities)} == {*STAGES}


@pytest.mark.skipif(
    not VALIDATOR.exists(), reason="make test ALL=1 builds the validator's environment"
)
@pytest.mark.parametrize("profile", ["ro-crate-1.3", "process-run-crate-0.5"])
def test_the_validator_accepts_it(project, profile):
    """As RO-Crate 1.3; and as Process Run Crate 0.5, with the versions that belong to it in the
    place of those that the crate claims."""
    path = project / "ro-crate-metadata.json"

    def said() -> list[str]:
        command = [VALIDATOR, ROOT / "tests" / "validated.py", project, profile, CONTEXT]
        done = subprocess.run(command, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return done.stdout.strip().splitlines()[-9:]

    text = path.read_text()
    for new, old in EARLIER.items() if "0.5" in profile else ():
        assert new in text
        text = text.replace(new, old)
    path.write_text(text)
    assert said() == ["valid"]
    if "0.5" in profile:  # a tool that no action used
        path.write_text(text.replace('{\n    "@id": "#tool-draw"\n   }', '{"@id": "#run"}'))
        assert said()[-1] == "not valid"
