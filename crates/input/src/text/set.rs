//! `--set PATH=VALUE`: one overridden field of a decoded input.

mod misfit;
mod paths;

use super::fault;
use super::read::{Decode, TreeReader, Why};
use super::said::Encode;
use super::source::{self, Format};
use super::tree::{Node, TreeEntry, Value};
use crate::prelude::*;
use std::collections::BTreeSet;

/// One override.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// As written.
    pub text: String,
    /// The kind of file to which it applies.
    pub target: SetTarget,
    path: Vec<String>,
    /// The policies to which it may apply, with the remaining path, the longest name first; empty for all.
    policies: Vec<(String, Vec<String>)>,
    value: Node,
}

/// The kind of file to which an override applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTarget {
    /// `params.…`, `stages.…`, `tables.…`, `ladders.…`, `recovery…`, `memory.…`, `layout.…`, `summariser`,
    /// each also after a policy's name.
    Policy,
    /// `scenario.…`, and `aging.…` and `runner.…`: the numbers of its models of memories.
    Scenario,
    /// `profile.…`.
    Profile,
    /// `break_even.…`.
    BreakEven,
}

/// The root of parameters.
const PARAMS: &str = "params";

/// The field of a load that overrides declared numbers.
const NUMBERS: &str = "numbers";

/// The first steps of paths, and their targets.
const ROOTS: [(SetTarget, &[&str]); 4] = [
    (
        SetTarget::Policy,
        &[PARAMS, "stages", "tables", "ladders", "recovery", "memory", "layout", "summariser"],
    ),
    (SetTarget::Scenario, &["scenario", "aging", "runner"]),
    (SetTarget::Profile, &["profile"]),
    (SetTarget::BreakEven, &["break_even"]),
];

/// Returns the target of a first step.
fn target_of(root: &str) -> Option<SetTarget> {
    ROOTS.into_iter().find(|(_, roots)| roots.contains(&root)).map(|(target, _)| target)
}

/// Returns the first steps of all paths.
fn roots() -> impl Iterator<Item = &'static str> {
    ROOTS.into_iter().flat_map(|(_, roots)| roots).copied()
}

impl Override {
    /// Parses `PATH=VALUE`.
    ///
    /// # Errors
    /// No value, an unknown first step, an empty step, or a range.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        let problem = |code, field: &str, message: String, help: String| {
            Box::new(Diagnostic::at(code, field, message).help(help).in_file("--set"))
        };
        let Some((path, value)) = text.split_once('=') else {
            let help = "write `--set PATH=VALUE`, as in `--set params.threshold.ratio=0.7`".to_owned();
            return Err(problem(Code("set-no-value"), text, "the override has no value".to_owned(), help));
        };
        let (path, value) = (path.trim(), value.trim());
        let mut steps: Vec<String> = path.split('.').map(str::to_owned).collect();
        let policies = policies(&steps);
        if let Some((_, rest)) = policies.first() {
            steps.clone_from(rest);
        }
        if let Some(empty) = steps.iter().position(String::is_empty) {
            return Err(problem(Code("set-empty-step"), path, missing_step(&steps, empty), no_root_help()));
        }
        let Some(target) = target_of(&steps[0]) else {
            let help = match nearest(&steps[0], roots()) {
                Some(known) => {
                    format!("did you mean `{}`?", [&[known.to_owned()], &steps[1..]].concat().join("."))
                }
                None => no_root_help(),
            };
            let message = format!("unknown `--set` root `{}`", steps[0]);
            return Err(problem(Code("set-unknown-root"), path, message, help));
        };
        let root = steps[0].as_str();
        if steps.len() < 2 && !["recovery", "summariser"].contains(&root) {
            let help = format!("write the whole path, as in `{root}.NAME`");
            return Err(problem(Code("set-empty-step"), path, format!("the path ends after `{root}`"), help));
        }
        let is_number = |text: &str| text.starts_with(|it: char| it.is_ascii_digit());
        if value.split_once("..").is_some_and(|(from, to)| is_number(from) && is_number(to)) {
            let help = "write one value: use `ctxsim sweep --vary` for ranges".to_owned();
            return Err(problem(Code("set-range"), path, format!("`{value}` is a range of values"), help));
        }
        if let Some(numbers) = numbers_of(root) {
            let name = steps[1..].join(".");
            steps = numbers.iter().map(|it| (*it).to_owned()).chain([name]).collect();
        } else if target != SetTarget::Policy {
            steps.remove(0);
        }
        Ok(Self { text: text.to_owned(), target, path: steps, policies, value: source::value(value) })
    }

    /// Returns the policy that it names, preferring known and then longer names; `None` if it names none.
    pub fn policy(&self, is_known: impl Fn(&str) -> bool) -> Option<&str> {
        let known = self.policies.iter().find(|(name, _)| is_known(name));
        known.or(self.policies.first()).map(|(name, _)| name.as_str())
    }

    /// Returns the override as it applies to a policy that it names.
    pub fn of_policy(&self, name: &str) -> Self {
        let path = self.policies.iter().find(|(it, _)| it == name).map(|(_, path)| path);
        Self { path: path.unwrap_or(&self.path).clone(), ..self.clone() }
    }

    /// Returns the parameter that it sets, if any.
    pub fn param(&self) -> Option<&str> {
        match self.path.as_slice() {
            [root, name, ..] if self.target == SetTarget::Policy && root == PARAMS => Some(name),
            _ => None,
        }
    }

    /// Overrides the field in the inputs into which the path leads deepest; for profiles, in all that have
    /// the field.
    ///
    /// A result that `passes` is preferred if a sibling variant or a further field may be meant.
    ///
    /// # Errors
    /// The path does not exist, or the value is invalid.
    pub fn apply<T: Encode + Decode>(
        &self,
        specs: &mut [T],
        passes: impl Fn(&T) -> bool,
    ) -> Result<(), Box<Diagnostic>> {
        let tree = |spec: &T| source::to_tree(spec).map_err(|it| self.named(*it));
        let trees: Vec<Node> = specs.iter().map(tree).collect::<Result<_, _>>()?;
        let depths: Vec<usize> = trees.iter().map(|tree| self.depth(tree)).collect();
        let levels: BTreeSet<usize> = depths.iter().copied().collect();
        let mut refused = None;
        let mut is_applied = false;
        for level in levels.into_iter().rev() {
            for (index, tree) in trees.iter().enumerate().filter(|(index, _)| depths[*index] == level) {
                match self.decode(tree, &passes) {
                    Ok(spec) => (specs[index], is_applied) = (spec, true),
                    Err(why) => refused = refused.or(Some((index, why))),
                }
            }
            if is_applied && self.target != SetTarget::Profile {
                break;
            }
        }
        match refused {
            Some((index, why)) if !is_applied => Err(self.misfit(&trees[index], why.as_ref())),
            _ => Ok(()),
        }
    }

    /// Returns the first way of setting the value that can be decoded, preferring those that pass.
    fn decode<T: Decode>(&self, tree: &Node, passes: &impl Fn(&T) -> bool) -> Result<T, Option<Why>> {
        let mut decoded = Vec::new();
        let mut refused: Option<Why> = None;
        // What is wrong within a value with brackets says more than that it is not a word.
        let is_call = self.value.as_str().is_some_and(|it| read(it).is_some());
        let values = self.values(tree);
        for candidate in self.candidates(tree, &values) {
            match T::read(TreeReader::new(&candidate, Format::Toml)).map_err(|it| it.told().why) {
                Ok(spec) if passes(&spec) => return Ok(spec),
                Ok(spec) => decoded.push(spec),
                Err(why) if refused.is_none() || !is_call && why.is_unknown() => refused = Some(why),
                Err(_) => {}
            }
        }
        // Only a number that fits the unit there can have been meant in it: 20000 is no share.
        let in_unit: Vec<Node> = values.iter().filter_map(|it| self.in_unit(tree, it)).collect();
        let fits = |it: Node| T::read(TreeReader::new(&it, Format::Toml)).ok().filter(passes);
        let fitting = || self.candidates(tree, &in_unit).into_iter().find_map(fits);
        decoded.into_iter().next().or_else(fitting).ok_or(refused)
    }

    /// Returns the trees that this override may produce.
    fn candidates(&self, tree: &Node, values: &[Node]) -> Vec<Node> {
        values.iter().flat_map(|it| ways(tree, &self.path, it, self.n_named())).collect()
    }

    /// Returns the possible values: as written, or the number that it abbreviates.
    fn values(&self, tree: &Node) -> Vec<Node> {
        let written = self.text.split_once('=').map_or("", |it| it.1.trim());
        let Some(text) = self.value.as_str() else {
            return [self.value.clone()].into_iter().chain(suffixed(written)).collect();
        };
        let Some(factor) = factor(text) else {
            let read = read(text).or_else(|| suffixed(text));
            return read.into_iter().chain([self.value.clone()]).chain(self.renamed(tree, text)).collect();
        };
        self.present(tree).and_then(|it| times(it, factor)).into_iter().collect()
    }

    /// Returns the choice that stands there under another name: it keeps its fields where the other one has them too.
    fn renamed(&self, tree: &Node, name: &str) -> Option<Node> {
        let [choice] = self.present(tree)?.entries() else { return None };
        (choice.name().is_some() && choice.value.is_table())
            .then(|| Node::table(vec![(name.to_owned(), choice.value.clone())]))
    }

    /// Returns a bare number in the unit of the number that stands there.
    fn in_unit(&self, tree: &Node, number: &Node) -> Option<Node> {
        let is_number = |it: &Node| matches!(it.value, Value::Whole(_) | Value::Real(_));
        let [present] = self.present(tree)?.entries() else { return None };
        let unit = present.name().filter(|_| is_number(&present.value) && is_number(number))?;
        Some(Node::table(vec![(unit.to_owned(), number.clone())]))
    }

    /// Returns the value that stands there.
    fn present<'t>(&self, tree: &'t Node) -> Option<&'t Node> {
        self.path.iter().try_fold(tree, |tree, step| child(tree, step))
    }

    /// Returns the number of steps that must exist because they are names.
    fn n_named(&self) -> usize {
        match (self.target, self.path[0].as_str()) {
            (SetTarget::Policy, "recovery" | "summariser") => 0,
            // A policy without a memory or a layout has none to change; a part that it is silent on is its default.
            (SetTarget::Policy, "memory" | "layout") => 1,
            (SetTarget::Policy, _) => 2,
            // The fields of other cache rules than the profile's are not meant.
            (SetTarget::Profile, "cache") => 2,
            _ => 0,
        }
    }

    /// Returns the number of existing steps of the path; a sibling variant counts.
    fn depth(&self, tree: &Node) -> usize {
        let mut tree = tree;
        // A load that overrides no numbers yet has them as much as one that does.
        let is_number = |depth: usize| {
            self.target == SetTarget::Scenario && self.path[1..=depth].iter().any(|it| it == NUMBERS)
        };
        for (depth, step) in self.path.iter().enumerate() {
            match child(tree, step) {
                Some(next) => tree = next,
                None if depth > 0 && is_number(depth) => break,
                None => return depth + usize::from(depth >= self.n_named() && is_variant(tree)),
            }
        }
        self.path.len()
    }

    /// Returns the path as written.
    pub fn field(&self) -> &str {
        self.text.split_once('=').map_or(self.text.as_str(), |(path, _)| path.trim())
    }

    /// Returns whether it sets a given field of its kind of file, or something within it.
    pub fn covers(&self, field: &str) -> bool {
        let mut steps = field.split('.');
        self.path.iter().all(|step| steps.next() == Some(step))
    }

    pub fn place(&self) -> Place {
        Place { file: "--set".to_owned(), field: self.field().to_owned(), ..Place::default() }
    }

    /// Adds this override as a problem's place.
    fn named(&self, problem: Diagnostic) -> Box<Diagnostic> {
        Box::new(Diagnostic { place: self.place(), ..problem })
    }
}

/// Returns the path of the numbers for which a root stands, if it stands for any.
fn numbers_of(root: &str) -> Option<[&'static str; 3]> {
    match root {
        "aging" => Some(["load", "aging", NUMBERS]),
        "runner" => Some(["load", "chats", NUMBERS]),
        _ => None,
    }
}

/// Returns a number as an override writes it: `60000`, `60_000`, `60k`, `0.05`.
pub fn number(text: &str) -> Option<Decimal> {
    decimal(text.trim())
}

/// Explains where a path lacks a name.
fn missing_step(steps: &[String], empty: usize) -> String {
    match empty {
        0 if steps.len() == 1 => "the path is empty",
        0 => "the path starts with a dot",
        at if at + 1 == steps.len() => "the path ends with a dot",
        _ => "the path has two dots in a row",
    }
    .to_owned()
}

/// Lists the beginnings of paths.
fn no_root_help() -> String {
    let roots = quoted(roots());
    format!("start the path with one of {roots}, or with a policy's name, as in `NAME.params.trigger`")
}

/// Returns the possible policy names before each root in the path, with the remaining path, the longest name
/// first; empty if the path begins with a root.
fn policies(steps: &[String]) -> Vec<(String, Vec<String>)> {
    if steps.first().is_some_and(|it| target_of(it).is_some()) {
        return Vec::new();
    }
    let roots = (1..steps.len()).rev().filter(|it| target_of(&steps[*it]) == Some(SetTarget::Policy));
    roots.map(|it| (steps[..it].join("."), steps[it..].to_vec())).collect()
}

/// Returns the trees that result from setting a value at the end of a path; the first `n_named` steps must
/// exist.
fn ways(tree: &Node, path: &[String], value: &Node, n_named: usize) -> Vec<Node> {
    let Some((step, rest)) = path.split_first() else { return vec![value.clone()] };
    let deeper = n_named.saturating_sub(1);
    if let Some(index) = position(tree, step) {
        let set = |it| {
            let mut tree = tree.clone();
            tree.set(index, it);
            tree
        };
        return ways(&tree.entries()[index].value, rest, value, deeper).into_iter().map(set).collect();
    }
    if n_named > 0 || tree.is_list() {
        return Vec::new();
    }
    let alone = Node::table(vec![(step.clone(), nest(rest, value))]);
    if !tree.is_table() {
        return vec![alone];
    }
    let mut added = tree.clone();
    added.add(alone.clone());
    if tree.entries().len() == 1 { vec![added, alone] } else { vec![added] }
}

/// Returns a value at the end of a path of new tables.
fn nest(path: &[String], value: &Node) -> Node {
    path.iter().rev().fold(value.clone(), |inner, step| Node::table(vec![(step.clone(), inner)]))
}

/// Returns the value of a step.
fn child<'a>(tree: &'a Node, step: &str) -> Option<&'a Node> {
    position(tree, step).map(|index| &tree.entries()[index].value)
}

/// Returns the index of the entry that a step names: a key, or an element by its `name` or its index.
fn position(tree: &Node, step: &str) -> Option<usize> {
    let entries = tree.entries();
    if !tree.is_list() {
        return entries.iter().position(|it| it.name() == Some(step));
    }
    let is_named = |it: &Node| it.get("name").and_then(Node::as_str) == Some(step);
    let index = || step.parse().ok().filter(|index| *index < entries.len());
    entries.iter().position(|it| is_named(&it.value)).or_else(index)
}

/// Returns the possible names of a step.
fn names(tree: &Node) -> Vec<String> {
    let name = |it: &TreeEntry| it.name().or_else(|| it.value.get("name")?.as_str()).map(str::to_owned);
    tree.entries().iter().filter_map(name).collect()
}

/// Returns whether a tree can be one of several variants: a single key, or a leaf.
fn is_variant(tree: &Node) -> bool {
    !tree.is_list() && tree.entries().len() <= 1
}

/// Returns names in backticks, separated by commas.
fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

// Values on a command line as policies in RON write them: `ratio(0.3)`, `min([tokens(40k), limit])`.

/// The deepest nesting of brackets.
const DEPTH_MAX: usize = 16;

/// Returns a value with brackets as a tree; `None` if it is none.
fn read(text: &str) -> Option<Node> {
    text.ends_with(')').then(|| nested(text, DEPTH_MAX)).flatten()
}

/// Returns a value: a list, a named choice with its values or fields, or anything without brackets.
fn nested(text: &str, depth: usize) -> Option<Node> {
    let (text, depth) = (text.trim(), depth.checked_sub(1)?);
    if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        return parts(inner)?.into_iter().map(|it| nested(it, depth)).collect::<Option<_>>().map(Node::list);
    }
    let Some((name, inner)) = text.strip_suffix(')').and_then(|it| it.split_once('(')) else {
        let value = source::value(text);
        return suffixed(value.as_str().unwrap_or(text)).or(Some(value));
    };
    if name.is_empty() || !name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return None;
    }
    let parts = parts(inner)?;
    let field = |part: &&str| part.split_once(':').map(|(name, it)| (name.trim().to_owned(), it.to_owned()));
    let fields: Option<Vec<(String, String)>> = parts.iter().map(field).collect();
    let value = match (fields.filter(|it| !it.is_empty()), parts.as_slice()) {
        (Some(fields), _) => {
            let fields = fields.into_iter().map(|(name, it)| Some((name, nested(&it, depth)?)));
            Node::table(fields.collect::<Option<_>>()?)
        }
        (None, [one]) => nested(one, depth)?,
        (None, several) => Node::list(several.iter().map(|it| nested(it, depth)).collect::<Option<_>>()?),
    };
    Some(Node::table(vec![(name.to_owned(), value)]))
}

/// Returns what stands between the commas outside of brackets and quotes; `None` if they do not match.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, mark) in text.char_indices() {
        match mark {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|it| !it.trim().is_empty());
    (depth == 0 && !is_quoted).then_some(parts)
}

// Numbers on a command line: `100k`, `1.5M`, and `*2` to double the current value.

/// The suffixes of numbers, and how many places each shifts them.
const SUFFIXES: [(char, u32); 3] = [('k', 3), ('K', 3), ('M', 6)];

/// Returns a number that is written with a suffix or an exponent, or as a percentage.
fn suffixed(text: &str) -> Option<Node> {
    if let Some(share) = text.strip_suffix('%') {
        let share = Decimal::parse(share.trim_end())?.times(Decimal::parse("0.01")?)?;
        return Some(Node::of(Value::Real(share.to_f64())));
    }
    if !text.ends_with(SUFFIXES.map(|it| it.0)) && !text.contains(['e', 'E']) {
        return None;
    }
    Some(Node::of(Value::Whole(decimal(text)?.scaled(0)?.into())))
}

/// Returns a number with or without a suffix or an exponent.
fn decimal(text: &str) -> Option<Decimal> {
    let of_suffix = SUFFIXES.iter().find_map(|(suffix, places)| Some((text.strip_suffix(*suffix)?, *places)));
    let of_exponent = || {
        let (digits, places) = text.split_once(['e', 'E'])?;
        Some((digits, places.trim_start_matches('+').parse().ok()?))
    };
    let (digits, places) = of_suffix.or_else(of_exponent).unwrap_or((text, 0));
    Decimal::parse(&digits.replace('_', ""))?.shifted(places)
}

/// Returns the factor of `*2`.
fn factor(text: &str) -> Option<Decimal> {
    Decimal::parse(text.strip_prefix('*')?.trim_start())
}

/// Multiplies a number; products of whole numbers are rounded down, as everywhere.
fn times(present: &Node, factor: Decimal) -> Option<Node> {
    let product = match present.value {
        Value::Whole(number) => Value::Whole(factor.share_of(u64::try_from(number).ok()?).into()),
        Value::Real(number) => Value::Real(Decimal::from_f64(number)?.times(factor)?.to_f64()),
        _ => return None,
    };
    Some(Node::of(product))
}
