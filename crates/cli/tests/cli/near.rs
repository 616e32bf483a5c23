//! What is said of unknown names: which known one is close, and for far ones nothing or all there are.

use super::room::Room;
use super::transcript::check;

#[test]
fn near_names() {
    let room = Room::new();
    room.write("line.jsonl", b"{\"nomral\":[0,0,1],\"distance\":0,\"type\":0}\n");
    room.write("line.csv", b"nomral[0]\n1\n");
    room.write(
        "map/manifest.json",
        b"{\"bspkit_manifest\": 1, \"dialect\": \"quake3\", \"lumps\": [{\"lump\": \"shadres\"}]}",
    );
    room.shell("bspkit pak add source.bsp materials/my/wall.vmt=line.csv -o pak.bsp -q").done();
    let lines = [
        "# commands and options",
        "bspkit repack q3.bsp",
        "bspkit chekc q3.bsp",
        "bspkit ent sett q3.bsp",
        "bspkit info q3.bsp --dialcet quake3",
        "# dialects, engines, codes",
        "bspkit info q3.bsp --dialect quakee",
        "bspkit check q2.bsp --engine q2por",
        "bspkit check q2.bsp --deny lump-overlp",
        "bspkit check q2.bsp --allow nothing-like-it 2>&1 | cut -c 1-60",
        "# lumps, roles",
        "bspkit cat q3.bsp palnes",
        "bspkit cat q2.bsp leaf_faces",
        "bspkit cat goldsrc.bsp leaffcaes",
        "bspkit cat source.bsp game:spr",
        "bspkit pack map -o new.bsp",
        "# fields and flags",
        "bspkit get q3.bsp 'planes[0].nomral'",
        "bspkit set q2.bsp 'texinfo[0].flags=SKYE' -o new.bsp",
        "bspkit load q3.bsp planes line.jsonl -o new.bsp",
        "bspkit load q3.bsp planes line.csv -o new.bsp",
        "# classes, keys, values",
        "bspkit ent list q3.bsp info_player_deathmach",
        "bspkit ent list q3.bsp 'path_conrer,#900'",
        "bspkit ent list q3.bsp '*[targtname]'",
        "bspkit ent list q3.bsp 'path_corner[origni=0]'",
        "bspkit ent list q3.bsp '[classname=wordlspawn]'",
        "bspkit ent list q3.bsp monster_ogre",
        "bspkit ent get q3.bsp path_corner tagret",
        "bspkit ent set q3.bsp wordspawn message=new -o new.bsp",
        "bspkit ent unset q3.bsp path_corner orign colour -o new.bsp",
        "bspkit ent rename-key q3.bsp '*' orign o -o new.bsp",
        "# selectors",
        "bspkit ent list q3.bsp 'style>2'",
        "bspkit ent list q3.bsp classname=light",
        "bspkit ent list q3.bsp 'classname~light,#3'",
        "bspkit ent list q3.bsp 'func_door,classname=path_corner'",
        "bspkit ent list q3.bsp 17",
        "bspkit ent list q3.bsp '#999'",
        "bspkit ent set q3.bsp 'func_door,#999' wait=1 -o new.bsp",
        "bspkit ent list q3.bsp origin",
        "bspkit ent list q3.bsp '*1'",
        "# textures and embedded files",
        "bspkit tex list goldsrc.bsp --only own_flor",
        "bspkit tex rename q3.bsp textures/own/wal own/new -o new.bsp",
        "bspkit tex strip goldsrc.bsp aaatriger -o new.bsp",
        "bspkit pak list pak.bsp wall.vmt",
        "bspkit pak rm pak.bsp materials/my/wal.vmt -o new.bsp",
        "bspkit pak mv pak.bsp 'materials\\my\\wall.vtm' x.vmt -o new.bsp",
    ];
    check("near_names", &room, &lines);
}
