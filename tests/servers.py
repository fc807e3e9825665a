"""Real servers on loopback for the tests of remotes, each a process of its own.

``python servers.py ssh|dav PORT FOLDER`` serves until it is killed. `dav` is WebDAV and plain HTTP
with PUT; a PUT appears whole or not at all, as nginx and Apache do it too.
"""

import asyncio
import base64
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

USER, PASSWORD = "tester", "let-me-in"
RCLONE = Path(sys.executable).with_name("rclone")


def ssh(port: int, folder: Path) -> None:
    """SFTP below the folder; it lets in who has the key in the folder beside it."""
    import asyncssh

    async def serve() -> None:
        await asyncssh.listen(
            "127.0.0.1",
            port,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            authorized_client_keys=str(folder.with_name("key.pub")),
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=bytes(folder)),
        )
        await asyncio.Event().wait()

    asyncio.run(serve())


def dav(port: int, folder: Path) -> None:
    """WebDAV with a password. Its own PUT would write in place and wants the folder to be there."""
    import waitress
    from wsgidav.wsgidav_app import WsgiDAVApp

    from strata.store import write_bytes

    config = {"provider_mapping": {"/": str(folder)}, "logging": {"enable": False}, "verbose": 0}
    anybody = {"simple_dc": {"user_mapping": {"*": True}}}
    served = WsgiDAVApp(config | anybody)
    expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    def answer(environ: dict, start_response: Any) -> Any:
        if environ.get("HTTP_AUTHORIZATION") != expected:
            start_response("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="dav"')])
            return [b""]
        if environ["REQUEST_METHOD"] == "PUT":
            write_bytes(folder / environ["PATH_INFO"].lstrip("/"), environ["wsgi.input"].read())
            start_response("201 Created", [("Content-Length", "0")])
            return [b""]
        return served(environ, start_response)

    waitress.serve(answer, host="127.0.0.1", port=port, _quiet=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A server over a folder: start it, kill it, start it again at the same address."""

    def __init__(self, kind: str, folder: Path):
        self.folder, self.port = folder / "served", free_port()
        self.folder.mkdir(parents=True)
        address = f"127.0.0.1:{self.port}"
        own = [sys.executable, __file__, kind, str(self.port), str(self.folder)]
        s3 = [RCLONE, "serve", "s3", "--addr", address, "--auth-key", f"{USER},{PASSWORD}"]
        self.command = own if kind != "s3" else [*s3, "--config", os.devnull, self.folder]
        if kind == "ssh":
            import asyncssh

            self.key = folder / "key"
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(self.key)
            key.write_public_key(f"{self.key}.pub")

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(self.command, stdin=quiet, stdout=quiet, stderr=quiet)
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"{self.command} ended with {self.process.returncode}")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


if __name__ == "__main__":
    {"ssh": ssh, "dav": dav}[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
