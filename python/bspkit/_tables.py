"""Records as NumPy arrays."""

from __future__ import annotations

import functools
from typing import Any

try:
    import numpy
except ImportError:  # pragma: no cover
    raise ImportError("tables need NumPy: pip install 'bspkit[numpy]'") from None

from ._errors import ClosedError


#: Functions of NumPy that write into their first argument.
_WRITERS = {numpy.copyto, numpy.put, numpy.place, numpy.putmask, numpy.put_along_axis, numpy.fill_diagonal}


def _plain(value: Any) -> Any:
    return value.view(numpy.ndarray) if isinstance(value, Table) else value


class Table(numpy.ndarray):
    """The records of a lump. It is an array of NumPy; what is written into it is an edit of the map.

    An array of a map that was closed, or whose records were replaced by others of another number, can be read and not
    be written.
    """

    _map: Any = None
    _buffer: Any = None

    def __array_finalize__(self, other: Any) -> None:
        if isinstance(other, Table) and self.base is not None:
            self._map, self._buffer = other._map, other._buffer

    def _state(self) -> str:
        """`open`, `closed`, or `replaced`; an array that is not part of a map is open."""
        return "open" if self._map is None else self._map._table_state(self._buffer)

    def _check(self) -> None:
        match self._state():
            case "closed":
                raise ClosedError("the map was closed, so its records cannot be written any more")
            case "replaced":
                raise ClosedError("the records were replaced by others: get the array anew with map.table")

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        # Copies, as of chosen records, have memory of their own, and are no part of the map.
        if isinstance(found, Table) and found._map is not None and not numpy.may_share_memory(found, self):
            found._map = found._buffer = None
        # Writing into a record of a map that is not open would be lost.
        if isinstance(found, numpy.void) and self._state() != "open":
            copy = numpy.array(found)
            copy.setflags(write=False)
            return copy[()]
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check()
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out", ())
        written = [*out, *(inputs[:1] if method == "at" else ())]
        for table in written:
            if isinstance(table, Table):
                table._check()
        if out:
            options["out"] = tuple(map(_plain, out))
        if "where" in options:
            options["where"] = _plain(options["where"])
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return out[0] if len(out) == 1 else result

    def __array_function__(self, func: Any, types: Any, args: Any, options: Any) -> Any:
        written = [options.get("out"), *(args[:1] if func in _WRITERS else ())]
        for table in written:
            if isinstance(table, Table):
                table._check()
        return super().__array_function__(func, types, args, options)

    def describe(self) -> list[dict[str, Any]]:
        """The fields: name, engine's name, offset, type, meaning."""
        if self.dtype.metadata is None:
            return []
        return [dict(field) for field in self.dtype.metadata["fields"]]


def _guarded(name: str) -> Any:
    plain = getattr(numpy.ndarray, name)

    @functools.wraps(plain)
    def method(self: Table, *args: Any, **options: Any) -> Any:
        self._check()
        return plain(self, *args, **options)

    return method


# Methods that change an array in place.
for _name in ("fill", "sort", "partition", "put", "setfield", "resize"):
    setattr(Table, _name, _guarded(_name))


def _dtype(shape: Any) -> Any:
    if isinstance(shape, str):
        return numpy.dtype(shape)
    if isinstance(shape, tuple):
        return numpy.dtype((_dtype(shape[0]), (shape[1],)))
    return struct(shape, None, sum(field["size"] for field in shape))


#: The types of structs, by what the native module knows them.
dtypes: dict[Any, Any] = {}


def struct(fields: list[dict[str, Any]], name: str | None, size: int) -> Any:
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
    dtype = parts["dtype"]
    flat = numpy.frombuffer(parts["buffer"], dtype, parts["count"], parts["start"]) if parts["count"] else numpy.empty(0, dtype)
    found = flat.view(Table)
    found._map, found._buffer = map, parts["buffer"]
    return found


def little_endian(records: Any, own: Any) -> bytes:
    """The bytes of records with little-endian numbers, by the names of their fields; `own` is the type of the lump."""
    array = numpy.asarray(records)
    if array.dtype.names is None:
        raise TypeError("records are an array such as map.table gives, or bytes with little-endian numbers")
    made = numpy.zeros(array.shape, own)
    _fill(made, array, "")
    return made.tobytes()


def _fill(made: Any, array: Any, name: str) -> None:
    """Copies records, or a field of them, by the names of the fields; what does not fit is an error."""
    names = made.dtype.names
    if names is not None:
        others = array.dtype.names or ()
        if set(others) != set(names):
            where = f" of {name}" if name else ""
            has = ", ".join(others) or f"none, but {array.dtype}"
            raise TypeError(f"the fields{where} are {has}, and those of the lump are {', '.join(names)}")
        for field in names:
            _fill(made[field], array[field], f"{name}.{field}" if name else field)
        return
    if array.shape != made.shape:
        raise TypeError(f"{name} has the shape {array.shape[1:]}, and {made.shape[1:]} is expected")
    if array.dtype.names is not None or array.dtype.kind in "cmM":
        raise TypeError(f"{name} has the type {array.dtype}, and {made.dtype} is expected")
    with numpy.errstate(all="ignore"):
        made[...] = array
    if made.dtype.kind == "S":
        fits = array.dtype.kind not in "SU" or bool((numpy.char.str_len(array) <= made.dtype.itemsize).all())
        what = "a text"
    elif made.dtype.kind == "f":
        fits = array.dtype.kind == "O" or not (numpy.isinf(made) & ~numpy.isinf(array)).any()
        what = "a number"
    else:
        fits = made.dtype.kind not in "iu" or numpy.array_equal(made, array)
        what = "a number"
    if not fits:
        raise ValueError(f"{what} of {name} does not fit into {made.dtype}")
