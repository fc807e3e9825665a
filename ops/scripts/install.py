"""Install into the environment of this interpreter: with uv, or with pip where there is no uv.

Arguments as both understand them after `pip install`, in the top of the repository. Both look where
pip is set to look. Nothing else that is set for them holds here: another folder to install to,
constraints, a date or a Python would make another environment than the locks say.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = Path(sys.executable).with_name("uv")
# What pip calls a setting that says where or how to download, and the variable that uv reads.
SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
PIP_ONLY = {"no-index", "client-cert", "timeout", "default-timeout", "retries", "cache-dir"}
PIP_ONLY |= {"no-cache-dir", "keyring-provider"}
# The same of uv's own variables.
UV_OWN = re.compile(
    "UV_(.*INDEX.*|FIND_LINKS|INSECURE_HOST|HTTP_.*|KEYRING_PROVIDER|NATIVE_TLS|SYSTEM_CERTS"
    "|.*CACHE.*|OFFLINE|CONCURRENT_.*|LINK_MODE)"
)


def settings(listed: str) -> dict[str, str]:
    """Those settings, by pip's names, of what `pip config list` says."""
    lines = (line.partition("=") for line in listed.splitlines())
    values = {key: ast.literal_eval(value) for key, _, value in lines}
    found = {}
    for section in ("global", "install", ":env:"):  # the last one holds
        for name in (*SETTINGS, *PIP_ONLY):
            if text := values.get(f"{section}.{name}"):
                found[name] = " ".join(text.split())
    return found


def for_pip(given: dict[str, str]) -> dict[str, str]:
    """pip's variables for these settings, and none of its files."""
    own = {f"PIP_{name.upper().replace('-', '_')}": text for name, text in given.items()}
    return own | {"PIP_CONFIG_FILE": os.devnull}


def for_uv(given: dict[str, str]) -> dict[str, str]:
    """uv's variables for these settings."""
    own = {SETTINGS[name]: text for name, text in given.items() if name in SETTINGS}
    if "find-links" in given:
        own["UV_FIND_LINKS"] = given["find-links"].replace(" ", ",")
    return own


def main() -> None:
    listed = subprocess.run(
        [*PIP, "config", "list"], stdout=subprocess.PIPE, text=True, check=False
    )
    if listed.returncode:
        sys.exit(listed.returncode)  # pip has said what is wrong with its files
    given = settings(listed.stdout)
    kept = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("PIP_", "UV_")) or UV_OWN.fullmatch(name)
    }
    if not UV.exists():
        words = [*PIP, "-qq", "install", *sys.argv[1:]]
        os.execve(sys.executable, words, kept | for_pip(given))
    ours = {
        "UV_NO_CONFIG": "1",
        # As pip does: the best version wherever it is. Hashes say that it is the right file.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        # What is built from source is built with what the lock has.
        "UV_BUILD_CONSTRAINT": "requirements.lock",
        "UV_REQUIRE_BUILD_HASHES": "1",
    }
    words = ["pip", "install", "--quiet", "--python", sys.executable]
    if given.get("no-index", "").lower() in {"1", "true", "yes", "on"}:  # uv has no variable for it
        words.append("--no-index")
    os.execve(UV, [str(UV), *words, *sys.argv[1:]], for_uv(given) | kept | ours)


if __name__ == "__main__":
    main()
