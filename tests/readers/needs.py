"""Prints what srctools finds in maps by its own table of keys: faces, static props, and entity keys with the types of
files. Each line has the number of a map and a file; a map that it cannot read has none."""

import sys
import warnings

warnings.simplefilter("ignore")

from srctools.bsp import BSP
from srctools.fgd import FGD, ValueTypes

MATERIALS = {ValueTypes.STR_MATERIAL, ValueTypes.STR_DECAL, ValueTypes.STR_SPRITE}


def material(name):
    name = name.replace("\\", "/").lower().strip("/")
    name = name.removeprefix("materials/")
    for extension in (".vmt", ".spr"):
        name = name.removesuffix(extension)
    return f"materials/{name}.vmt"


def files(kind, value):
    lower = value.replace("\\", "/").lower()
    if kind in MATERIALS or lower.endswith((".vmt", ".spr")):
        yield material(value)
    elif kind is ValueTypes.EXT_STR_TEXTURE:
        yield material(value).removesuffix(".vmt") + ".vtf"
    elif kind is ValueTypes.STR_MODEL and lower.endswith(".mdl"):
        yield lower
    elif kind is ValueTypes.STR_SOUND and lower.endswith((".wav", ".mp3")):
        yield "sound/" + lower.lstrip("*#@<>^)(}$!?&~`+%/")
    elif kind is ValueTypes.STR_SCENE:
        yield lower


def files_of(path, fgd):
    bsp, found = BSP(path), set()
    found.update(material(name) for name in bsp.textures)
    # A short name in the list of models has the end of a longer one after its NUL.
    models = (prop.model.split("\0")[0] for prop in bsp.props)
    found.update(model.replace("\\", "/").lower() for model in models)
    sky = bsp.ents.spawn["skyname"].strip().lower()
    if sky:
        found.update(f"materials/skybox/{sky}{side}.vmt" for side in ("rt", "lf", "bk", "ft", "up", "dn"))
    for entity in [bsp.ents.spawn, *bsp.ents.entities]:
        try:
            known = fgd[entity["classname"]]
        except KeyError:
            continue
        for key, value in entity.items():
            try:
                kind = known.kv[key].type
            except KeyError:
                continue
            if value.strip():
                found.update(files(kind, value.strip()))
    # Names of files have no empty parts.
    return sorted("/".join(part for part in name.split("/") if part) for name in found)


def main(paths):
    fgd = FGD.engine_dbase()
    for number, path in enumerate(paths):
        try:
            found = files_of(path, fgd)
        except Exception as error:
            print(f"{path}: {error}", file=sys.stderr)
            continue
        for name in found:
            print(number, name)


main(sys.argv[1:])
