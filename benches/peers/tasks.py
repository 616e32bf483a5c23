"""tasks.py PEER TASK MAP [ARGUMENT...] does one task with one of the other libraries for maps.

What it prints is what the library says, so that `measure.py` can see that the work was done.
"""

import sys


def pairs(entities):
    """Prints all pairs at once, as a program would that was written for speed."""
    sys.stdout.write("".join(f"{key} {value}\n" for entity in entities for key, value in entity))


class Srctools:
    def start(self):
        from srctools.bsp import BSP

        return BSP

    def entities(self, path):
        bsp = self.start()(path)
        outputs = lambda entity: [(output.output, output.as_keyvalue()) for output in entity.outputs]
        pairs([[*entity.items(), *outputs(entity)] for entity in [bsp.ents.spawn, *bsp.ents.entities]])

    def records(self, path):
        bsp = self.start()(path)
        names = "textures texinfo cubemaps overlays bmodels brushes visleafs nodes vertexes surfedges planes faces orig_faces props"
        for name in names.split():
            print(name, len(list(getattr(bsp, name))))

    def edit(self, path, out):
        bsp = self.start()(path)
        bsp.ents.spawn["message"] = "The Place"
        bsp.save(out)

    def same(self, path, out):
        self.start()(path).save(out)

    def pak_list(self, path):
        for info in self.start()(path).pakfile.infolist():
            print(info.filename, info.file_size)

    def pak_extract(self, path, out):
        self.start()(path).pakfile.extractall(out)

    def pak_add(self, path, out, name, file):
        bsp = self.start()(path)
        with open(file, "rb") as data:
            bsp.pakfile.writestr(name, data.read())
        bsp.save(out)


class Sourcepp:
    def start(self):
        from sourcepp import bsppp

        return bsppp

    def entities(self, path):
        bsp = self.start().BSP(path, False)
        pairs([[(item.key, item.value) for item in entity.keyvalues] for entity in bsp.get_lump_data_for_entities()])

    def records(self, path):
        bsp = self.start().BSP(path, False)
        for name in "planes texdata vertexes nodes texinfo faces edges surfedges models originalfaces".split():
            print(name, len(getattr(bsp, f"get_lump_data_for_{name}")()))

    def edit(self, path, out):
        bsp = self.start().BSP(path, False)
        entities = bsp.get_lump_data_for_entities()
        entities[0]["message"].value = "The Place"
        bsp.set_lump_for_entities(0, entities, 0)
        bsp.bake(out)

    def same(self, path, out):
        self.start().BSP(path, False).bake(out)

    def pak_list(self, path):
        self.start().PakLump.open(path, lambda name, entry: print(name, entry.length))

    def pak_extract(self, path, out):
        self.start().PakLump.open(path).extract_all(out, False)

    def pak_add(self, path, out, name, file):
        import shutil

        # It writes into the map that it opened.
        shutil.copyfile(path, out)
        pak = self.start().PakLump.open(out)
        with open(file, "rb") as data:
            pak.add_entry_from_mem(name, data.read())
        pak.bake()

    def pak_remove(self, path, out, folder):
        import shutil

        shutil.copyfile(path, out)
        pak = self.start().PakLump.open(out)
        pak.remove_directory(folder)
        pak.bake()


class BspTool:
    def start(self):
        import bsp_tool

        return bsp_tool

    def entities(self, path):
        entities = self.start().load_bsp(path).ENTITIES
        listed = lambda values: values if isinstance(values, list) else [values]
        pairs([[(key, value) for key, values in entity.items() for value in listed(values)] for entity in entities])

    def records(self, path):
        bsp = self.start().load_bsp(path)
        for name, header in bsp.headers.items():
            if getattr(header, "length", 0) and name not in ("ENTITIES", "GAME_LUMP", "PAKFILE"):
                lump = getattr(bsp, name, None)
                print(name, len(list(lump)) if hasattr(lump, "__iter__") else 1)

    def edit(self, path, out):
        bsp = self.start().load_bsp(path)
        bsp.ENTITIES[0]["message"] = "The Place"
        bsp.save_as(out)

    def same(self, path, out):
        self.start().load_bsp(path).save_as(out)

    def pak_list(self, path):
        for info in self.start().load_bsp(path).PAKFILE.infolist():
            print(info.filename, info.file_size)

    def pak_extract(self, path, out):
        self.start().load_bsp(path).PAKFILE.extractall(out)


class Valvebsp:
    def start(self):
        from valvebsp import Bsp

        return Bsp

    def entities(self, path):
        pairs([list(entity) for entity in self.start()(path)[0]])

    def edit(self, path, out):
        bsp = self.start()(path)
        world = bsp[0][0]
        at = [key for key, _ in world].index("message") if "message" in dict(world) else len(world)
        world[at : at + 1] = [("message", "The Place")]
        bsp.save(out)

    def same(self, path, out):
        self.start()(path).save(out)


PEERS = {"srctools": Srctools, "sourcepp": Sourcepp, "bsp_tool": BspTool, "valvebsp": Valvebsp}

if __name__ == "__main__":
    peer, task, *arguments = sys.argv[1:]
    getattr(PEERS[peer](), task)(*arguments)
