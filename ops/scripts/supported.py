"""Whether the locks have packages for this Python on this system: else a line that says what to do.

It runs before anything is downloaded, in any Python 3 that somebody may have.
"""

import importlib.util
import platform
import sys

SYSTEMS_WITH_PACKAGES = (("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"))
# What DVC, pip and the packs need, and a Python that was built without some headers lacks.
PARTS = ("_bz2", "_ctypes", "_lzma", "_sqlite3", "_ssl", "ensurepip", "zlib")
SYSTEMS = "Linux with glibc (x86-64, aarch64), macOS 14 or later on arm64, Windows through WSL"


def fault(version, system, machine, libc, macos):
    """Return what is in the way, or nothing: of a version of Python, and of what the module
    platform calls a system, a machine, a C library and a version of macOS."""
    if not (3, 11) <= version <= (3, 14):
        number = ".".join(map(str, version))
        return f"Python 3.11 to 3.14 is needed, this is {number}: make PYTHON=/path/to/python3.11 …"
    supported = (system, machine) in SYSTEMS_WITH_PACKAGES and (
        system != "Linux" or libc == "glibc"
    )
    if supported and int((macos or "14").split(".")[0]) >= 14:
        return ""
    machine_names = " ".join(filter(None, [system, machine, libc, macos]))
    return f"{machine_names}: the packages are for {SYSTEMS}"


def missing(find=importlib.util.find_spec):
    """Return what this Python lacks of its own parts, or nothing."""
    parts = ", ".join(name for name in PARTS if not find(name))
    return parts and (
        f"{sys.executable} lacks {parts}: install what these need (on Debian python3-venv; or"
        " libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev zlib1g-dev, and build Python"
        " again), or make PYTHON=/path/to/another …"
    )


if __name__ == "__main__":
    system, machine, macos = platform.system(), platform.machine(), platform.mac_ver()[0]
    refusal = fault(sys.version_info[:2], system, machine, platform.libc_ver()[0], macos)
    sys.exit(refusal or missing() or 0)
