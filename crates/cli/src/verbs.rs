//! The command lines of other programs, for the scripts that call them: each verb is translated to a command of this
//! program, by a table. The translation alone is here; the commands do the work.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::disk::input;
use bspkit::disk::names::path;
use bspkit::near;
use bspkit_game::cubemaps::{self, Listed};

use super::context::Context;
use super::talk::{Code, bad_argument};
use crate::help;
use crate::help::with_table;
use crate::maps::real_path;
use crate::pak::edits::{lines, local};
use crate::talk::shown;

/// A program whose command lines are understood.
struct Tool {
    name: &'static str,
    verbs: &'static [Verb],
    options: &'static [Plain],
    /// Whether several verbs may be given together, and several maps.
    combines: bool,
}

/// A verb, and the command that it is translated to.
struct Verb {
    /// Its words, as `-repack -compress`.
    name: &'static str,
    /// The operands in order; the command has them in the places of these words.
    operands: &'static [&'static str],
    command: &'static str,
}

impl Verb {
    /// Whether this is one of its words.
    fn has(&self, word: &str) -> bool {
        self.name.split(' ').any(|own| own == word)
    }
}

/// An option, in any place of the command line.
struct Plain {
    name: &'static str,
    has_value: bool,
    does: Does,
}

/// What an option does here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Nothing,
    /// Nothing, and the notice says why.
    Notice(&'static str),
    Verbose,
    Threads,
    /// It is the second word of a verb.
    Verb,
}

/// The command line of this program, if it was called by the name of another program, or that program's name is its
/// first word. A `--` keeps the verbs from being taken for options.
pub(crate) fn called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let tool = |name: &OsStr| TOOLS.iter().map(|tool| tool.name).find(|own| name.eq_ignore_ascii_case(own));
    let program = arguments.first().and_then(|path| Path::new(path).file_stem()).and_then(tool);
    if let Some(name) = program {
        arguments.insert(1, name.into());
    }
    if arguments.get(1).and_then(|word| tool(word)).is_some() {
        match arguments.get(2).and_then(|word| word.to_str()) {
            Some("-h") => {}
            Some("--help" | "-help" | "-?" | "/?") => arguments[2] = "--help".into(),
            _ => arguments.insert(2, "--".into()),
        }
    }
    arguments
}

const TOOLS: [&Tool; 2] = [&BSPZIP_TOOL, &RIPENT_TOOL];

impl Tool {
    /// Runs a command line of the program.
    fn run(&self, cx: &Context, words: &[OsString]) -> Result<Code> {
        let Parsed { verbs, operands, options } = self.parse(words)?;
        let mut extra: Vec<OsString> = Vec::new();
        let mut is_verbose = cx.talk.verbose;
        extra.extend(cx.talk.quiet.then(|| "--quiet".into()));
        extra.extend(cx.options.jobs.map(|jobs| format!("--jobs={jobs}").into()));
        for (option, value) in options {
            match (option.does, value) {
                (Does::Notice(why), _) if !cx.talk.quiet => {
                    cx.talk.stderr(format!("{} has no effect: {why}\n", option.name).as_bytes());
                }
                (Does::Verbose, _) => is_verbose = true,
                (Does::Threads, Some(value)) => extra.extend(["--jobs".into(), value.clone()]),
                _ => {}
            }
        }
        extra.extend(is_verbose.then(|| "--verbose".into()));
        let mut code = Code::Done;
        for map in operands.chunks(if self.combines { 1 } else { operands.len() }) {
            for verb in &verbs {
                let values = Values { names: verb.operands, given: map };
                let mut line = vec![OsString::from("bspkit")];
                line.extend(fill(cx, verb.command, &values)?);
                if is_verbose {
                    let shown: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
                    cx.talk.stderr(format!("{}\n", shown.join(" ")).as_bytes());
                }
                line.extend(extra.iter().cloned());
                code = code.max(super::call(&line));
                if code >= Code::Failed {
                    return Ok(code);
                }
            }
        }
        Ok(code)
    }

    fn parse<'w>(&self, words: &'w [OsString]) -> Result<Parsed<'w>> {
        let mut parsed = Parsed { verbs: Vec::new(), operands: Vec::new(), options: Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if let Some(option) = self.options.iter().find(|option| text.eq_ignore_ascii_case(option.name)) {
                let value = if option.has_value { words.next() } else { None };
                if option.has_value && value.is_none() {
                    return Err(self.wrong(format!("{} needs a value", option.name)));
                }
                match option.does {
                    Does::Verb => names.push(option.name),
                    _ => parsed.options.push((option, value)),
                }
            } else if let Some(verb) = self.verbs.iter().find(|verb| text.eq_ignore_ascii_case(verb.name)) {
                names.push(verb.name);
            } else if text.starts_with('-') && text.len() > 1 {
                return Err(self.unknown(&text));
            } else {
                parsed.operands.push(word.clone());
            }
        }
        parsed.verbs = self.verbs(&names)?;
        let Some(verb) = parsed.verbs.first() else { return Err(self.wrong("no verb is given".to_owned())) };
        let (wanted, given) = (verb.operands.len(), parsed.operands.len());
        if given != wanted && !(self.combines && given > 0) {
            let line = [&[verb.name], verb.operands].concat().join(" ");
            let what = format!("{} takes {}, and {given} were given", verb.name, verb.operands.join(" "));
            return Err(bad_argument(what, &format!("the line is {} {line}", self.name)));
        }
        Ok(parsed)
    }

    /// The verbs of these words: one, or several if they can be combined.
    fn verbs(&self, names: &[&str]) -> Result<Vec<&'static Verb>> {
        if self.combines {
            // In the order of the table.
            return Ok(self.verbs.iter().filter(|verb| names.contains(&verb.name)).collect());
        }
        let has = |verb: &&Verb| verb.name.split(' ').count() == names.len() && names.iter().all(|own| verb.has(own));
        match (names, self.verbs.iter().find(has)) {
            ([], _) => Ok(Vec::new()),
            (_, Some(verb)) => Ok(vec![verb]),
            (_, None) => Err(self.wrong(format!("{} do not go together", names.join(" and ")))),
        }
    }

    fn unknown(&self, word: &str) -> anyhow::Error {
        let lower = word.to_ascii_lowercase();
        let verbs = self.verbs.iter().map(|verb| verb.name);
        let close = near(&lower, verbs.chain(self.options.iter().map(|option| option.name)));
        let message = format!("{} has no {word}", self.name);
        match close.is_empty() {
            true => self.wrong(message),
            false => bad_argument(message, &format!("did you mean {}?", close.join(" or "))),
        }
    }

    fn wrong(&self, message: String) -> anyhow::Error {
        let lines = self.verbs.iter().map(|verb| [&[self.name, verb.name], verb.operands].concat().join(" "));
        bad_argument(message, &format!("its lines are\n{}", lines.collect::<Vec<_>>().join("\n")))
    }

    /// The table of the help: the command lines, each with the command that it is translated to.
    fn table(&self) -> String {
        let lines = self.verbs.iter().map(|verb| {
            let line = [&[self.name, verb.name], verb.operands].concat().join(" ");
            format!("  {line}\n      bspkit {}", verb.command)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The parts of a command line.
struct Parsed<'w> {
    verbs: Vec<&'static Verb>,
    operands: Vec<OsString>,
    options: Vec<(&'static Plain, Option<&'w OsString>)>,
}

// `bspzip`: the verbs of Valve's program of this name.

const BSPZIP_TOOL: Tool = Tool {
    name: "bspzip",
    combines: false,
    verbs: &[
        Verb { name: "-extract", operands: &["BSP", "ZIP"], command: "cat BSP pakfile -o ZIP" },
        Verb { name: "-extractfiles", operands: &["BSP", "DIR"], command: "pak extract BSP -o DIR --overwrite" },
        Verb { name: "-dir", operands: &["BSP"], command: "pak list BSP --names" },
        Verb { name: "-addfile", operands: &["BSP", "NAME", "FILE", "NEW"], command: "pak add BSP NAME=FILE -o NEW" },
        Verb {
            name: "-addfiles",
            operands: &["BSP", "PREFIX", "LIST", "NEW"],
            command: "pak add BSP PREFIX+NAME=FILE... -o NEW",
        },
        Verb { name: "-addlist", operands: &["BSP", "LIST", "NEW"], command: "pak add BSP --list LIST -o NEW" },
        Verb { name: "-addorupdatelist", operands: &["BSP", "LIST", "NEW"], command: "pak add BSP --list LIST -o NEW" },
        Verb { name: "-deletefile", operands: &["BSP", "NAME", "NEW"], command: "pak rm BSP =NAME -o NEW" },
        Verb { name: "-deletelist", operands: &["BSP", "LIST", "NEW"], command: "pak rm BSP =NAME... -o NEW" },
        Verb { name: "-deletecubemaps", operands: &["BSP"], command: "cubemap strip BSP --in-place" },
        Verb {
            name: "-extractcubemaps",
            operands: &["BSP", "DIR"],
            command: "pak extract BSP -o DIR =CUBEMAP... --overwrite",
        },
        Verb { name: "-repack -compress", operands: &["BSP"], command: "compress BSP --all --pak --in-place" },
        Verb { name: "-repack", operands: &["BSP"], command: "decompress BSP --pak --in-place" },
    ],
    options: &[
        Plain { name: "-game", has_value: true, does: Does::Nothing },
        Plain { name: "-v", has_value: false, does: Does::Verbose },
        Plain { name: "-verbose", has_value: false, does: Does::Verbose },
        Plain { name: "-threads", has_value: true, does: Does::Threads },
        Plain { name: "-compress", has_value: false, does: Does::Verb },
    ],
};

/// Run a command line of Valve's bspzip, for scripts that call it
///
/// If this program, or a link to it, is called `bspzip` or `bspzip.exe`, the words after that name are such a command
/// line too. Verbs are read in any case. -game DIR is accepted and has no effect, since no game is needed; -v and
/// -verbose print the command, -threads N is --jobs N. A path without extension gets .bsp or .zip, and \ in a path is
/// / where there is no such file. NEW may be BSP. A list has pairs of lines, a name in the map and a file; the lists
/// of -addfiles and -deletelist have one file or name in each line. Lines may end with CRLF.
///
/// What is different: nothing is written if a list has an odd number of lines, names an absent file, or gives two
/// files one name, where bspzip does a part of the work. A map is replaced completely or not at all. Lumps that are
/// not named here keep their bytes and places; bspzip rewrites the file and drops what it does not know. -addlist
/// replaces a file of the same name, where bspzip adds a second one. Names are stored in lower case and with /, as by
/// bspzip; files that were embedded before keep their names. -deletecubemaps and -extractcubemaps mean the images of
/// cube maps, and bspzip all .vtf files; default images are not deleted. -repack compresses what bspzip compresses,
/// but not mp3, wav, ogg, ani and vcs files, which engines cannot read compressed. Messages go to stderr; stdout has
/// only the names of -dir. The exit status is that of all commands: 1 if there is nothing to delete, 2 for an error,
/// where bspzip may exit with 0.
#[derive(clap::Args)]
#[command(after_help = with_table("Verbs, and the commands that do the work", &BSPZIP_TOOL.table(), help!(
    "  bspkit bspzip -addlist map.bsp list.txt out.bsp
  bspkit bspzip -dir map.bsp
  bspkit bspzip -game tf -extractfiles map.bsp files
  bspkit bspzip -repack -compress map.bsp"
)))]
pub(crate) struct BspzipArgs {
    /// The words after `bspzip`
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(crate) fn run_bspzip(cx: &Context, args: &BspzipArgs) -> Result<Code> {
    BSPZIP_TOOL.run(cx, &args.words)
}

// `ripent`: the verbs of the GoldSrc compilers' program of this name.

const AS_IT_IS: Does = Does::Notice("files are written and read as they are; `ent fmt` formats entities");

const RIPENT_TOOL: Tool = Tool {
    name: "ripent",
    combines: true,
    verbs: &[
        Verb { name: "-import", operands: &["BSP"], command: "ent import BSP MAP.ent --in-place" },
        Verb { name: "-export", operands: &["BSP"], command: "ent export BSP -o MAP.ent" },
        Verb { name: "-textureimport", operands: &["BSP"], command: "tex import BSP MAP.wad --in-place --any-size" },
        Verb { name: "-textureexport", operands: &["BSP"], command: "tex export BSP -o MAP.wad --overwrite" },
        Verb { name: "-chart", operands: &["BSP"], command: "info BSP --limits" },
    ],
    options: &[
        Plain { name: "-parse", has_value: false, does: AS_IT_IS },
        Plain { name: "-textureparse", has_value: false, does: AS_IT_IS },
        Plain { name: "-noinfo", has_value: false, does: Does::Nothing },
        Plain { name: "-pause", has_value: false, does: Does::Nothing },
        Plain { name: "-texdata", has_value: true, does: Does::Nothing },
        Plain { name: "-lightdata", has_value: true, does: Does::Nothing },
        Plain { name: "-console", has_value: true, does: Does::Nothing },
        Plain { name: "-lang", has_value: true, does: Does::Nothing },
    ],
};

/// Run a command line of ripent (ZHLT, VHLT, SDHLT, Sven Co-op), for scripts that call it
///
/// If this program, or a link to it, is called `ripent` or `ripent.exe`, the words after that name are such a command
/// line too. Verbs are read in any case and can be combined. The extension of the map may be left out. MAP.ent and
/// MAP.wad are files beside the map with its name; exporting replaces them. Maps of every family are accepted, and
/// several at once. -noinfo, -pause, -console, -lang, -texdata and -lightdata are accepted and have no effect: there
/// are no limits to raise.
///
/// What is different: the map is replaced completely or not at all, and all that is not imported keeps its bytes.
/// Entities with which engines would stop are refused. MAP.wad has only textures with pixels, once each, and has
/// no .tex file; importing goes by names, so that the order of the textures in the map never changes. -parse and
/// -textureparse are accepted, and files are written as they are. The exit status is that of all commands: 2 for an
/// error.
#[derive(clap::Args)]
#[command(after_help = with_table("Verbs, and the commands that do the work", &RIPENT_TOOL.table(), help!(
    "  bspkit ripent -export goldsrc.bsp
  bspkit ripent -import -textureexport goldsrc.bsp
  bspkit ripent -textureimport goldsrc"
)))]
pub(crate) struct RipentArgs {
    /// The words after `ripent`
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(crate) fn run_ripent(cx: &Context, args: &RipentArgs) -> Result<Code> {
    RIPENT_TOOL.run(cx, &args.words)
}

// Fills in the command of a verb.

/// The operands of a verb, by their names.
struct Values<'v> {
    names: &'static [&'static str],
    given: &'v [OsString],
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
fn fill(cx: &Context, command: &str, values: &Values<'_>) -> Result<Vec<OsString>> {
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
