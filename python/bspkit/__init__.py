"""Maps of the BSP family: open any, change exactly what you mean to change, save every other byte as it was.

    import bspkit

    with bspkit.open("dm4.bsp") as map:
        map.entities[0]["message"] = "The Place"
        print(map.save("out.bsp"))
"""

from ._interpreter import is_main

if not is_main():
    raise ImportError("bspkit works in the main interpreter of a process alone, and not in a subinterpreter")

from collections.abc import Sequence

from ._errors import (
    AmbiguousError,
    ArgumentError,
    BspError,
    BusyError,
    ClosedError,
    DamagedError,
    FaultError,
    FileError,
    MalformedError,
    NotABspError,
    NotFoundError,
    RefusedError,
    TooLargeError,
    UnsupportedError,
)
from ._native import (
    Entities,
    Entity,
    Finding,
    Lump,
    Map,
    Output,
    PakFile,
    SaveReport,
    __version__,
    open,
)

from ._models import Models
from ._pak import Pak
from ._source import read_source, write_source
from ._types import AppliedRule, CopiedModel, Decompiled, Filled, Followed, FollowedField, Model, Need, Packed, Pruned, PrunedLump, Reference, References, RemovedModels, Renamed, Unused, Vector

Sequence.register(Entities)  # pyright: ignore[reportAttributeAccessIssue]

__all__ = [
    "AmbiguousError",
    "AppliedRule",
    "ArgumentError",
    "BspError",
    "BusyError",
    "ClosedError",
    "CopiedModel",
    "DamagedError",
    "Decompiled",
    "Entities",
    "Entity",
    "FaultError",
    "FileError",
    "Filled",
    "Finding",
    "Followed",
    "FollowedField",
    "Lump",
    "MalformedError",
    "Map",
    "Model",
    "Models",
    "Need",
    "NotABspError",
    "NotFoundError",
    "Output",
    "Packed",
    "Pak",
    "PakFile",
    "Pruned",
    "PrunedLump",
    "Reference",
    "References",
    "RefusedError",
    "RemovedModels",
    "Renamed",
    "SaveReport",
    "TooLargeError",
    "UnsupportedError",
    "Unused",
    "Vector",
    "__version__",
    "open",
    "read_source",
    "write_source",
]
