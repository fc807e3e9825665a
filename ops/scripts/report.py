"""Serve report/html on this machine and open it in the browser, until Ctrl-C.

``python ops/scripts/report.py browser`` at the top; an empty word says where it is, and no more.
The address names the commit of the working tree, which a page made before that commit cannot know.
"""

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ops.files import lock, pipelines
from ops.git import git
from strata.inputs import InputError
from strata.run import command

HTML = Path("report", "html")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def commit() -> str:
    """?commit=… of the working tree, marked where a pipeline is not as committed; else nothing."""
    try:
        found = git("rev-parse", "--verify", "HEAD")
    except InputError:  # the files of a deposit, of which nothing is committed yet
        return ""
    files = [x for file in pipelines() for x in (file, lock(file))]
    dirty = "-dirty" if git("status", "--porcelain", "--", *files) else ""
    return f"?commit={found}{dirty}"


def main(browser: str = "") -> None:
    if not (HTML / "index.html").is_file():
        raise InputError(f"{HTML}: is not there: make report")
    if not browser:
        print((HTML / "index.html").resolve())
        return
    handler = partial(Quiet, directory=str(HTML))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/{commit()}"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    command(main)
