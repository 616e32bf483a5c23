"""Prints which embedded files the materials of maps lead to, as srctools resolves them: python3 materials.py MAP...

Each map begins with the line "READ map". A line "READ material" has the number of a texture, the number of its embedded
material, the materials that it is a patch of, and for each parameter the number of the embedded file that it names.
"""

import re
import sys

from srctools.bsp import BSP
from srctools.filesys import VirtualFileSystem
from srctools.vmt import Material


def plain(name):
    return name.replace("\\", "/").casefold()


def resolve(path):
    bsp = BSP(path)
    archive = bsp.pakfile
    numbers = {}
    for number, info in enumerate(archive.infolist()):
        numbers.setdefault(plain(info.filename), number)
    texts = {plain(info.filename): archive.read(info) for info in archive.infolist() if plain(info.filename).endswith(".vmt")}

    def number(name):
        """The number of a file; the game's own files are known by their names."""
        return numbers.get(plain(name), plain(name))

    def patched(name):
        """A material with the materials that it is a patch of. Those of the game are taken to reflect."""
        while True:
            parents, text = [], texts[name].decode("latin-1")
            files = VirtualFileSystem({path: data.decode("latin-1") for path, data in texts.items()})
            try:
                material = Material.parse(text.splitlines(keepends=True), name)
                return material.apply_patches(files, parent_func=lambda parent: parents.append(number(parent))), parents
            except ValueError as error:
                missing = plain(re.search('"(.*)" does not exist', str(error)).group(1))
                assert missing not in texts, missing
                texts[missing] = b'"LightmappedGeneric"\n{\n"$envmap" "env_cubemap"\n}\n'

    for index, texture in enumerate(bsp.textures):
        name = f"materials/{plain(texture)}.vmt"
        if name not in numbers:
            print("READ material", index, "none", flush=True)
            continue
        material, parents = patched(name)
        named = {}
        for key, value in material.items():
            ends = (numbers.get(f"materials/{plain(value)}{end}") for end in (".vtf", ".hdr.vtf", ".vmt"))
            named[key.casefold()] = next((end for end in ends if end is not None), None)
        print("READ material", index, numbers[name], parents, sorted(named.items()), flush=True)


for path in sys.argv[1:]:
    print("READ map", flush=True)
    resolve(path)
