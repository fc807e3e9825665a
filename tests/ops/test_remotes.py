"""Each remote of docs/operating.md, on a real server: nothing is lost when it dies in between."""

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import PASSWORD, USER, Server
from tiny import Project, copied

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"
KINDS = ("s3", "ssh", "webdav", "http")
IMPATIENT = {"AWS_MAX_ATTEMPTS": "1"}  # else an S3 client tries again for minutes
DVC = (sys.executable, "-m", "dvc")


def commands(kind: str) -> list[str]:
    """The commands of the page for that kind of remote, the installation and the push left out."""
    block = re.findall(rf"<!-- commands: {kind} -->\n```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = block[0].splitlines()
    assert lines[-1] == "dvc push --remote mine"
    return [line for line in lines if line.startswith("dvc remote")]


def objects(folder: Path) -> dict[str, bytes]:
    """What lies below a folder under the name of an md5; temporary names are left out."""
    return {
        path.parent.name + path.name: path.read_bytes()
        for path in folder.glob("**/files/md5/*/*")
        if re.fullmatch("[0-9a-f]{30}", path.name)
    }


def whole(found: dict[str, bytes]) -> bool:
    return all(hashlib.md5(content).hexdigest() == name for name, content in found.items())


def added(project: Project, kind: str, server: Server) -> None:
    """Type what the page says, with this server's address and secrets."""
    host = f"127.0.0.1:{server.port}"
    filled = {"https:": "http:", "webdavs:": "webdav:", "HOST": host, "BUCKET": "bucket"}
    filled |= {"USER": USER, "SECRET": PASSWORD, "/PATH/OF/KEY": str(server.folder.parent / "key")}
    for line in commands(kind):
        for word, value in filled.items():
            line = line.replace(word, value)
        project.do(*DVC, *line.split()[1:])


@pytest.fixture(params=KINDS)
def served(request, made, tmp_path) -> Iterator[tuple[Project, Server]]:
    """A project with that remote, committed, and its running server."""
    project, kind = copied(made, tmp_path), request.param
    server = Server("dav" if kind in {"webdav", "http"} else kind, tmp_path / "server")
    (server.folder / ("bucket" if kind == "s3" else "strata")).mkdir()
    server.start()
    added(project, kind, server)
    project.do("git", "commit", "--quiet", "--all", "--message", "remote")
    yield project, server
    server.kill()


def cloned(project: Project, folder: Path) -> Project:
    """A fresh clone, with the secrets set again."""
    clone = Project(folder / "clone")
    project.do("git", "clone", "--quiet", str(project.folder), str(clone.folder))
    shutil.copy(project.folder / ".dvc" / "config.local", clone.folder / ".dvc")
    return clone


def interrupted(project: Project, server: Server, words: str, into: Path) -> str:
    """What `dvc push` or `dvc pull` says whose server is killed when first objects have come."""
    command = [*DVC, words, "--remote", "mine", "--jobs", "4"]
    environment = IMPATIENT | project.environment
    while True:
        with subprocess.Popen(
            command, cwd=project.folder, env=environment, stdout=-1, stderr=-2, text=True
        ) as process:
            while not objects(into) and process.poll() is None:
                time.sleep(0.001)
            server.kill()
            said = process.communicate(timeout=300)[0]
        if process.returncode != 0:
            return said
        for path in into.glob("**/files"):  # all had come: once more
            shutil.rmtree(path)
        server.start()


def test_a_server_dies_in_push_and_pull_and_an_object_is_damaged_and_nothing_is_lost(
    served, tmp_path
):
    project, server = served
    expected = objects(project.folder / "remote")
    assert "ERROR" in interrupted(project, server, "push", server.folder)
    assert whole(objects(server.folder))
    assert len(objects(server.folder)) < len(expected)
    server.start()
    project.do(*DVC, "push", "--remote", "mine")
    assert objects(server.folder) == expected

    clone = cloned(project, tmp_path)
    cache = clone.folder / ".dvc" / "cache"
    assert "ERROR" in interrupted(clone, server, "pull", cache)
    assert whole(objects(cache)) and len(objects(cache)) < len(expected)
    broken = next(server.folder.rglob("files/md5/*/*"))
    lost, content = broken.parent.name + broken.name, broken.read_bytes()
    broken.write_bytes(content[: len(content) // 2])
    server.start()
    shutil.rmtree(cache)
    assert clone.run(*DVC, "pull", "--remote", "mine").returncode == 1
    assert lost not in objects(cache) and whole(objects(cache))
    server.kill()  # rclone remembers what it served
    for path in (broken, *server.folder.rglob("files/md5/*/*.dir")):
        path.unlink()
    server.start()
    project.do(*DVC, "push", "--remote", "mine")
    clone.do(*DVC, "pull", "--remote", "mine")
    assert clone.dvc("repro") == {"forward"}  # what no remote keeps
    clone.do(*DVC, "status", "--quiet")
    assert clone.outputs() == project.outputs()
    assert clone.do("git", "status", "--porcelain") == ""


def test_every_block_verifies_and_keeps_its_secrets_out_of_git():
    for kind in ("folder", *KINDS):
        lines = commands(kind)
        assert "dvc remote modify mine verify true" in lines
        secret = re.compile("secret|password|keyfile|access_key|token", re.IGNORECASE)
        assert all("--local" in line for line in lines if secret.search(line))
    assert {"access_key_id", "password", "keyfile"} <= set(PAGE.read_text().split())


@pytest.mark.parametrize("kind", ["s3", "webdav"])
def test_a_wrong_secret_is_refused_and_nothing_is_written(kind, made, tmp_path):
    project = copied(made, tmp_path)
    server = Server("dav" if kind == "webdav" else kind, tmp_path / "server")
    (server.folder / ("bucket" if kind == "s3" else "strata")).mkdir()
    server.start()
    try:
        added(project, kind, server)
        option = "secret_access_key" if kind == "s3" else "password"
        project.do(*DVC, "remote", "modify", "--local", "mine", option, "wrong")
        assert project.run(*DVC, "push", "--remote", "mine").returncode != 0
        assert objects(server.folder) == {}
    finally:
        server.kill()
