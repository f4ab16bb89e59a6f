//! Problems of overrides whose path does not exist or whose value is invalid.

use indexmap::IndexSet;

use super::{Format, Setting, Tree, child, fault, names, number, quoted};
use crate::diag::{Diagnostic, nearest};
use crate::input::text::fault::Fault;

impl Setting {
    /// Explains where the path ends, with suggestions.
    pub(super) fn misfit(&self, tree: &Tree, refused: Option<String>) -> Box<Diagnostic> {
        let (mut place, mut known) = (tree, Vec::new());
        let mut stop = None;
        for (depth, step) in self.path.iter().enumerate() {
            known = names(place);
            match child(place, step) {
                Some(next) => place = next,
                None if place.is_array() && known.is_empty() && depth > 0 => return self.of_list(depth),
                None => {
                    stop = Some((depth, step));
                    break;
                }
            }
        }
        if self.value.as_str().and_then(number::factor).is_some() && refused.is_none() {
            let message = "this value is not a number, so it cannot be multiplied";
            let help = "write the value itself: the field is not a number, or the file does not set it, and a default cannot be \
                multiplied";
            return self.named(Diagnostic::at("set-value", self.field(), message).help(help));
        }
        // A field that is there by default is in no tree, yet its value may be wrong.
        let is_choice = self.value.as_str().map(|it| format!("unknown variant `{it}`"));
        let is_of_value = refused.as_ref().is_some_and(|it| {
            let is_within =
                it.starts_with("missing field") && (self.value.is_array() || self.value.is_table());
            it.starts_with("invalid") || is_within || is_choice.is_some_and(|choice| it.starts_with(&choice))
        });
        let Some((depth, stop)) = stop.filter(|_| !is_of_value) else {
            let refused = refused.unwrap_or_default();
            let why = self
                .too_long(&refused)
                .or_else(|| self.bare_names(&refused))
                .unwrap_or_else(|| fault::of_words(&refused, &self.value.to_string(), Format::Toml))
                .of_field(&self.path.join("."), Format::Toml);
            let mut help = match why.help {
                Some(help) if help == fault::WHOLE_NUMBER => {
                    "write a whole number, such as `100_000` or `100k`, or `*2` to double the current value"
                        .to_owned()
                }
                Some(help) => help,
                None => "write it as in an input file".to_owned(),
            };
            if why.code == "unit-missing" && self.path[0] == "params" {
                let (field, number) = (self.field(), &self.value);
                help = format!(
                    "write `{field}.tokens={number}` for a size, `{field}.count={number}` for a number of turns, steps or items"
                );
            }
            if self.value.as_str().is_some_and(|it| it.starts_with('[')) {
                // Most likely a shell took the quotes away.
                help.push_str(", in single quotes for the shell");
            }
            return self.named(Diagnostic::at("set-value", self.field(), why.message).help(help));
        };
        known.extend(refused.iter().flat_map(|it| it.split('`').skip(1).step_by(2)).map(str::to_owned));
        known.retain(|it| it != stop);
        let known: IndexSet<String> = known.into_iter().collect();
        let old = fault::of_old_name(stop, |it| known.contains(it));
        let help = match nearest(stop, known.iter().map(String::as_str)) {
            _ if old.is_some() => old.unwrap_or_default(),
            Some(near) => format!("did you mean `{}`?", self.with_step(depth, near)),
            None if known.is_empty() => "run `ctxsim show policy NAME` (or scenario, profile) to see the \
                fields"
                .to_owned(),
            None => format!("the fields here are {}", quoted(known.iter().map(String::as_str))),
        };
        let message = match refused {
            Some(why) => fault::of_words(&why, &self.value.to_string(), Format::Toml).message,
            None => format!("no input in this run has the field `{stop}` here"),
        };
        self.named(Diagnostic::at("set-no-such-field", self.field(), message).help(help))
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
        self.named(Diagnostic::at("set-no-such-field", self.field(), message).help(help))
    }

    /// Reports names inside a list or table that stand without the value that they need.
    fn bare_names(&self, refused: &str) -> Option<Fault> {
        let mut names = Vec::new();
        leaves(&self.value, &mut names);
        let is_bare = refused.starts_with("invalid type: unit variant, expected") && !self.value.is_str();
        let [name] = names.as_slice() else {
            return (is_bare && !names.is_empty()).then(|| fault::bare_names(&quoted(names)));
        };
        is_bare.then(|| fault::of_words(refused, name, Format::Toml))
    }

    /// Reports a number that is too long for a tree, which holds it as text.
    fn too_long(&self, refused: &str) -> Option<Fault> {
        let (_, written) = self.text.split_once('=')?;
        let written = written.trim();
        let is_number = written.bytes().all(|it| it.is_ascii_digit() || it == b'_');
        let (_, expected) = refused.rsplit_once("expected ")?;
        let kind = match expected {
            "u64" => "i64",
            other => other,
        };
        (self.value.is_str() && is_number && kind != "f64").then(|| fault::out_of_range(written, kind))
    }
}

/// Collects the words that are values of tables, however deep.
fn leaves<'v>(value: &'v Tree, found: &mut Vec<&'v str>) {
    match value {
        Tree::Array(list) => list.iter().filter(|it| !it.is_str()).for_each(|it| leaves(it, found)),
        Tree::Table(table) => {
            found.extend(table.values().filter_map(Tree::as_str));
            table.values().filter(|it| !it.is_str()).for_each(|it| leaves(it, found));
        }
        _ => {}
    }
}
