"""Serve report/html on this machine and open it in the browser, until Ctrl-C.

``python ops/scripts/report.py browser``; an empty word says where it is, and no more. The address
names the commit of the working tree, which a page made before that commit cannot know itself.
"""

import subprocess
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ops.files import lock, pipelines

TOP = Path(__file__).parents[2]
HTML = TOP / "report" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def commit() -> str:
    """?commit=… of the working tree, marked where a pipeline is not as committed; else nothing."""
    found = _git("rev-parse", "HEAD")
    files = [x for file in pipelines(TOP) for x in (file, lock(file))]
    dirty = "-dirty" if _git("status", "--porcelain", "--", *files) else ""
    return f"?commit={found}{dirty}" if found else ""


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def serve() -> None:
    """Until it is interrupted."""
    handler = partial(Quiet, directory=str(HTML))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/{commit()}"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main() -> None:
    if not (HTML / "index.html").is_file():
        sys.exit(f"{HTML}: is not there: make report")
    if "".join(sys.argv[1:]):
        serve()
    else:
        print(HTML / "index.html")


if __name__ == "__main__":
    main()
