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
    BusyError,
    ClosedError,
    DamagedError,
    Entities,
    Entity,
    FaultError,
    FileError,
    Finding,
    Lump,
    MalformedError,
    Map,
    NotABspError,
    NotFoundError,
    Output,
    PakFile,
    RefusedError,
    SaveReport,
    TooLargeError,
    UnsupportedError,
    __version__,
    open,
)

from ._models import Models
from ._pak import Pak
from ._types import AppliedRule, CopiedModel, Followed, FollowedField, Model, Need, Packed, Pruned, PrunedLump, Reference, References, RemovedModels, Renamed, Vector

__all__ = [
    "AmbiguousError",
    "AppliedRule",
    "ArgumentError",
    "BspError",
    "BusyError",
    "ClosedError",
    "CopiedModel",
    "DamagedError",
    "Entities",
    "Entity",
    "FaultError",
    "FileError",
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
    "Vector",
    "__version__",
    "open",
]
