"""A Workflow Run RO-Crate of the pipelines: what their locks say was run, on what, with what.

The crate claims the profile Provenance Run Crate 0.6 (https://w3id.org/ro/wfrun). Contents are
named by where the remote has them in the repository, so a clone is the whole crate. Equal contents
at several paths are one entity, with the name of the first. DVC records no times, and the crate has
none.
"""

import json
import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops import contents, shipped
from ops.shipped import Outs

VERSION = "1.3"  # of RO-Crate, on which these profiles rest; each extends those before it
PROFILES = {
    "Process Run Crate": "https://w3id.org/ro/wfrun/process/0.6",
    "Workflow RO-Crate": "https://w3id.org/workflowhub/workflow-ro-crate/1.1",
    "Workflow Run Crate": "https://w3id.org/ro/wfrun/workflow/0.6",
    "Provenance Run Crate": "https://w3id.org/ro/wfrun/provenance/0.6",
}
CONTEXTS = [
    f"https://w3id.org/ro/crate/{VERSION}/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
DONE = {"@id": "http://schema.org/CompletedActionStatus"}
TYPES = {bool: "Boolean", int: "Integer", float: "Float"}  # of others: Text
Entity = dict[str, Any]
Ref = dict[str, str]  # an entity's @id


@dataclass(frozen=True)
class Described:
    """What locks do not say. Entities are JSON-LD objects with an @id and an @type."""

    name: str
    description: str
    license: str  # the address of its text, such as https://spdx.org/licenses/MIT
    date: str  # of publication: 2026-01-31
    version: str
    agent: Entity  # who ran the pipelines
    citation: Entity  # the paper; its authors are entities in it
    engine: str  # the version of DVC
    software: Mapping[str, str]  # versions of packages
    machines: Mapping[str, str]  # what a stage ran on, by its name


def written(stages: Mapping[str, Any], said: Described) -> str:
    """The crate's metadata for the stages of the locks in the current folder."""
    return json.dumps(_Crate(stages, said).metadata(), indent=1, sort_keys=True) + "\n"


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
    """A crate as it is put together: entities by their @id."""

    def __init__(self, stages: Mapping[str, Any], said: Described):
        self.stages, self.said, self.outs = stages, said, Outs(stages)
        self.graph: dict[str, Entity] = {}
        self.disk = contents.Disk()

    def metadata(self) -> Entity:
        """The JSON-LD document."""
        said, agent = self.said, self._nested(self.said.agent)
        tools = {x: self._tool(x) for x in dict.fromkeys(x.partition("@")[0] for x in self.stages)}
        main = self._workflow(tools)
        actions = [self._action(name, tools, agent) for name in self.stages]
        run = self._run(main, agent)
        profiles = [
            self._add(x, ["CreativeWork", "Profile"], name=name, version=x.rpartition("/")[2])
            for name, x in PROFILES.items()
        ]
        crate = f"https://w3id.org/ro/crate/{VERSION}"
        files = [x for x, e in self.graph.items() if {"File", "Dataset"} & {*_list(e["@type"])}]
        self._add(
            "ro-crate-metadata.json", "CreativeWork", conformsTo={"@id": crate}, about={"@id": "./"}
        )
        self._add(
            "./", "Dataset", name=said.name, description=said.description, datePublished=said.date,
            version=said.version, author=agent, conformsTo=profiles, mainEntity=main,
            license=self._add(said.license, "CreativeWork", name=said.license.rpartition("/")[2]),
            citation=self._nested(said.citation), mentions=[run, *actions],
            hasPart=[{"@id": x} for x in files],
        )  # fmt: skip
        return {"@context": CONTEXTS, "@graph": [*self.graph.values()]}

    def _add(self, id_: str, type_: str | list[str], **properties: Any) -> Ref:
        """An entity; the one that is there where it was added before."""
        self.graph.setdefault(id_, {"@id": id_, "@type": type_, **properties})
        return {"@id": id_}

    def _nested(self, given: Any) -> Any:
        """An entity for each object that is described, also for those inside it."""
        if not isinstance(given, Mapping):
            return [self._nested(x) for x in given] if isinstance(given, list) else given
        rest = {key: self._nested(value) for key, value in given.items() if key[0] != "@"}
        return self._add(given["@id"], given["@type"], **rest)

    def _software(self, id_: str, name: str, version: str, url: str) -> Ref:
        of = {"version": version, "softwareVersion": version, "url": url}
        return self._add(id_, "SoftwareApplication", name=name, **of)

    def _tool(self, name: str) -> Ref:
        """The command of a stage, which may be run for several things."""
        return self._software(f"#tool-{name}", name, self.said.version, _pipeline(name))

    def _workflow(self, tools: Mapping[str, Ref]) -> Ref:
        """dvc.yaml as the workflow, with the other pipeline files, stages and packages."""
        said, kinds = self.said, ["File", "SoftwareSourceCode"]
        language = self._add(
            "https://dvc.org", "ComputerLanguage", name="DVC pipeline", url="https://dvc.org",
            identifier="https://dvc.org", version=said.engine,
        )  # fmt: skip
        needed = [
            self._software(f"pkg:pypi/{x}@{version}", x, version, f"pkg:pypi/{x}@{version}")
            for x, version in said.software.items()
        ]
        steps = [
            self._add(f"#step-{x}", "HowToStep", name=x, position=str(i), workExample=tool)
            for i, (x, tool) in enumerate(tools.items())
        ]
        first, *others = dict.fromkeys(map(_pipeline, tools))
        for path in others:
            self._file(path, kinds, name=path)
        return self._file(
            first, [*kinds, "ComputationalWorkflow", "HowTo"], name=said.name, version=said.version,
            programmingLanguage=language, hasPart=[*tools.values()], step=steps,
            softwareRequirements=needed,
        )  # fmt: skip

    def _file(self, path: str, type_: str | list[str] = "File", **properties: Any) -> Ref:
        kind = mimetypes.guess_type(properties.get("alternateName", path))[0]
        given = {"encodingFormat": kind or "application/octet-stream", **properties}
        return self._add(path, type_, **given)

    def _content(self, item: Mapping[str, Any]) -> Ref:
        """A file or folder that a lock names, by its path and its md5."""
        path, md5 = item["path"], item["md5"]
        stored, has = shipped.at(md5), {"name": path, "alternateName": path, "md5": md5}
        if md5.endswith(contents.DIR):
            return self._folder(path, stored, has)
        if "size" in item:
            has["contentSize"] = str(item["size"])
        if stored.is_file():
            return self._file(stored.as_posix(), **has)
        if not self.outs.at(path) and self.disk.md5(path) == md5:
            return self._file(path, **has)
        return self._add(f"#{path}-{md5}", "CreativeWork", **has)  # its bytes are kept nowhere

    def _folder(self, path: str, stored: Path, has: Mapping[str, str]) -> Ref:
        """A folder as the collection of its files; one that git tracks as it lies there."""
        if stored.is_file():
            listed = json.loads(stored.read_bytes())
            inside = [{"path": f"{path}/{x['relpath']}", "md5": x["md5"]} for x in listed]
        else:
            inside = [{"path": x.path, "md5": x.md5} for x in self.outs.within.get(path, ())]
        if not inside:
            return self._add(f"{path}/", "Dataset", **has)
        parts = _once(self._content(x) for x in inside)
        return self._add(f"#{path}-{has['md5']}", "Collection", hasPart=parts, **has)

    def _values(self, stage: Mapping[str, Any]) -> list[Ref]:
        """The parameters that a stage read, each one value of a formal parameter."""
        read = [(file, *x) for file, keys in stage.get("params", {}).items() for x in keys.items()]
        return [self._value(file, *x) for file, *given in read for x in leaves(*given)]

    def _value(self, file: str, key: str, value: Any) -> Ref:
        kind = TYPES.get(type(value), "Text")
        formal = self._add(
            f"#parameter-{key}", "FormalParameter", name=key, additionalType=kind, workExample=[]
        )
        text = "" if value is None else str(value)
        own = self._add(
            f"#{key}={text}", "PropertyValue", name=key, value=text or "none", exampleOfWork=formal,
            description=f"{key} in {Path(file).name}",
        )  # fmt: skip
        examples = self.graph[formal["@id"]]["workExample"]
        examples += [own] if own not in examples else []
        return own

    def _action(self, name: str, tools: Mapping[str, Ref], agent: Ref) -> Ref:
        stage, machine = self.stages[name], self.said.machines.get(name)
        return self._add(
            f"#run-{name}", "CreateAction", name=name, agent=agent, actionStatus=DONE,
            description=stage["cmd"] + (f" (on {machine})" if machine else ""),
            instrument=tools[name.partition("@")[0]],
            object=_once([*map(self._content, stage.get("deps", ())), *self._values(stage)]),
            result=_once(map(self._content, stage.get("outs", ()))),
        )  # fmt: skip

    def _run(self, main: Ref, agent: Ref) -> Ref:
        """The run of the pipelines: in, what no stage wrote; out, what stages wrote."""
        stages = self.stages.values()
        given = [x for s in stages for x in s.get("deps", ()) if not self.outs.at(x["path"])]
        values = [x for stage in stages for x in self._values(stage)]
        formal = [x for x, e in self.graph.items() if e["@type"] == "FormalParameter"]
        self.graph[main["@id"]]["input"] = [{"@id": x} for x in formal]
        return self._add(
            "#run", "CreateAction", name=f"Run of {self.said.name}", instrument=main, agent=agent,
            actionStatus=DONE, object=_once([*map(self._content, given), *values]),
            result=_once(self._content(x) for s in stages for x in s.get("outs", ())),
            description="dvc repro: the last run of each stage, as the locks record it",
        )  # fmt: skip


def _pipeline(name: str) -> str:
    """The pipeline file of a stage."""
    return name.rpartition(":")[0] or "dvc.yaml"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _once(found: Iterable[Ref]) -> list[Ref]:
    return [*{x["@id"]: x for x in found}.values()]
