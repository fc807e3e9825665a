"""Serve report/ on this machine and open it in the browser, until Ctrl-C.

``python ops/scripts/report.py browser``; with an empty word nothing is opened. The address names
the commit of the working tree, which a page made before that commit cannot know itself.
"""

import subprocess
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ops.files import FILES, lock

FOLDER = Path(__file__).parents[2] / "report"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def commit() -> str:
    """?commit=… of the working tree, marked where a pipeline is not as committed; else nothing."""
    found = _git("rev-parse", "HEAD")
    files = [*FILES, *map(lock, FILES)]
    dirty = "-dirty" if _git("status", "--porcelain", "--", *files) else ""
    return f"?commit={found}{dirty}" if found else ""


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=FOLDER.parent, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    if not (FOLDER / "index.html").is_file():
        sys.exit("report/index.html is not there: make report, or dvc repro report")
    handler = partial(Quiet, directory=str(FOLDER))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/{commit()}"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if "".join(sys.argv[1:]):
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
