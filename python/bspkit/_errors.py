"""Exceptions. Each is of the built-in kind that fits too, so that code need not know bspkit to catch it."""

from __future__ import annotations

import errno
from collections.abc import Callable


class BspError(Exception):
    """What can fail. `kind`, `place`, `hint`, `lump`, `record` and `offset` say more."""

    kind: str = "other"
    place: str | None = None
    hint: str | None = None
    lump: str | None = None
    record: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        # Some built-in kinds show their message in another form.
        return str(self.args[0]) if self.args else ""


class FileError(BspError, OSError):
    """Reading or writing a file failed. If the system says why, it is a `FileNotFoundError` or `PermissionError` too."""

    kind = "io"

    def __reduce__(self) -> tuple[object, ...]:
        # Python's own classes of this kind would lose the number and the reason.
        return _again, (type(self), self.args, self.errno, self.strerror), self.__dict__


class NotABspError(BspError, ValueError):
    """The bytes are not a map of the BSP family."""

    kind = "not-a-bsp"


class UnsupportedError(BspError, ValueError):
    """A map or a lump of a kind that is not supported."""

    kind = "unsupported"


class AmbiguousError(BspError, ValueError):
    """Several dialects fit; name one."""

    kind = "ambiguous"


class MalformedError(BspError, ValueError):
    """The file contradicts itself."""

    kind = "malformed"


class NotFoundError(BspError, KeyError, IndexError):
    """The map does not have what was asked for, by a name or by a number."""

    kind = "not-found"


class ArgumentError(BspError, ValueError):
    """An argument is not valid."""

    kind = "argument"


class RefusedError(BspError, ValueError):
    """An edit that no engine could read back, or that would destroy something."""

    kind = "refused"


class DamagedError(BspError, ValueError):
    """The map is damaged; an edit of it is only saved with `force=True`."""

    kind = "damaged"


class TooLargeError(BspError, ValueError):
    """A limit of the format or of the library is exceeded."""

    kind = "too-large"


class FaultError(BspError, RuntimeError):
    """bspkit itself has a fault, which should be reported."""

    kind = "fault"


class ClosedError(BspError, ValueError):
    """The map was closed, so it cannot be used any more."""

    kind = "closed"


class BusyError(BspError, RuntimeError):
    """The map is in use by a call of the same thread, such as one that a finalizer interrupts."""

    kind = "busy"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file or folder."""


class DeniedFileError(FileError, PermissionError):
    """The system does not allow it."""


class ExistingFileError(FileError, FileExistsError):
    """The file is there already."""


class FolderError(FileError, IsADirectoryError):
    """It is a folder."""


class NoFolderError(FileError, NotADirectoryError):
    """It is no folder."""


_BY_NUMBER: dict[int, type[FileError]] = {
    errno.ENOENT: MissingFileError,
    errno.EACCES: DeniedFileError,
    errno.EPERM: DeniedFileError,
    errno.EEXIST: ExistingFileError,
    errno.EISDIR: FolderError,
    errno.ENOTDIR: NoFolderError,
}
for _public in (BspError, *BspError.__subclasses__()):
    _public.__module__ = "bspkit"


def _again(kind: type[FileError], args: tuple[object, ...], number: int | None, reason: str | None) -> FileError:
    """An exception that another process has had."""
    error = kind(*args)
    error.errno, error.strerror = number, reason
    return error


def make(name: str, message: str, number: int | None, attributes: dict[str, object]) -> BspError:
    """An exception, from what the native module says."""
    kind: type[BspError] = globals()[name]
    if kind is FileError and number is not None:
        kind = _BY_NUMBER.get(number, FileError)
    error: BspError = kind(message)
    if isinstance(error, FileError) and number is not None:
        error.errno, error.strerror = number, message
    for key, value in attributes.items():
        setattr(error, key, value)
    hint = attributes.get("hint")
    if hint is not None:
        error.add_note(f"hint: {hint}")
    return error


def shown(name: str, count: Callable[[], object]) -> str:
    """How a thing shows itself, also that of a closed map."""
    try:
        return f"<bspkit.{name}, {count()}>"
    except BspError as error:
        return f"<bspkit.{name}, {error.kind}>"
