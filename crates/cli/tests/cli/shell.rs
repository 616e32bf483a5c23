//! A small shell, for systems that have none. It knows words and quotes, `;`, `&&`, `|`, `<`, `>`, `>>`, `2>`, and the
//! commands in [`knows`]; a line with anything else needs `sh`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A word of a line, or an operator.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Operator(&'static str),
}

const OPERATORS: [&str; 9] = ["2>&1", "2>", "&&", ">>", "||", ";", "|", "<", ">"];

/// The tokens of a line. `None`: it needs `sh`.
fn tokens(line: &str) -> Option<Vec<Token>> {
    let (mut tokens, mut word, mut rest) = (Vec::new(), None::<String>, line);
    while let Some(char) = rest.chars().next() {
        if matches!(char, ' ' | '\n') {
            tokens.extend(word.take().map(Token::Word));
            if char == '\n' {
                tokens.push(Token::Operator(";"));
            }
        } else if let Some(operator) = OPERATORS.iter().find(|it| rest.starts_with(**it))
            && (!operator.starts_with('2') || word.is_none())
        {
            tokens.extend(word.take().map(Token::Word));
            tokens.push(Token::Operator(operator));
            rest = &rest[operator.len()..];
            continue;
        } else {
            let word = word.get_or_insert_default();
            let end = match char {
                '\\' => 1 + rest[1..].chars().next()?.len_utf8(),
                '\'' => rest[1..].find('\'')? + 2,
                '"' => rest[1..].find('"')? + 2,
                _ => char.len_utf8(),
            };
            match char {
                '\'' => word.push_str(&rest[1..end - 1]),
                '"' if rest[..end].contains(['\\', '$', '`']) => return None,
                '"' => word.push_str(&rest[1..end - 1]),
                '\\' => word.push_str(&rest[1..end]),
                '$' | '`' | '(' | ')' | '&' | '*' | '?' => return None,
                '#' if word.is_empty() => return Some(tokens),
                _ => word.push(char),
            }
            rest = &rest[end..];
            continue;
        }
        rest = &rest[1..];
    }
    tokens.extend(word.map(Token::Word));
    Some(tokens)
}

/// One command of a pipeline.
#[derive(Debug, Default)]
struct Stage {
    words: Vec<String>,
    input: Option<String>,
    output: Option<(String, bool)>,
    errors: Option<String>,
}

/// Pipelines, each with whether it runs only if the one before succeeded.
fn pipelines(tokens: Vec<Token>) -> Option<Vec<(bool, Vec<Stage>)>> {
    let (mut all, mut stages, mut stage, mut on_success) = (Vec::new(), Vec::new(), Stage::default(), false);
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let operator = match token {
            Token::Word(word) => {
                stage.words.push(word);
                continue;
            }
            Token::Operator(operator) => operator,
        };
        match operator {
            "||" => return None,
            "|" => stages.push(std::mem::take(&mut stage)),
            ";" | "&&" => {
                stages.push(std::mem::take(&mut stage));
                all.push((on_success, std::mem::take(&mut stages)));
                on_success = operator == "&&";
            }
            "2>&1" => stage.errors = Some("&1".to_owned()),
            _ => {
                let Some(Token::Word(file)) = tokens.next() else { return None };
                match operator {
                    "<" => stage.input = Some(file),
                    "2>" => stage.errors = Some(file),
                    _ => stage.output = Some((file, operator == ">>")),
                }
            }
        }
    }
    stages.push(stage);
    all.push((on_success, stages));
    // Empty commands stand where a line ends in `;` or a comment.
    all.retain(|(_, stages)| stages.len() > 1 || !stages[0].words.is_empty());
    Some(all)
}

/// What a command gave.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

struct Shell<'a> {
    /// Where lines begin.
    folder: PathBuf,
    program: &'a dyn Fn() -> Command,
}

/// Runs a line in a folder. `None`: it needs `sh`, and nothing was run.
pub(crate) fn run(line: &str, folder: &Path, program: &dyn Fn() -> Command) -> Option<Said> {
    let pipelines = pipelines(tokens(line)?)?;
    if !pipelines.iter().flat_map(|(_, stages)| stages).all(knows) {
        return None;
    }
    let mut shell = Shell { folder: folder.to_path_buf(), program };
    let mut all = Said::default();
    for (on_success, stages) in pipelines {
        if on_success && all.code != 0 {
            continue;
        }
        let mut piped = None;
        let mut code = 0;
        for stage in &stages {
            let said = shell.stage(stage, piped.take());
            all.err.extend(said.err);
            code = said.code;
            piped = Some(said.out);
        }
        all.code = code;
        all.out.extend(piped.unwrap_or_default());
    }
    Some(all)
}

/// Whether the shell has a command, with these arguments.
fn knows(stage: &Stage) -> bool {
    let words: Vec<_> = stage.words.iter().map(String::as_str).collect();
    match words[..] {
        // Devices of Unix.
        _ if stage.output.as_ref().is_some_and(|(file, _)| file.starts_with("/dev/")) => false,
        _ if words.contains(&"/dev/null") => false,
        ["bspkit" | "cat" | "cd" | "echo" | "mkdir" | "rm" | "touch", ..] => true,
        ["cmp" | "mv", _, _]
        | ["cp", _, _, ..]
        | ["wc", "-l"]
        | ["cut", "-c", _]
        | ["sort"]
        | ["find", _, "-type", "f"] => true,
        ["printf", format] => !format.contains('%'),
        ["head", size] | ["head", size, _] => size.starts_with('-'),
        ["tail", "-n", from] => from.starts_with('+'),
        ["tail", last] => last.starts_with('-'),
        // A file that is not there gives an error, in words of the system.
        ["ls", ref folders @ ..] => !folders.iter().any(|folder| folder.contains('.')),
        _ => false,
    }
}

impl Shell<'_> {
    fn stage(&mut self, stage: &Stage, piped: Option<Vec<u8>>) -> Said {
        let input = match &stage.input {
            Some(file) => Some(fs::read(self.folder.join(file)).unwrap()),
            None => piped,
        };
        let words: Vec<_> = stage.words.iter().map(String::as_str).collect();
        let mut said = match words[..] {
            ["bspkit", ref arguments @ ..] => self.bspkit(arguments, input),
            [name, ref arguments @ ..] => {
                Said { out: self.own(name, arguments, input.unwrap_or_default()), ..Said::default() }
            }
            [] => Said::default(),
        };
        if let Some((file, at_end)) = &stage.output {
            let file = self.folder.join(file);
            let mut file =
                fs::File::options().create(true).write(true).append(*at_end).truncate(!at_end).open(file).unwrap();
            file.write_all(&std::mem::take(&mut said.out)).unwrap();
        }
        match stage.errors.as_deref() {
            Some("/dev/null") => said.err.clear(),
            Some("&1") => said.out.append(&mut said.err),
            Some(file) => fs::write(self.folder.join(file), std::mem::take(&mut said.err)).unwrap(),
            None => {}
        }
        said
    }

    fn bspkit(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Said {
        let mut command = (self.program)();
        command.args(arguments).current_dir(&self.folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).spawn().unwrap();
        let pipe = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // The program need not read all of it.
            scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(&input.unwrap_or_default())));
            child.wait_with_output().unwrap()
        });
        Said { code: output.status.code().unwrap(), out: output.stdout, err: output.stderr }
    }

    /// Commands of the shell itself, as far as the tests use them: what they print. They insist that they succeed.
    fn own(&mut self, name: &str, arguments: &[&str], input: Vec<u8>) -> Vec<u8> {
        let path = |name: &str| self.folder.join(name);
        let text = || String::from_utf8(input.clone()).unwrap();
        let options: Vec<_> = arguments.iter().filter(|it| it.starts_with('-')).copied().collect();
        let files: Vec<_> = arguments.iter().filter(|it| !it.starts_with('-')).copied().collect();
        match name {
            "echo" => (arguments.join(" ") + "\n").into(),
            "printf" => arguments[0].replace("\\n", "\n").replace("\\0", "\0").into(),
            "cat" if files.is_empty() => input,
            "cat" => files.iter().flat_map(|file| fs::read(path(file)).unwrap()).collect(),
            "wc" => format!("{}\n", input.iter().filter(|byte| **byte == b'\n').count()).into(),
            "cut" => {
                let (first, last) = files[0].split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                let part = |line: &str| line.chars().take(last).skip(first - 1).collect::<String>() + "\n";
                text().lines().map(part).collect::<String>().into()
            }
            "head" if !files.is_empty() => {
                let file = fs::read(path(files[0])).unwrap();
                self.own("head", &options, file)
            }
            "head" => match options[0].strip_prefix("-c") {
                Some(size) => input[..input.len().min(size.parse().unwrap())].to_vec(),
                None => lines(&input)[..]
                    .iter()
                    .take(options[0][1..].parse().unwrap())
                    .copied()
                    .collect::<Vec<_>>()
                    .concat(),
            },
            "tail" => {
                let lines = lines(&input);
                let first = match files[..] {
                    [from] => from[1..].parse::<usize>().unwrap() - 1,
                    _ => lines.len().saturating_sub(options[0][1..].parse().unwrap()),
                };
                lines.get(first..).unwrap_or_default().concat()
            }
            "sort" => {
                let mut lines = lines(&input);
                lines.sort_unstable();
                lines.concat()
            }
            "find" => {
                let mut found = Vec::new();
                walk(&path(arguments[0]), arguments[0], &mut found);
                found.concat().into()
            }
            "ls" => self.list(&files, options.contains(&"-A")).into(),
            "cmp" => {
                assert!(fs::read(path(files[0])).unwrap() == fs::read(path(files[1])).unwrap(), "{files:?} differ");
                Vec::new()
            }
            "cd" => {
                self.folder = path(files[0]);
                Vec::new()
            }
            _ => {
                self.change(name, &files).unwrap();
                Vec::new()
            }
        }
    }

    /// Commands that change files.
    fn change(&self, name: &str, files: &[&str]) -> io::Result<()> {
        let paths: Vec<_> = files.iter().map(|file| self.folder.join(file)).collect();
        let (to, from) = paths.split_last().unwrap();
        match name {
            "cp" => from.iter().try_for_each(|from| copy(from, to)),
            "mv" => fs::rename(&from[0], into(&from[0], to)),
            "touch" => paths.iter().try_for_each(|path| fs::File::create(path).map(|_| ())),
            "mkdir" => paths.iter().try_for_each(fs::create_dir_all),
            "rm" => paths.iter().try_for_each(|path| match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            }),
            _ => unreachable!("{name}"),
        }
    }

    fn list(&self, folders: &[&str], hidden: bool) -> String {
        let names = |folder: &str| {
            let names = fs::read_dir(self.folder.join(folder)).unwrap();
            let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.retain(|name| hidden || !name.starts_with('.'));
            names.sort();
            names.iter().map(|name| format!("{name}\n")).collect::<String>()
        };
        match folders {
            [] => names(""),
            [folder] => names(folder),
            _ => folders.iter().map(|it| format!("{it}:\n{}", names(it))).collect::<Vec<_>>().join("\n"),
        }
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The paths of all files in a folder, as lines.
fn walk(folder: &Path, name: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => walk(&path, &name, found),
            false => found.push(name + "\n"),
        }
    }
}

/// The place that a file takes: a folder takes it in.
fn into(from: &Path, to: &Path) -> PathBuf {
    if to.is_dir() { to.join(from.file_name().unwrap()) } else { to.to_path_buf() }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let to = into(from, to);
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir(&to)?;
    for entry in fs::read_dir(from)? {
        copy(&entry?.path(), &to)?;
    }
    Ok(())
}
