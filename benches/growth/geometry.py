"""The files of maps, and geometry of any size: boxes of Quake III, squares of BSP2. It knows no code of bspkit.

A lump is bytes, or an iterator of bytes, so that a large map is never in memory.
"""

import math
import struct
from pathlib import Path

MAPS = Path(__file__).resolve().parent.parent.parent / "tests/maps"

# The head of a file, the number of lumps, and where offset and length are in an entry of the directory.
KINDS = {
    b"IBSP": (8, 17, 8),
    b"BSP2": (4, 15, 8),
    b"\x1d\0\0\0": (4, 15, 8),
    b"\x1e\0\0\0": (4, 15, 8),
    b"VBSP": (8, 64, 16),
}


def read(path):
    """The head, the entries, the lumps and the last bytes of a small map."""
    data = path.read_bytes()
    at, count, size = KINDS[data[:4]]
    entries = [data[at + size * index : at + size * (index + 1)] for index in range(count)]
    lumps = []
    for entry in entries:
        offset, length = struct.unpack_from("<2I", entry)
        lumps.append(data[offset : offset + length])
    return data[:at], [entry[8:] for entry in entries], lumps, data[at + size * count :][:4] if size == 16 else b""


def write(path, head, rest, lumps, end=b"", align=4):
    """Writes lumps one after the other, then the directory. What is after offset and length in an entry is `rest`."""
    _, count, size = KINDS[head[:4]]
    with open(path, "wb", 1 << 20) as out:
        out.write(head + bytes(count * size) + end)
        entries = []
        for index, lump in enumerate(lumps):
            out.write(bytes(-out.tell() % align))
            start = out.tell()
            if callable(lump):
                # A lump that has its own place in it, such as the game lump of Source.
                lump = lump(start)
            for chunk in [lump] if isinstance(lump, (bytes, bytearray)) else lump:
                out.write(chunk)
            length = out.tell() - start
            entries.append(struct.pack("<2I", start if length else 0, length) + rest[index])
        out.seek(len(head))
        out.write(b"".join(entries))


def from_map(name, path, changes, align=4):
    """A map of tests/maps with other lumps."""
    head, rest, lumps, end = read(MAPS / name)
    if head[:4] == b"VBSP":
        changes = {35: moved_game_lump(MAPS / name, lumps[35]), **changes}
    write(path, head, rest, [changes.get(index, lump) for index, lump in enumerate(lumps)], end, align)


def moved_game_lump(path, lump):
    """Members of the game lump of Source have offsets from the start of the file."""
    (old,) = struct.unpack_from("<I", path.read_bytes(), 8 + 16 * 35)

    def at(start):
        moved = bytearray(lump)
        for index in range(struct.unpack_from("<I", lump)[0]):
            (offset,) = struct.unpack_from("<I", lump, 4 + 16 * index + 8)
            struct.pack_into("<I", moved, 4 + 16 * index + 8, offset - old + start)
        return bytes(moved)

    return at


def grid(count):
    return max(1, math.isqrt(max(count - 1, 0)) + 1)


# Geometry of Quake III: boxes on a grid, each in a leaf of its own.

SIDES = [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)]
VERTEX = struct.Struct("<10f4B")
SURFACE = struct.Struct("<12i12f2i")


def box(at, size):
    """The corners of box `at`. No two boxes have a plane in common."""
    x, y = at % size, at // size
    low = (x * 16 + 2 + y % 256 / 64, y * 16 + 2 + x % 256 / 64, at / 8)
    return low, (low[0] + 5 + y / 4096, low[1] + 5 + x / 4096, low[2] + 0.0625)


def tree(size, high, plane, leaf, node):
    """A balanced tree over a grid: calls `node` for each node, in the order of their numbers, and gives their bytes."""
    out, todo, number = [], [(0, size, 0, size)], 1
    while todo:
        following = []
        for left, right, front, back in todo:
            if right - left >= back - front:
                middle, axis = (left + right) // 2, 0
                parts = [(middle, right, front, back), (left, middle, front, back)]
            else:
                middle, axis = (front + back) // 2, 1
                parts = [(left, right, middle, back), (left, right, front, middle)]
            children = []
            for part in parts:
                if (part[1] - part[0]) * (part[3] - part[2]) <= 1:
                    children.append(-1 - leaf(part[0], part[2]))
                else:
                    children.append(number)
                    number += 1
                    following.append(part)
            out.append(node(plane(axis, middle), children, (left, front, right, back)))
        todo = following
        yield b"".join(out)
        out = []


def boxes(path, count, models=0, shaders=8, pages=1, vis=False, text=None):
    """Quake III: `count` boxes in the world, and `models` brush models of one box each, which entities name."""
    count = max(count, 2)
    size, total = grid(count), count + models
    wide = max(grid(total), size)
    high = total // 8 + 8
    lines = 4 * (size + 1)
    # Grid cells beyond the last box share the last leaf, which is empty.
    empty = count + 1

    def names():
        for at in range(shaders):
            yield struct.pack("<64s2I", f"textures/own/wall_{at}".encode(), 0, 1)

    def planes():
        for axis in (0, 1):
            for at in range(size + 1):
                normal = [float(axis == 0), float(axis == 1), 0.0]
                yield struct.pack("<4f", *normal, at * 16)
                yield struct.pack("<4f", *(-each for each in normal), -at * 16)
        for at in range(total):
            corners, out = box(at, wide), []
            for axis in range(3):
                normal = [float(axis == each) for each in range(3)]
                for corner in corners:
                    out += [*normal, corner[axis], *(-each for each in normal), -corner[axis]]
            yield struct.pack("<48f", *out)

    plane = lambda at, axis, sign: lines + 12 * at + 4 * axis + (2 if sign > 0 else 1)
    cell = lambda x, y: y * size + x if y * size + x < count else empty
    node = lambda number, children, part: struct.pack(
        "<9i", number, *children, part[0] * 16, part[1] * 16, -8, part[2] * 16, part[3] * 16, high
    )

    def leafs():
        for at in range(count):
            x, y = at % size, at // size
            yield struct.pack(
                "<12i", at if vis else 0, 0, x * 16, y * 16, -8, x * 16 + 16, y * 16 + 16, high, at * 6, 6, at, 1
            )
        for cluster in (-1, 0):
            yield struct.pack(
                "<12i", cluster, 0 if cluster == 0 else -1, 0, 0, -8, size * 16, size * 16, high, 0, 0, 0, 0
            )

    def model_records():
        yield struct.pack("<6f4i", 0, 0, -8, size * 16, size * 16, high, 0, count * 6, 0, count)
        for at in range(count, total):
            low, top = box(at, wide)
            yield struct.pack("<6f4i", *low, *top, at * 6, 6, at, 1)

    def quads(at):
        low, top = box(at, wide)
        for axis, sign in SIDES:
            one, two = [(axis + 1) % 3, (axis + 2) % 3][::sign]
            fixed = top if sign > 0 else low
            for u, v in ((0, 0), (0, 1), (1, 1), (1, 0)):
                point = [0.0, 0.0, 0.0]
                point[axis], point[one], point[two] = fixed[axis], (low, top)[u][one], (low, top)[v][two]
                yield axis, sign, point

    def vertexes():
        for at in range(total):
            out = []
            for axis, sign, point in quads(at):
                normal = [float(sign) if axis == each else 0.0 for each in range(3)]
                out.append(
                    VERTEX.pack(*point, point[0] / 16, point[1] / 16, 0.25, 0.75, *normal, 200, 200, at % 256, 255)
                )
            yield b"".join(out)

    def surfaces():
        for at in range(total):
            low, out = box(at, wide)[0], []
            for side, (axis, sign) in enumerate(SIDES):
                normal = [float(sign) if axis == each else 0.0 for each in range(3)]
                vectors = [*low, 1, 0, 0, 0, 1, 0, *normal]
                first = (at * 6 + side) * 4
                out.append(
                    SURFACE.pack(
                        at % shaders,
                        -1,
                        1,
                        first,
                        4,
                        (at * 6 + side) * 6,
                        6,
                        at % pages,
                        at % 100,
                        0,
                        4,
                        4,
                        *vectors,
                        0,
                        0,
                    )
                )
            yield b"".join(out)

    indexes = struct.pack("<6i", 0, 1, 2, 0, 2, 3)
    sides = (
        struct.pack("<12i", *(word for axis, sign in SIDES for word in (plane(at, axis, sign), at % shaders)))
        for at in range(total)
    )
    light = (struct.pack("<I", 0x00604020 + at % 7) * 12288 for at in range(pages))

    def visibility():
        row = (count + 7) // 8
        yield struct.pack("<2i", count, row)
        for at in range(count):
            bits = bytearray(row)
            for near in (at - 1, at, at + 1):
                bits[near % count // 8] |= 1 << near % count % 8
            yield bytes(bits)

    if text is None:
        doors = (f'{{\n"classname" "func_static"\n"model" "*{at + 1}"\n}}\n'.encode() for at in range(models))
        text = (
            part
            for parts in (
                [b'{\n"classname" "worldspawn"\n"message" "growth"\n}\n'],
                doors,
                [b'{\n"classname" "info_player_deathmatch"\n"origin" "8 8 -4"\n}\n\0'],
            )
            for part in parts
        )
    ints = lambda several: (struct.pack(f"<{len(part)}i", *part) for part in several)
    runs = lambda number: ints(range(at, min(at + 4096, number)) for at in range(0, number, 4096))
    brushes = (struct.pack("<3i", at * 6, 6, at % shaders) for at in range(total))
    nodes = tree(size, high, lambda axis, line: 2 * (line + axis * (size + 1)), cell, node)
    lumps = [
        text,
        names(),
        planes(),
        nodes,
        leafs(),
        runs(count * 6),
        runs(count),
        model_records(),
        brushes,
        sides,
        vertexes(),
        (indexes for _ in range(total * 6)),
        b"",
        surfaces(),
        light,
        b"",
        visibility() if vis else b"",
    ]
    write(path, b"IBSP" + struct.pack("<I", 46), [b""] * 17, lumps)


# Geometry of BSP2: a floor of squares with light, each in a leaf of its own.


def floor(path, count, wide=64, row=None, is_solid=lambda x, y: False):
    """BSP2: `count` squares with light of (wide / 16 + 1)^2 bytes each.

    `row` gives the compressed visibility of a leaf, and `is_solid` says which squares are columns of stone.
    """
    count = max(count, 2)
    size = grid(count)
    luxels = (wide // 16 + 1) ** 2
    points = size + 1

    def planes():
        yield struct.pack("<4fi", 0, 0, 1, 0, 2)
        for axis in (0, 1):
            for at in range(points):
                yield struct.pack("<4fi", float(axis == 0), float(axis == 1), 0, at * wide, axis)

    vertexes = (struct.pack("<3f", at % points * wide, at // points * wide, 0) for at in range(points * points))
    # Edges along x, then along y; edge 0 is not used. A face goes around clockwise as seen from above.
    along_x = lambda x, y: 1 + y * size + x
    along_y = lambda x, y: 1 + points * size + y * points + x

    def edges():
        yield bytes(8)
        for y in range(points):
            for x in range(size):
                yield struct.pack("<2I", y * points + x, y * points + x + 1)
        for y in range(size):
            for x in range(points):
                yield struct.pack("<2I", y * points + x, (y + 1) * points + x)

    def around():
        for at in range(count):
            x, y = at % size, at // size
            yield struct.pack("<4i", along_y(x, y), along_x(x, y + 1), -along_y(x + 1, y), -along_x(x, y))

    cell = lambda x, y: 1 + (y * size + x if y * size + x < count else count)
    node = lambda number, children, part: struct.pack(
        "<3i6f2I", number, *children, part[0] * wide, part[1] * wide, -8, part[2] * wide, part[3] * wide, 64, 0, 0
    )
    nodes = tree(size, 64, lambda axis, line: 1 + line + axis * points, cell, node)
    faces = (struct.pack("<5i4Bi", 0, 0, at * 4, 4, 0, 0, 255, 255, 255, at * luxels) for at in range(count))
    light = (bytes((at * 7 + each) % 250 for each in range(luxels)) for at in range(count))
    rows, starts, place = [], [], 0
    if row:
        for at in range(count + 1):
            rows.append(row(at, count + 1))
            starts.append(place)
            place += len(rows[-1])

    def leafs():
        yield struct.pack("<2i6f2I4B", -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        for at in range(count + 1):
            x, y = (at % size, at // size) if at < count else (0, 0)
            bounds = (x * wide, y * wide, 0, x * wide + wide, y * wide + wide, 64)
            yield struct.pack(
                "<2i6f2I4B", -2 if is_solid(x, y) else -1, starts[at] if starts else -1, *bounds, min(at, count - 1), int(at < count), 0, 0, 0, 0
            )

    text = b'{\n"classname" "worldspawn"\n}\n{\n"classname" "info_player_start"\n"origin" "8 8 32"\n}\n\0'
    pixels = lambda side: bytes((at * 3) % 224 for at in range(side * side))
    texture = (
        struct.pack("<16s6I", b"wall", 16, 16, 40, 40 + 256, 40 + 320, 40 + 336)
        + pixels(16)
        + pixels(8)
        + pixels(4)
        + pixels(2)
    )
    textures = struct.pack("<2i", 1, 8) + texture
    texinfo = struct.pack("<8f2i", 1, 0, 0, 0, 0, -1, 0, 0, 0, 0)
    clip = struct.pack("<3i", 0, -1, -2)
    model = struct.pack("<9f7i", 0, 0, -8, size * wide, size * wide, 64, 0, 0, 0, 0, 0, 0, 0, count + 1, 0, count)
    marks = (struct.pack("<I", at) for at in range(count))
    lumps = [
        text,
        planes(),
        textures,
        vertexes,
        b"".join(rows),
        nodes,
        texinfo,
        faces,
        light,
        clip,
        leafs(),
        marks,
        edges(),
        around(),
        model,
    ]
    write(path, b"BSP2", [b""] * 15, lumps)


def near_row(at, count):
    """A compressed row in which a leaf sees its neighbours."""
    bits = bytearray((count + 7) // 8)
    for near in range(max(at - 2, 0), min(at + 3, count)):
        bits[near // 8] |= 1 << near % 8
    out, place = bytearray(), 0
    while place < len(bits):
        if bits[place]:
            out.append(bits[place])
            place += 1
            continue
        end = place
        while end < len(bits) and not bits[end] and end - place < 255:
            end += 1
        out += bytes((0, end - place))
        place = end
    return bytes(out)
