"""Install into the environment of this interpreter by uv, from where pip is set to look.

Called in the top of the repository, with arguments as after `uv pip install`. uv does not read what
is set for pip, so its index, its certificates and its proxy are given to uv by variables. Variables
that are set for uv itself come first.
"""

import ast
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# What pip calls a setting, and the variable that uv reads.
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
FIXED = {
    "UV_NO_CONFIG": "1",  # else the settings of a project around this one hold here
    # As pip does: the best version wherever it is. Hashes say that it is the right file.
    "UV_INDEX_STRATEGY": "unsafe-best-match",
    # What is built from source is built with what the lock has.
    "UV_BUILD_CONSTRAINT": "requirements.lock",
    "UV_REQUIRE_BUILD_HASHES": "1",
    "UV_REQUIRE_HASHES": "0",  # strata itself has none; where locks have them it is asked for
}


def pip_settings(listed: str) -> dict[str, str]:
    """Return pip's settings by name, of what `pip config list` prints."""
    lines = [line.partition("=") for line in listed.splitlines()]
    values = {key: ast.literal_eval(value) for key, _, value in lines}
    return {
        key.removeprefix(section): " ".join(value.split())
        for section in ("global.", "install.", ":env:.")  # the last one holds
        for key, value in values.items()
        if key.startswith(section)
    }


def uv_variables(settings: dict[str, str]) -> dict[str, str]:
    """Return the variables by which uv has these settings of pip."""
    variables = {VARIABLES[name]: text for name, text in settings.items() if name in VARIABLES}
    if "UV_FIND_LINKS" in variables:
        variables["UV_FIND_LINKS"] = variables["UV_FIND_LINKS"].replace(" ", ",")
    return variables


def has_cache(uv: Path) -> bool:
    """Whether uv can write where it keeps what it downloads: in a container the user may have no
    home."""
    listed = subprocess.run([uv, "cache", "dir", "--no-config"], stdout=-1, text=True, check=True)
    path = Path(listed.stdout.strip())
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return os.access(path, os.W_OK)


def main() -> None:
    listed = [sys.executable, "-m", "pip", "config", "list"]
    settings = pip_settings(subprocess.run(listed, stdout=-1, text=True, check=True).stdout)
    quiet = [] if sys.stderr.isatty() else ["--quiet"]  # a terminal sees what is downloaded
    words = ["pip", "install", *quiet, "--python", sys.executable]
    if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}:  # uv has no variable
        words.append("--no-index")
    uv = Path(sys.executable).with_name("uv")
    if not has_cache(uv):
        words.append("--no-cache")
    os.execve(uv, [str(uv), *words, *sys.argv[1:]], uv_variables(settings) | os.environ | FIXED)


if __name__ == "__main__":
    main()
