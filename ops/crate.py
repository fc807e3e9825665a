"""A Workflow Run RO-Crate of a DVC pipeline: what its lock files say was run, on what, with what.

The crate claims the profile Provenance Run Crate 0.6 (https://w3id.org/ro/wfrun). Contents are
named by where the remote has them in the repository, so a clone is the whole crate. Equal contents
at several paths are one entity, with the name of the first. DVC records no times, and the crate has
none. Nothing of this project is imported: any DVC project may take the file as it is.
"""

import hashlib
import json
import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rocrate.model.contextentity import ContextEntity
from rocrate.model.dataset import Dataset
from rocrate.model.entity import Entity
from rocrate.model.file import File
from rocrate.rocrate import ROCrate
from ruamel.yaml import YAML

VERSION = "1.3"  # of RO-Crate, on which these profiles rest; each extends those before it
PROFILES = {
    "Process Run Crate": "https://w3id.org/ro/wfrun/process/0.6",
    "Workflow RO-Crate": "https://w3id.org/workflowhub/workflow-ro-crate/1.1",
    "Workflow Run Crate": "https://w3id.org/ro/wfrun/workflow/0.6",
    "Provenance Run Crate": "https://w3id.org/ro/wfrun/provenance/0.6",
}
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
DONE = {"@id": "http://schema.org/CompletedActionStatus"}
TYPES = {bool: "Boolean", int: "Integer", float: "Float"}  # of others: Text
Properties = dict[str, Any]


@dataclass(frozen=True)
class Described:
    """What lock files do not say. Entities are JSON-LD objects with an @id and an @type."""

    name: str
    description: str
    license: str  # the address of its text, such as https://spdx.org/licenses/MIT
    date: str  # of publication: 2026-01-31
    version: str
    agent: Properties  # who ran the pipeline
    engine: str  # the version of DVC
    citation: Properties | None = None  # the paper; its authors are entities in it
    software: Mapping[str, str] = field(default_factory=dict)  # versions of packages
    machines: Mapping[str, str] = field(default_factory=dict)  # what a stage ran on, by its name


def written(folder: Path, locks: list[str], said: Described) -> str:
    """The crate's metadata for these lock files of a project, the first of which is that of its
    main dvc.yaml."""
    metadata = _Crate(folder, locks, said).metadata()
    return json.dumps(metadata, indent=1, sort_keys=True) + "\n"


def leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every single value under a key, with its dotted name; a list is one value.

    >>> list(leaves("a", {"b": 1, "c": {"d": [2, 3]}}))
    [('a.b', 1), ('a.c.d', '[2, 3]')]
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(f"{key}.{name}", inner)
    else:
        yield key, json.dumps(value) if isinstance(value, list) else value


class _Crate:
    """A crate as it is put together."""

    def __init__(self, folder: Path, locks: list[str], said: Described):
        self.folder, self.said = folder, said
        self.files = [Path(lock).with_suffix(".yaml").as_posix() for lock in locks]
        self.stages: dict[str, Any] = {}
        self.places: dict[str, str] = {}  # the pipeline file of each stage, by name before the @
        for lock, file in zip(locks, self.files, strict=True):
            own = YAML(typ="safe").load(folder / lock)["stages"]
            self.stages |= own
            self.places |= {name.partition("@")[0]: file for name in own}
        self.outs = {x["path"]: x for s in self.stages.values() for x in s.get("outs", ())}
        self.crate = ROCrate(version=VERSION)
        self.crate.metadata.extra_contexts.append(TERMS)

    def metadata(self) -> Any:
        """The JSON-LD document."""
        agent = self._context(self.said.agent)
        tools, steps = self._tools()
        main = self._workflow(tools, steps)
        actions = [self._action(name, tools, agent) for name in self.stages]
        run = self._run(main, agent)
        self._root(main, agent, [run, *actions])
        return self.crate.metadata.generate()

    def _add(self, id_: str, type_: str | list[str], **properties: Any) -> Entity:
        """An entity that is no file of the crate; the one that is there where it was added."""
        new = ContextEntity(self.crate, id_, {"@type": type_, **properties})
        return cast(Entity, self.crate.dereference(id_) or self.crate.add(new))

    def _software(self, id_: str, name: str, version: str, url: str) -> Entity:
        of = {"version": version, "softwareVersion": version, "url": url}
        return self._add(id_, "SoftwareApplication", name=name, **of)

    def _context(self, given: Any) -> Any:
        """An entity for each object that is described, also for those inside it."""
        if not isinstance(given, Mapping):
            return [self._context(x) for x in given] if isinstance(given, list) else given
        rest = {key: self._context(value) for key, value in given.items() if key[0] != "@"}
        return self._add(given["@id"], given["@type"], **rest)

    def _root(self, main: Entity, agent: Entity, mentioned: list[Entity]) -> None:
        root, said = self.crate.root_dataset, self.said
        claims = [
            self._add(x, ["CreativeWork", "Profile"], name=name, version=x.rpartition("/")[2])
            for name, x in PROFILES.items()
        ]
        licence = self._add(said.license, "CreativeWork", name=said.license.rpartition("/")[2])
        root["name"], root["description"] = said.name, said.description
        root["datePublished"], root["version"] = said.date, said.version
        root["license"], root["author"] = licence, agent
        root["conformsTo"], root["mainEntity"], root["mentions"] = claims, main, mentioned
        if said.citation:
            root["citation"] = self._context(said.citation)

    def _tools(self) -> tuple[dict[str, Entity], dict[str, Entity]]:
        """The command and the step of each stage, which a matrix runs several times."""
        places, of = self.places.items(), self.said.version
        tools = {x: self._software(f"#tool-{x}", x, of, place) for x, place in places}
        steps = {
            x: self._add(f"#step-{x}", "HowToStep", name=x, position=str(i), workExample=tools[x])
            for i, x in enumerate(self.places)
        }
        return tools, steps

    def _workflow(self, tools: dict[str, Entity], steps: dict[str, Entity]) -> Entity:
        """dvc.yaml as the workflow, with the other pipeline files, stages and packages."""
        language = self._add(
            "https://dvc.org", "ComputerLanguage", name="DVC pipeline", url="https://dvc.org",
            identifier="https://dvc.org", version=self.said.engine,
        )  # fmt: skip
        needed = [
            self._software(f"pkg:pypi/{x}@{version}", x, version, f"pkg:pypi/{x}@{version}")
            for x, version in self.said.software.items()
        ]
        kinds = ["File", "SoftwareSourceCode"]
        for path in self.files[1:]:
            self._file(path, name=path, **{"@type": kinds})
        return self._file(
            self.files[0], name=self.said.name, programmingLanguage=language,
            hasPart=list(tools.values()), step=list(steps.values()),
            softwareRequirements=needed, version=self.said.version,
            **{"@type": [*kinds, "ComputationalWorkflow", "HowTo"]},
        )  # fmt: skip

    def _file(self, path: str, **properties: Any) -> Entity:
        kind = mimetypes.guess_type(properties.get("alternateName", path))[0]
        given = {"encodingFormat": kind or "application/octet-stream", **properties}
        new = File(self.crate, dest_path=path, properties=given)
        return cast(Entity, self.crate.dereference(path) or self.crate.add(new))

    def _content(self, item: Mapping[str, Any]) -> Entity:
        """A file or folder that a lock names, by its path and its md5."""
        path, md5 = item["path"], item["md5"]
        stored = f"remote/files/md5/{md5[:2]}/{md5[2:]}"
        has = {"name": path, "alternateName": path, "md5": md5}
        if md5.endswith(".dir"):
            return self._folder(path, stored, has)
        if "size" in item:
            has["contentSize"] = str(item["size"])
        if (self.folder / stored).is_file():
            return self._file(stored, **has)
        if not self._written(path) and _md5(self.folder / path) == md5:
            return self._file(path, **has)
        return self._add(f"#{path}-{md5}", "CreativeWork", **has)  # its bytes are kept nowhere

    def _written(self, path: str) -> bool:
        """Whether stages write what lies at a path, or a part of it."""
        return any(_meet(path, out) for out in self.outs)

    def _folder(self, path: str, stored: str, has: Properties) -> Entity:
        """A folder as the collection of its files; one that git tracks as it lies there."""
        if (self.folder / stored).is_file():
            listed = json.loads((self.folder / stored).read_bytes())
            inside = [{"path": f"{path}/{x['relpath']}", "md5": x["md5"]} for x in listed]
        else:
            inside = [x for name, x in self.outs.items() if name.startswith(f"{path}/")]
        if not inside:
            new = Dataset(self.crate, dest_path=path, properties=has)
            return cast(Entity, self.crate.dereference(f"{path}/") or self.crate.add(new))
        parts = [self._content(x) for x in inside]
        return self._add(f"#{path}-{has['md5']}", "Collection", hasPart=parts, **has)

    def _values(self, stage: Mapping[str, Any]) -> list[Entity]:
        """The parameters that a stage read, each one value of a formal parameter."""
        read = [(file, *x) for file, keys in stage.get("params", {}).items() for x in keys.items()]
        return [self._value(file, *x) for file, *given in read for x in leaves(*given)]

    def _value(self, file: str, key: str, value: Any) -> Entity:
        kind = TYPES.get(type(value), "Text")
        formal = self._add(f"#parameter-{key}", "FormalParameter", name=key, additionalType=kind)
        text = "" if value is None else str(value)
        own = self._add(
            f"#{key}={text}", "PropertyValue", name=key, value=text or "none", exampleOfWork=formal,
            description=f"{key} in {file}",
        )  # fmt: skip
        if own not in formal.get("workExample", []):
            formal.append_to("workExample", own)
        return own

    def _action(self, name: str, tools: dict[str, Entity], agent: Entity) -> Entity:
        stage = self.stages[name]
        machine = self.said.machines.get(name)
        return self._add(
            f"#run-{name}", "CreateAction", name=name, agent=agent, actionStatus=DONE,
            description=stage["cmd"] + (f" (on {machine})" if machine else ""),
            instrument=tools[name.partition("@")[0]],
            object=[*map(self._content, stage.get("deps", ())), *self._values(stage)],
            result=[*map(self._content, stage.get("outs", ()))],
        )  # fmt: skip

    def _run(self, main: Entity, agent: Entity) -> Entity:
        """The run of the whole pipeline: in, what no stage wrote; out, what stages wrote."""
        deps = [x for stage in self.stages.values() for x in stage.get("deps", ())]
        given = [x for x in deps if not self._written(x["path"])]
        values = [x for stage in self.stages.values() for x in self._values(stage)]
        main["input"] = [x for x in self.crate.get_entities() if x.type == "FormalParameter"]
        return self._add(
            "#run", "CreateAction", name=f"Run of {self.said.name}", instrument=main, agent=agent,
            actionStatus=DONE, object=_once([*map(self._content, given), *values]),
            result=_once(map(self._content, self.outs.values())),
            description="dvc repro: the last run of each stage, as the lock files record it",
        )  # fmt: skip


def _meet(one: str, other: str) -> bool:
    """Whether two paths are the same, or one lies in the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _md5(path: Path) -> str | None:
    return hashlib.md5(path.read_bytes()).hexdigest() if path.is_file() else None


def _once(entities: Iterable[Entity]) -> list[Entity]:
    return list({x.id: x for x in entities}.values())
