"""Writes maps of any size, from nothing or from the small maps in tests/maps. It knows no code of bspkit.

Each function takes a path and a number of things, and writes one map, a folder, or a file beside maps.
"""

import binascii
import math
import os
import random
import struct

from geometry import MAPS, boxes, floor, from_map, near_row, read, write

# Entities.


def lights(count, more=lambda at: ""):
    """A text of `count` entities in all."""
    yield b'{\n"classname" "worldspawn"\n"message" "growth"\n}\n'
    for at in range(count - 1):
        place = f"{at % 1000} {at // 1000 % 1000} {at // 1000000}"
        pairs = f'"origin" "{place}"\n"targetname" "l{at}"\n"light" "{at % 300}"\n{more(at)}'
        yield f'{{\n"classname" "light"\n{pairs}}}\n'.encode()
    yield b"\0"


def entities(path, count):
    """Quake, with many entities that each have a name."""
    from_map("q1/own_rooms.bsp", path, {0: lights(count)})


def entities_edited(path, count):
    """The same entities: every eighth has another value, every ninth is gone, every tenth has a new one behind it."""

    def text():
        for at, entity in enumerate(lights(count)):
            if entity == b"\0" or at == 0:
                yield entity
                continue
            if at % 9:
                yield entity.replace(b'"light" "', b'"light" "1') if at % 8 == 0 else entity
            if at % 10 == 0:
                yield f'{{\n"classname" "info_null"\n"origin" "{at} 7 7"\n"targetname" "n{at}"\n}}\n'.encode()

    from_map("q1/own_rooms.bsp", path, {0: text()})


def entities_theirs(path, count):
    """The same entities: every seventh has a key more, but for those that are gone in `entities_edited`."""
    from_map(
        "q1/own_rooms.bsp", path, {0: lights(count, lambda at: '"style" "1"\n' if at % 7 == 0 and (at + 1) % 9 else "")}
    )


def entities_conflict(path, count):
    """The same entities: the values of every eighth differ from those of `entities_edited`."""
    text = (
        entity.replace(b'"light" "', b'"light" "2') if at % 8 == 0 else entity
        for at, entity in enumerate(lights(count))
    )
    from_map("q1/own_rooms.bsp", path, {0: text})


def alike(path, count, first=200, second=200):
    """Quake, with entities of which nothing tells one from the other, but the light of two halves."""
    text = (f'{{\n"classname" "light"\n"origin" "1 2 3"\n"light" "{light}"\n}}\n'.encode() for light in (first, second))
    one, other = text
    halves = [b'{\n"classname" "worldspawn"\n}\n', one * (count // 2), other * (count - count // 2), b"\0"]
    from_map("q1/own_rooms.bsp", path, {0: iter(halves)})


def alike_edited(path, count):
    alike(path, count, first=300)


def alike_theirs(path, count):
    alike(path, count, second=100)


def entities_source(path, count):
    """Source, with many entities that have outputs."""
    more = lambda at: f'"hammerid" "{at + 1000}"\n"OnTrigger" "l{(at + 1) % count},Toggle,,{at % 7},-1"\n'
    from_map("source/room_v20.bsp", path, {0: lights(count, more)})


def entities_named(path, count):
    """GoldSrc, with many entities that each name a model or a sound."""
    more = lambda at: f'"model" "models/own/m{at}.mdl"\n' if at % 2 else f'"message" "own/s{at}.wav"\n'
    text = (
        entity.replace(
            b'"light"\n"origin"', b'"env_sprite"\n"origin"' if at % 2 == 0 else b'"ambient_generic"\n"origin"', 1
        )
        for at, entity in enumerate(lights(count, more))
    )
    from_map("goldsrc/own_rooms.bsp", path, {0: text})


def entities_materials(path, count):
    """Source, with many entities that each name a material of their own."""
    more = lambda at: f'"model" "sprites/own/s{at}.vmt"\n'
    text = (entity.replace(b'"light"\n"origin"', b'"env_sprite"\n"origin"', 1) for entity in lights(count, more))
    from_map("source/room_v20.bsp", path, {0: text})


def loose_materials(path, count):
    """A folder with the materials that `entities_materials` names, and their textures."""
    for at in range(count):
        material = path / f"materials/sprites/own/s{at}.vmt"
        material.parent.mkdir(parents=True, exist_ok=True)
        material.write_text(f'"UnlitGeneric"\n{{\n"$basetexture" "sprites/own/t{at}"\n}}\n')
        (path / f"materials/sprites/own/t{at}.vtf").write_bytes(b"VTF\0" + bytes(60))


# Textures.


def textures(path, count, side=16, empty=False):
    """GoldSrc, with `count` textures more, each with a palette of its own; `empty` is without pixels."""
    lump = read(MAPS / "goldsrc/own_rooms.bsp")[2][2]
    (old,) = struct.unpack_from("<I", lump)
    offsets = list(struct.unpack_from(f"<{old}i", lump, 4))
    moved = [offset + 4 * count if offset >= 0 else offset for offset in offsets]
    body = lump[4 + 4 * old :]
    length = 40 + side * side * 85 // 64 + 2 + 768 + 2
    first = 4 + 4 * (old + count) + len(body)
    size = 40 if empty else length
    head = struct.pack(f"<I{old + count}i", old + count, *moved, *(first + size * at for at in range(count)))

    def all_parts():
        yield head + body
        for at in range(count):
            yield texture(f"own_{at}", side, at, empty)

    from_map("goldsrc/own_rooms.bsp", path, {2: all_parts()})


def texture(name, side, seed, empty=False):
    levels = [40, 40 + side * side, 40 + side * side * 5 // 4, 40 + side * side * 21 // 16]
    head = struct.pack("<16s6I", name.encode(), side, side, *([0] * 4 if empty else levels))
    if empty:
        return head
    pixels = bytes((at * 5 + seed) % 256 for at in range(side * side * 85 // 64))
    return head + pixels + struct.pack("<H", 256) + bytes((at + seed) % 256 for at in range(768)) + b"\0\0"


def wad(path, count, side=16):
    """WAD3 with the textures of `textures`."""
    size = 40 + side * side * 85 // 64 + 772
    with open(path, "wb", 1 << 20) as out:
        out.write(struct.pack("<4s2I", b"WAD3", count, 12 + size * count))
        for at in range(count):
            out.write(texture(f"own_{at}", side, at))
        for at in range(count):
            out.write(struct.pack("<3I2B2x16s", 12 + size * at, size, size, 0x43, 0, f"own_{at}".encode()))


# Embedded files of Source.


def pakfile(files):
    """A zip of stored files, from pairs of a name and bytes."""
    central, place, number = [], 0, 0
    for name, data in files:
        name, crc = name.encode(), binascii.crc32(data)
        common = struct.pack("<5H3I2H", 10, 0, 0, 0, 0, crc, len(data), len(data), len(name), 0)
        yield b"PK\3\4" + common + name + data
        central.append(b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<3H2I", 0, 0, 0, 0, place) + name)
        place += 30 + len(name) + len(data)
        number += 1
    directory = b"".join(central)
    yield (
        directory
        + b"PK\5\6"
        + struct.pack("<4H2IH", 0, 0, number, number, len(directory), place, 32)
        + b"XZP1 0".ljust(32, b"\0")
    )


def materials(count, salt=0):
    for at in range(count):
        text = f'"LightmappedGeneric"\n{{\n"$basetexture" "own/{at % 97}/wall_{at}"\n// {salt}\n}}\n' * (1 + at % 5)
        yield f"materials/own/{at % 97}/wall_{at}.vmt", text.encode()


def files(path, count):
    """Source, with `count` embedded files."""
    from_map("source/room_v20.bsp", path, {40: pakfile(materials(count))})


def files_edited(path, count):
    """The same files: every third has other bytes, every fifth is gone, every seventh has another name."""

    def edited():
        for at, ((name, data), (_, other)) in enumerate(zip(materials(count), materials(count, 1))):
            if at % 5:
                yield (name.replace("wall_", "other_") if at % 7 == 0 else name), (other if at % 3 == 0 else data)

    from_map("source/room_v20.bsp", path, {40: pakfile(edited())})


def files_theirs(path, count):
    """The same files: some that `files_edited` leaves as they are have other bytes."""
    both = enumerate(zip(materials(count), materials(count, 2)))
    from_map(
        "source/room_v20.bsp",
        path,
        {40: pakfile((name, other if at % 105 == 1 else data) for at, ((name, data), (_, other)) in both)},
    )


def loose_files(path, count):
    """A folder with the files of `files`, of which every eighth has other bytes."""
    for at, ((name, data), (_, other)) in enumerate(zip(materials(count), materials(count, 1))):
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(other if at % 8 == 0 else data)


def cubemaps(path, count):
    """Source, with `count` cube maps, their images and a material for each."""
    places = [(at % 100 * 8, at // 100 * 8, at % 64) for at in range(count)]
    image = b"VTF\0" + struct.pack("<2I", 7, 2) + bytes(84)

    def named():
        for x, y, z in places:
            yield f"materials/maps/room/c{x}_{y}_{z}.vtf", image
        for at, (x, y, z) in enumerate(places):
            replace = f'"replace"\n{{\n"$envmap" "maps/room/c{x}_{y}_{z}"\n}}\n'
            text = f'"patch"\n{{\n"include" "materials/own/w{at}.vmt"\n{replace}}}\n'
            yield f"materials/maps/room/own/w{at}_{x}_{y}_{z}.vmt", text.encode()

    from_map(
        "source/room_v20.bsp", path, {40: pakfile(named()), 42: (struct.pack("<4i", *place, 6) for place in places)}
    )


def noise(count):
    """Bytes that are the same each time, and that compress to about a half."""
    source = random.Random(1)
    while count > 0:
        block = source.randbytes(1 << 15) + bytes(1 << 15)
        yield block[:count]
        count -= len(block)


def large(path, count):
    """Source, with one embedded file of `count` bytes."""
    from_map("source/room_v20.bsp", path, {40: pakfile([("data/large.bin", b"".join(noise(count)))])})


def lit(path, count):
    """Source, with `count` bytes more in the lump of light, which no face has."""
    head, rest, lumps, end = read(MAPS / "source/room_v20.bsp")
    from_map(
        "source/room_v20.bsp",
        path,
        {8: (part for parts in ([lumps[8], bytes(-len(lumps[8]) % 4)], noise(count)) for part in parts)},
    )


# Folders.


def folder(path, count, damage=False):
    """`count` small maps in folders of a thousand; with `damage` in each of them 40 faces have no texture, and more."""
    head, rest, lumps, end = read(MAPS / "q1/own_box.bsp")
    for at in range(count):
        below = path / f"{at // 1000:04}"
        if at % 1000 == 0:
            below.mkdir(parents=True, exist_ok=True)
        start = '{\n"classname" "info_player_start"\n"origin" "0 0 32"\n}\n\0'
        text = f'{{\n"classname" "worldspawn"\n"message" "map {at}"\n}}\n{start}'
        changed = dict(enumerate(lumps)) | {0: text.encode()}
        if damage:
            faces = bytearray(lumps[7])
            for face in range(0, len(faces), 20):
                struct.pack_into("<h", faces, face + 10, 999)
            changed[7] = bytes(faces)
        write(below / f"map_{at:06}.bsp", head, rest, [changed[index] for index in range(len(lumps))], end)


def sparse(path, size):
    """Source, whose pakfile ends at `size`: a file of zeros that takes no place on the disk."""
    from_map("source/room_v20.bsp", path, {40: b""})
    start = -(-os.path.getsize(path) // 4) * 4
    with open(path, "r+b") as out:
        out.truncate(size)
        out.seek(8 + 16 * 8)
        # The lump of light goes to the end of the file, as far as its length can say.
        length = min(size - start, 0xFFFFFFFC) // 4 * 4
        out.write(struct.pack("<2I", start, length))


# One function for each dimension.


def records(path, count):
    """Quake III with about `count` records in all."""
    boxes(path, count // 96)


def models(path, count):
    """Quake III with `count` brush models, each named by an entity."""
    boxes(path, 16, models=count)


def shaders(path, count):
    """Quake III with `count` names of textures."""
    boxes(path, count // 6 + 1, shaders=count)


def pages(path, count):
    """Quake III with `count` pages of light of 48 KB."""
    boxes(path, 64, pages=count)


def visible(path, count):
    """BSP2 whose leafs make `count` pairs."""
    floor(path, max(math.isqrt(count) - 1, 2), row=near_row)


def columns(path, count):
    """BSP2 whose tree has `count` columns, every second one of stone, as on a board for chess."""
    floor(path, count, is_solid=lambda x, y: (x + y) % 2 == 1)


def unused(path, count):
    """Quake III in which nothing refers to most shaders, and to `count` of them."""
    boxes(path, 64, shaders=count)


def names(path, count):
    """Source with `count` names of textures that no face has."""
    lumps = read(MAPS / "source/room_v20.bsp")[2]
    old, base = len(lumps[44]) // 4, len(lumps[43])
    spelled = [f"OWN/WALL_{at:06}\0".encode() for at in range(count)]
    table = struct.pack(f"<{count}i", *(base + at * len(spelled[0]) for at in range(count))) if count else b""
    data = b"".join(struct.pack("<3f5i", 0.5, 0.5, 0.5, old + at, 64, 64, 64, 64) for at in range(count))
    from_map(
        "source/room_v20.bsp", path, {2: lumps[2] + data, 43: lumps[43] + b"".join(spelled), 44: lumps[44] + table}
    )


def bare_textures(path, count):
    """GoldSrc with `count` textures without pixels."""
    textures(path, count, empty=True)


def damaged(path, count):
    """A folder of `count` maps with findings."""
    folder(path, count, damage=True)


# Texts beside the maps.


def rules(path, count):
    """A file of Stripper with `count` rules. Each means one entity of `entities_source`; half of them remove it."""
    with open(path, "w") as out:
        for at in range(count):
            if at % 2:
                out.write(f'filter:\n{{\n"targetname" "l{at}"\n}}\n')
            else:
                out.write(f'modify:\n{{\nmatch:\n{{\n"targetname" "l{at}"\n}}\nreplace:\n{{\n"light" "7"\n}}\n}}\n')


def few_rules(path, count):
    """Three rules, whatever the count."""
    path.write_text(
        'modify:\n{\nmatch:\n{\n"classname" "light"\n}\ninsert:\n{\n"_own" "1"\n}\n}\n'
        'filter:\n{\n"targetname" "/^l[0-9]*7$/"\n}\n'
        'add:\n{\n"classname" "info_null"\n"origin" "1 2 3"\n}\n'
    )


def script(path, count):
    """A script that sets a key of each entity."""
    path.write_text('let all = 0;\nfor e in entities {\n    e["_seen"] = "1";\n    all += 1;\n}\nreport(all);\n')
