//! Files of the computer: none, or those of one folder.

use bspkit::ErrorKind;

use super::*;

fn run_with(folder: Option<&Path>, text: &str) -> bspkit::Result<Said> {
    let settings = folder.into_iter().fold(Settings::default(), |settings, folder| settings.allow_read(folder));
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    let said = Script::compile("files.rhai", text)?.run(&mut draft, &settings);
    assert!(said.is_ok() || draft.changes().unwrap().is_empty());
    said
}

#[test]
fn without_a_folder_nothing_is_read() {
    for call in ["read_text(\"a.txt\")", "read_bytes(\"/etc/passwd\")", "open_map(\"b.bsp\")"] {
        let error = run_with(None, call).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("the script may not read"), "{error}");
    }
}

#[test]
fn only_plain_files_of_the_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let [inside, outside] = ["inside", "outside"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(inside.join("deep")).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(inside.join("deep/a.txt"), "one\ntwo \\ \u{e9}\x1b").unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    let said = run_with(Some(&inside), "report(read_text(\"deep/a.txt\"), read_bytes(\"./deep/a.txt\").len())");
    assert_eq!(said.unwrap().reports[0].text, "one\ntwo \\\\ é\\x1b 13");

    let outside = outside.join("secret.txt");
    let mut paths = vec!["../outside/secret.txt", "deep/../../outside/secret.txt", "", ".", "deep", "no.txt"];
    paths.push(outside.to_str().unwrap());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, inside.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), inside.join("linked")).unwrap();
        paths.extend(["link.txt", "linked/secret.txt"]);
    }
    for path in paths {
        let error = run_with(Some(&inside), &format!("read_text({path:?})")).expect_err(path);
        assert!(matches!(error.kind(), ErrorKind::Refused | ErrorKind::Io), "{path}: {error}");
    }
}

#[test]
fn a_file_that_is_too_large_for_a_string_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.txt"), vec![b'x'; (4 << 20) + 1]).unwrap();
    let error = run_with(Some(folder.path()), "read_text(\"large.txt\")").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(run_with(Some(folder.path()), "read_bytes(\"large.txt\")").is_ok());
    let error = run_with(Some(folder.path()), "let a = []; loop { a.push(read_bytes(\"large.txt\")); }").unwrap_err();
    assert!(error.to_string().contains("take more than 512 MiB"), "{error}");
}

#[test]
fn another_map_is_only_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps/q2/own_rooms.bsp"),
        folder.path().join("b.bsp"),
    )
    .unwrap();
    let script = r#"let b = open_map("b.bsp"); let e = entities.add(b.entities.first("light"));
        report(b.dialect, map.dialect, e.classname, b.records("planes").len() > 10, b.textures.names().len() > 1);"#;
    assert_eq!(run_with(Some(folder.path()), script).unwrap().reports[0].text, "quake2 quake3 light true true");
    for edit in [
        "entities[1].x = 1",
        "entities.add(#{classname: \"x\"})",
        "entities.remove(\"light\")",
        "lumps[\"planes\"] = bytes(\"\")",
        "light.scale(2)",
        "textures.rename(\"a\", \"b\")",
        "records(\"planes\").len(); let r = b.records(\"planes\"); r[0].dist = 1",
    ] {
        let error = run_with(Some(folder.path()), &format!("let b = open_map(\"b.bsp\"); b.{edit}")).expect_err(edit);
        assert!(error.to_string().contains("it cannot be edited"), "{edit}: {error}");
    }
    let error = run_with(Some(folder.path()), "loop { open_map(\"b.bsp\"); }").unwrap_err();
    assert!(error.to_string().ends_with("a script may open 64 maps"));
}
