//! What scripts can call. Each function is declared once, with its usage and a sentence: the reference in
//! `docs/scripts.md` is made from these.

use std::any::TypeId;

use rhai::{Dynamic, EvalAltResult, FnNamespace, FuncRegistration, Module, RhaiNativeFunc};

use super::fault::Fault;

/// The result of a function that scripts call.
pub(super) type Res<T> = Result<T, Box<EvalAltResult>>;

/// A function, property or variable of scripts, for the reference.
///
/// ```
/// let vectors = bspkit::face::script::reference().into_iter().find(|entry| entry.usage == "vec(x, y, z)").unwrap();
/// assert_eq!(vectors.group, "Vectors and angles");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The section of the reference.
    pub group: &'static str,
    /// How it is written in a script.
    pub usage: &'static str,
    /// A sentence that says what it does.
    pub does: &'static str,
}

impl Entry {
    /// The name of the function or property: the last word before the parentheses.
    pub(super) fn name(&self) -> &'static str {
        let usage = self.usage.split(['(', '=']).next().unwrap_or_default().trim_end();
        usage.rsplit(['.', ' ']).next().unwrap_or_default()
    }
}

/// Registers functions.
pub(super) struct Api {
    pub(super) module: Module,
    pub(super) entries: Vec<Entry>,
    group: &'static str,
}

/// Methods that register a function of the library, by its registration. Their bounds are those of Rhai.
macro_rules! registered {
    ($($(#[$doc:meta])* fn $method:ident($self:ident $(, $text:ident)*) $registration:block)*) => {$(
        $(#[$doc])*
        pub(super) fn $method<A: 'static, const N: usize, const X: bool, R, const F: bool, C>(
            &mut $self,
            $($text: &'static str,)*
            call: C,
        ) where
            R: Send + Sync + Clone + 'static,
            C: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
        {
            let function: FuncRegistration = $registration;
            function.with_namespace(FnNamespace::Global).set_into_module(&mut $self.module, call);
        }
    )*};
}

impl Api {
    pub(super) fn new() -> Self {
        Api { module: Module::new(), entries: Vec::new(), group: "" }
    }

    /// Starts a section of the reference.
    pub(super) fn group(&mut self, group: &'static str) {
        self.group = group;
    }

    /// Adds an entry to the reference.
    pub(super) fn entry(&mut self, usage: &'static str, does: &'static str) -> &'static str {
        let entry = Entry { group: self.group, usage, does };
        self.entries.push(entry);
        entry.name()
    }

    registered! {
        /// A function or a method.
        fn call(self, usage, does) {
            FuncRegistration::new(self.entry(usage, does)).with_purity(true)
        }

        /// Another form of a function that has an entry: for other types of arguments, or an operator.
        fn also(self, name) {
            // Variables like `entities` are constants: their methods have to be pure, which they are as far as the
            // engine can see.
            FuncRegistration::new(name).with_purity(true)
        }

        /// A function that changes its first argument, which cannot be a constant.
        fn change(self, name) {
            FuncRegistration::new(name)
        }

        /// A property that is read.
        fn get(self, usage, does) {
            FuncRegistration::new_getter(self.entry(usage, does)).with_purity(true)
        }

        /// A property that is read, without an entry.
        fn getter(self, name) {
            FuncRegistration::new_getter(name).with_purity(true)
        }

        /// The same property, written. A constant cannot be changed by it.
        fn set(self, name) {
            FuncRegistration::new_setter(name)
        }

        /// `x[index]`, read.
        fn index(self) {
            FuncRegistration::new_index_getter().with_purity(true)
        }

        /// `x[index] = value` for a value of the script itself, which must not be a constant.
        fn change_index(self) {
            FuncRegistration::new_index_setter()
        }

        /// `x[index] = value`. Also for a constant, since what it changes is the map.
        fn set_index(self) {
            FuncRegistration::new_index_setter().with_purity(true)
        }
    }

    /// `for item in x`.
    pub(super) fn iterate<T, I>(&mut self, items: impl Fn(T) -> Res<I> + Send + Sync + 'static)
    where
        T: Clone + Send + Sync + 'static,
        I: Iterator<Item = Res<Dynamic>> + 'static,
    {
        self.module.set_iter_result(TypeId::of::<T>(), move |value: Dynamic| match value.try_cast::<T>() {
            Some(value) => match items(value) {
                Ok(items) => Box::new(items),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
            None => Box::new(std::iter::empty()),
        });
    }

    /// The name of a type in messages.
    pub(super) fn name<T: Clone + Send + Sync + 'static>(&mut self, name: &'static str) {
        self.module.set_custom_type::<T>(name);
    }
}

/// An error of the library, as scripts see it.
pub(super) fn fail(error: crate::Error) -> Box<EvalAltResult> {
    let fault = Dynamic::from(Fault::new(error));
    Box::new(EvalAltResult::ErrorRuntime(fault, rhai::Position::NONE))
}

/// An argument that is not valid.
pub(super) fn wrong(message: impl Into<String>) -> Box<EvalAltResult> {
    fail(crate::Error::new(crate::ErrorKind::Argument, message))
}
