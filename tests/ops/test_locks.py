"""The lock files: whole, as pyproject.toml asks, and kept to by what installs from them."""

import base64
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import numpy
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ops import packages
from strata.inputs import InputError

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "ops" / "scripts" / "install.py"
LOCKS = {path.stem.removeprefix("requirements"): path for path in ROOT.glob("requirements*.lock")}
PIN = re.compile(r"([a-z0-9-]+)==(\S+?)(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")

# What ops/scripts/install.py does in an environment without uv.
WITHOUT_UV = f"""
import sys
sys.path.insert(0, {str(INSTALL.parent)!r})
import install
install.UV = install.Path("none")
install.main()
"""


def pins(name: str) -> dict[str, str]:
    """The version of each package of a lock."""
    return {package: version for package, version, _ in PIN.findall(LOCKS[name].read_text())}


def test_every_line_of_a_lock_is_a_version_with_hashes():
    assert set(LOCKS) == {"", "-cpu", "-remotes", "-torch", "-uv"}
    for path in LOCKS.values():
        text = path.read_text()
        assert PIN.search(text)
        head = PIN.sub("", text).splitlines()
        assert "ops/scripts/lock" in " ".join(head)
        assert all(line.startswith("# ") for line in head)


def test_a_package_is_in_one_lock_of_an_environment():
    names = [name for lock in LOCKS for name in pins(lock)]
    assert sorted(names) == sorted([*{*names}, "torch"])  # torch for the CPU, and for CUDA


def test_the_locks_have_what_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = dict(project["optional-dependencies"])
    for name in ("lens", "ssh", "webdav"):  # who uses these has them in a version of their own
        assert extras.pop(name)
    locked = pins("-uv") | pins("-torch") | pins("") | pins("-remotes")
    for text in chain(project["dependencies"], *extras.values()):
        wanted = Requirement(text)
        if wanted.name != project["name"]:
            assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), text
    for text in [*project["dependencies"], *extras["pipeline"], *extras["dev"]]:
        assert canonicalize_name(Requirement(text).name) in {*pins(""), "torch", project["name"]}
    assert pins("-cpu") == {"torch": f"{locked['torch']}+cpu"}


def test_a_package_of_another_version_is_named_before_anything_runs(tmp_path, monkeypatch):
    for name in ("pyproject.toml", *packages.LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    packages.refuse()
    lock = tmp_path / "requirements.lock"
    other = lock.read_text().replace(f"\nnumpy=={numpy.__version__} ", "\nnumpy==1.0 ")
    lock.write_text(re.sub(r"(?m)^ruff==\S+", "ruff==1.0", other))  # decides no result
    with pytest.raises(InputError, match=rf"^numpy is {numpy.__version__}, not 1\.0, as the locks"):
        packages.refuse()


def wheel(folder: Path) -> str:
    """The hash of a wheel with one module, written to that folder."""
    path, info = folder / "tiny_strata-1.0-py3-none-any.whl", "tiny_strata-1.0.dist-info"
    files = {
        "tiny_strata.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-strata\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{info}/RECORD,,"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            record.append(f"{name},sha256={digest.decode().rstrip('=')},{len(text)}")
        archive.writestr(f"{info}/RECORD", "\n".join(record))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(params=["uv", "pip"])
def install(request, tmp_path) -> list:
    """The command that installs what a lock there names, with uv or without it."""
    if request.param == "uv" and not Path(sys.executable).with_name("uv").exists():
        pytest.skip("uv is not in this environment")
    start = [INSTALL] if request.param == "uv" else ["-c", WITHOUT_UV]
    words = ["--target", tmp_path / "target", "--requirement", tmp_path / "lock"]
    return [sys.executable, *start, "--no-deps", "--require-hashes", *words]


def test_a_file_whose_hash_is_not_in_the_lock_is_refused(tmp_path, install):
    """Where pip is set to look, no index and one folder, uv looks too."""
    digest, lock, target = wheel(tmp_path), tmp_path / "lock", tmp_path / "target"
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    environment |= {"UV_CACHE_DIR": str(tmp_path / "cache")}
    for given, code in (("0" * 64, 1), (digest, 0)):
        lock.write_text(f"tiny-strata==1.0 --hash=sha256:{given}\n")
        done = subprocess.run(install, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert (target / "tiny_strata.py").exists() == (code == 0)
        assert ("0" * 64 in done.stderr and digest in done.stderr) == (code == 1)


def test_nothing_but_where_to_look_is_taken_from_what_the_user_has_set(tmp_path, install):
    lock, other, target = tmp_path / "lock", tmp_path / "constraints", tmp_path / "target"
    lock.write_text(f"tiny-strata==1.0 --hash=sha256:{wheel(tmp_path)}\n")
    other.write_text("tiny-strata==2.0\n")
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/pip.conf").write_text(
        f"[global]\nno-index = true\nuser = true\n[install]\nfind-links = {tmp_path}\n"
    )
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text('required-version = "0.1"\nexclude-newer = "2020-01-01"\n')
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path), "PIP_DRY_RUN": "1"}
    environment |= {"PIP_CONSTRAINT": str(other), "UV_CONSTRAINT": str(other)}
    environment |= {"UV_OVERRIDE": str(other), "UV_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(install, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (target / "tiny_strata.py").exists()


def test_uv_is_set_as_pip_is():
    listed = """\
:env:.find-links='/environment'
global.cert='/certificates'
global.extra-index-url='\\nhttps://one.example/simple\\nhttps://two.example/simple'
global.find-links='/one /two'
global.index-url='https://global.example/simple'
global.timeout='9'
install.index-url='https://mirror.example/simple'
"""
    install = runpy.run_path(str(INSTALL))
    assert install["for_uv"](install["settings"](listed)) == {
        "SSL_CERT_FILE": "/certificates",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_FIND_LINKS": "/environment",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/no/python"], "/no/python does not run: make PYTHON=/path/to/python3.11 …\n"),
        ([sys.executable, "gpu"], "TORCH = gpu: must be cpu or cuda: make TORCH=cuda …\n"),
    ],
)
def test_what_no_environment_can_be_built_with_is_named_in_one_line(tmp_path, words, said):
    command = [ROOT / "ops" / "scripts" / "environment", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert not list(tmp_path.iterdir())


def fits(folder: Path) -> bool:
    return not subprocess.run(["sh", ROOT / "ops" / "scripts" / "fits"], cwd=folder).returncode


def test_an_environment_whose_python_is_gone_or_another_or_that_was_moved_is_built_again(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", here / ".venv"], check=True)
    assert fits(here)
    here.rename(there)
    assert not fits(there)
    there.rename(here)
    config, python = here / ".venv" / "pyvenv.cfg", here / ".venv" / "bin" / "python"
    whole = config.read_text()
    config.write_text(re.sub(r"(?m)^version = .*", "version = 3.11.0rc1", whole))
    assert not fits(here)
    config.write_text(whole)
    python.unlink()
    python.symlink_to(tmp_path / "gone")
    assert not fits(here)
