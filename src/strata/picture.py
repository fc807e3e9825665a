"""Hold a drawn picture as a notebook shows it, without a program that draws."""

from pathlib import Path
from typing import NamedTuple


class Picture(NamedTuple):
    """A ``Picture`` is a PNG that a notebook shows."""

    png: bytes

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"a picture of {len(self.png)} bytes; save(FILE) writes it as PNG"

    def save(self, path: str | Path) -> None:
        """Write the picture to a file."""
        Path(path).write_bytes(self.png)
