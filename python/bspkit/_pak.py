"""The files embedded in a Source map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ._errors import shown
from ._types import Filled, Need, Packed, Unused

if TYPE_CHECKING:
    from ._native import PakFile, _Pak

    #: How a file is stored.
    _Method: TypeAlias = Literal["lzma", "stored", "keep"]

#: The files of a game: a folder, an archive, a list of names, or several of these.
Game: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]


class Pak(MutableMapping[str, bytes]):
    """The embedded files by name. Names are compared as engines do: without regard to case, and ``\\`` is ``/``.

    Where several names are the same to engines, a name means the first file that is spelled like it, and without one the
    first of them. ``del`` removes that file alone, and is refused if none is spelled like it; setting is refused if it is
    not known which one is meant. Of files with the same spelling only the first can be read by its name; ``extract``
    writes all.

    Setting a file that is there keeps its name and its position. It stays compressed if that makes it smaller, and has
    no time. A new one follows the others.
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

    def compress(self, policy: str | Iterable[str] | Mapping[str, _Method] = "**", *, level: int = 6) -> Packed:
        """Stores files in another way, where they become smaller by it.

        ``policy`` is a pattern of the files that are compressed, several patterns, or a mapping of patterns to
        ``"lzma"``, ``"stored"`` and ``"keep"``, of which the last one that matches a file counts::

            pak.compress({"**": "lzma", "*.vtf": "stored", "materials/skybox/**": "keep"})

        ``level`` is 0 for the fastest to 9 for the smallest result.

        Sounds and other files that engines read in pieces are never compressed. Games from Team Fortress 2's engine on
        read compressed files; Left 4 Dead, Portal 2 and older games do not.
        """
        if isinstance(policy, Mapping):
            return self._pack(policy, level)
        patterns = [policy] if isinstance(policy, str) else policy
        return self._pack({pattern: "lzma" for pattern in patterns}, level)

    def store(self, *patterns: str) -> Packed:
        """Decompresses the files that the patterns match, or all."""
        return self._pack({pattern: "stored" for pattern in patterns or ("**",)})

    def _pack(self, policy: Mapping[str, _Method], level: int = 6) -> Packed:
        return Packed(*self._native.pack(list(policy.items()), level))

    def set_time(self, time: datetime | str | None, *patterns: str) -> int:
        """Sets the time of the files that the patterns match, or all; returns how many. ``None`` is no time."""
        text = time.replace(microsecond=0, tzinfo=None).isoformat() if isinstance(time, datetime) else time or ""
        return self._native.set_time(text, patterns)

    def extract(self, folder: str | PathLike[str], *patterns: str, force: bool = False) -> list[Path]:
        """Writes the files that the patterns match, or all, below a folder; returns their paths.

        A name that leads out of the folder, one that some system does not allow, and a path with a symbolic link are
        refused; a file that is there with other bytes is replaced with ``force`` alone. The other files are written
        then, and the error says how many are not. If names differ only in case, later ones get a number.
        """
        return [Path(path) for path in self._native.extract(folder, patterns, force)]

    def add_folder(self, folder: str | PathLike[str]) -> int:
        """Adds all files of a folder, with names from that folder on, in lower case; returns how many.

        A file that is embedded already gets new bytes. After an error nothing is changed.
        """
        return self._native.add_folder(folder)

    def sync(self, folder: str | PathLike[str]) -> tuple[int, int, int]:
        """Makes the embedded files those of a folder; returns how many were added, changed and removed."""
        return self._native.sync(folder)

    def missing(self, game: Game, *, name: str | None = None) -> list[Need]:
        """The files that the map needs and that neither it nor the game has.

        ``game`` is the game's folder (with ``gameinfo.txt``), another folder of files, an archive (``.vpk``), a list of
        names (``.txt``), or several of these. ``name`` is the name of the map; without it that of its file is taken.
        """
        return self._native.missing(game, name)

    def unused(self, *, game: Game | None = None, name: str | None = None) -> list[Unused]:
        """The embedded files that nothing is known to refer to, with how sure that is. A game makes it surer."""
        return self._native.unused(game, name)

    def fill(
        self,
        source: Game,
        *,
        game: Game | None = None,
        name: str | None = None,
        only: Iterable[str] = (),
        exclude: Iterable[str] = (),
    ) -> Filled:
        """Embeds the files that the map needs and that neither it nor the game has, from folders and archives.

        What an embedded file refers to is embedded too. ``only`` and ``exclude`` are patterns.
        """
        return Filled(*self._native.fill(source, game, name, list(only), list(exclude)))

    def __repr__(self) -> str:
        return shown("Pak", lambda: f"{len(self)} files")

    def __reduce__(self) -> str:
        raise TypeError("embedded files cannot be pickled: pickle dict(map.pak)")
