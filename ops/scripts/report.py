"""Serve report/html on this machine and open it in the browser, until Ctrl-C.

``python ops/scripts/report.py browser`` at the top; an empty word says where it is, and no more."""

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from strata.inputs import InputError
from strata.run import command

HTML = Path("report", "html")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Do nothing."""


def main(browser: str = "") -> None:
    if not (HTML / "index.html").is_file():
        raise InputError(f"{HTML}: is not there: make report")
    if not browser:
        print((HTML / "index.html").resolve())
        return
    handler = partial(Quiet, directory=str(HTML))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    command(main)
