"""The texts of sources, `.map` and `.vmf`, as Python's lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._native import _Format


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """A value with everything in its lists, and the values of its dictionaries, changed."""
    if isinstance(value, dict):
        return {key: _each(change, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each(change, part) for part in value]
    return change(value)


def _text(value: Any) -> Any:
    # What is not UTF-8 becomes surrogates, as in names of files.
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _bytes(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        raise ArgumentError(f"{value} is not a number that a source can have")
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def read_source(text: bytes, format: _Format) -> list[dict[str, Any]]:
    """The entities of a source, with `pairs`, `brushes` and `patches`.

    A brush has `sides`; a side has three `points`, a `texture` and an `alignment`: a dictionary with `standard`, `axes` or
    `matrix`. `write_source` takes the same. All forms of a `.map` are read, whichever of them `format` names.
    """
    return [_each(_text, entity) for entity in _native.read_source(text, format)]


def write_source(entities: Sequence[dict[str, Any]], format: _Format) -> bytes:
    """The text of a source, for editors and compilers. What an entity or a side need not have may be left out.

    No compiler reads a ``"`` within a value: it becomes ``'``.
    """
    return _native.write_source([_each(_bytes, entity) for entity in entities], format)
