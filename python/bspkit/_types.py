"""Small types: vectors and outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

_ESCAPE = "\x1b"


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

    def __sub__(self, other: tuple[float, float, float]) -> Vector:
        return Vector(*(a - b for a, b in zip(self, other, strict=True)))

    def __mul__(self, factor: float) -> Vector:  # type: ignore[override]
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
        return " ".join(f"{part:.17g}" if part != int(part) else str(int(part)) for part in self)


@dataclass
class Output:
    """An output of a Source entity: `door,Open,,0.5,-1`. Newer games have ESC (0x1B) between the fields."""

    target: str
    input: str
    parameter: str = ""
    delay: float = 0.0
    times: int = -1
    separator: str = ","

    @classmethod
    def parse(cls, value: str) -> Output | None:
        """The output that a value means; None if it is none."""
        separator = _ESCAPE if _ESCAPE in value else ","
        fields = value.split(separator)
        if len(fields) != 5 or not fields[1]:
            return None
        try:
            return cls(fields[0], fields[1], fields[2], float(fields[3]), int(float(fields[4])), separator)
        except ValueError:
            return None

    def __str__(self) -> str:
        delay = str(int(self.delay)) if self.delay == int(self.delay) else repr(self.delay)
        fields = [self.target, self.input, self.parameter, delay, str(self.times)]
        if any(self.separator in field for field in fields):
            raise ValueError(f"a field of the output has the separator {self.separator!r}")
        return self.separator.join(fields)

    __bspkit_text__ = __str__


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
    """`packed`, or `nowhere` in the map."""
    references: list[str]
    """What refers to it."""
