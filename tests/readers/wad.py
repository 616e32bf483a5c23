"""wad.py FILE prints what is in a WAD file: a line for each texture, by the public descriptions of the format.

A line is: name, width, height, then the hex of the image, of its three smaller copies, and of the palette ("-" in WAD2).
Anything that a careful reader would refuse ends the program with an error.
"""

import struct
import sys


def texture(data, name, has_palette):
    own, width, height, *offsets = struct.unpack_from("<16sII4I", data)
    assert own.split(b"\0")[0].lower() == name.lower(), (own, name)
    assert width % 16 == 0 and height % 16 == 0 and width and height, (width, height)
    at, levels = 40, []
    for level in range(4):
        size = (width >> level) * (height >> level)
        assert offsets[level] == at, (name, level, offsets)
        levels.append(data[at:at + size])
        assert len(levels[-1]) == size, (name, level)
        at += size
    if not has_palette:
        assert at == len(data), (name, at, len(data))
        return width, height, levels, None
    (colors,) = struct.unpack_from("<H", data, at)
    assert colors == 256, (name, colors)
    palette = data[at + 2:at + 2 + 768]
    assert len(palette) == 768 and len(data) - at - 770 in (0, 2), (name, len(data))
    return width, height, levels, palette


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, count, directory = struct.unpack_from("<4sii", data)
    kind = {b"WAD2": 0x44, b"WAD3": 0x43}[magic]
    assert directory % 4 == 0 and directory + 32 * count == len(data), (directory, count, len(data))
    seen, free = set(), 12
    for index in range(count):
        entry = struct.unpack_from("<iiiBBH16s", data, directory + 32 * index)
        offset, stored, size, own_kind, compression, pad, name = entry
        assert (own_kind, compression, pad, stored) == (kind, 0, 0, size), entry
        assert offset % 4 == 0 and offset >= free and offset + size <= directory, entry
        free = offset + size
        name, rest = name.split(b"\0", 1)
        assert name and not rest.strip(b"\0") and name.lower() not in seen, entry
        seen.add(name.lower())
        width, height, levels, palette = texture(data[offset:offset + size], name, magic == b"WAD3")
        texels = " ".join(level.hex() for level in levels)
        print(name.decode("latin-1"), width, height, texels, palette.hex() if palette else "-")


main(sys.argv[1])
