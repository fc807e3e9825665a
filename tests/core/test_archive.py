"""A file of torch.save that would fill the memory or take for ever is refused at once."""

import io
import zipfile
from typing import Any

import pytest
import torch

from strata import archive, interop
from strata.run import InputError

PLAIN = {"config": {"P": 6}, "seed": 1, "losses": [0.5, 0.25] * 1000, "weights": torch.ones(3, 3)}


def saved(found: Any) -> bytes:
    file = io.BytesIO()
    torch.save(found, file)
    return file.getvalue()


def nested(kind: type, levels: int = 25) -> Any:
    """A list or tuple that stands for 10 ** levels numbers, in some hundred bytes."""
    found = kind([1] * 10)
    for _ in range(levels):
        found = kind([found] * 10)
    return found


def test_what_torch_saves_is_read():
    archive.whole_archive(saved(PLAIN), "x")
    assert interop.load(saved(PLAIN), "x")["losses"] == PLAIN["losses"]


# A tuple as a key of a dict would be hashed.
@pytest.mark.parametrize("bomb", [nested(list), nested(tuple), [{nested(tuple, 3): 1}] * 20])
def test_a_pickle_that_stands_for_more_than_memory_holds_is_refused(bomb):
    with pytest.raises(InputError, match="x: holds the same list or tuple too often: refused"):
        interop.load(saved(PLAIN | {"config": bomb}), "x")


def test_an_archive_that_unpacks_to_more_than_its_size_is_refused():
    file, whole = io.BytesIO(), zipfile.ZipFile(io.BytesIO(saved(PLAIN)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
        packed.writestr("archive/data/9", bytes(2**28))
    assert len(file.getvalue()) < 2**19
    with pytest.raises(InputError, match=r"x: \d+ bytes that unpack to \d+: refused"):
        interop.load(file.getvalue(), "x")


def test_a_pickle_that_is_too_long_is_refused_unread():
    """As a list of a hundred thousand numbers it would be read, at nine bytes each."""
    assert interop.load(saved(PLAIN | {"losses": [0.5] * 100_000}), "x")
    with pytest.raises(InputError, match=r"x: a pickle of \d+ bytes, must be at most \d+$"):
        interop.load(saved(PLAIN | {"losses": [0.5] * 300_000}), "x")


def test_objects_that_are_used_again_are_counted_and_text_is_not():
    one = ["a"]
    assert [archive.shared(pickled(x)) for x in ([1, "a", "a"], [one, one], [one] * 9)] == [0, 1, 8]


def pickled(found: Any) -> bytes:
    whole = zipfile.ZipFile(io.BytesIO(saved(found)))
    return next(whole.read(name) for name in whole.namelist() if name.endswith(".pkl"))
