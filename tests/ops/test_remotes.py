"""A remote of docs/operating.md, on a real server: nothing is lost when it dies in between."""

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anywhere
import pytest
from tiny import DVC, Project, copied

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"
KINDS = ("folder", "s3", "ssh", "webdav", "http")
RCLONE = Path(sys.executable).with_name("rclone")
USER, PASSWORD = "tester", "let-me-in"
IMPATIENT = {"AWS_MAX_ATTEMPTS": "1"}  # else an S3 client tries again for minutes


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


class Server:
    """An S3 store over a folder: start it, kill it, start it again at the same address."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "bucket").mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def start(self) -> None:
        own = ("--addr", f"127.0.0.1:{self.port}", "--auth-key", f"{USER},{PASSWORD}")
        command = [RCLONE, "serve", "s3", *own, "--config", os.devnull, self.folder]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{command} ended with {self.process.returncode}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def added(project: Project, server: Server) -> None:
    """Type what the page says, with this server's address and secrets."""
    filled = {"https:": "http:", "HOST": f"127.0.0.1:{server.port}", "BUCKET": "bucket"}
    filled |= {"USER": USER, "SECRET": PASSWORD}
    for line in commands("s3"):
        for word, value in filled.items():
            line = line.replace(word, value)
        project.do(*DVC, *line.split()[1:])


@pytest.fixture
def served(made, tmp_path) -> Iterator[tuple[Project, Server]]:
    """A project with that remote, committed, and its running server."""
    project, server = copied(made, tmp_path), Server(tmp_path / "server")
    server.start()
    added(project, server)
    project.do("git", "commit", "--quiet", "--all", "--message", "remote")
    yield project, server
    server.kill()


def cloned(project: Project, folder: Path) -> Project:
    """A fresh clone, with the secrets set again."""
    clone = anywhere.cloned(project, folder / "clone")
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
    for kind in KINDS:
        lines = commands(kind)
        assert "dvc remote modify mine verify true" in lines
        secret = re.compile("secret|password|keyfile|access_key|token", re.IGNORECASE)
        assert all("--local" in line for line in lines if secret.search(line))
    assert {"access_key_id", "password", "keyfile"} <= set(PAGE.read_text().split())
