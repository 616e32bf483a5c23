#!/usr/bin/env python3
"""Writes the binary files of this small game: models, textures, sounds, particles. The text files are written by hand."""

import struct
from pathlib import Path

HERE = Path(__file__).parent


def write(name, data):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def model(name, version=48, textures=(), folders=(), includes=(), ani=None, body=1, keys="", sounds=()):
    """A header of 408 bytes and the lists that name other files (studio.h)."""
    header, tail = bytearray(408), bytearray()
    header[0:4] = b"IDST"
    put = lambda at, *values: struct.pack_into("<%di" % len(values), header, at, *values)
    here = lambda: 408 + len(tail)

    def string(text):
        at = here()
        tail.extend(text.encode() + b"\0")
        return at

    put(4, version)
    stem = name.removeprefix("models/").encode()
    header[12:12 + len(stem)] = stem
    put(232, body, 408)
    texture_names = [string(text) for text in textures]
    put(204, len(textures), here())
    for at in texture_names:
        tail.extend(struct.pack("<16i", at - here(), *[0] * 15))
    folder_names = [string(text) for text in folders]
    put(212, len(folders), here())
    tail.extend(struct.pack("<%di" % len(folder_names), *folder_names))
    include_names = [string(text) for text in includes]
    put(336, len(includes), here())
    for at in include_names:
        tail.extend(struct.pack("<2i", 0, at - here()))
    if ani:
        put(348, string(ani), 2)
    if keys:
        put(312, string(keys), len(keys) + 1)
    if sounds:
        put(188, 1, here())
        tail.extend(struct.pack("<53i", 0, 0, 0, 0, 0, 0, len(sounds), 212, *[0] * 45))
        for text in sounds:
            tail.extend(struct.pack("<fii64si", 0, 5004, 0, text.encode(), 0))
    put(76, here())
    write(name, bytes(header + tail))


def parts(stem, *extensions):
    for extension in extensions:
        write(f"models/own/{stem}{extension}", b"own\0")


def physics(name, text):
    write(name, struct.pack("<4i", 16, 0, 1, 0) + struct.pack("<i", 4) + b"own\0" + text.encode() + b"\0")


def dmx(name, version, elements):
    """Particles: a list of (kind, name, [(attribute, type, value)]), binary versions 2 and 5."""
    words = []

    def word(text):
        if text not in words:
            words.append(text)
        return struct.pack("<i" if version >= 5 else "<H", words.index(text))

    heads, bodies = b"", b""
    for kind, own, attributes in elements:
        heads += word(kind) + (word(own) if version >= 4 else own.encode() + b"\0") + bytes(16)
        bodies += struct.pack("<i", len(attributes))
        for attribute, type_, value in attributes:
            bodies += word(attribute) + bytes([type_])
            if type_ == 1:
                bodies += struct.pack("<i", value)
            elif type_ == 3:
                bodies += struct.pack("<f", value)
            elif type_ == 5:
                bodies += word(value) if version >= 4 else value.encode() + b"\0"
            elif type_ == 8:
                bodies += bytes(value)
            elif type_ == 15:
                bodies += struct.pack("<%di" % (len(value) + 1), len(value), *value)
    table = struct.pack("<i" if version >= 4 else "<H", len(words)) + b"".join(text.encode() + b"\0" for text in words)
    head = f"<!-- dmx encoding binary {version} format pcf 1 -->\n\0".encode()
    write(name, head + table + struct.pack("<i", len(elements)) + heads + bodies)


def texture(*names):
    for name in names:
        write(f"materials/{name}.vtf", b"VTF\0" + struct.pack("<3i2H", 7, 1, 64, 4, 4) + bytes(44))


def sound(*names):
    for name in names:
        fields = (b"RIFF", 36, b"WAVE", b"fmt ", 16, 1, 1, 11025, 11025, 1, 8, b"data", 0)
        write(f"sound/{name}", struct.pack("<4si4s4sihhiihh4si", *fields))


texture("own/floor", "own/floor_normal", "own/ceiling", "own/door", "own/noise", "own/beam", "own/glow", "own/fire")
texture("own/smoke", "own/overlay", "own/cookie", "own/decal", "own/below", "own/crate", "own/crate_worn", "own/lamp")
texture("own/grass", "own/plank", "own/reflection", "own/reflection.hdr", "skybox/sky_own", "skybox/sky_own_hdr")
texture("tools/toolsnodraw", "detail/own_details")
sound("own/hum.wav", "own/creak.wav", "own/wind.wav", "own/bird1.wav", "own/bird2.wav", "own/rain.wav", "own/step.wav")
sound("own/voice.wav", "own/song.mp3", "own/lock.wav", "own/extra.wav")
model("models/own/crate.mdl", textures=("crate", "crate_worn"), folders=("models/own/",),
      keys="mdlkeyvalue { prop_data { base Wooden.Small } }")
parts("crate", ".vvd", ".dx90.vtx", ".sw.vtx")
physics("models/own/crate.phy", 'solid { "index" "0" }\nbreak { "model" "own\\plank" "health" "0" }\n')
model("models/own/plank.mdl", textures=("plank",), folders=("models/own/",))
parts("plank", ".vvd", ".dx90.vtx")
model("models/own/lamp.mdl", 44, textures=("lamp",), folders=("models/nowhere/", "models/own/"),
      includes=("models/own/lamp_moves.mdl",), ani="models/own/lamp.ani", sounds=("Own.Step",))
parts("lamp", ".vvd", ".dx80.vtx", ".ani")
model("models/own/lamp_moves.mdl", 49, body=0)
model("models/own/grass.mdl", textures=("grass",), folders=("models/own/",))
parts("grass", ".vvd", ".dx90.vtx")
write("materials/correction/own.raw", bytes(64))
system, child = "DmeParticleSystemDefinition", "DmeParticleChild"
dmx("particles/own_fire.pcf", 2, [
    ("DmElement", "untitled", [("particleSystemDefinitions", 15, [1, 3])]),
    (system, "own_fire", [("max_particles", 3, 8.0), ("material", 5, "own/fire.vmt"), ("children", 15, [2]),
                          ("color", 8, (1, 2, 3, 4))]),
    (child, "own_smoke", [("child", 1, 3)]),
    (system, "own_smoke", [("material", 5, "own\\smoke.vmt")]),
])
dmx("particles/own_extra.pcf", 5, [(system, "own_extra", [("material", 5, "own/fire.vmt")])])
