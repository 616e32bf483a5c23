"""Maps of the BSP family: open any, change exactly what you mean to change, save every other byte as it was.

    import bspkit

    with bspkit.open("dm4.bsp") as map:
        map.entities[0]["message"] = "The Place"
        print(map.save("out.bsp"))
"""

from ._native import (
    AmbiguousError,
    ArgumentError,
    BspError,
    ClosedError,
    DamagedError,
    Entities,
    Entity,
    FileError,
    Finding,
    Lump,
    MalformedError,
    Map,
    NotABspError,
    NotFoundError,
    PakFile,
    RefusedError,
    SaveReport,
    TooLargeError,
    UnsupportedError,
    __version__,
    open,
)

from ._pak import Pak
from ._types import Need, Output, Renamed, Vector

__all__ = [
    "AmbiguousError",
    "ArgumentError",
    "BspError",
    "ClosedError",
    "DamagedError",
    "Entities",
    "Entity",
    "FileError",
    "Finding",
    "Lump",
    "MalformedError",
    "Map",
    "Need",
    "NotABspError",
    "NotFoundError",
    "Output",
    "Pak",
    "PakFile",
    "RefusedError",
    "Renamed",
    "SaveReport",
    "TooLargeError",
    "UnsupportedError",
    "Vector",
    "__version__",
    "open",
]
