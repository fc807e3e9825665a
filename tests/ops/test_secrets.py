"""Nothing that git tracks looks like a secret."""

import configparser
import re
from pathlib import Path

from ops.git import git

PATTERNS = [
    rb"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
    rb"-----BEGIN [A-Z ]*PRIVATE KEY",
    rb"\b(ghp|gho|ghs)_[0-9A-Za-z]{36}\b|\bgithub_pat_\w{40,}|\bglpat-[\w-]{20}",
    rb"(?i)aws_(secret_access_key|session_token)\s*[=:]\s*['\"]?[A-Za-z0-9/+]{30,}",
    rb"\w://[\w.-]+:[^\s:@/'\"`{$]+@[\w.-]+",
]
OPTIONS = "access_key_id secret_access_key session_token password passphrase keyfile token"
OPTIONS += " sas_token account_key connection_string client_secret credentialpath credentials"
NAMES = re.compile(r"(^|/)(\.env|\.netrc|id_(rsa|ed25519|ecdsa)|config\.local|.*\.(pem|key|p12))$")


def suspicious(name: str, content: bytes) -> list[str]:
    """Return why a file may not be tracked; empty where it may."""
    reasons = [name] if NAMES.search(name) else []
    if not name.startswith("remote/"):  # md5s and pictures: text by chance
        reasons += [hit[0].decode() for hit in (re.search(x, content) for x in PATTERNS) if hit]
    if name.endswith(".dvc/config"):
        config = configparser.ConfigParser()
        config.read_string("\n".join(line.strip() for line in content.decode().splitlines()))
        keys = {key for part in config.sections() for key in config[part]}
        reasons += sorted(keys & set(OPTIONS.split()))
    return reasons


def test_nothing_tracked_looks_like_a_secret_as_an_option_of_a_remote_would():
    planted = "['remote \"mine\"']\n    url = s3://bucket\n    password = value\n"
    assert suspicious("studies/.dvc/config", planted.encode()) == ["password"]
    names = [x for x in git("ls-files", "-z").split("\0") if Path(x).is_file()]
    assert {".dvc/config", "README.md", "tests/tiny.py"} <= set(names)
    reasons = {name: suspicious(name, Path(name).read_bytes()) for name in names}
    assert {name: why for name, why in reasons.items() if why} == {}
