//! The rules of a policy as a whole, and of its sizes, conditions, extents and scopes: checking replaces every parameter by its value.
//!
//! What is right within a single action, layout, pause or program stands in `check/parts.rs`, the rules of memories in `check/memory.rs`.

mod memory;
mod parts;

use crate::prelude::*;

use self::parts::{check_idle, check_process, check_summariser, foresees};
use super::*;
use crate::scenario::ITEM_TOKENS_MAX;

/// The most stages and steps of a policy; each one is the author of its edits.
const RUNGS_MAX: usize = 250;

/// The most characters of a title, so that it fits beside a name.
const TITLE_MAX: usize = 48;

/// Checks a policy that has already been merged with its bases.
pub(super) fn policy(mut file: PolicyFile, problems: &mut Problems) -> Policy {
    title(file.title.as_deref(), problems);
    let stages = stages(&mut file, problems);
    lint::check_allowances(&file.allows, problems);
    if let Some(memory) = &file.memory {
        problems.within(format_args!("memory.{}", memory.kind()), |to| memory::check(memory, to));
    }
    let PolicyFile { params, counter, layout, .. } = &mut file;
    let resolver = Resolver { params, stages: &[] };
    for (kind, size) in counter.iter_mut().flat_map(|it| &mut it.adds) {
        resolver.item_in(&format!("counter.adds.{}", kind.name()), Some(size), problems);
    }
    if let Some(it) = layout {
        problems.within("layout", |to| parts::layout(it, &resolver, to));
    }
    recovery(&mut file, problems);
    problems.within("apply", |to| check_apply(&file, to));
    file.params = resolved(&file.params);
    if let Some(it) = &file.process {
        check_process(&file, it, problems);
    }
    let policy = Policy { file, stages, summariser_model: None };
    check_summariser(&policy, problems);
    policy
}

/// Checks that a title is one short line.
fn title(title: Option<&str>, problems: &mut Problems) {
    let Some(title) = title else { return };
    let length = title.chars().count();
    let (message, help) = if title.trim().is_empty() {
        (
            "this title is empty".to_owned(),
            "write a few plain words, such as `title: \"Clear old tool results\"`",
        )
    } else if title.contains(char::is_control) {
        ("this title is not one line".to_owned(), "write it in one line, and the rest in `about`")
    } else if length > TITLE_MAX {
        let message = format!("this title has {length} characters, more than {TITLE_MAX}");
        (message, "write a few plain words, and the rest in `about`")
    } else {
        return;
    };
    problems.push_at(Code("value-invalid"), "title", message, help);
}

/// Checks every part of the stages, and makes them.
fn stages(policy: &mut PolicyFile, problems: &mut Problems) -> Vec<Stage> {
    let PolicyFile { params, settable, tables, ladders, templates, stages, code, .. } = policy;
    let names: Vec<&str> = stages.iter().map(|it| it.name.as_str()).collect();
    let resolver = Resolver { params, stages: &names };
    for (name, size) in &*params {
        problems.within(format_args!("params.{name}"), |to| resolver.size(&mut size.clone(), to));
    }
    for name in settable.iter().flat_map(IndexMap::keys).filter(|it| !params.contains_key(*it)) {
        problems.within(format_args!("settable.{name}"), |to| resolver.unknown_param(name, to));
    }
    for (name, rows) in &mut *tables {
        for (index, row) in rows.iter_mut().enumerate() {
            problems.within(format_args!("tables.{name}.{index}"), |to| resolver.row(row, to));
        }
    }
    check_templates(templates, problems);
    let check = StageCheck { tables, templates, resolver };
    let mut names: IndexMap<String, usize> = IndexMap::new();
    let mut n_rungs = 0;
    let mut checked = Vec::with_capacity(stages.len());
    for stage in &*stages {
        let name = stage.name.clone();
        let nth = *names.entry(name.clone()).and_modify(|it| *it += 1).or_insert(1);
        let path = if nth > 1 { format!("{name}#{nth}") } else { name.clone() };
        if nth > 1 {
            let (field, message) = (format!("stages.{path}.name"), format!("two stages are called `{name}`"));
            problems.push_at(Code("stage-duplicate"), field, message, "give each stage its own name");
        }
        problems.within(format_args!("stages.{path}"), |to| checked.extend(check.made(stage, ladders, to)));
        let ladder = stage.ladder.as_ref().and_then(|it| ladders.get(it));
        n_rungs += 1 + stage.then.len() + ladder.map_or(0, Vec::len);
    }
    if n_rungs > RUNGS_MAX {
        let message = format!("a policy has more than {RUNGS_MAX} stages and steps");
        problems.push_at(Code("stages-too-many"), "stages", message, "use fewer stages or steps");
    }
    if code.is_some() && !stages.is_empty() {
        let help = "remove `stages` or `code`";
        problems.push_at(Code("code-with-stages"), "code", "a policy has either `code` or `stages`", help);
    }
    checked
}

/// Returns the parameters with nested ones resolved; their problems have already been reported.
fn resolved(params: &IndexMap<String, Size>) -> IndexMap<String, Size> {
    let resolver = Resolver { params, stages: &[] };
    let mut values = params.clone();
    values.values_mut().for_each(|it| resolver.size(it, &mut Problems::default()));
    values
}

/// Checks how the agent recovers.
fn recovery(policy: &mut PolicyFile, problems: &mut Problems) {
    let resolver = Resolver { params: &policy.params, stages: &[] };
    let Some(RecoverySpec::NaiveReread { limit, fits }) = &mut policy.recovery else { return };
    problems.within("recovery.naive_reread", |problems| {
        if *limit == 0 {
            let message = "an agent that re-reads must be allowed at least one attempt";
            problems.push_at(Code("reread-limit-zero"), "limit", message, "write `limit: 1` or more");
        }
        resolver.size_in("fits", fits.as_mut(), problems);
    });
}

/// Checks the stages of one policy.
struct StageCheck<'a> {
    tables: &'a IndexMap<String, Vec<TableRow>>,
    templates: &'a IndexMap<String, Template>,
    resolver: Resolver<'a>,
}

impl StageCheck<'_> {
    /// Makes a checked stage, or nothing if it has no action.
    fn made(
        &self,
        written: &StageFile,
        ladders: &mut IndexMap<String, Vec<StageStep>>,
        problems: &mut Problems,
    ) -> Option<Stage> {
        for (index, field) in written.remove.iter().enumerate() {
            let name = field.name();
            let (message, help) = if written.gives(*field) {
                (format!("`{name}` is both set and removed"), "set it or remove it, not both")
            } else {
                (
                    format!("there is no `{name}` to remove"),
                    "leave it out of `remove`: no base sets this field in this stage",
                )
            };
            problems.push_at(Code("stage-remove"), format_args!("remove.{index}"), message, help);
        }
        let stage = Stage::new(written);
        if stage.is_none() {
            let others = self.resolver.stages.iter().copied().filter(|it| *it != written.name);
            let help = match nearest(&written.name, others) {
                Some(near) => {
                    format!("did you mean the stage `{near}`? Else add its action, such as `apply: drop`")
                }
                None => "add its action, such as `apply: drop`; only a stage that exists in the `base` may \
                    omit it"
                    .to_owned(),
            };
            problems.push_at(Code("stage-without-apply"), "apply", "the stage has no action", help);
        }
        let mut stage = stage?;
        self.stage(&mut stage, ladders, problems);
        Some(stage)
    }

    fn stage(
        &self,
        stage: &mut Stage,
        ladders: &mut IndexMap<String, Vec<StageStep>>,
        problems: &mut Problems,
    ) {
        if stage.at.is_empty() {
            let help = "write `at: [request]`, or leave `at` out";
            problems.push_at(Code("stage-never"), "at", "the stage has no moment at which to run", help);
        }
        check_idle(stage, problems);
        self.resolver.cond_in("when", stage.when.as_mut(), problems);
        self.resolver.cond_in("until", stage.until.as_mut(), problems);
        problems.within("scope", |to| self.resolver.scope(&mut stage.scope, &stage.at, to));
        problems.within("apply", |to| self.action(&mut stage.apply, &stage.scope, to));
        foresees(&stage.apply, "when", stage.when.as_ref(), problems);
        foresees(&stage.apply, "until", stage.until.as_ref(), problems);
        let mut then = std::mem::take(&mut stage.then);
        for (index, step) in then.iter_mut().enumerate() {
            problems.within(format_args!("then.{index}"), |to| self.step(step, stage, to));
        }
        stage.then = then;
        if let Some(name) = &stage.ladder {
            problems.within("ladder", |to| named("ladder", name, ladders, to));
            for (index, step) in ladders.get_mut(name).into_iter().flatten().enumerate() {
                problems.elsewhere(format_args!("ladders.{name}.{index}"), |to| self.step(step, stage, to));
            }
        }
    }

    fn step(&self, step: &mut StageStep, stage: &Stage, problems: &mut Problems) {
        let StageStep { when, scope, apply, until } = step;
        if let Some(scope) = scope {
            problems.within("scope", |to| self.resolver.scope(scope, &stage.at, to));
        }
        let scope: &Scope = scope.as_ref().unwrap_or(&stage.scope);
        problems.within("apply", |to| self.action(apply, scope, to));
        self.resolver.cond_in("when", when.as_mut(), problems);
        self.resolver.cond_in("until", until.as_mut(), problems);
        foresees(apply, "when", when.as_ref(), problems);
        // What is wrong with the stage's own goal is told there, unless it is wrong for this step alone.
        let field = if until.is_some() { "until" } else { "apply" };
        foresees(apply, field, until.as_ref().or(stage.until.as_ref()), problems);
    }
}

/// Reports a name that is not declared anywhere.
fn named<T>(kind: &str, name: &str, known: &IndexMap<String, T>, problems: &mut Problems) {
    among(kind, name, &known.keys().map(String::as_str).collect::<Vec<_>>(), problems);
}

/// Reports a name that is not among the declared ones.
fn among(kind: &str, name: &str, known: &[&str], problems: &mut Problems) {
    if known.contains(&name) {
        return;
    }
    let help = near_or(name, known.iter().copied(), || format!("declare it under `{kind}s`"));
    problems.push(Code("name-unknown"), format!("unknown {kind} `{name}`"), help);
}

// The rules of sizes, conditions, extents and scopes; parameters are replaced by their values.

/// Replaces the names of parameters by their values.
#[derive(Debug)]
struct Resolver<'a> {
    params: &'a IndexMap<String, Size>,
    /// The names of all stages.
    stages: &'a [&'a str],
}

/// The deepest nesting of parameters and expressions.
const DEPTH_MAX: usize = 32;

impl Resolver<'_> {
    /// Resolves a size.
    fn size(&self, size: &mut Size, problems: &mut Problems) {
        self.size_at(size, 0, problems);
    }

    /// Resolves the size of a field, if it is set.
    fn size_in(&self, field: &str, size: Option<&mut Size>, problems: &mut Problems) {
        if let Some(size) = size {
            problems.within(field, |to| self.size(size, to));
        }
    }

    /// Resolves the size of what is counted as one item, if it is set.
    fn item_in(&self, field: &str, size: Option<&mut Size>, problems: &mut Problems) {
        let Some(size) = size else { return };
        self.size_in(field, Some(size), problems);
        if matches!(size, Size::Tokens(tokens) if *tokens > ITEM_TOKENS_MAX) {
            let help = format!("write at most `tokens({ITEM_TOKENS_MAX})`");
            problems.push_at(Code("size-too-large"), field, "no item is as large as this", help);
        }
    }

    fn size_at(&self, size: &mut Size, depth: usize, problems: &mut Problems) {
        if depth > DEPTH_MAX {
            let message = "this size is nested too deeply, or its parameters are circular";
            let help = "make one of the parameters a plain size";
            problems.push(Code("size-too-deep"), message, help);
            return;
        }
        let mut inner = |field: &str, size: &mut Size| {
            problems.within(field, |to| self.size_at(size, depth + 1, to));
        };
        match size {
            Size::Ratio(ratio) if *ratio > Decimal::ONE => {
                let (message, share) = (format!("a ratio of {ratio} exceeds the limit"), percent(*ratio));
                let more = format!("`times({ratio}, limit)` if you want more than the limit");
                let help = format!("write `ratio({share})`, or {more}");
                problems.push_at(Code("ratio-above-one"), "ratio", message, help);
            }
            Size::Tokens(_)
            | Size::Chars(_)
            | Size::Count(_)
            | Size::Ratio(_)
            | Size::Limit
            | Size::Window
            | Size::OutputLimit
            | Size::Start
            | Size::Input
            | Size::Behind => {}
            Size::Times(_, size) => inner("times.1", size),
            Size::PerRank(size) => inner("per_rank", size),
            Size::Harness { or, .. } => inner("harness.or", or),
            Size::ByWindow { then, otherwise, .. } => {
                inner("by_window.then", then);
                inner("by_window.otherwise", otherwise);
            }
            Size::Sum(parts) => self.parts("sum", parts, depth, problems),
            Size::Minus(parts) => self.parts("minus", parts, depth, problems),
            Size::Min(parts) => self.parts("min", parts, depth, problems),
            Size::Max(parts) => self.parts("max", parts, depth, problems),
            Size::Param(name) => match self.params.get(name) {
                Some(value) => {
                    let mut value = value.clone();
                    problems.elsewhere(format_args!("params.{name}"), |to| {
                        self.size_at(&mut value, depth + 1, to);
                    });
                    *size = value;
                }
                None => self.unknown_param(name, problems),
            },
        }
    }

    fn parts(&self, name: &str, parts: &mut [Size], depth: usize, problems: &mut Problems) {
        problems.within(name, |problems| {
            if parts.is_empty() {
                problems.push(Code("size-empty"), "the list of sizes is empty", "give at least one size");
            }
            for (index, part) in parts.iter_mut().enumerate() {
                problems.within(index, |to| self.size_at(part, depth + 1, to));
            }
        });
    }

    /// Resolves a count.
    fn count(&self, count: &mut Count, problems: &mut Problems) {
        let Count::Param(name) = count else { return };
        match self.params.get(name) {
            Some(Size::Count(value) | Size::Tokens(value)) => *count = Count::Fixed(*value),
            Some(_) => {
                let message = format!("parameter `{name}` is not a plain number");
                let help = format!("declare it as `\"{name}\": count(2)`");
                problems.push(Code("param-not-a-count"), message, help);
            }
            None => self.unknown_param(name, problems),
        }
    }

    fn unknown_param(&self, name: &str, problems: &mut Problems) {
        let otherwise = || format!("declare it: `params: {{ \"{name}\": tokens(…) }}`");
        let help = near_or(name, self.params.keys().map(String::as_str), otherwise);
        problems.push(Code("param-unknown"), format!("parameter `{name}` is not declared"), help);
    }

    /// Resolves the condition of a field, if it is set.
    fn cond_in(&self, field: &str, cond: Option<&mut Cond>, problems: &mut Problems) {
        if let Some(cond) = cond {
            problems.within(field, |to| self.cond(cond, to));
        }
    }

    fn cond(&self, cond: &mut Cond, problems: &mut Problems) {
        match cond {
            Cond::Always | Cond::Idle { .. } | Cond::CacheCold => {}
            Cond::Prompt(bound) => self.bound("prompt", bound, problems),
            Cond::Body(bound) => self.bound("body", bound, problems),
            Cond::Raw(bound) => self.bound("raw", bound, problems),
            Cond::Grown { stage, above, at_least, below, at_most } => {
                problems.within("grown.stage", |to| self.stage(stage.as_deref(), to));
                self.sizes("grown", [above, at_least, below, at_most], problems);
            }
            Cond::Counted(bound) => self.bound("counted", bound, problems),
            Cond::Scope(bound) => self.bound("scope", bound, problems),
            Cond::Reclaimable(bound) => self.bound("reclaimable", bound, problems),
            Cond::Freed(bound) => self.bound("freed", bound, problems),
            Cond::Taken(extent) => self.extent_in("taken", Some(extent), problems),
            Cond::Every(extent) => problems.within("every", |problems| {
                self.extent(extent, problems);
                if extent.units().is_none_or(|(_, count)| count == 0) {
                    let help = "write `every(turns(3))`";
                    let message = "`every` needs a number of units, at least 1";
                    problems.push(Code("every-not-counted"), message, help);
                }
            }),
            Cond::Count { above, at_least, below, at_most, .. } => {
                self.counts("count", [above, at_least, below, at_most], problems);
            }
            Cond::Since { stage, of: _, above, at_least, below, at_most } => {
                problems.within("since.stage", |to| self.stage(stage.as_deref(), to));
                self.counts("since", [above, at_least, below, at_most], problems);
            }
            Cond::All(parts) => self.conds("all", parts, problems),
            Cond::Any(parts) => self.conds("any", parts, problems),
            Cond::Not(part) => problems.within("not", |to| self.cond(part, to)),
        }
    }

    /// Checks the name of a stage, if it is set.
    fn stage(&self, name: Option<&str>, problems: &mut Problems) {
        if let Some(name) = name {
            among("stage", name, self.stages, problems);
        }
    }

    fn conds(&self, name: &str, parts: &mut [Cond], problems: &mut Problems) {
        for (index, part) in parts.iter_mut().enumerate() {
            problems.within(format_args!("{name}.{index}"), |to| self.cond(part, to));
        }
    }

    fn bound(&self, name: &str, bound: &mut SizeBound, problems: &mut Problems) {
        let SizeBound { above, at_least, below, at_most } = bound;
        self.sizes(name, [above, at_least, below, at_most], problems);
    }

    /// Resolves the one count given in four fields, in the order of [`Relation`].
    ///
    /// [`Relation`]: crate::policy::Relation
    fn counts(&self, name: &str, fields: [&mut Option<Count>; 4], problems: &mut Problems) {
        let mut given = fields.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(count), None) => problems.within(name, |to| self.count(count, to)),
            _ => one_relation(name, problems),
        }
    }

    /// Resolves the one size given in four fields, in the order of
    /// [`Relation`](crate::policy::Relation).
    fn sizes(&self, name: &str, fields: [&mut Option<Size>; 4], problems: &mut Problems) {
        let fields = ["above", "at_least", "below", "at_most"].into_iter().zip(fields);
        let mut given = fields.filter_map(|(field, size)| Some((field, size.as_mut()?)));
        match (given.next(), given.next()) {
            (Some((field, size)), None) => {
                self.size_in(&format!("{name}.{field}"), Some(size), problems);
            }
            _ => one_relation(name, problems),
        }
    }

    /// Resolves the extent of a field, if it is set.
    fn extent_in(&self, field: &str, extent: Option<&mut Extent>, problems: &mut Problems) {
        if let Some(extent) = extent {
            problems.within(field, |to| self.extent(extent, to));
        }
    }

    /// Resolves an extent.
    fn extent(&self, extent: &mut Extent, problems: &mut Problems) {
        let mut counted = |unit: &str, count| problems.within(unit, |to| self.count(count, to));
        match extent {
            Extent::Items(count) => counted("items", count),
            Extent::ToolUses(count) => counted("tool_uses", count),
            Extent::Messages(count) => counted("messages", count),
            Extent::Groups(count) => counted("groups", count),
            Extent::Steps(count) => counted("steps", count),
            Extent::Turns(count) => counted("turns", count),
            Extent::Tokens(count) => counted("tokens", count),
            Extent::Size(size) => self.size_in("size", Some(size), problems),
            Extent::Fraction(share) if *share > Decimal::ONE => {
                let message = format!("a fraction of {share} is more than 1 (all items)");
                let help = format!("write a number from 0 to 1, such as `fraction({})`", percent(*share));
                problems.push_at(Code("fraction-above-one"), "fraction", message, help);
            }
            Extent::Fraction(_) | Extent::All => {}
        }
    }

    /// Checks a scope at the moments of its stage.
    fn scope(&self, scope: &mut Scope, moments: &[Moment], problems: &mut Problems) {
        let at_entry = moments.contains(&Moment::Entry);
        if (scope.part == PromptPart::Entering) != at_entry || (at_entry && moments.len() > 1) {
            let message = "the part `entering` needs the moment `entry`, and `entry` allows no other part";
            let help = "use a separate stage: `at: [entry], scope: (part: entering)`";
            problems.push(Code("scope-not-at-entry"), message, help);
        }
        if at_entry && !scope.kinds.is_empty() && scope.kinds != [Kind::ToolResult] {
            let message = "only tool results can be changed on entry";
            let help = "write `kinds: [tool_result]`, or leave `kinds` out";
            problems.push_at(Code("scope-entry-kinds"), "kinds", message, help);
        }
        self.extent_in("keep_first", scope.keep_first.as_mut(), problems);
        self.extent_in("keep_recent", scope.keep_recent.as_mut(), problems);
        self.extent_in("only_recent", scope.only_recent.as_mut(), problems);
        self.extent_in("by", scope.by.as_mut(), problems);
        let is_counted = |by: &Extent| match by.units() {
            Some((_, count)) => count > 0,
            None => matches!(by, Extent::Fraction(_) | Extent::All),
        };
        if !scope.by.as_ref().is_none_or(is_counted) {
            let message = "`by` needs a number of units (at least 1), a fraction, or `all`";
            problems.push_at(Code("scope-by-not-counted"), "by", message, "write `by: turns(1)`");
        }
        if scope.whole && scope.by.as_ref().is_none_or(|it| it.units().is_none()) {
            let message = "`whole` needs `by` to give the size of a unit";
            let help = "add `by: tool_uses(10)`, or remove `whole`";
            problems.push_at(Code("scope-whole-of-nothing"), "whole", message, help);
        }
        self.size_in("larger_than", scope.larger_than.as_mut(), problems);
        for (index, keep) in scope.keep.iter_mut().enumerate() {
            problems.within(format_args!("keep.{index}"), |problems| {
                self.extent_in("first", keep.first.as_mut(), problems);
                self.extent_in("recent", keep.recent.as_mut(), problems);
            });
        }
    }
}

/// Returns the share that a number above 1 probably means: a hundredth of a percentage, or all.
fn percent(share: Decimal) -> String {
    let text = share.to_string();
    match text.parse::<u32>() {
        Ok(whole) if (2..=100).contains(&whole) => format!("{}.{:02}", whole / 100, whole % 100),
        _ => "1.0".to_owned(),
    }
}

/// Reports a comparison with no bound or with several.
fn one_relation(name: &str, problems: &mut Problems) {
    let message = format!("`{name}` needs exactly one of `above`, `at_least`, `below`, `at_most`");
    let help = format!("write `{name}(above: …)`");
    problems.push(Code("comparison-not-one"), message, help);
}
