"""Nothing that git tracks looks like a secret."""

import configparser
import re
from pathlib import Path

import pytest

from ops.git import git

# Each with a made-up example, in two parts so that this file is none.
PATTERNS = {
    rb"\b(AKIA|ASIA)[0-9A-Z]{16}\b": ("AKIA", "IOSFODNN7EXAMPLE"),
    rb"-----BEGIN [A-Z ]*PRIVATE KEY": ("-----BEGIN OPENSSH ", "PRIVATE KEY-----"),
    rb"\b(ghp|gho|ghs)_[0-9A-Za-z]{36}\b": ("ghp_", "0123456789" * 3 + "abcdef"),
    rb"\bgithub_pat_\w{40,}": ("github_pat_", "0123456789" * 5),
    rb"\bglpat-[\w-]{20}": ("glpat-", "0123456789" * 2),
    rb"\bxox[abp]-[\w-]{10,}": ("xoxb-", "0123456789ab"),
    rb"(?i)aws_(secret_access_key|session_token)\s*[=:]\s*['\"]?[A-Za-z0-9/+]{30,}": (
        "AWS_SECRET_ACCESS_KEY=", "0123456789" * 4,
    ),
    rb"\w://[\w.-]+:[^\s:@/'\"`{$]+@[\w.-]+": ("https://user:", "word@example.org"),
}  # fmt: skip
OPTIONS = "access_key_id secret_access_key session_token password passphrase keyfile token"
OPTIONS += " sas_token account_key connection_string client_secret credentialpath credentials"
NAMES = re.compile(r"(^|/)(\.env|\.netrc|id_(rsa|ed25519|ecdsa)|config\.local|.*\.(pem|key|p12))$")


def suspicious(name: str, content: bytes) -> list[str]:
    """Why a file may not be tracked; empty where it may."""
    found = [name] if NAMES.search(name) else []
    if not name.startswith("remote/"):  # md5s and pictures: text by chance
        found += [hit[0].decode() for hit in (re.search(x, content) for x in PATTERNS) if hit]
    if name.endswith(".dvc/config"):
        config = configparser.ConfigParser()
        config.read_string("\n".join(line.strip() for line in content.decode().splitlines()))
        keys = {key for part in config.sections() for key in config[part]}
        found += sorted(keys & set(OPTIONS.split()))
    return found


def test_nothing_tracked_looks_like_a_secret():
    names = [x for x in git("ls-files", "-z").split("\0") if Path(x).is_file()]
    assert {".dvc/config", "README.md", "tests/tiny.py"} <= set(names)
    found = {name: suspicious(name, Path(name).read_bytes()) for name in names}
    assert {name: why for name, why in found.items() if why} == {}


@pytest.mark.parametrize("parts", PATTERNS.values())
def test_a_planted_secret_is_found(parts):
    text = "x " + "".join(parts) + "\n"
    assert suspicious("docs/page.md", text.encode())
    assert not suspicious("docs/page.md", text.replace("".join(parts), "word").encode())


def test_a_planted_option_of_a_remote_or_a_planted_name_is_found():
    for option in OPTIONS.split():
        config = f"['remote \"mine\"']\n    url = s3://bucket\n    {option} = value\n"
        assert suspicious("studies/.dvc/config", config.encode()) == [option]
    for name in (".env", "keys/id_rsa", ".dvc/config.local", "server.pem"):
        assert suspicious(name, b"") == [name]
