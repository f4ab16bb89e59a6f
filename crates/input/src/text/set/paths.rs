//! Paths of overrides: all paths of inputs, and suggestions for a wrong one.

use super::{Encode, Node, Override, ROOTS, SetTarget, names, source};
use crate::ProfileFile;
use crate::prelude::*;

/// The longest path.
const STEPS_MAX: usize = 10;

impl Override {
    /// Returns all override paths of an input, with its own prefix, as in `profile.NAME`.
    pub fn paths<T: Encode>(target: SetTarget, name: Option<&str>, spec: &T) -> Vec<String> {
        let Ok(tree) = source::to_tree(spec) else { return Vec::new() };
        let named = |root: &str| name.map_or_else(|| root.to_owned(), |it| format!("{root}.{it}"));
        let behind = name.map_or_else(String::new, |it| format!("{it}."));
        let of_root = |root: &str| match target {
            SetTarget::Policy => {
                tree.get(root).map(|it| all(&format!("{behind}{root}"), it)).unwrap_or_default()
            }
            _ => all(&named(root), &tree),
        };
        let own = ROOTS.into_iter().filter(|it| it.0 == target).flat_map(|it| it.1);
        own.filter(|it| super::numbers_of(it).is_none()).flat_map(|it| of_root(it)).collect()
    }

    /// Adds suggestions to a problem of a path whose help only lists the beginnings of paths.
    pub fn suggest(problem: &mut Diagnostic, known: &[String]) {
        if !matches!(problem.code, Code("set-unknown-root") | Code("set-empty-step")) {
            return;
        }
        let names = match like(&problem.place.field, known).as_slice() {
            [] => return,
            [one] => format!("`{one}`"),
            [one, other] => format!("`{one}` or `{other}`"),
            [one, other, more @ ..] => format!("`{one}`, `{other}` or {} more", more.len()),
        };
        problem.help = Some(format!("did you mean {names}?"));
    }
}

/// Returns the paths of everything in a tree, with a prefix; for a list without names, those of its first
/// element.
fn all(prefix: &str, tree: &Node) -> Vec<String> {
    let mut found = Vec::new();
    collect(prefix, tree, STEPS_MAX, &mut found);
    found
}

fn collect(path: &str, tree: &Node, n_more: usize, found: &mut Vec<String>) {
    found.push(path.to_owned());
    if n_more == 0 {
        return;
    }
    let mut steps = names(tree);
    if steps.is_empty() && tree.is_list() && !tree.entries().is_empty() {
        steps.push("0".to_owned());
    }
    for step in steps {
        if let Some(next) = super::child(tree, &step) {
            collect(&format!("{path}.{step}"), next, n_more - 1, found);
        }
    }
}

/// Returns suggestions for a wrong path, only the shortest ones: known paths that end with it; else paths
/// that contain its steps in order and end alike; else paths with similar steps; else suggestions for the
/// path without its first step.
fn like(wrong: &str, known: &[String]) -> Vec<String> {
    let steps: Vec<&str> = wrong.split('.').filter(|it| !it.is_empty()).collect();
    let whole = like_steps(&steps, known);
    if !whole.is_empty() || steps.is_empty() {
        return whole;
    }
    if let Some(rooted) = rooted(&steps.join("."), known) {
        return vec![rooted];
    }
    let parts = (1..steps.len()).map(|it| like_steps(&steps[it..], known));
    parts.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

/// Returns a path with its missing root; the file may not set the field.
fn rooted(path: &str, known: &[String]) -> Option<String> {
    let begun = known.iter().filter_map(|it| {
        let (root, rest) = it.split_once('.')?;
        path.strip_prefix(rest).filter(|it| it.starts_with('.')).map(|_| (rest.len(), root))
    });
    begun.max().map(|(_, root)| format!("{root}.{path}"))
}

fn like_steps(wanted: &[&str], known: &[String]) -> Vec<String> {
    let n_steps = |it: &&String| it.split('.').count();
    for likeness in [Likeness::End, Likeness::Equal, Likeness::Near] {
        let is_like = |it: &&String| likeness.holds(wanted, &it.split('.').collect::<Vec<_>>());
        let found: Vec<&String> = known.iter().filter(is_like).collect();
        if let Some(least) = found.iter().map(n_steps).min() {
            return found.into_iter().filter(|it| n_steps(it) == least).cloned().collect();
        }
    }
    Vec::new()
}

/// How given steps resemble those of a path.
#[derive(Clone, Copy)]
enum Likeness {
    /// They are its last steps.
    End,
    /// They occur in it in order, and the last one is its last.
    Equal,
    /// The same with similar steps.
    Near,
}

impl Likeness {
    fn holds(self, wanted: &[&str], steps: &[&str]) -> bool {
        let is_same = |one: &str, other: &str| match self {
            Self::End | Self::Equal => one == other,
            // One letter for another is no likeness of two numbers.
            Self::Near => one == other || one.len() > 2 && nearest(one, [other]).is_some(),
        };
        let ends_alike = || wanted.last().zip(steps.last()).is_some_and(|(one, other)| is_same(one, other));
        match self {
            Self::End => steps.ends_with(wanted),
            Self::Equal | Self::Near => {
                let mut rest = steps.iter();
                ends_alike() && wanted.iter().all(|one| rest.any(|it| is_same(one, it)))
            }
        }
    }
}

// The profile that an override names, in `profile.NAME.…`.

impl Override {
    /// Returns the profile that it names, preferring the longest known name; `None` if it applies to all.
    pub fn profile(&self, is_known: impl Fn(&str) -> bool) -> Option<String> {
        let is_field = |it: &String| source::fields::<ProfileFile>().contains(&it.as_str());
        if self.target != SetTarget::Profile || self.path.first().is_some_and(is_field) {
            return None;
        }
        let known: Vec<usize> =
            (1..self.path.len()).rev().filter(|it| is_known(&self.path[..*it].join("."))).collect();
        // A shorter name that is known is not meant where a field follows further on.
        let is_followed = |it: &&usize| self.path.get(**it).is_some_and(is_field);
        let has_field = self.path.iter().any(is_field);
        let n_steps = known.iter().find(is_followed).or(known.first().filter(|_| !has_field))?;
        Some(self.path[..*n_steps].join("."))
    }

    /// Reports an unknown profile; `None` if it names a field, or nearly one.
    pub fn unknown_profile(&self, names: &[&str]) -> Option<Box<Diagnostic>> {
        let fields = source::fields::<ProfileFile>();
        let is_field = |it: &String| fields.contains(&it.as_str());
        if nearest(self.path.first()?, fields.iter().copied()).is_some() {
            return None;
        }
        let at = self.path.iter().position(is_field).unwrap_or(self.path.len());
        let (name, rest) = self.path.split_at(at);
        let name = name.join(".");
        let near = nearest(&name, names.iter().copied())
            .or_else(|| names.iter().copied().find(|it| it.contains(&name)));
        let help = match (near, names) {
            (Some(near), _) => {
                let path = [&["profile".to_owned(), near.to_owned()], rest].concat();
                format!("did you mean `{}`?", path.join("."))
            }
            (None, [only]) => format!("the profile of this run is `{only}`"),
            (None, _) => "name a profile of this run, or leave out the name to change all of them".to_owned(),
        };
        let message = format!("this run has no profile `{name}`");
        Some(self.named(Diagnostic::at(Code("set-no-such-profile"), "", message).help(help)))
    }

    /// Returns the override as it applies to a profile that it names.
    pub fn of_profile(&self, name: &str) -> Self {
        let n_steps = name.split('.').count();
        Self { path: self.path[n_steps..].to_vec(), ..self.clone() }
    }
}
