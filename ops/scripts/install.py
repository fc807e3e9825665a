"""Install into the environment of this interpreter: with uv, or with pip where there is no uv.

Arguments as both understand them after `pip install`. uv then looks where pip is set to look.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = Path(sys.executable).with_name("uv")
# What pip calls a setting, and the variable by which uv takes it.
SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


def settings(listed: str) -> dict[str, str]:
    """uv's variables for what `pip config list` says."""
    lines = (line.partition("=") for line in listed.splitlines())
    values = {key: ast.literal_eval(value) for key, _, value in lines}
    found = {}
    for section in ("global", "install", ":env:"):  # the last one holds
        for name, variable in SETTINGS.items():
            if text := values.get(f"{section}.{name}"):
                found[variable] = ("," if name == "find-links" else " ").join(text.split())
    return found


def main() -> None:
    if not UV.exists():
        os.execv(sys.executable, [*PIP, "-qq", "install", *sys.argv[1:]])
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True)
    # As pip does: the best version wherever it is. Hashes say that it is the right file.
    own = {"UV_INDEX_STRATEGY": "unsafe-best-match"} | settings(listed.stdout)
    words = ["pip", "install", "--quiet", "--python", sys.executable]
    os.execve(UV, [str(UV), *words, *sys.argv[1:]], own | os.environ)


if __name__ == "__main__":
    main()
