"""A Process Run Crate of the pipelines: what their locks say was run, on what, with what.

That is an RO-Crate of the profile https://w3id.org/ro/wfrun/process. Contents are named by where
the remote has them in the repository, so a clone is the whole crate. Equal contents at several
paths are one entity, with the name of the first. DVC records no times, and the crate has none.
"""

import json
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ops import provenance, shipped
from ops.shipped import Outs

VERSION = "https://w3id.org/ro/crate/1.3"
PROFILE = "https://w3id.org/ro/wfrun/process/0.6"
CONTEXTS = [f"{VERSION}/context", "https://w3id.org/ro/terms/workflow-run/context"]
DONE = {"@id": "http://schema.org/CompletedActionStatus"}
Entity = dict[str, Any]
Ref = dict[str, str]  # an entity's @id


def written(stages: Mapping[str, Any], root: Entity, machines: Mapping[str, str]) -> str:
    """The crate's metadata for the stages of the locks in the current folder. ``root`` is what is
    said of all of it, a JSON-LD object with others in it, each with an @id and an @type; its author
    ran the stages. ``machines`` are what stages ran on, by their names."""
    return json.dumps(_Crate(stages, root, machines).metadata(), indent=1, sort_keys=True) + "\n"


class _Crate:
    """A crate as it is put together: entities by their @id."""

    def __init__(self, stages: Mapping[str, Any], root: Entity, machines: Mapping[str, str]):
        self.stages, self.root, self.machines, self.outs = stages, root, machines, Outs(stages)
        self.graph: dict[str, Entity] = {}

    def metadata(self) -> Entity:
        """The JSON-LD document."""
        agent = self._nested(self.root["author"])
        actions = [self._action(name, agent) for name in self.stages]
        kinds = {x: e["@type"] for x, e in self.graph.items()}
        files = [{"@id": x} for x, kind in kinds.items() if "File" in kind or "Dataset" in kind]
        profile = self._add(PROFILE, ["CreativeWork", "Profile"], name="Process Run Crate")
        whole = self._nested(self.root)
        self.graph["./"] |= {"conformsTo": profile, "mentions": actions, "hasPart": files}
        made = {"conformsTo": {"@id": VERSION}, "about": whole}
        self._add("ro-crate-metadata.json", "CreativeWork", **made)
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

    def _tool(self, name: str) -> Ref:
        """The command of a stage, which may be run for several things, and its pipeline file."""
        path, version = name.rpartition(":")[0] or "dvc.yaml", self.root["version"]
        self._file(path, ["File", "SoftwareSourceCode"], name=path)
        of = {"version": version, "softwareVersion": version, "url": path}
        return self._add(f"#tool-{name}", "SoftwareApplication", name=name, **of)

    def _file(self, path: str, type_: str | list[str] = "File", **properties: Any) -> Ref:
        kind = mimetypes.guess_type(properties.get("alternateName", path))[0]
        given = {"encodingFormat": kind or "application/octet-stream", **properties}
        return self._add(path, type_, **given)

    def _content(self, item: Mapping[str, Any]) -> Ref:
        """A file or folder that a lock names, by its path and its md5."""
        path, md5 = item["path"], item["md5"]
        stored, has = shipped.at(md5), {"name": path, "alternateName": path, "md5": md5}
        if md5.endswith(shipped.DIR):
            return self._folder(path, stored, has)
        if "size" in item:
            has["contentSize"] = str(item["size"])
        if stored.is_file():
            return self._file(stored.as_posix(), **has)
        if not self.outs.at(path) and shipped.on_disk(path) == md5:
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
        """The parameters that a stage read, one by one."""
        return [
            self._add(f"#{name}={value}", "PropertyValue", name=name, value=value or "none")
            for keys in stage.get("params", {}).values()
            for key, found in keys.items()
            for name, value in provenance.leaves(key, found)
        ]

    def _action(self, name: str, agent: Ref) -> Ref:
        stage, machine = self.stages[name], self.machines.get(name)
        return self._add(
            f"#run-{name}", "CreateAction", name=name, agent=agent, actionStatus=DONE,
            description=stage["cmd"] + (f" (on {machine})" if machine else ""),
            instrument=self._tool(name.partition("@")[0]),
            object=_once([*map(self._content, stage.get("deps", ())), *self._values(stage)]),
            result=_once(map(self._content, stage.get("outs", ()))),
        )  # fmt: skip


def _once(found: Iterable[Ref]) -> list[Ref]:
    return [*{x["@id"]: x for x in found}.values()]
