"""Whether the locks have packages for this Python on this system: else a line that says what to do.

It runs before anything is downloaded, in any Python 3 that somebody may have.
"""

import platform
import sys

KNOWN = (("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"))
SYSTEMS = "Linux with glibc (x86-64, aarch64), macOS 14 or later on arm64, Windows through WSL"


def fault(version, system, machine, libc, macos):
    """What is in the way, empty where nothing is: of a version of Python, and of what the module
    platform calls a system, a machine, a C library and a version of macOS."""
    if not (3, 11) <= version <= (3, 14):
        found = ".".join(map(str, version))
        return f"Python 3.11 to 3.14 is needed, this is {found}: make PYTHON=/path/to/python3.11 …"
    known = (system, machine) in KNOWN and (system != "Linux" or libc == "glibc")
    if known and int((macos or "14").split(".")[0]) >= 14:
        return ""
    here = " ".join(filter(None, [system, machine, libc, macos]))
    return f"{here}: the packages are for {SYSTEMS}"


if __name__ == "__main__":
    system, machine, macos = platform.system(), platform.machine(), platform.mac_ver()[0]
    said = fault(sys.version_info[:2], system, machine, platform.libc_ver()[0], macos)
    sys.exit(said or 0)
