//! `decompile`: what it writes and says.

use super::room::{Room, fixture};
use super::transcript::check;

#[test]
fn sources() {
    let room = Room::new();
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    let lines = [
        "bspkit decompile q2.bsp -o q2.map",
        "head -14 q2.map",
        "bspkit decompile q2.bsp -o q2.map",
        "bspkit decompile q2.bsp -o q2.map --overwrite -q",
        "bspkit decompile q2.bsp -o quake.map --format quake --no-proof",
        "bspkit decompile q3.bsp -o q3.map",
        "bspkit decompile q3.bsp -o curves.vmf --no-proof",
        "bspkit cat q2.bsp entities | sed 's/^\"classname\" \"item_health\"/\"classname\"/' > torn.ent",
        "bspkit ent import q2.bsp torn.ent -o torn.bsp -q --force",
        "bspkit decompile torn.bsp -o torn.map",
        "grep -A4 patchDef2 q3.map",
        "bspkit decompile room_v20.bsp -o room.vmf",
        "grep -A14 func_door room.vmf | head -16",
        "bspkit decompile room_v20.bsp -o room.map",
        "bspkit decompile q2.bsp q3.bsp room_v20.bsp -o sources",
        "ls sources",
        "bspkit decompile q2.bsp -o - > piped.map; head -3 piped.map",
        "bspkit decompile q2.bsp -o q2.txt",
        "bspkit decompile q2.bsp -o no.map --format rmf",
        "bspkit decompile q2.bsp -o - --json",
        "bspkit decompile q2.bsp q3.bsp -o -",
        "bspkit set q2.bsp 'brushes[3..5].side_count=1' -o damaged.bsp -q --force",
        "bspkit decompile damaged.bsp -o damaged.map",
        "bspkit decompile damaged.bsp -o damaged.map --json --overwrite -q | head -40",
    ];
    check("sources", &room, &lines);
}

/// `verify --source`: the published source of a map passes, and a source with any fault does not.
#[test]
fn sources_are_tested_by_verify() {
    let room = Room::new();
    let source = std::fs::read("../../tests/maps/q2/own_rooms.map").unwrap();
    room.write("q2.map", &source);
    let lines = [
        "bspkit verify q2.bsp --source=q2.map -v | tail -2",
        "bspkit verify q2.bsp q3.bsp --source",
        "bspkit verify q2.bsp --source --json | grep source",
        // The ceiling is 4 units lower; another texture; another class; no source at all.
        "sed 's/-16 -144 192 ) ( -15 -144 192 ) ( -16 -143 192 ) own.ceil/-16 -144 188 ) ( -15 -144 188 ) ( -16 -143 188 ) own\\/ceil/' q2.map > moved.map",
        "bspkit verify q2.bsp --source=moved.map",
        "sed 's#own/door#own/other#' q2.map > other.map; bspkit verify q2.bsp --source=other.map",
        "sed 's#func_door#func_wall#' q2.map > wall.map; bspkit verify q2.bsp --source=wall.map",
        "bspkit verify q2.bsp --source=q2.bsp",
        "bspkit verify q2.bsp --source=none.map",
        "bspkit verify q2.bsp q3.bsp --source=q2.map",
    ];
    check("sources_verified", &room, &lines);
}
