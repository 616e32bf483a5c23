"""Small types: vectors, and what methods return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._native import _Format


class Vector(NamedTuple):
    """Three numbers, such as an origin. As a value of an entity it is written `x y z`."""

    x: float
    y: float
    z: float

    @classmethod
    def parse(cls, text: str) -> Vector:
        """The vector that a text means; ValueError if it is not three numbers."""
        parts = text.split()
        if len(parts) != 3:
            raise ValueError(f"{text!r} is not three numbers")
        return cls(*map(float, parts))

    def __add__(self, other: tuple[float, float, float]) -> Vector:  # type: ignore[override]
        return Vector(*(a + b for a, b in zip(self, other, strict=True)))

    def __radd__(self, other: tuple[float, float, float]) -> Vector:
        return self + other

    def __sub__(self, other: tuple[float, float, float]) -> Vector:
        return Vector(*(a - b for a, b in zip(self, other, strict=True)))

    def __rsub__(self, other: tuple[float, float, float]) -> Vector:
        return -self + other

    def __mul__(self, factor: float) -> Vector:  # type: ignore[override]
        if not isinstance(factor, Real):
            return NotImplemented
        return Vector(*(a * factor for a in self))

    def __rmul__(self, factor: float) -> Vector:  # type: ignore[override]
        return self * factor

    def __neg__(self) -> Vector:
        return self * -1

    @property
    def length(self) -> float:
        return math.hypot(*self)

    def distance(self, other: tuple[float, float, float]) -> float:
        return (self - other).length

    def __str__(self) -> str:
        return " ".join(str(int(part)) if float(part).is_integer() else repr(float(part)) for part in self)


class Renamed(NamedTuple):
    """The result of `Map.rename`."""

    changes: list[tuple[str, str, str]]
    """Every name and path that changed: the place, the old one, the new one."""
    left: list[str]
    """The places that have the old name and stay."""


class Need(NamedTuple):
    """A file that a Source map refers to."""

    name: str
    kind: str
    sure: str
    """`certain`, `likely` or `optional`."""
    found: str
    """`packed` in the map, in the `game`, or `nowhere`."""
    references: list[str]
    """What refers to it."""


class Unused(NamedTuple):
    """An embedded file that nothing is known to refer to."""

    name: str
    size: int
    sure: str
    """`certain`, `likely` or `possible`."""
    why: str
    number: int
    """Its number among the embedded files, from 0: two may have one name."""


class Decompiled(NamedTuple):
    """The result of `Map.decompile`."""

    text: bytes
    """The source, for editors and compilers."""
    format: _Format
    """`quake`, `valve`, `quake3`, `brushdef` or `vmf`."""
    report: dict[str, Any]
    """What the source holds, what is left out, and the proof, as `bspkit decompile --json` has them."""


class Filled(NamedTuple):
    """The result of `Pak.fill`."""

    added: list[str]
    """The names of the files that are embedded now."""
    missing: list[Need]
    """What is still nowhere."""


@dataclass(frozen=True)
class AppliedRule:
    """A rule that `Map.apply_rules` applied."""

    file: str
    line: int
    count: int
    """How many entities it matched or added."""


class Packed(NamedTuple):
    """The result of `Pak.compress` and `Pak.store`."""

    changed: int
    """How many files are stored in another way now."""
    kept: int
    """How many stay: they were stored that way, or would not be smaller, or engines read them in pieces."""
    before: int
    """The bytes of the changed files in the map before."""
    after: int
    """And after."""
    failed: list[tuple[str, str]]
    """The names of files that could not be read, with the reason. They stay."""


@dataclass(frozen=True)
class Reference:
    """Records that refer to another one, or that it refers to."""

    lump: str
    """The lump, `LUMP.list`, or `ENTITIES`."""
    record: int
    """The record, or the first of several."""
    count: int
    """How many there are from that one on."""
    field: str
    """The field with the number, or the key of the entity."""

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.lump}[{self.record}]"
        return f"{self.lump}[{self.record}..{self.record + self.count}]"


class References(NamedTuple):
    """The references of a record in both directions."""

    by: list[Reference]
    """What refers to it."""
    to: list[Reference]
    """What it refers to."""


@dataclass(frozen=True)
class FollowedField:
    """A field whose numbers followed an edit of records."""

    lump: str
    field: str
    count: int
    """In how many records."""


class Followed(NamedTuple):
    """What an edit of the order or the number of records changed."""

    fields: list[FollowedField]
    removed: list[tuple[str, int]]
    """The lumps of removed records, with their number: those of the edit and those that went with them."""
    warnings: list[str]
    """What may be wrong after an edit that was forced."""


@dataclass(frozen=True)
class Model:
    """A brush model: a part of the map that entities name ``*1``, ``*2`` and so on."""

    number: int
    """0 is the world."""
    mins: Vector
    maxs: Vector
    entities: list[int]
    """The indices of the entities that name it."""
    faces: int
    records: dict[str, int]
    """How many records belong to it alone, by lump."""
    light: int
    """The bytes of light of its faces alone."""
    size: int
    """All bytes that belong to it alone."""


@dataclass(frozen=True)
class PrunedLump:
    """A lump, or a list in it, that has less than before."""

    lump: str
    unit: str
    """What is counted: ``records``, ``textures`` or ``bytes``."""
    before: int
    after: int
    size: int
    """The bytes that are gone."""


class Pruned(NamedTuple):
    """The result of `Map.prune`."""

    lumps: list[PrunedLump]
    warnings: list[str]
    """What stayed although it may be unused, and what may be wrong after an edit that was forced."""


class CopiedModel(NamedTuple):
    """What `Models.copy_from` added."""

    number: int
    """The number of the new model."""
    entities: list[int]
    """The indices of the new entities."""
    records: dict[str, int]
    """How many records were added, by lump."""
    light: int
    """The bytes of light."""
    textures: list[str]
    """The names of the textures that were added."""
    warnings: list[str]
    """What is missing, and what may be wrong after a copy that was forced."""


class RemovedModels(NamedTuple):
    """What `Models.remove` removed."""

    followed: Followed
    """The records, and what followed."""
    entities: list[int]
    """The entities that named one of the models, by the indices that they had."""
    light: int
    """The bytes of light."""


def followed(fields: list[tuple[str, str, int]], removed: list[tuple[str, int]], warnings: list[str]) -> Followed:
    """The report, from what the native module says."""
    return Followed([FollowedField(*field) for field in fields], removed, warnings)
