//! Problems of overrides whose path does not exist or whose value is invalid.

use super::{Format, Node, Override, TreeEntry, Why, child, factor, fault, names, quoted};
use crate::prelude::*;
use crate::text::fault::TextFault;

impl Override {
    /// Explains where the path ends, with suggestions.
    pub(super) fn misfit(&self, tree: &Node, refused: Option<&Why>) -> Box<Diagnostic> {
        let (mut place, mut known) = (tree, Vec::new());
        let mut stop = None;
        for (depth, step) in self.path.iter().enumerate() {
            known = names(place);
            match child(place, step) {
                Some(next) => place = next,
                None if place.is_list() && known.is_empty() && depth > 0 => return self.of_list(depth),
                None => {
                    stop = Some((depth, step));
                    break;
                }
            }
        }
        if self.value.as_str().and_then(factor).is_some() && refused.is_none() {
            let message = "this value is not a number, so it cannot be multiplied";
            let help = "write the value itself: the field is not a number, or the file does not set it, and a default cannot be \
                multiplied";
            return self.named(Diagnostic::at(Code("set-value"), self.field(), message).help(help));
        }
        // A field that is there by default is in no tree, yet its value may be wrong.
        let is_of_value = refused.is_some_and(|it| match it {
            Why::Missing(_) => !self.value.is_leaf(),
            Why::Choice(name, _) => self.value.as_str() == Some(name),
            other => other.is_of_value(),
        });
        let Some((depth, stop)) = stop.filter(|_| !is_of_value) else {
            let why = refused.map_or_else(|| TextFault::new(Code("set-value"), "", ""), |it| self.told(it));
            let why = why.of_field(&self.path.join("."), Format::Toml);
            let mut help = match why.help {
                Some(help) if help == fault::WHOLE_NUMBER => {
                    "write a whole number, such as `100_000` or `100k`, or `*2` to double the current value"
                        .to_owned()
                }
                Some(help) => help,
                None => "write it as in an input file".to_owned(),
            };
            if why.code == Code("unit-missing") && self.path[0] == "params" {
                help = self.with_unit();
            }
            if self.value.as_str().is_some_and(|it| it.starts_with('[')) {
                // Most likely a shell took the quotes away.
                help.push_str(", in single quotes for the shell");
            }
            return self.named(Diagnostic::at(Code("set-value"), self.field(), why.message).help(help));
        };
        if let Some(Why::Choice(_, more) | Why::Field(_, more)) = refused {
            known.extend(more.iter().map(|it| (*it).to_owned()));
        }
        known.retain(|it| it != stop);
        let known: IndexSet<String> = known.into_iter().collect();
        let holder = place.entries().iter().find(|it| it.value.get(stop).is_some()).and_then(TreeEntry::name);
        let deeper = holder.map(|it| format!("{it}.{stop}"));
        let near = deeper.as_deref().or_else(|| nearest(stop, known.iter().map(String::as_str)));
        let help = match near {
            Some(near) => format!("did you mean `{}`?", self.with_step(depth, near)),
            None if known.is_empty() => "run `ctxsim show policy NAME` (or scenario, profile) to see the \
                fields"
                .to_owned(),
            None => format!("the fields here are {}", quoted(known.iter().map(String::as_str))),
        };
        let message = match refused {
            Some(why) => self.told(why).message,
            None => format!("no input in this run has the field `{stop}` here"),
        };
        self.named(Diagnostic::at(Code("set-no-such-field"), self.field(), message).help(help))
    }

    /// Says which units a bare number may have.
    fn with_unit(&self) -> String {
        let (field, written) = (self.field(), self.written());
        let number = written.trim_matches('"');
        match number.contains(['.', '%']) {
            true => format!("write `{field}.ratio={number}` for a share of the limit"),
            false => format!(
                "write `{field}.tokens={number}` for a size, `{field}.count={number}` for a number of turns, steps or items"
            ),
        }
    }

    /// Returns the path as written, with one step replaced.
    fn with_step(&self, depth: usize, step: &str) -> String {
        let mut written: Vec<&str> = self.field().split('.').collect();
        if let Some(at) = (written.len() + depth).checked_sub(self.path.len()) {
            written[at] = step;
        }
        written.join(".")
    }

    /// Reports a name where a list's index is needed.
    fn of_list(&self, depth: usize) -> Box<Diagnostic> {
        let written: Vec<&str> = self.field().split('.').collect();
        let (list, rest) = written.split_at(written.len() - (self.path.len() - depth));
        let message = format!("`{}` is a list", self.path[depth - 1]);
        let help = format!("use an element: `{}.0.{}`", list.join("."), rest.join("."));
        self.named(Diagnostic::at(Code("set-no-such-field"), self.field(), message).help(help))
    }

    /// Explains why the value is refused.
    fn told(&self, why: &Why) -> TextFault {
        let mut names = Vec::new();
        leaves(&self.value, &mut names);
        match (why, names.as_slice()) {
            (Why::Bare(_), [_, _, ..]) => fault::bare_names(&quoted(names)),
            _ => fault::explained(why, &self.written(), Format::Toml),
        }
    }

    /// Returns the value as a file has it.
    fn written(&self) -> String {
        let (_, written) = self.text.split_once('=').unwrap_or_default();
        self.value.as_str().map_or_else(|| written.trim().to_owned(), |it| format!("\"{it}\""))
    }
}

/// Collects the words that are values of tables, however deep.
fn leaves<'v>(value: &'v Node, found: &mut Vec<&'v str>) {
    for entry in value.entries() {
        match entry.value.as_str() {
            Some(word) if entry.key.is_some() => found.push(word),
            Some(_) => {}
            None => leaves(&entry.value, found),
        }
    }
}
