"""How soon the front page shows something on a slow line and a slow processor.

Serves report/ gzipped on this machine and opens it in Chromium under the browser's own throttling:
1.6 Mbit/s, 150 ms, a processor four times slower. Writes benchmarks/first_view.md. Takes a minute;
needs chromium and chromedriver.
"""

import gzip
import shutil
import statistics
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FOLDER, OUT = Path("report"), Path("benchmarks/first_view.md")
LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
SLOWER, TIMES = 4, 3
MOMENTS = {
    "first text or picture": "first-contentful-paint",
    "the network drawn on its first pair": "drawn",
    "the weights there: any pair, any change": "ready",
}
MOMENT = "return performance.getEntriesByName(arguments[0])[0]?.startTime"
LOADED = """return performance.getEntriesByType('resource').concat(performance.getEntriesByType(
    'navigation')).map(x => x.encodedBodySize).reduce((x, y) => x + y)"""


class Gzipped(SimpleHTTPRequestHandler):
    """Serves files gzipped, as static hosts do."""

    def do_GET(self) -> None:
        """A file with its type, or 404."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def browser() -> webdriver.Chrome:
    """Chromium without a window, on its slow line."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,800"):
        options.add_argument(f"--{flag}")
    found = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    found.execute_cdp_cmd("Network.enable", {})
    found.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    found.execute_cdp_cmd("Network.emulateNetworkConditions", LINE)
    found.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    return found


def opened(chrome: webdriver.Chrome, address: str) -> dict[str, Any]:
    """The moments of one opening in seconds, and the bytes that came over the line."""
    chrome.get("about:blank")
    chrome.get(address)
    WebDriverWait(chrome, 120).until(lambda _: chrome.execute_script(MOMENT, "ready"))
    found = {k: chrome.execute_script(MOMENT, x) / 1000 for k, x in MOMENTS.items()}
    return found | {"bytes": chrome.execute_script(LOADED)}


def main() -> None:
    handler = partial(Gzipped, directory=str(FOLDER))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chrome = browser()
        address = f"http://127.0.0.1:{server.server_port}/"
        runs = [opened(chrome, address) for _ in range(TIMES)]
        chrome.quit()
        server.shutdown()
    lines = ["| front page | after |", "|:--|--:|"]
    lines += [f"| {k} | {statistics.median(x[k] for x in runs):.1f} s |" for k in MOMENTS]
    size = max(x["bytes"] for x in runs) / 1000
    lines += ["", f"{size:.0f} kB gzipped, the weights among them. 1.6 Mbit/s, 150 ms, a processor"]
    lines[-1] += f" {SLOWER} times slower; median of {TIMES}."
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
