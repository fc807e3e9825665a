"""Keys for code: what a stage does changes its key, how it is written does not."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import called, copied

from ops import code, files
from ops.code import Code
from strata.run import read_yaml
from strata.store import read_json


@pytest.fixture
def package(tmp_path, monkeypatch) -> Callable[..., Path]:
    """Return a function that writes a package and a script beside it, and returns its path."""
    monkeypatch.setattr(code, "TOP", tmp_path)

    def write(script: str, **modules: str) -> Path:
        for name, text in {"__init__": "", **modules}.items():
            path = tmp_path / "src" / "strata" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        path = tmp_path / "script.py"
        path.write_text(script)
        return path

    return write


def names(script: Path) -> set[str]:
    """Return the definitions in the script's key, except its own."""
    lines = {line.split("  ")[1].strip() for line in Code().hashes(script)}
    return {x.removeprefix("strata.") for x in lines if x.startswith("strata.")}


ONE = """
import math
from strata.two import limit as bound
SCALE = 3
OTHER = 4
def f(x, by=SCALE): return math.exp(x) + by
def g(x): return f(x)
def h(x) -> "Box": return bound(x)
class Box:
    size = OTHER
def unused(): return 1
"""
TWO = "def limit(x): return x\ndef unused(): return 2\n"
F, G, H = {"one.f", "one.SCALE"}, {"one.g"}, {"one.h", "two.limit", "one.Box", "one.OTHER"}


@pytest.mark.parametrize(
    ("script", "reached"),
    [
        ("from strata.one import f\nf(1)", F),
        ("from strata.one import g as other\nother(1)", F | G),
        ("from strata import one\none.h(1)", H),
        ("import strata.one\nstrata.one.f(1)", F),
        ("def main():\n    from strata.one import f\n    f(1)", F),
        ("from strata import one", set()),
        ("from strata.one import bound\nbound(1)", {"two.limit"}),  # through another module
        ("from strata import one\nprint(one.bound.name)", {"two.limit"}),
        ("from strata.one import f as deco\n@deco\ndef main(): pass", F),
        ("from strata.one import SCALE\ndef main(x=SCALE): pass", {"one.SCALE"}),
        ("from strata.one import Box\ndef main(x: 'Box | None'): pass", {"one.Box", "one.OTHER"}),
        ("from strata import one\nmain(one)", F | G | H | {"one.unused"}),
        ("from strata import one\none.no_such", F | G | H | {"one.unused"}),
    ],
)
def test_a_script_reaches_the_definitions_that_it_uses_by_any_import(script, reached, package):
    assert names(package(script, one=ONE, two=TWO)) == reached


def test_imports_inside_a_package_are_followed(package):
    inner = "from . import b\nfrom .b import y\nfrom ..top import z\nx = b.y() + z() + y\n"
    script = package(
        "from strata.wing import a\na.x",
        wing__in____init__="", wing__in__a=inner, wing__in__b="def y(): return 1\n",
        top="def z(): return 2\ndef w(): return 3\n",
    )  # fmt: skip
    assert names(script) == {"wing.a.x", "wing.b.y", "top.z"}


def test_what_runs_on_import_counts_and_what_it_uses(package):
    script = package(
        "from strata.one import f\nf()",
        one="from strata.two import register\ndef f(): pass\n@register\ndef g(): return f()\n",
        two="if 1 > 2:\n    start()\ndef start(): pass\ndef register(x): return x\n",
    )
    reached = {x.replace("strata.", "") for x in map(str, Code().reach(script))}
    assert {"one.f", "one.register", "two.start", "two.register"} - reached == {"one.register"}
    before = Code().hashes(script)
    path = script.parent / "src" / "strata" / "one.py"
    path.write_text(path.read_text().replace("return f()", "return f"))
    assert Code().hashes(script) != before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): return 1", "def f(): return 2"),
        ("def f(): return 0.0", "def f(): return -0.0"),
        ("def f(): return True", "def f(): return 1"),
        ("from math import sin as s\nf = s", "from math import cos as s\nf = s"),
        ("from strata.two import a, b\ndef f(): return a(b())",
         "from strata.two import a as b, b as a\ndef f(): return a(b())"),
        ("def f(x: int): return x", "def f(x: float): return x"),
        ("def f(x, *, y=None): return y", "def f(x, *, y): return y"),
        ("def f(): return f'{1:.3f}'", "def f(): return f'{1:.4f}'"),
        ("x = 1\nx += 1\ndef f(): return x", "x = 1\nx += 2\ndef f(): return x"),
        ("x = {}\nx['a'] = 1\ndef f(): return x", "x = {}\nx['a'] = 2\ndef f(): return x"),
    ],
)  # fmt: skip
def test_what_does_something_else_has_another_key(before, after, package):
    two = "def a(x=0): return x\ndef b(x=0): return x\n"
    script = package("from strata.one import f\nf()", one=before, two=two)
    first = Code().hashes(script)
    package(script.read_text(), one=after, two=two)
    assert Code().hashes(script) != first


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): return 1", "def f():\n    # why\n    '''What.'''\n    return (\n  1)"),
        ("def f(): return 'ab'", "def f(): return ('a'\n    'b')"),
        ("class f:\n    x = 1", "class f:\n    'What.'\n    x = 1  # one"),
        ("import math\nf = math", "'''Doc.'''\nimport os\nimport math\nf = math"),
        ("def f(): return 1", "def g(): return 2\ndef f(): return 1"),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_has_the_same_key(before, after, package):
    script = package("from strata.one import f\nf()", one=before)
    first = Code().hashes(script)
    package(script.read_text(), one=after)
    assert Code().hashes(script) == first


PROFILER = """
import json, os, re, runpy, sys
called, out, words, top = set(), sys.argv[1], sys.argv[2:], os.getcwd() + "/"
MODULE = re.escape(top) + r"(?:src/)?((?:strata|(?:studies/[^/]+|report)/code|ops)/.+)[.]py"
FUNCTION = 1  # the flag of code that is no module and no body of a class
def importing(frame):
    while frame := frame.f_back:
        if frame.f_code.co_name == "<module>" and re.fullmatch(MODULE, frame.f_code.co_filename):
            return True
def seen(frame, event, _):
    match = re.fullmatch(MODULE, frame.f_code.co_filename)
    if event == "call" and match and frame.f_code.co_flags & FUNCTION and not importing(frame):
        name = frame.f_code.co_qualname.split(".")[0]
        called.add(match[1].replace("/__init__", "").replace("/", ".") + "." + name)
sys.argv = words
sys.setprofile(seen)
runpy.run_path(words[0], run_name="__main__")
sys.setprofile(None)
json.dump(sorted(x for x in called if "<" not in x), open(out, "w"))
"""


@pytest.mark.slow
def test_every_function_that_a_stage_calls_is_in_its_key(made_project, tmp_path):
    # The oracle is a profiler, which sees what a run calls; calls during imports do not count.
    project = copied(made_project, tmp_path)
    count = 0
    for name, stage in files.locked_stages(project.folder).items():
        _, words = called(stage["cmd"])
        script = re.sub(r"stages/(\w+)\.py", r"\1", words[0])
        if script in {"figure", "code"}:
            continue
        out = tmp_path / f"{count}.json"
        project.do(sys.executable, "-c", PROFILER, str(out), *words)
        listed = (project.folder / "data" / "code" / f"{script}.txt").read_text()
        keys = {line.split("  ")[1] for line in listed.splitlines()}
        # Public names are resolved at their first use, by what the name stands for.
        assert {*read_json(out)} - {"strata.__getattr__"} <= keys, name
        count += 1
    assert count > 5


@pytest.mark.parametrize("project", ["studies", "report"])
def test_what_a_project_beside_calls_of_ops_makes_its_keys_anew(project):
    code_keys, deps = Code(), read_yaml(f"{project}/dvc.yaml")["stages"]["code"]["deps"]
    for script in Path(project).glob("stages/*.py"):
        reached = {line.split("  ")[1] for line in code_keys.hashes(script)}
        modules = {re.split(r"[.:]", x)[1] for x in reached if x.startswith("ops.")}
        assert {f"../ops/{x}.py" for x in modules} <= {*deps}, script


def test_a_name_that_is_imported_at_its_first_use_is_what_the_stub_says(package):
    script = package("import strata\nstrata.f(1)\n", one=ONE, two=TWO)
    stub = script.parent / "src" / "strata" / "__init__.pyi"
    stub.write_text("from strata.one import f as f\n")
    assert names(script) == F
    script.write_text("from strata import f\nf(1)\n")
    assert names(script) == F
    script.write_text("from strata.two import limit\nlimit(1)\n")
    assert names(script) == {"two.limit"}
