//! Which items a stage acts on.

use super::policy::Moment;
use super::size::{Extent, Resolver, Size};
use crate::diag::Problems;
use crate::spec::policy::{KeepSpec, KindSpec, OrderSpec, PartSpec, PreserveSpec, ScopeSpec, ShownSpec};

/// Tool names with `*` for any run of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<String>);

impl Patterns {
    /// Returns whether a name matches one of the patterns.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| wildcard(pattern, name))
    }
}

/// Returns whether a name matches a pattern in which `*` stands for any run of characters.
#[must_use]
pub fn wildcard(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    true
}

/// Filters over items, all of which must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Which part of the prompt.
    pub part: PartSpec,
    /// Which kinds; all, when empty.
    pub kinds: Vec<KindSpec>,
    /// Which tools; all, when empty.
    pub tools: Patterns,
    /// Tools left alone.
    pub except_tools: Patterns,
    /// Which evidence classes; all, when empty.
    pub preserve: Vec<PreserveSpec>,
    /// Which renditions; all, when empty.
    pub shown: Vec<ShownSpec>,
    /// Only items with more raw tokens than this.
    pub larger_than: Option<Size>,
    /// What is protected.
    pub keep: Vec<Keep>,
    /// Left alone at the front.
    pub keep_first: Option<Extent>,
    /// Left alone at the end.
    pub keep_recent: Option<Extent>,
    /// Nothing but these at the end.
    pub only_recent: Option<Extent>,
    /// Which unit goes first.
    pub order: OrderSpec,
    /// The unit that is taken whole.
    pub by: Extent,
}

/// Items that are protected, counted over the whole history.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// Which kinds; all, when empty.
    pub kinds: Vec<KindSpec>,
    /// Which tools; all, when empty.
    pub tools: Patterns,
    /// How many at the front.
    pub first: Option<Extent>,
    /// How many at the end.
    pub recent: Option<Extent>,
}

impl Scope {
    /// Resolves a scope; `moments` are those of its stage.
    pub(super) fn new(
        spec: &ScopeSpec,
        moments: &[Moment],
        resolver: &Resolver<'_>,
        problems: &mut Problems,
    ) -> Self {
        let at_entry = moments.contains(&Moment::Entry);
        if (spec.part == PartSpec::Entering) != at_entry || (at_entry && moments.len() > 1) {
            problems.push(
                "scope-not-at-entry",
                "part `entering` and moment `entry` go together, and with no other",
                "give entering items a stage of their own: `at: [entry], scope: (part: entering)`",
            );
        }
        let kinds =
            if at_entry && spec.kinds.is_empty() { vec![KindSpec::ToolResult] } else { spec.kinds.clone() };
        if at_entry && kinds != [KindSpec::ToolResult] {
            problems.within("kinds", |problems| {
                problems.push(
                    "scope-entry-kinds",
                    "only tool results can be changed as they enter",
                    "write `kinds: [tool_result]`, or nothing",
                );
            });
        }
        let mut extent = |name: &str, spec: &Option<_>| {
            spec.as_ref().map(|it| problems.within(name, |problems| resolver.extent(it, problems)))
        };
        let keep_first = extent("keep_first", &spec.keep_first);
        let keep_recent = extent("keep_recent", &spec.keep_recent);
        let only_recent = extent("only_recent", &spec.only_recent);
        let by = extent("by", &spec.by).unwrap_or(Extent::Units(super::size::Unit::Items, 1));
        if matches!(by, Extent::Units(_, 0) | Extent::Size(_)) {
            problems.within("by", |problems| {
                problems.push(
                    "scope-by-not-counted",
                    "`by` takes a number of units from 1 up, a fraction, or `all`",
                    "write `by: turns(1)`",
                );
            });
        }
        Self {
            part: spec.part,
            kinds,
            tools: Patterns(spec.tools.clone()),
            except_tools: Patterns(spec.except_tools.clone()),
            preserve: spec.preserve.clone(),
            shown: spec.shown.clone(),
            larger_than: spec
                .larger_than
                .as_ref()
                .map(|it| problems.within("larger_than", |problems| resolver.size(it, problems))),
            keep: spec
                .keep
                .iter()
                .enumerate()
                .map(|(index, it)| {
                    problems
                        .within(format_args!("keep.{index}"), |problems| Keep::new(it, resolver, problems))
                })
                .collect(),
            keep_first,
            keep_recent,
            only_recent,
            order: spec.order,
            by,
        }
    }
}

impl Keep {
    fn new(spec: &KeepSpec, resolver: &Resolver<'_>, problems: &mut Problems) -> Self {
        let mut extent = |field: &str, spec: &Option<_>| {
            spec.as_ref().map(|it| problems.within(field, |problems| resolver.extent(it, problems)))
        };
        Self {
            kinds: spec.kinds.clone(),
            tools: Patterns(spec.tools.clone()),
            first: extent("first", &spec.first),
            recent: extent("recent", &spec.recent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(wildcard("process_*", "process_read"));
        assert!(wildcard("*", ""));
        assert!(wildcard("a*b*c", "a--b--c"));
        assert!(!wildcard("process_*", "read_file"));
        assert!(!wildcard("read", "read_file"));
        assert!(!wildcard("a*b", "ab-"));
    }
}
