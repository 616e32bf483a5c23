//! The words after `--` on the command line.

use std::collections::BTreeMap;
use std::sync::Arc;

use rhai::{Array, Dynamic};

use super::api::{Api, Res, fail};
use crate::{Error, ErrorKind, near};

/// The words, and the values of those that begin with `--`.
#[derive(Clone)]
pub(super) struct Args {
    words: Arc<Vec<String>>,
    named: Arc<BTreeMap<String, Dynamic>>,
}

impl Args {
    pub(super) fn new(words: &[String]) -> Self {
        let mut named = BTreeMap::new();
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            let Some(name) = word.strip_prefix("--") else { continue };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, value.into()),
                None => match rest.next_if(|next| !next.starts_with("--")) {
                    Some(value) => (name, value.into()),
                    None => (name, Dynamic::TRUE),
                },
            };
            named.insert(name.replace('-', "_"), value);
        }
        Args { words: Arc::new(words.to_vec()), named: Arc::new(named) }
    }

    fn named(&mut self, name: &str) -> Dynamic {
        self.named.get(name).cloned().unwrap_or(Dynamic::UNIT)
    }

    fn word(&mut self, index: i64) -> Dynamic {
        let word = usize::try_from(index).ok().and_then(|index| self.words.get(index));
        word.map_or(Dynamic::UNIT, |word| word.clone().into())
    }

    fn check(&mut self, names: &Array) -> Res<()> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let unknown = self.named.keys().find(|name| !names.contains(name));
        let dashed = |name: &str| format!("--{}", name.replace('_', "-"));
        match unknown {
            None => Ok(()),
            Some(name) => {
                let known: Vec<String> = names.iter().map(|name| dashed(name)).collect();
                let error = Error::new(ErrorKind::Argument, format!("the script has no argument {}", dashed(name)));
                Err(fail(error.with_hint(near::or_all(&dashed(name), &known, "it has"))))
            }
        }
    }
}

pub(super) fn register(api: &mut Api) {
    api.group("Arguments");
    api.name::<Args>("args");
    api.entry(
        "args",
        "The words after `--` on the command line: `args[0]` is the first one, `()` if there are fewer words, and \
         `for a in args` visits all.",
    );
    api.entry(
        "args.name",
        "The value of `--name VALUE` or `--name=VALUE` as a string; `true` for `--name` without a value, `()` if it is \
         not given. A `-` in the name is `_` here.",
    );
    api.index(Args::named);
    api.index(Args::word);
    api.getter("tag", |args: &mut Args| args.named("tag"));
    api.iterate(|args: Args| Ok(Arc::unwrap_or_clone(args.words).into_iter().map(|word| Ok(word.into()))));
    api.call("args.len()", "How many words there are.", |args: &mut Args| super::entities::signed(args.words.len()));
    api.call(
        "args.only(names)",
        "Stops the script if there is a `--name` that is not in the array, so that a mistyped one is not ignored.",
        |args: &mut Args, names: Array| args.check(&names),
    );
}
