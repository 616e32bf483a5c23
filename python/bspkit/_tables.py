"""Records as NumPy arrays."""

from __future__ import annotations

from typing import Any

try:
    import numpy
except ImportError as error:  # pragma: no cover
    raise ImportError("tables need NumPy: pip install 'bspkit[numpy]'") from error

from ._native import ClosedError


class Table(numpy.ndarray):
    """The records of a lump. It is an array of NumPy; what is written into it is an edit of the map.

    The array of a map that was closed can be read and not be written.
    """

    _map: Any = None

    def __array_finalize__(self, other: Any) -> None:
        # Copies have memory of their own, and are no part of the map.
        if isinstance(other, Table) and self.base is not None:
            self._map = other._map

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._map is not None and self._map.closed:
            raise ClosedError("the map was closed, so its records cannot be written any more")
        super().__setitem__(key, value)

    def describe(self) -> list[dict[str, Any]]:
        """The fields: name, engine's name, offset, type, meaning."""
        if self.dtype.metadata is None:
            return []
        return [dict(field) for field in self.dtype.metadata["fields"]]


def _dtype(shape: Any) -> Any:
    if isinstance(shape, str):
        return numpy.dtype(shape)
    if isinstance(shape, tuple):
        return numpy.dtype((_dtype(shape[0]), (shape[1],)))
    return _struct(shape, None, sum(field["size"] for field in shape))


def _struct(fields: list[dict[str, Any]], name: str | None, size: int) -> Any:
    first = fields[0]["offset"] if name is None else 0
    types: Any = {
        "names": [field["name"] for field in fields],
        "formats": [_dtype(field["type"]) for field in fields],
        "offsets": [field["offset"] - first for field in fields],
        "itemsize": size,
    }
    return numpy.dtype(types, metadata={"record": name, "fields": fields})


def table(map: Any, parts: dict[str, Any]) -> Table:
    """The array of a lump, from what the native module says of it."""
    dtype = _struct(parts["fields"], parts["name"], parts["size"])
    flat = numpy.frombuffer(parts["buffer"], dtype, parts["count"], parts["start"]) if parts["count"] else numpy.empty(0, dtype)
    found = flat.view(Table)
    found._map = map
    return found
