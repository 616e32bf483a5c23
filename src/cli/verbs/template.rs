//! Fills in the command of a verb.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::face::input;
use bspkit::face::names::path;
use bspkit::op::cubemaps::{self, Listed};

use crate::cli::context::Context;
use crate::cli::maps::real_path;
use crate::cli::pak::list_file::{lines, local};
use crate::cli::show::shown;

/// The operands of a verb, by their names.
pub(super) struct Values<'v> {
    pub(super) names: &'static [&'static str],
    pub(super) given: &'v [OsString],
}

impl Values<'_> {
    /// The value of an operand; paths as this system has them.
    fn get(&self, name: &str) -> Option<OsString> {
        let value = &self.given[self.names.iter().position(|own| *own == name)?];
        Some(match name {
            "BSP" | "NEW" => with_extension(&local(value), "bsp").into(),
            "ZIP" => with_extension(&local(value), "zip").into(),
            "DIR" | "LIST" | "FILE" => local(value).into(),
            _ => value.clone(),
        })
    }

    /// The path of a file beside the map, for a word such as `MAP.ent`.
    fn beside(&self, word: &str) -> Option<OsString> {
        let extension = word.strip_prefix("MAP.")?;
        let map = with_extension(&local(self.given.first()?), "bsp");
        let is_map = map.extension().is_some_and(|own| own.eq_ignore_ascii_case("bsp"));
        Some(if is_map { map.with_extension(extension) } else { longer(&map, extension) }.into())
    }
}

/// The words of a command. `-o NEW` becomes `--in-place` if it is the map that is read; a word with `...` becomes one
/// word for each line of the list.
pub(super) fn fill(cx: &Context, command: &str, values: &Values<'_>) -> Result<Vec<OsString>> {
    let mut out: Vec<OsString> = Vec::new();
    for word in command.split(' ') {
        match (word, values.get(word).or_else(|| values.beside(word))) {
            ("NEW", Some(new)) if values.get("BSP").is_some_and(|bsp| is_same(&bsp, &new)) => {
                out.pop();
                out.push("--in-place".into());
            }
            (_, Some(value)) => out.push(value),
            ("NAME=FILE", None) => out.push(pair(values.get("NAME"), values.get("FILE"))?),
            ("=NAME", None) => out.push(literal(&values.get("NAME").unwrap_or_default())),
            ("PREFIX+NAME=FILE...", None) => {
                let prefix = values.get("PREFIX").unwrap_or_default();
                for path in listed(values)? {
                    let file = local(&path);
                    let mut name = prefix.clone();
                    name.push(file.file_name().unwrap_or_default());
                    out.push(pair(Some(name), Some(file.into()))?);
                }
            }
            ("=CUBEMAP...", None) => out.extend(cubemaps(cx, Path::new(&values.get("BSP").unwrap_or_default()))?),
            ("=NAME...", None) => out.extend(listed(values)?.iter().map(|name| literal(name))),
            (_, None) => out.push(word.into()),
        }
    }
    Ok(out)
}

/// The lines of the list.
fn listed(values: &Values<'_>) -> Result<Vec<OsString>> {
    let list = PathBuf::from(values.get("LIST").unwrap_or_default());
    let cannot = || format!("cannot read the list {}", shown(&list));
    let text = input::read(&list)?;
    let lines = lines(&text).with_context(cannot)?;
    lines.into_iter().map(|line| Ok(path(line)?.into())).collect()
}

/// The images of cube maps in a map, by name.
fn cubemaps(cx: &Context, map: &Path) -> Result<Vec<OsString>> {
    let bsp = cx.open(map)?;
    let cannot = || format!("cannot list the cube maps of {}", shown(map));
    let Listed { samples, others, .. } = cubemaps::list(&bsp).with_context(cannot)?;
    let pak = bsp.pak().with_context(cannot)?;
    let all = samples.iter().flat_map(|sample| &sample.files).chain(&others);
    let names = all.filter_map(|index| pak.get(*index)).map(|file| Ok(literal(path(file.name())?.as_os_str())));
    let names: Vec<OsString> = names.collect::<Result<_>>()?;
    match names.is_empty() {
        true => bail!("{} has no images of cube maps", shown(map)),
        false => Ok(names),
    }
}

/// A file to embed, as `pak add` takes it.
fn pair(name: Option<OsString>, file: Option<OsString>) -> Result<OsString> {
    let (mut name, file) = (name.unwrap_or_default(), file.unwrap_or_default());
    if name.as_encoded_bytes().contains(&b'=') {
        bail!("the name {} has a `=`: use -addlist, whose list can have it", shown(Path::new(&name)));
    }
    name.push("=");
    name.push(file);
    Ok(name)
}

/// The pattern that only this name matches.
fn literal(name: &OsStr) -> OsString {
    let mut word = OsString::from("=");
    word.push(name);
    word
}

/// The path with an extension if it has none, as Valve's tools complete it, or if only that file is there.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let longer = longer(path, extension);
    match path.extension().is_none() || !path.exists() && longer.exists() {
        true if path != Path::new("-") => longer,
        _ => path.to_path_buf(),
    }
}

fn longer(path: &Path, extension: &str) -> PathBuf {
    let mut longer = path.as_os_str().to_owned();
    longer.push(".");
    longer.push(extension);
    longer.into()
}

fn is_same(one: &OsStr, other: &OsStr) -> bool {
    let real = |path: &OsStr| real_path(Path::new(path)).ok().flatten();
    one == other || real(one).is_some() && real(one) == real(other)
}
