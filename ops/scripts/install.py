"""Install into the environment of this interpreter: with uv, or with pip where there is no uv.

Arguments as both understand them after `pip install`, in the top of the repository. uv looks where
pip is set to look. What is installed has the hashes of the locks, whatever else is set for them.
"""

import ast
import os
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


def settings(listed: str) -> dict[str, str]:
    """Where and how to download, by pip's names, of what `pip config list` says."""
    lines = (line.partition("=") for line in listed.splitlines())
    values = {key: ast.literal_eval(value) for key, _, value in lines}
    found = {}
    for section in ("global", "install", ":env:"):  # the last one holds
        for name in (*SETTINGS, "no-index"):
            if text := values.get(f"{section}.{name}"):
                found[name] = " ".join(text.split())
    return found


def for_uv(found: dict[str, str]) -> dict[str, str]:
    """uv's variables for these settings."""
    own = {SETTINGS[name]: text for name, text in found.items() if name in SETTINGS}
    if "find-links" in found:
        own["UV_FIND_LINKS"] = found["find-links"].replace(" ", ",")
    return own


def main() -> None:
    if not UV.exists():
        os.execv(sys.executable, [*PIP, "-qq", "install", *sys.argv[1:]])
    listed = subprocess.run(
        [*PIP, "config", "list"], stdout=subprocess.PIPE, text=True, check=False
    )
    if listed.returncode:
        sys.exit(listed.returncode)  # pip has said what is wrong with its files
    found = settings(listed.stdout)
    ours = {
        "UV_NO_CONFIG": "1",
        # As pip does: the best version wherever it is. Hashes say that it is the right file.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        # What is built from source is built with what the lock has.
        "UV_BUILD_CONSTRAINT": "requirements.lock",
        "UV_REQUIRE_BUILD_HASHES": "1",
    }
    words = ["pip", "install", "--quiet", "--python", sys.executable]
    if found.get("no-index", "").lower() in {"1", "true", "yes", "on"}:  # uv has no variable for it
        words.append("--no-index")
    os.execve(UV, [str(UV), *words, *sys.argv[1:]], for_uv(found) | os.environ | ours)


if __name__ == "__main__":
    main()
