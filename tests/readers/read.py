"""read.py READER MAP... prints what an independent reader says of Source maps, one fact a line.

READER is srctools, sourcepp or bsp_tool, as the package of the same name. Each map begins with the line "READ map";
a line "READ end" says that the reader came to the end of it. What a reader cannot read is a fact too: "failed".
Other lines are the readers' own and mean nothing.
"""

import hashlib
import json
import sys
import zlib

try:
    import resource
except ImportError:
    # Not on Windows.
    resource = None


def fact(*words):
    print("READ", *words, flush=True)


def fingerprint(data):
    return f"{len(data)} bytes, {hashlib.sha256(data).hexdigest()[:16]}"


def pair(entity, key, value):
    fact("entity", entity, json.dumps([key, value]))


class Part:
    """A part of a map: where reading it fails, the failure is printed and the next part is read."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, Exception):
            fact("failed", self.name, f"{kind.__name__}: {error}"[:200].replace("\n", " "))
            return True


def pakfile(archive):
    """A pakfile that was opened as Python's ZipFile."""
    for info in archive.infolist():
        with Part(f"pak {info.filename}"):
            data = archive.read(info)
            assert len(data) == info.file_size, "another size"
            fact("pak", info.filename, f"{fingerprint(data)}, crc {info.CRC:08x}, method {info.compress_type}")


def srctools(path):
    from srctools.bsp import BSP

    bsp = BSP(path)
    fact("map", bsp.version, bsp.map_revision)
    # Before anything is parsed, which takes the bytes away.
    for lump in bsp.lumps.values():
        if lump.data:
            fact("lump", lump.type.name, lump.version, fingerprint(lump.data), lump.is_compressed)
    for name, lump in bsp.game_lumps.items():
        fact("lump", name.decode("latin-1"), lump.version, fingerprint(lump.data), lump.is_compressed)
    with Part("pak"):
        pakfile(bsp.pakfile)
    with Part("props"):
        for prop in bsp.props:
            fact("prop", prop.model, prop.origin, prop.angles, prop.skin, sorted(leaf.cluster_id for leaf in prop.visleafs))
    for name in (
        "textures texinfo cubemaps overlays bmodels brushes visleafs water_leaf_info nodes visibility vertexes "
        "surfedges planes faces orig_faces hdr_faces primitives detail_props"
    ).split():
        with Part(name):
            value = getattr(bsp, name)
            fact("count", name, len(value) if hasattr(value, "__len__") else value is not None)
    with Part("entities"):
        for index, entity in enumerate([bsp.ents.spawn, *bsp.ents.entities]):
            for key, value in sorted(entity.items()):
                pair(index, key, value)
            for output in entity.outputs:
                parts = [output.target, output.input, output.params, output.delay, output.times, output.comma_sep]
                pair(index, output.output, parts)


def sourcepp(path):
    from sourcepp import bsppp

    bsp = bsppp.BSP(path, False)
    if not bsp:
        raise ValueError("not opened")
    fact("map", bsp.version, bsp.map_revision, bsp.l4d2, bsp.console)
    seen = set()
    for lump in bsppp.BSP.Lump:
        # Some numbers have two names.
        if not 0 <= lump.value < 64 or lump.value in seen or not bsp.has_lump(lump):
            continue
        seen.add(lump.value)
        with Part(lump.name):
            data = bytes(bsp.get_lump_data(lump))
            # The pakfile and the game lump hold offsets: their files and members follow.
            if lump.name != "GAME_LUMP":
                version, is_compressed = bsp.get_lump_version(lump), bsp.is_lump_compressed(lump)
                fact("lump", lump.name, version, fingerprint(data), is_compressed)
    for index, lump in enumerate(bsp.get_lump_data_for_game_lump()):
        # It looks for the names of members back to front and finds none.
        with Part(f"member {index}"):
            fact("member", index, lump.version, fingerprint(bytes(lump.data)), lump.is_compressed)
    for name in "planes texdata vertexes nodes texinfo faces edges surfedges models originalfaces".split():
        with Part(name):
            fact("count", name, len(getattr(bsp, f"get_lump_data_for_{name}")()))
    with Part("entities"):
        for index, entity in enumerate(bsp.get_lump_data_for_entities()):
            for item in entity.keyvalues:
                pair(index, item.key, item.value)
    with Part("pak"):
        files = []
        archive = bsppp.PakLump.open(path, lambda name, entry: files.append((name, entry.length, entry.crc32)))
        for name, length, crc in sorted(files):
            data = bytes(archive.read_entry(name))
            assert (len(data), zlib.crc32(data)) == (length, crc), f"{name}: another size or checksum"
            fact("pak", name, fingerprint(data))


def bsp_tool(path):
    import bsp_tool
    from bsp_tool.branches.valve import left4dead2

    bsp = bsp_tool.load_bsp(path)
    if "room_l4d2" in path:
        # It takes the order of the fields for the usual one unless it is told.
        bsp = bsp_tool.load_bsp(path, left4dead2)
    fact("map", bsp.version, bsp.revision, bsp.branch.__name__)
    for name, error in bsp.loading_errors.items():
        fact("failed", name, f"{type(error).__name__}: {error}"[:200])
    for name, header in bsp.headers.items():
        if not getattr(header, "length", 0) or not hasattr(bsp, name) or name in ("ENTITIES", "GAME_LUMP", "PAKFILE"):
            continue
        with Part(name):
            lump = getattr(bsp, name)
            records = list(lump) if hasattr(lump, "__iter__") else [lump.as_bytes()]
            data = [record.as_bytes() if hasattr(record, "as_bytes") else repr(record).encode() for record in records]
            fact("lump", name, header.version, len(records), fingerprint(b"".join(data)))
    with Part("entities"):
        for index, entity in enumerate(bsp.ENTITIES):
            for key, values in entity.items():
                for value in values if isinstance(values, list) else [values]:
                    pair(index, key, value)
    # It knows nothing of the empty member that ends a list of compressed ones; said above.
    if "GAME_LUMP" not in bsp.loading_errors:
        for name, header in bsp.GAME_LUMP.headers.items():
            with Part(name):
                member = getattr(bsp.GAME_LUMP, name)
                data = bytes(member.as_bytes() if hasattr(member, "as_bytes") else member[:])
                fact("member", name, header.version, header.length, fingerprint(data))
    with Part("pak"):
        pakfile(bsp.PAKFILE)


def main():
    # What a damaged map says of its sizes is not to be believed.
    if resource:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    reader = {"srctools": srctools, "sourcepp": sourcepp, "bsp_tool": bsp_tool}[sys.argv[1]]
    for path in sys.argv[2:]:
        fact("map")
        with Part("map"):
            reader(path)
            fact("end")


main()
