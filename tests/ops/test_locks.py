"""The lock files: whole, as pyproject.toml asks, and kept to by what installs from them."""

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
SCRIPTS = ROOT / "ops" / "scripts"
LOCKS = {path.stem.removeprefix("requirements"): path for path in ROOT.glob("requirements*.lock")}
PIN = re.compile(r"([a-z0-9-]+)==(\S+?)(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


def pins(name: str) -> dict[str, str]:
    """Return the version of each package of a lock."""
    return {package: version for package, version, _ in PIN.findall(LOCKS[name].read_text())}


def test_a_lock_has_versions_with_hashes_and_no_package_that_another_has():
    for path in LOCKS.values():
        comments = PIN.sub("", path.read_text()).splitlines()
        assert "ops/scripts/lock" in " ".join(comments)
        assert all(line.startswith("# ") for line in comments)
    names = [name for lock in LOCKS for name in pins(lock)]
    assert sorted(names) == sorted([*{*names}, "torch"])  # torch for the CPU, and for CUDA


def test_the_locks_have_what_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = dict(project["optional-dependencies"])
    for name in ("lens", "ssh", "webdav"):  # who uses these has them in a version of their own
        assert extras.pop(name)
    locked = pins("-uv") | pins("-torch") | pins("") | pins("-remotes")
    for text in chain(project["dependencies"], *extras.values()):
        requirement = Requirement(text)
        if requirement.name != project["name"]:
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), text
    for text in [*project["dependencies"], *extras["pipeline"], *extras["dev"]]:
        assert canonicalize_name(Requirement(text).name) in {*pins(""), "torch", project["name"]}
    assert pins("-cpu") == {"torch": f"{locked['torch']}+cpu"}


def test_a_package_of_another_version_is_named_before_anything_runs(tmp_path, monkeypatch):
    for name in ("pyproject.toml", *packages.LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(packages, "TOP", tmp_path)
    packages.refuse()
    lock = tmp_path / "requirements.lock"
    other = lock.read_text().replace(f"\nnumpy=={numpy.__version__} ", "\nnumpy==1.0 ")
    lock.write_text(re.sub(r"(?m)^ruff==\S+", "ruff==1.0", other))  # decides no result
    with pytest.raises(InputError, match=rf"^numpy is {numpy.__version__}, not 1\.0, as the locks"):
        packages.refuse()


def wheel(folder: Path) -> str:
    """Write a wheel with one module to that folder, and return its hash."""
    path, info = folder / "tiny_strata-1.0-py3-none-any.whl", "tiny_strata-1.0.dist-info"
    files = {
        "tiny_strata.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-strata\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_is_installed_is_in_the_folder_that_pip_is_set_to_and_its_hash_in_the_lock(tmp_path):
    # Other settings of pip and uv must not decide it.
    digest, lock = wheel(tmp_path), tmp_path / "lock"
    pip, uv = tmp_path / "pip" / "pip.conf", tmp_path / "uv" / "uv.toml"
    for path in (pip, uv):
        path.parent.mkdir()
    pip.write_text(f"[global]\nno-index = true\nuser = true\n[install]\nfind-links = {tmp_path}\n")
    uv.write_text('required-version = "0.1"\nexclude-newer = "2020-01-01"\n')
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
    # Nobody can make the folder of the cache, as where a container has no home for its user.
    environment |= {"XDG_CONFIG_HOME": str(tmp_path), "UV_CACHE_DIR": "/proc/cache"}
    environment |= {"UV_SYSTEM_PYTHON": "1", "UV_REQUIRE_HASHES": "1"}
    words = ["--no-deps", "--require-hashes", "--target", tmp_path / "target", "-r", lock]
    for locked_digest, code in (("0" * 64, 1), (digest, 0)):
        lock.write_text(f"tiny-strata==1.0 --hash=sha256:{locked_digest}\n")
        process = subprocess.run(
            [sys.executable, SCRIPTS / "install.py", *words], cwd=ROOT, env=environment,
            capture_output=True, text=True,
        )  # fmt: skip
        assert process.returncode == code, process.stderr
        assert (tmp_path / "target" / "tiny_strata.py").exists() == (code == 0)
        assert (digest in process.stderr) == (code == 1)


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
    install = runpy.run_path(str(SCRIPTS / "install.py"))
    assert install["uv_variables"](install["pip_settings"](listed)) == {
        "SSL_CERT_FILE": "/certificates",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_FIND_LINKS": "/environment",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
    }


PLATFORMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"]


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_locks_have_a_wheel_of_every_package_for_every_system(platform, version, tmp_path):
    # One pure Python package has no wheel, and is built.
    words = ["--dry-run", "--no-deps", "--require-hashes", "--python-platform", platform]
    words += ["--only-binary", ":all:", "--no-binary", "antlr4-python3-runtime"]
    words += ["--python-version", version, "--target", str(tmp_path)]
    words += ["-r", "requirements.lock", "-r", "requirements-torch.lock"]
    process = subprocess.run(
        [sys.executable, SCRIPTS / "install.py", *words], cwd=ROOT, capture_output=True,
        text=True, env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"},
    )  # fmt: skip
    errors = process.stderr
    if "error sending request" in errors or "was not found in the package" in errors:
        pytest.skip("the index does not answer, or has not all of it")
    assert process.returncode == 0, errors


@pytest.mark.parametrize(
    ("system", "start"),
    [
        (((3, 14), "Linux", "aarch64", "glibc", ""), ""),
        (((3, 11), "Darwin", "arm64", "", "14.5"), ""),
        (((3, 11), "Darwin", "arm64", "", "13.6"), "Darwin arm64 13.6: "),
        (((3, 11), "Darwin", "x86_64", "", "14.5"), "Darwin x86_64 14.5: "),
        (((3, 11), "Linux", "x86_64", "", ""), "Linux x86_64: "),  # musl
        (((3, 11), "Windows", "AMD64", "", ""), "Windows AMD64: "),
        (((3, 10), "Linux", "x86_64", "glibc", ""), "Python 3.11 to 3.14 is needed, this is 3.10"),
        (((3, 15), "Linux", "x86_64", "glibc", ""), "Python 3.11 to 3.14 is needed, this is 3.15"),
    ],
)
def test_a_system_without_packages_is_named_in_one_line(system, start):
    fault = runpy.run_path(str(ROOT / "ops/scripts/supported.py"))["fault"](*system)
    assert fault.startswith(start) and bool(fault) == bool(start) and "\n" not in fault


@pytest.mark.parametrize("part", ["_lzma", "_sqlite3", "_ctypes", "ensurepip"])
def test_a_python_without_a_part_is_refused_in_one_line_that_names_the_part(part, tmp_path):
    # A finder that is asked first stands for a Python that was built without the headers.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfrom importlib.machinery import PathFinder\nfind = PathFinder.find_spec\n"
        f"PathFinder.find_spec = lambda name, *x: None if name == {part!r} else find(name, *x)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.run(
        ["bash", SCRIPTS / "environment", sys.executable, ""], cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 1 and f" lacks {part}: " in process.stderr
    assert len(process.stderr.splitlines()) == 1 and not (tmp_path / ".venv").exists()


@pytest.mark.slow
def test_a_proxy_that_pip_cannot_use_is_named_with_what_to_set(tmp_path):
    shutil.copy(ROOT / "requirements-uv.lock", tmp_path)
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    environment["ALL_PROXY"] = "socks5h://127.0.0.1:1"
    process = subprocess.run(
        ["bash", SCRIPTS / "environment", sys.executable, ""], cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 1 and not (tmp_path / ".venv/.ready").exists()
    assert "make PIP_PROXY=http://HOST:PORT" in process.stderr.splitlines()[-1]


def fits(folder: Path) -> bool:
    return not subprocess.run(["sh", SCRIPTS / "fits"], cwd=folder).returncode


def test_an_environment_that_was_moved_or_whose_python_is_gone_or_another_is_built_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", first / ".venv"], check=True)
    assert fits(first)
    first.rename(second)
    assert not fits(second)
    second.rename(first)
    config, python = first / ".venv" / "pyvenv.cfg", first / ".venv" / "bin" / "python"
    text = config.read_text()
    config.write_text(re.sub(r"(?m)^version = .*", "version = 3.11.0rc1", text))
    assert not fits(first)
    config.write_text(text)
    python.unlink()
    python.symlink_to(tmp_path / "gone")
    assert not fits(first)
