//! The rules of single parts of a policy: actions with their tables, budgets, folds and summaries, layouts, pauses and programs.

use crate::prelude::*;

use super::*;

/// Checks that a condition asks for a step's savings only if they are known in advance.
pub(super) fn foresees(action: &Action, field: &str, cond: Option<&Cond>, problems: &mut Problems) {
    let mut reclaims = false;
    if let Some(cond) = cond {
        cond.each(&mut |it| reclaims |= matches!(it, Cond::Reclaimable(_)));
    }
    if reclaims && !action.is_foreseen() {
        let message = "the savings of a budget, a template or a summary are not known in advance";
        let help = "use `scope(…)`";
        problems.push_at(Code("reclaimable-with-budget"), field, message, help);
    }
}

// The rules of actions: renditions, tables, budgets, summaries.

impl StageCheck<'_> {
    pub(super) fn action(&self, action: &mut Action, scope: &Scope, problems: &mut Problems) {
        match action {
            Action::Show(rendition) => {
                problems.within("show", |to| self.resolver.rendition(rendition, to));
            }
            Action::Table { rows, budget, template, .. } => problems.within("table", |problems| {
                problems.within("rows", |to| named("table", rows, self.tables, to));
                self.budget(budget.as_mut(), scope, problems);
                self.template(template.as_ref(), problems);
            }),
            Action::Ping { output } => self.resolver.size_in("ping.output", output.as_mut(), problems),
            Action::Summarise(it) => check_summary(it, scope, &self.resolver, problems),
            Action::Fold(it) => problems.within("fold", |problems| {
                check_fold(it, scope, problems);
                self.resolver.item_in("frame", it.frame.as_mut(), problems);
                self.resolver.size_in("each", it.each.as_mut(), problems);
                self.template(it.template.as_ref(), problems);
                if let Some(FoldedResults { rows, template, budget }) = &mut it.results {
                    problems.within("results", |problems| {
                        problems.within("rows", |to| named("table", rows, self.tables, to));
                        self.budget(budget.as_mut(), scope, problems);
                        self.template(template.as_ref(), problems);
                    });
                }
            }),
            Action::Drop => {}
        }
    }

    fn template(&self, name: Option<&String>, problems: &mut Problems) {
        if let Some(name) = name {
            problems.within("template", |to| named("template", name, self.templates, to));
        }
    }

    fn budget(&self, budget: Option<&mut Budget>, scope: &Scope, problems: &mut Problems) {
        let Some(budget) = budget else { return };
        problems.within("budget", |problems| {
            problems.within("per", |problems| {
                self.resolver.extent(&mut budget.per, problems);
                if budget.per != Extent::All && budget.per.units() != Some((Unit::Turns, 1)) {
                    let help = "write `per: turns(1)` or `per: all`";
                    let message = "a token budget resets per turn or never";
                    problems.push(Code("budget-per-unknown"), message, help);
                }
            });
            if scope.order != Order::Oldest {
                let help = "leave `order` out";
                problems.push(Code("budget-order"), "a token budget is spent on the oldest item first", help);
            }
            self.resolver.size_in("tokens", Some(&mut budget.tokens), problems);
        });
    }
}

impl Resolver<'_> {
    /// Checks a row of a table.
    pub(super) fn row(&self, row: &mut TableRow, problems: &mut Problems) {
        problems.within("as", |to| self.rendition(&mut row.shown_as, to));
        if let Some(rendition) = &mut row.over_budget {
            problems.within("over_budget", |to| self.rendition(rendition, to));
        }
        self.size_in("larger_than", row.larger_than.as_mut(), problems);
    }

    fn rendition(&self, rendition: &mut Rendition, problems: &mut Problems) {
        match rendition {
            Rendition::Preview(size) => self.size(size, problems),
            Rendition::Truncate { head, tail } | Rendition::Offload { head, tail } => {
                self.size(head, problems);
                tail.iter_mut().for_each(|it| self.size(it, problems));
            }
            Rendition::Raw
            | Rendition::Exact
            | Rendition::Summary
            | Rendition::Gist
            | Rendition::Handle
            | Rendition::Marker(_) => {}
        }
    }
}

// The rules of folds.

/// Reports scopes that a fold cannot have; turns are folded as a whole, oldest first.
fn check_fold(fold: &Fold, scope: &Scope, problems: &mut Problems) {
    let by = scope.by.as_ref().map(Extent::units);
    if by.is_some_and(|it| !matches!(it, Some((Unit::Turns | Unit::Items, 1)))) {
        problems.push(Code("fold-by"), "a fold works on one turn at a time", "remove `by` from the scope");
    }
    if scope.order != Order::Oldest {
        let help = "remove `order` from the scope";
        problems.push(Code("fold-order"), "a fold starts with the oldest turn", help);
    }
    if let Some(kind) = fold.copy.iter().find(|it| fold.quote.contains(it)) {
        let message = format!("`{}` is in both `copy` and `quote`", kind.name());
        let help = "keep each kind in only one of the two lists";
        problems.push_at(Code("fold-kind-twice"), "quote", message, help);
    }
    if fold.quote.contains(&Kind::ToolResult) {
        let message = "tool results cannot be quoted: `results` says how the summary shows them";
        let help = "remove `tool_result` from `quote`";
        problems.push_at(Code("fold-quotes-results"), "quote", message, help);
    }
}

// The rules of summaries, of what stays beside them, and of the model that writes them.

/// Checks a summary.
fn check_summary(summary: &mut Summarise, scope: &Scope, resolver: &Resolver<'_>, problems: &mut Problems) {
    if scope.order != Order::Oldest {
        let message = "a summary takes the place of its first item, so it starts with the oldest unit";
        let help = "leave `order` out";
        problems.push(Code("summary-order"), message, help);
    }
    problems.within("summarise", |problems| {
        resolver.size_in("output", Some(&mut summary.output), problems);
        resolver.size_in("overhead", summary.overhead.as_mut(), problems);
        if let Some(count) = &mut summary.at_least {
            problems.within("at_least", |to| resolver.count(count, to));
        }
        resolver.size_in("reads", summary.reads.as_mut(), problems);
        check_words(summary, problems);
        check_request(summary, problems);
        check_kept(summary, problems);
        resolve_sizes(summary, resolver, problems);
    });
}

/// Checks that a policy that names a model for its summaries has a model write one.
pub(super) fn check_summariser(policy: &Policy, problems: &mut Problems) {
    let asks = |it: &Action| matches!(it, Action::Summarise(it) if it.prompt != SummaryPrompt::Free);
    let mut rungs = policy.stages().iter().flat_map(|it| policy.rungs(it));
    if policy.summariser.is_some() && !rungs.any(|it| asks(it.action)) {
        let message = "no stage of this policy asks a model for a summary";
        let help = "remove `summariser`, or give a stage `apply: summarise(…)` without `prompt: free`";
        problems.push_at(Code("summariser-idle"), "summariser", message, help);
    }
}

/// Checks the number of summaries and what is known of their words.
fn check_words(summary: &Summarise, problems: &mut Problems) {
    if summary.per == SummaryPer::Unit && summary.at_least.is_some() {
        let message = "one summary per unit always replaces exactly one unit";
        let help = "leave out `at_least` or `per`";
        problems.push_at(Code("summary-at-least-of-one"), "at_least", message, help);
    }
    if summary.says == SummaryWords::Head && summary.prompt != SummaryPrompt::Free {
        let message = "a model-written summary cannot repeat the beginnings of results";
        let help = "write `prompt: free`, or leave `says` out";
        problems.push_at(Code("summary-head-of-a-model"), "says", message, help);
    }
}

/// Checks that settings of a request come with a request.
fn check_request(summary: &Summarise, problems: &mut Problems) {
    let is_free = summary.prompt == SummaryPrompt::Free;
    if summary.reads.is_some() && summary.prompt != SummaryPrompt::Separate {
        let message = if is_free {
            "`reads` has no effect: no request is made"
        } else {
            "an aligned summariser reads the agent's own prompt"
        };
        let help = "leave `reads` out, or write `prompt: separate`";
        problems.push_at(Code("summary-reads-all"), "reads", message, help);
    }
    if summary.again.is_some() && is_free {
        let message = "`again` has no effect: no request is made";
        let help = "leave `again` out, or write `prompt: separate`";
        problems.push_at(Code("summary-again-free"), "again", message, help);
    }
}

/// Checks what stays beside a summary.
fn check_kept(summary: &Summarise, problems: &mut Problems) {
    let Some(kept) = &summary.keeps else { return };
    let is_cut = |kind: &Kind| *kind != Kind::Summary && !summary.copy.contains(kind);
    if kept.kinds.is_empty() || !kept.kinds.iter().all(is_cut) {
        let message = "`kinds` cannot contain copied kinds, or summaries, because these cannot be cut";
        let help = "write `kinds: [user]`";
        problems.push_at(Code("summary-keeps"), "keeps.kinds", message, help);
    }
}

/// Resolves the sizes that belong to a summary.
fn resolve_sizes(summary: &mut Summarise, resolver: &Resolver<'_>, problems: &mut Problems) {
    if let Some(kept) = &mut summary.keeps {
        resolver.size_in("keeps.tokens", Some(&mut kept.tokens), problems);
    }
    if let Some(again) = &mut summary.again {
        resolver.size_in("again.overhead", again.overhead.as_mut(), problems);
        resolver.size_in("again.output", again.output.as_mut(), problems);
    }
    let Some(restore) = &mut summary.restore else { return };
    problems.within("restore", |problems| {
        problems.within("files", |to| resolver.count(&mut restore.files, to));
        if restore.files == Count::Fixed(0) {
            let help = "write `files: 5`, or leave `restore` out";
            problems.push_at(Code("restore-nothing"), "files", "restoring 0 files has no effect", help);
        }
        resolver.size_in("each", restore.each.as_mut(), problems);
        resolver.size_in("all", restore.all.as_mut(), problems);
        resolver.item_in("name", restore.name.as_mut(), problems);
        resolver.size_in("more", restore.more.as_mut(), problems);
    });
}

// The rules of a layout.

/// Checks a layout.
pub(super) fn layout(layout: &mut LayoutSpec, resolver: &Resolver<'_>, problems: &mut Problems) {
    for (index, it) in layout.dynamic.iter().enumerate() {
        if it.tokens == 0 {
            let message = "content of 0 tokens has no effect";
            let help = "write its size in tokens, or leave it out";
            problems.push_at(Code("dynamic-empty"), format_args!("dynamic.{index}.tokens"), message, help);
        }
        if it.at == DynamicPlace::Tail && it.changes != Changes::default() {
            let message = "content at the tail is never cached, so its changes do not matter";
            let help = "remove `changes`, or choose another place";
            let field = format!("dynamic.{index}.changes");
            problems.push_at(Code("dynamic-tail-changes"), field, message, help);
        }
    }
    for (index, it) in layout.breakpoints.iter_mut().flatten().enumerate() {
        problems.within(format_args!("breakpoints.{index}"), |problems| {
            if matches!(it.at, PromptPlace::LastMessages { n: 0, .. }) {
                let message = "`last_messages` needs at least one message";
                let help = "write `n: 1` or more, or remove the breakpoint";
                problems.push_at(Code("breakpoint-nowhere"), "at", message, help);
            }
            if let Some(when) = &mut it.when {
                let BreakpointCond::Prompt(bound) = when;
                problems.within("when", |to| resolver.bound("prompt", bound, to));
                if when.size().is_some_and(|it| asks_stage(it)) {
                    let message = "this size depends on a stage's prompt, and a breakpoint has no stage";
                    let help = "use `tokens(…)`, `ratio(…)`, `limit` or a parameter";
                    problems.push_at(Code("breakpoint-size"), "when", message, help);
                }
            }
        });
    }
}

// The rules of stages that act while the agent is idle.

/// Checks that a pause comes with the moment `idle`, and that moment with a pause.
pub(super) fn check_idle(stage: &Stage, problems: &mut Problems) {
    let is_idle = stage.at.contains(&Moment::Idle);
    if is_idle != stage.pause.is_some() || (is_idle && stage.at.len() > 1) {
        let field = if stage.pause.is_some() { "pause" } else { "at" };
        let message = "the moment `idle` needs a `pause`, and a `pause` works at no other moment";
        let help = "use a separate stage: `at: [idle], pause: (after: \"54m\")`";
        problems.push_at(Code("pause-not-idle"), field, message, help);
    }
    if stage.pause.is_some_and(|it| it.after.0 == 0 || it.times == 0) {
        let message = "a pause needs a duration and at least one repetition";
        problems.push_at(Code("pause-never"), "pause", message, "write `pause: (after: \"54m\")`");
    }
    let steps = stage.then.iter().map(|it| &it.apply);
    let pings = std::iter::once(&stage.apply).chain(steps).any(|it| matches!(it, Action::Ping { .. }));
    if pings && !is_idle {
        let message = "`ping` works only in an `idle` stage";
        problems.push_at(Code("ping-not-idle"), "apply", message, "write `at: [idle]` and a `pause`");
    }
}

// The rules of a policy that is a program.

/// Checks a policy that starts a program.
pub(super) fn check_process(file: &PolicyFile, process: &ProcessFile, problems: &mut Problems) {
    if file.code.is_some() || !file.stages.is_empty() {
        let other = if file.code.is_some() { "code" } else { "stages" };
        let help = format!("remove `{other}`, or `process`");
        let message = format!("a policy cannot have both `process` and `{other}`");
        problems.push_at(Code("process-beside"), "process", message, help);
    }
    problems.within("process", |problems| {
        if process.command.first().is_none_or(String::is_empty) {
            let help = "name a program and its arguments, as in `command: [\"node\", \"policy.mjs\"]`";
            problems.push_at(Code("process-command-empty"), "command", "`command` names no program", help);
        }
        if process.deadline().0 == 0 {
            let help = "write `deadline: \"10s\"`, or leave it out";
            let message = "a program needs time to answer";
            problems.push_at(Code("process-deadline-zero"), "deadline", message, help);
        }
    });
    params(&file.params, problems);
}

/// Checks that parameters are numbers before a run begins.
fn params(params: &IndexMap<String, Size>, problems: &mut Problems) {
    for (name, _) in params.iter().filter(|(_, it)| asks_stage(it)) {
        let message = "this parameter depends on a stage's prompt, and a program has no stages";
        let help = "use `tokens(…)`, `count(…)`, `ratio(…)` or `limit`; each request message gives the program the prompt's size";
        problems.push_at(Code("process-param"), format_args!("params.{name}"), message, help);
    }
}

/// Returns whether a size depends on what a stage looks at.
fn asks_stage(size: &Size) -> bool {
    match size {
        Size::Start | Size::Input | Size::Behind | Size::PerRank(_) => true,
        Size::Tokens(_)
        | Size::Chars(_)
        | Size::Count(_)
        | Size::Ratio(_)
        | Size::Limit
        | Size::Window
        | Size::OutputLimit
        | Size::Param(_) => false,
        Size::Sum(parts) | Size::Minus(parts) | Size::Min(parts) | Size::Max(parts) => {
            parts.iter().any(asks_stage)
        }
        Size::Times(_, part) | Size::Harness { or: part, .. } => asks_stage(part),
        Size::ByWindow { then, otherwise, .. } => asks_stage(then) || asks_stage(otherwise),
    }
}
