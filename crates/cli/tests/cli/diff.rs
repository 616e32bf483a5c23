//! `diff`: what differs between two maps.

use super::room::{Room, fixture};
use super::transcript::check;

#[test]
fn differences() {
    let room = Room::new();
    room.write("old/same.bsp", &room.read("q2.bsp"));
    room.write("new/same.bsp", &room.read("q2.bsp"));
    room.write("old/changed.bsp", &room.read("q3.bsp"));
    room.write("old/deep/gone.bsp", &room.read("q2.bsp"));
    room.write("new/added.bsp", &room.read("q2.bsp"));
    room.write("old.cfg", b"sv_gravity 800\nsv_friction 4\nexec rules.cfg\n");
    room.write("new.cfg", b"sv_gravity 600\nsv_friction 4\nexec rules.cfg\nmp_timelimit 20\n");
    room.write("room.bsp", &fixture("source/room_v20"));
    let lines = [
        "bspkit diff q2.bsp q2.bsp",
        "bspkit ent set q2.bsp light light=150 -o a.bsp -q && bspkit diff q2.bsp a.bsp",
        "bspkit ent set q2.bsp worldspawn message='A much longer message than before, so that lumps move' -o a.bsp -q --layout repack",
        "bspkit diff q2.bsp a.bsp",
        "bspkit diff q2.bsp a.bsp --stat",
        "bspkit diff q2.bsp a.bsp --only places -v | tail -5",
        "bspkit diff q2.bsp a.bsp --only planes",
        "bspkit diff q2.bsp a.bsp --only plans",
        "bspkit light adjust q2.bsp --gain 0.5 -o a.bsp -q && bspkit set a.bsp planes[3].distance=8 --in-place -q",
        "bspkit diff q2.bsp a.bsp",
        "bspkit diff q2.bsp a.bsp --only light -v | wc -l",
        "bspkit pak add source.bsp cfg/map.cfg=old.cfg -o a.bsp -q && bspkit pak add a.bsp cfg/map.cfg=new.cfg -o b.bsp -q",
        "bspkit diff a.bsp b.bsp",
        "bspkit compress room.bsp -o a.bsp -q 2>/dev/null; bspkit diff room.bsp a.bsp",
        "(cat q2.bsp; printf 'appended') >a.bsp; bspkit diff q2.bsp a.bsp",
        "bspkit diff q2.bsp q3.bsp",
        "bspkit diff - q2.bsp <q2.bsp",
        "bspkit diff - -",
        "bspkit ent set q3.bsp worldspawn message=x -o new/changed.bsp -q; bspkit diff old new --stat",
        "bspkit diff old q2.bsp",
        "bspkit unpack q2.bsp -o folder -q && bspkit diff folder q2.bsp",
        "bspkit diff q2.bsp none.bsp",
        "bspkit records dup q3.bsp 'shaders[3..5]' -o a.bsp -q --force; bspkit diff q3.bsp a.bsp --only shaders",
        "bspkit diff a.bsp q3.bsp --only shaders --json | grep -A3 names",
        "bspkit diff a.bsp q3.bsp --only textures",
    ];
    check("differences", &room, &lines);
}

/// Whatever is compared, the status says whether anything differs.
#[test]
fn the_status_is_that_of_what_was_compared() {
    let room = Room::new();
    room.bspkit("ent set q2.bsp worldspawn message=x -o a.bsp").done();
    let code = |line: &str| room.bspkit(line).code;
    assert_eq!(code("diff q2.bsp a.bsp"), Some(1));
    assert_eq!(code("diff q2.bsp a.bsp --only planes"), Some(0));
    assert_eq!(code("diff q2.bsp a.bsp --only entities --json"), Some(1));
    assert_eq!(code("diff q2.bsp a.bsp --stat"), Some(1));
    assert_eq!(code("diff q2.bsp q3.bsp --only entities"), Some(1));
    assert_eq!(code("diff q2.bsp none.bsp"), Some(2));
}

/// The page is written beside what is printed, also of equal maps, and never over a map.
#[test]
fn a_page_for_browsers() {
    let room = Room::new();
    room.bspkit("ent set q2.bsp worldspawn message=planted -o a.bsp").done();
    let run = |line: &str| room.bspkit(line);
    assert_eq!(run("diff q2.bsp a.bsp --html page.html").code, Some(1));
    let page = room.read("page.html");
    let text = String::from_utf8(page.clone()).unwrap();
    assert!(text.contains("<mark>planted</mark>") && text.contains("<title>q2.bsp → a.bsp</title>"));
    room.write("folder/q2.bsp", &room.read("q2.bsp"));
    assert_eq!(run("diff folder/q2.bsp a.bsp --html page.html --json").code, Some(1));
    assert_eq!(room.read("page.html"), page, "another page of the same maps");
    assert_eq!(run("diff q2.bsp a.bsp --only planes --html page.html").code, Some(0));
    assert!(!String::from_utf8(room.read("page.html")).unwrap().contains("planted"));
    assert_eq!(room.shell("bspkit diff - a.bsp --html page.html <q2.bsp").code, Some(1));
    assert!(String::from_utf8(room.read("page.html")).unwrap().contains("<title>a.bsp</title>"));
    let map = room.read("a.bsp");
    let refused = run("diff q2.bsp a.bsp --html a.bsp");
    assert!(refused.code == Some(2) && refused.err.contains("a.bsp is an input file and would be replaced"));
    assert_eq!(room.read("a.bsp"), map);
    // Folders have a list of their maps.
    run("diff folder folder --html folders.html").done();
    assert!(String::from_utf8(room.read("folders.html")).unwrap().contains("folder"));
}
