"""Files of ``torch.save`` before torch reads them: a zip archive with a pickle in it."""

import io
import pickletools
import zipfile

from strata.inputs import InputError

LONGEST = 2**21  # bytes of a pickle: the histories of some 100,000 epochs
SHARED = 16  # uses again of one object, at most: nested, they stand for some hundred at worst
PLAIN = {"BINUNICODE", "SHORT_BINUNICODE", "GLOBAL", "STACK_GLOBAL", "BINPERSID"}  # hold nothing


def whole_archive(content: bytes, origin: str) -> None:
    """Raise InputError where an archive unpacks to more than its size, or its pickle is too long or
    stands for more than its length tells; BadZipFile or ValueError where it is damaged."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > len(content):  # torch.save compresses nothing
            raise InputError(f"{origin}: {len(content)} bytes that unpack to {unpacked}: refused")
        pickles = [part for part in archive.infolist() if part.filename.endswith(".pkl")]
        if (long := sum(part.file_size for part in pickles)) > LONGEST:
            raise InputError(f"{origin}: a pickle of {long} bytes, must be at most {LONGEST}")
        # torch looks at no checksum, and leaves what is marked as a folder unread.
        if archive.testzip() or any(x.external_attr & 0x10 for x in archive.infolist()):
            raise zipfile.BadZipFile
        if any(shared(archive.read(part)) > SHARED for part in pickles):
            raise InputError(f"{origin}: holds the same list or tuple too often: refused")


def shared(pickle: bytes) -> int:
    """How often a pickle uses again what may hold other objects. Lists of a list of … of the same
    list, or tuples, take a time to hash and to show that is exponential in the pickle's length."""
    holders, count, last, kept = set(), 0, "", 0
    for operation, given, _ in pickletools.genops(pickle):
        name = operation.name
        if "PUT" in name or name == "MEMOIZE":
            holders |= set() if last in PLAIN else {kept if given is None else given}
            kept += 1
        elif name == "DUP" or ("GET" in name and given in holders):
            count += 1
        last = name
    return count
