"""A remote of docs/operating.md, on a real server."""

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

import pytest
from tiny import DVC, PACKS, add, cloned, commands, copied

PAGE = "operating.md"
RCLONE = Path(sys.executable).with_name("rclone")
USER, PASSWORD = "tester", "let-me-in"
REPORT = {"cmd": "cp ../tables/claims.md page.md", "deps": ["../tables/claims.md"]}
REPORT |= {"outs": ["page.md"]}  # a report of one stage


def remote(kind: str) -> list[str]:
    """Return the commands of the page that add a remote of that kind."""
    return [line for line in commands(PAGE, kind) if line.startswith("dvc remote")]


def objects(folder: Path) -> dict[str, bytes]:
    """Read the files below a folder that have an md5 as their name."""
    return {path.parent.name + path.name: path.read_bytes() for path in folder.glob("**/md5/*/*")}


@pytest.fixture
def bucket(tmp_path) -> Iterator[tuple[str, Path]]:
    """Yield the address of an S3 server, and the folder of its bucket."""
    folder = tmp_path / "server"
    (folder / "bucket").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    words = ("--addr", address, "--auth-key", f"{USER},{PASSWORD}", "--config", os.devnull, folder)
    with subprocess.Popen([RCLONE, "serve", "s3", *words], stdout=-3, stderr=-3) as server:
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield address, folder / "bucket"
        server.kill()


def test_what_is_pushed_to_s3_comes_back_in_a_clone_and_what_was_damaged_there_does_not(
    bucket, made_project, tmp_path
):
    address, folder = bucket
    project = copied(made_project, tmp_path)
    values = {"https:": "http:", "HOST": address, "BUCKET": "bucket"}
    for line in remote("s3"):
        for word, value in (values | {"USER": USER, "SECRET": PASSWORD}).items():
            line = line.replace(word, value)
        project.do(*DVC, *line.split()[1:])
    project.do("git", "commit", "--quiet", "--all", "--message", "remote")
    project.do(*DVC, "push", "--remote", "mine")
    assert objects(folder) == objects(project.folder / "remote")

    clone = cloned(project, tmp_path / "clone")
    cache = clone.folder / ".dvc" / "cache"
    shutil.copy(project.folder / ".dvc" / "config.local", clone.folder / ".dvc")  # has the secrets
    damaged = next(path for path in folder.glob("**/md5/*/*") if path.suffix != ".dir")
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    assert clone.run(*DVC, "pull", "--remote", "mine").returncode == 1
    pulled = objects(cache)
    assert damaged.parent.name + damaged.name not in pulled
    assert all(
        hashlib.md5(x).hexdigest() == name.removesuffix(".dir") for name, x in pulled.items()
    )
    damaged.write_bytes(content)
    clone.do(*DVC, "pull", "--remote", "mine")
    assert clone.published() == project.published()
    assert clone.do("git", "status", "--porcelain") == ""


def test_by_the_words_of_the_page_another_clone_pulls_three_projects_from_a_lab(both, tmp_path):
    project = copied(both, tmp_path)
    add(project, {"report/dvc.yaml": {"stages": {"page": REPORT}}})
    project.dvc("repro", project="report")
    project.commit("report")
    named = [x.replace("/PATH/OF/FOLDER", str(tmp_path / "lab")) for x in remote("folder")]
    lines = [*named, *commands(PAGE, "default"), *commands(PAGE, "push")]
    project.do("bash", "-euc", "\n".join(lines))

    clone = cloned(project, tmp_path / "clone")  # it has no packs: all of it comes from the lab
    for path in clone.folder.glob("**/artifacts/*.tar.xz"):
        path.unlink()
    clone.do(*PACKS)  # as building the environment does, which the test has
    has = ("git clone", "make .venv", "source", "make report")
    lines = [line for line in commands(PAGE, "there") if not line.startswith(has)]
    ready = [line.replace("make", "make -o .venv/.ready") for line in lines]
    output = clone.do("bash", "-euc", "\n".join(ready))
    assert "mine" in output and "pull … " in output and "not all of it" not in output
    for name in ("studies", "report"):
        clone.dvc("pull", project=name)
    assert clone.published() == project.published()
    assert (clone.folder / "report" / "page.md").is_file()


@pytest.mark.parametrize("kind", ["folder", "s3", "ssh", "webdav", "http"])
def test_every_block_verifies_and_keeps_its_secrets_out_of_git(kind):
    lines = remote(kind)
    assert "dvc remote modify mine verify true" in lines
    secret = re.compile("secret|password|keyfile|access_key|token", re.IGNORECASE)
    assert all("--local" in line for line in lines if secret.search(line))
