"""Compares the pictures of exported maps with what srctools reads in the VTF files of the maps.

Arguments: pairs of a `.gltf` and the folder with the files of its map.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

from PIL import Image
from srctools.vtf import VTF


def files(folder):
    return {path.relative_to(folder).as_posix().lower(): path for path in Path(folder).rglob("*") if path.is_file()}


def read(path):
    with open(path, "rb") as file:
        vtf = VTF.read(file)
        vtf.load()
        frame = vtf.get()
        frame.load()
        return vtf.format.name, Image.frombytes("RGBA", (frame.width, frame.height), bytes(frame._data))


for document, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    packed = files(folder)
    for image in json.loads(Path(document).read_text()).get("images", []):
        material = packed.get(f"materials/{image['name'].lower()}.vmt".replace("\\", "/"))
        if material is None:
            continue
        base = re.search(r'\$basetexture"?\s+"?([^"\s]+)', material.read_text(errors="replace"), re.IGNORECASE)
        texture = base and packed.get(f"materials/{base[1].lower()}.vtf".replace("\\", "/"))
        if not texture:
            continue
        form, wanted = read(texture)
        found = Image.open(Path(document).parent / unquote(image["uri"])).convert("RGBA")
        # The color of holes has no meaning.
        pixels = zip(wanted.tobytes()[3::4], *(zip(*[iter(it.tobytes())] * 4) for it in (wanted, found)), strict=True)
        same = wanted.size == found.size and all(one == other or alpha == 0 == other[3] for alpha, one, other in pixels)
        print(f"VTF {form} {'same' if same else 'differs'} {image['name']}")
