"""The files embedded in a Source map."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import PakFile, _Pak


class Pak(MutableMapping[str, bytes]):
    """The embedded files by name. Names are compared as engines do: without regard to case, and ``\\`` is ``/``.

    Setting a file that is there keeps its name, its position and how it is stored; a new one follows the others.
    """

    def __init__(self, native: _Pak) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str | bytes) -> bytes:
        return self._native.read(name)

    def __setitem__(self, name: str | bytes, data: bytes | bytearray) -> None:
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"a file is bytes, and not {type(data).__name__}; for text use text.encode()")
        self._native.write(name, data)

    def __delitem__(self, name: str | bytes) -> None:
        self._native.remove(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, (str, bytes)) and self._native.has(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.names())

    def files(self) -> list[PakFile]:
        """The files with their sizes and methods; their bytes are not read."""
        return self._native.files()

    def select(self, *patterns: str) -> list[str]:
        """The names that one of the patterns matches, such as ``*.vmt``; all without a pattern."""
        return self._native.select(patterns)

    def rename(self, old: str | bytes, new: str | bytes) -> None:
        """Gives a file another name; its bytes and its position stay."""
        self._native.rename(old, new)

    def compress(self, *patterns: str) -> int:
        """Compresses the files that the patterns match, or all, where that makes them smaller; returns how many."""
        return self._native.compress(patterns)

    def store(self, *patterns: str) -> int:
        """Decompresses the files that the patterns match, or all; returns how many were compressed."""
        return self._native.store(patterns)

    def extract(self, folder: str | PathLike[str], *patterns: str) -> list[Path]:
        """Writes the files that the patterns match, or all, below a folder; returns their paths."""
        return [Path(path) for path in self._native.extract(folder, patterns)]

    def add_folder(self, folder: str | PathLike[str]) -> int:
        """Adds all files of a folder, with names from that folder on, in lower case; returns how many."""
        return self._native.add_folder(folder)

    def sync(self, folder: str | PathLike[str]) -> tuple[int, int, int]:
        """Makes the embedded files those of a folder; returns how many were added, changed and removed."""
        return self._native.sync(folder)

    def __repr__(self) -> str:
        return f"<bspkit.Pak, {len(self)} files>"

    def __reduce__(self) -> str:
        raise TypeError("embedded files cannot be pickled: pickle dict(map.pak)")
