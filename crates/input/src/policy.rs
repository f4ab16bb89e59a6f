//! A policy: which part of a growing history the model sees.
//!
//! A checked `Policy`, `Scenario` or `Suite` wraps its file and gives read-only access to it. A variant's stage is merged over its base's
//! stage field by field. A `StageFile` may therefore omit any field, and `remove: [when]` explicitly drops an inherited one.
//! `Policy::stages` returns the merged stages. `Size`, `Cond`, `Extent`, `Rendition`, `TableRow` and `Scope` are each defined once, in
//! `policy/written.rs` and its folder. `Policy::new` replaces every parameter with its value, so nothing downstream handles parameters.
//! `Program::new` compiles the stages for one timeline and one set of limits. A second type exists only where the checked form differs from
//! the written one: a profile's cache rules (`profile/cache.rs`) and price lists. The meaning of a written value (the
//! breakpoints of a default layout, the threshold of a draw) is a method of its type. One check needs a higher floor, because only the
//! catalog knows which names exist. It reports in the same run.
//!
//! A stage says *at* which moment it is considered, *when* it fires, on which *scope*, what it *applies*, *until* which goal, and what it
//! does *then* if the goal is not met. Conditions are one type, sizes are expressions (also of what is known of the harness that recorded a
//! session: `harness(…)`), scopes are filters. There is no other mechanism: trimming at entry, fallback, decay and compaction are stages.
//! `docs/reference/stages.md` has the definitions that decide exact results.

mod check;
pub mod lint;
pub mod memory;
mod render;
mod settable;
pub mod written;

use std::ops::Deref;

use self::render::{HAS_ENGINE, RenderFault, fill, undeclared};
use crate::Profile;
use crate::prelude::*;
use crate::text::set::Override;
use serde_json::{Map, Value, json};

pub use self::settable::SearchUse;
pub use self::written::*;

/// A checked policy: its file with every parameter replaced by its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    file: PolicyFile,
    stages: Vec<Stage>,
    /// The model that writes its summaries, if not the session's own.
    summariser_model: Option<Arc<Profile>>,
}

impl Deref for Policy {
    type Target = PolicyFile;

    fn deref(&self) -> &PolicyFile {
        &self.file
    }
}

/// One action that a stage tries, in turn, until the goal is met.
#[derive(Clone, Copy, Debug)]
pub struct Rung<'p> {
    /// The condition under which it runs; always if `None`.
    pub when: Option<&'p Cond>,
    /// The items that it changes.
    pub scope: &'p Scope,
    pub action: &'p Action,
    /// The goal; without one, every item is taken.
    pub until: Option<&'p Cond>,
}

impl Policy {
    /// Checks a policy that has already been merged with its bases.
    ///
    /// # Errors
    /// Every problem of the policy, each with its field path.
    pub fn new(file: &PolicyFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let policy = check::policy(file.clone(), &mut problems);
        problems.into_result(policy)
    }

    /// Returns the policy with a field set as `--set` sets it; none if its file does not take that, or has it already.
    pub fn setting(&self, change: &Override) -> Option<Self> {
        let mut files = [self.file.clone()];
        change.apply(&mut files, |it| Self::new(it).is_ok()).ok()?;
        let changed = Self::new(&files[0]).ok().filter(|it| it.file != self.file)?;
        Some(Self { summariser_model: self.summariser_model.clone(), ..changed })
    }

    /// Returns the policy with other code, or with none.
    pub fn with_code(mut self, code: Option<Builtin>) -> Self {
        self.file.code = code;
        self
    }

    /// Returns the policy as it is for the sessions that it does not change: it keeps everything.
    pub fn resting(&self) -> Self {
        let (stages, layout) = (Vec::new(), None);
        let file =
            PolicyFile { stages, layout, code: None, process: None, memory: None, ..self.file.clone() };
        Self { file, stages: Vec::new(), summariser_model: None }
    }

    /// Sets the model that writes its summaries, as its file names it.
    pub fn summarised_by(self, model: Profile) -> Self {
        Self { summariser_model: Some(Arc::new(model)), ..self }
    }

    /// Returns the model that writes its summaries, if it is not the session's own and has been found.
    pub fn summariser(&self) -> Option<&Profile> {
        self.summariser_model.as_deref()
    }

    /// Returns the stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns where prompts ask for cache breakpoints.
    pub fn layout(&self) -> &LayoutSpec {
        self.file.layout.as_ref().unwrap_or(LayoutSpec::silent())
    }

    /// Returns how the agent recovers what it cannot see.
    pub fn recovery(&self) -> &RecoverySpec {
        self.file.recovery.as_ref().unwrap_or(&RecoverySpec::OneShot)
    }

    /// Returns the steps of a stage in order: the stage itself, its `then`, and its ladder.
    pub fn rungs<'p>(&'p self, stage: &'p Stage) -> impl Iterator<Item = Rung<'p>> {
        let Stage { scope, apply, until, then, ladder, .. } = stage;
        let until = until.as_ref();
        let first = Rung { when: None, scope, action: apply, until };
        let ladder = ladder.as_ref().and_then(|it| self.ladders.get(it)).into_iter().flatten();
        let further = then.iter().chain(ladder).map(move |step| Rung {
            when: step.when.as_ref(),
            scope: step.scope.as_ref().unwrap_or(scope),
            action: &step.apply,
            until: step.until.as_ref().or(until),
        });
        std::iter::once(first).chain(further)
    }

    /// Returns the rows of a table.
    pub fn table(&self, name: &str) -> &[TableRow] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns a text template by name.
    pub fn template(&self, name: Option<&String>) -> Option<&Template> {
        self.templates.get(name?)
    }
}

// A stage with all defaults filled in.

/// A stage: when it fires, which items it changes, and until which goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub name: String,
    /// The moments at which it may fire.
    pub at: Vec<Moment>,
    /// For `idle`: how long a pause between two turns must last.
    pub pause: Option<Pause>,
    /// The trigger, checked once; always true if `None`.
    pub when: Option<Cond>,
    /// The items it changes.
    pub scope: Scope,
    /// Its action.
    pub apply: Action,
    /// The goal, checked after each unit; without one, all units are taken.
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    pub then: Vec<StageStep>,
    /// A ladder of the policy whose steps follow `then`.
    pub ladder: Option<String>,
    /// Whether its edits are permanent.
    pub lasts: EditsLast,
    /// Whether its edits change the text by which the provider's cache recognises the prompt.
    pub prefix: PrefixRule,
}

impl Stage {
    /// Fills in the defaults, or returns nothing if the stage has no action.
    fn new(file: &StageFile) -> Option<Self> {
        let StageFile { name, at, pause, when, scope, apply, until, then, ladder, lasts, prefix, .. } =
            file.clone();
        let at = at.unwrap_or_else(|| vec![Moment::Request]);
        let (scope, apply) = (scope.unwrap_or_default(), apply?);
        let (lasts, prefix) = (lasts.unwrap_or_default(), prefix.unwrap_or_default());
        Some(Self { name, at, pause, when, scope, apply, until, then, ladder, lasts, prefix })
    }
}

// Names with `*` for any run of characters.

/// Returns whether a name matches one of several patterns.
pub fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| wildcard(pattern, name))
}

/// Returns whether a name matches a pattern in which `*` matches any run of characters.
pub fn wildcard(pattern: &str, name: &str) -> bool {
    // Most patterns are names.
    if !pattern.as_bytes().contains(&b'*') {
        return pattern == name;
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|it| name.strip_prefix(it)) else { return false };
    let Some(end) = parts.next_back() else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

// Texts written by templates.

/// Checks a policy's templates. Without the engine, prompts would lack what they write, so a policy with templates is refused.
fn check_templates(templates: &IndexMap<String, Template>, problems: &mut Problems) {
    if !HAS_ENGINE && !templates.is_empty() {
        let help = "enable its feature `templates`";
        let message = "this build of ctxsim has no text templates";
        problems.push_at(Code("templates-missing"), "templates", message, help);
        return;
    }
    for (name, template) in templates {
        problems.within(format_args!("templates.{name}"), |to| template.check(to));
    }
}

impl Template {
    /// Checks a template by rendering it with empty values.
    fn check(&self, problems: &mut Problems) {
        let nothing = json!({ "tool": "", "input": {}, "output": "", "shown": "raw", "head": 1 });
        for (field, text) in [("write", Some(&self.write)), ("exact", self.exact.as_ref())] {
            let Some(Err(fault)) = text.map(|it| render::try_out(it, &nothing)) else { continue };
            let line = fault.line.map(|it| format!(" on line {it}")).unwrap_or_default();
            let help = "`{{ … }}` inserts a value, `{% … %}` is a condition; the schema lists the variables";
            let message = format!("invalid template{line}: {}", fault.why);
            problems.push_at(Code("template-broken"), field, message, help);
        }
    }

    /// Returns the rendered text without blank lines, or `None` if rendering fails.
    pub fn write(&self, context: &Value) -> Option<String> {
        let text = render::write(&self.write, context).ok()?;
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// Returns the part of a tool result that is exact evidence, or `None` if all of it is.
    pub fn exact(&self, context: &Value) -> Option<String> {
        render::write(self.exact.as_ref()?, context).ok()
    }
}

// A setting of a real agent, with its numbers filled in.

/// What every setting can read, besides the parameters of its policy.
pub const LIMITS: [&str; 3] = ["limit", "window", "output_limit"];

impl Apply {
    /// Returns the setting with all names replaced by numbers, or `None` if a name is unknown or this build has no engine.
    pub fn filled(&self, numbers: Map<String, Value>) -> Option<Self> {
        let write = self.rendered(numbers).ok()?;
        Some(Self { at: self.at.clone(), write })
    }

    fn rendered(&self, numbers: Map<String, Value>) -> Result<String, RenderFault> {
        fill(&self.write, &Value::Object(numbers))
    }
}

/// Checks that a policy's setting reads only its parameters and limits.
fn check_apply(policy: &PolicyFile, problems: &mut Problems) {
    // Advice is not needed to play: a build without the engine gives none.
    let Some(apply) = policy.apply.as_ref().filter(|_| HAS_ENGINE) else { return };
    let known: Vec<&str> = policy.params.keys().map(String::as_str).chain(LIMITS).collect();
    let numbers = known.iter().map(|it| ((*it).to_owned(), Value::from(1))).collect();
    let Err(fault) = apply.rendered(numbers) else { return };
    let asked = undeclared(&apply.write);
    let mut unknown: Vec<&String> = asked.iter().filter(|it| !known.contains(&it.as_str())).collect();
    unknown.sort();
    let (message, help) = match unknown.first() {
        Some(name) => (
            format!("unknown parameter `{name}` in this setting"),
            nearest(name, known).map(|it| format!("did you mean `{it}`?")),
        ),
        None => (format!("this setting cannot be written: {}", fault.why), None),
    };
    let usual = "`{{ trigger }}` inserts the parameter `trigger`; `limit`, `window` and `output_limit` are \
            available too";
    let help = help.unwrap_or_else(|| usual.to_owned());
    problems.within("write", |to| to.push(Code("apply-broken"), message, help));
}

// Merges a variant with its base.

impl PolicyFile {
    /// Merges this policy with its base: `allows`, `params`, `settable`, `tables`, `ladders` and `templates` by key, `stages` by
    /// name and then field by field, and every other field as a whole.
    pub fn over(self, base: Self) -> Self {
        let mut merged = base;
        merged.name = self.name;
        // A variant does something else than its base.
        merged.title = self.title;
        merged.about = self.about;
        merged.base = None;
        if !self.sources.is_empty() {
            merged.sources = self.sources;
        }
        macro_rules! take_where_given {
            ($own:ident: $($field:ident)*) => {
                $(merged.$field = $own.$field.or(merged.$field);)*
            };
        }
        take_where_given!(self: as_of applies_to counter summariser apply layout recovery memory code process);
        merged.allows.extend(self.allows);
        merged.params.extend(self.params);
        if let Some(settable) = self.settable {
            merged.settable.get_or_insert_default().extend(settable);
        }
        merged.tables.extend(self.tables);
        merged.ladders.extend(self.ladders);
        merged.templates.extend(self.templates);
        // A stage is laid over an inherited one once; what a file says twice stays twice, for the check to refuse.
        let mut inherited: Vec<bool> = vec![true; merged.stages.len()];
        for stage in self.stages {
            let of_base =
                (0..inherited.len()).find(|it| inherited[*it] && merged.stages[*it].name == stage.name);
            match of_base {
                Some(index) => {
                    let base = std::mem::take(&mut merged.stages[index]);
                    merged.stages[index] = stage.over(base);
                    inherited[index] = false;
                }
                None => merged.stages.push(stage),
            }
        }
        merged
    }

    /// Writes out the defaults of stages, so that an override finds the same fields in every policy.
    pub fn filled(mut self) -> Self {
        for stage in &mut self.stages {
            stage.at.get_or_insert_with(|| vec![Moment::Request]);
            stage.scope.get_or_insert_default();
            stage.lasts.get_or_insert_default();
            stage.prefix.get_or_insert_default();
        }
        self
    }
}

impl StageFile {
    /// Merges this stage with the base's stage of the same name. A field that is removed although neither has
    /// it, or although this stage sets it, stays in `remove`, where the check reports it.
    fn over(self, mut base: Self) -> Self {
        let mut remove = base.remove.clone();
        for field in self.remove.iter().copied() {
            if self.gives(field) || !base.gives(field) {
                remove.push(field);
            } else {
                base.clear(field);
            }
        }
        Self {
            name: self.name,
            at: self.at.or(base.at),
            pause: self.pause.or(base.pause),
            when: self.when.or(base.when),
            scope: self.scope.or(base.scope),
            apply: self.apply.or(base.apply),
            until: self.until.or(base.until),
            then: if self.then.is_empty() { base.then } else { self.then },
            ladder: self.ladder.or(base.ladder),
            lasts: self.lasts.or(base.lasts),
            prefix: self.prefix.or(base.prefix),
            remove,
        }
    }

    /// Returns whether a field is set.
    pub fn gives(&self, field: StageField) -> bool {
        match field {
            StageField::At => self.at.is_some(),
            StageField::Pause => self.pause.is_some(),
            StageField::When => self.when.is_some(),
            StageField::Scope => self.scope.is_some(),
            StageField::Until => self.until.is_some(),
            StageField::Then => !self.then.is_empty(),
            StageField::Ladder => self.ladder.is_some(),
            StageField::Lasts => self.lasts.is_some(),
            StageField::Prefix => self.prefix.is_some(),
        }
    }

    fn clear(&mut self, field: StageField) {
        match field {
            StageField::At => self.at = None,
            StageField::Pause => self.pause = None,
            StageField::When => self.when = None,
            StageField::Scope => self.scope = None,
            StageField::Until => self.until = None,
            StageField::Then => self.then.clear(),
            StageField::Ladder => self.ladder = None,
            StageField::Lasts => self.lasts = None,
            StageField::Prefix => self.prefix = None,
        }
    }
}

// The families by which published comparisons group policies, and the smallest window of newest results that a policy leaves.

/// What a policy does to history, as published comparisons group it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyFamily {
    /// Shows all results but the newest as placeholders, at each request.
    Mask,
    /// Has a model write a summary in the place of history.
    Summary,
    /// Shows older results as placeholders once a size is reached.
    Clear,
    /// Drops all messages but the newest.
    Window,
    /// Cuts long results as they enter.
    Cap,
}

impl PolicyFamily {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mask, Self::Summary, Self::Clear, Self::Window, Self::Cap];

    /// Returns what such policies do, in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Mask => "hiding all but the newest results",
            Self::Summary => "replacing history by a summary",
            Self::Clear => "clearing older results at a size",
            Self::Window => "dropping all but the newest messages",
            Self::Cap => "cutting long results",
        }
    }
}

/// Returns whether a stage acts at each request, whatever the size.
fn always(stage: &Stage) -> bool {
    stage.when.as_ref().is_none_or(|it| *it == Cond::Always) && stage.scope.part == PromptPart::History
}

impl Policy {
    /// Returns the families that its stages belong to.
    pub fn families(&self) -> Vec<PolicyFamily> {
        Self::families_of(self.stages().iter())
    }

    /// Returns the families that another policy does not have, or those of stages that it has otherwise.
    pub fn families_beside(&self, base: &Self) -> Vec<PolicyFamily> {
        let of_base = base.families();
        let mut new = self.families();
        new.retain(|it| !of_base.contains(it));
        if new.is_empty() {
            return Self::families_of(self.stages().iter().filter(|it| !base.stages().contains(it)));
        }
        new
    }

    fn families_of<'s>(stages: impl Iterator<Item = &'s Stage>) -> Vec<PolicyFamily> {
        let of = |stage: &Stage| match &stage.apply {
            Action::Summarise(_) | Action::Fold(_) => Some(PolicyFamily::Summary),
            Action::Drop => Some(PolicyFamily::Window),
            Action::Show(_) | Action::Table { .. } if stage.at == [Moment::Entry] => Some(PolicyFamily::Cap),
            Action::Show(_) | Action::Table { .. } if always(stage) => Some(PolicyFamily::Mask),
            Action::Show(_) | Action::Table { .. } => Some(PolicyFamily::Clear),
            Action::Ping { .. } => None,
        };
        let mut families: Vec<PolicyFamily> = stages.filter_map(of).collect();
        families.sort();
        families.dedup();
        families
    }

    /// Returns to how many of the newest requests it cuts history at each of them, where it does: of results and steps, one a request.
    pub fn newest_requests(&self) -> Option<u64> {
        let cut = |stage: &&Stage| {
            always(stage) && matches!(stage.apply, Action::Show(_) | Action::Table { .. } | Action::Drop)
        };
        let kept = |stage: &Stage| match stage.scope.keep_recent.as_ref().and_then(Extent::units)? {
            (Unit::Messages, n) => Some(n / 2),
            (Unit::ToolUses | Unit::Groups | Unit::Steps, n) => Some(n),
            _ => None,
        };
        self.stages().iter().filter(cut).filter_map(kept).min()
    }
}

// The laws that a context policy should keep, by name; a policy file allows itself to break one by naming it in `allows`.

/// A property that a policy has on every session, or says that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Law {
    /// Every request shows what its user asked.
    KeepsTask,
    /// What was sent stays as it was, most of the time.
    StablePrefix,
    /// The same request has the same answer.
    Idempotent,
    /// Prompts fit.
    Bounded,
    /// What is removed can be found again.
    Recoverable,
}

impl Law {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::KeepsTask, Self::StablePrefix, Self::Idempotent, Self::Bounded, Self::Recoverable];

    /// Returns its name in files and reports.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }

    /// Returns what it says, in a sentence without its full stop.
    pub fn says(self) -> &'static str {
        match self {
            Self::KeepsTask => "every request shows the user's message of its turn, whole or in a summary",
            Self::StablePrefix => {
                "of three requests in a row, at least one begins with everything that the request before it sent"
            }
            Self::Idempotent => "a request that is sent again, with nothing new, is the same",
            Self::Bounded => {
                "no request is above the prompt limit, as long as what must stay takes at most half of it"
            }
            Self::Recoverable => {
                "a tool result that is removed leaves a placeholder, an excerpt, a handle or a summary"
            }
        }
    }

    /// Returns the law of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::text::source::decode;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(wildcard("process_*", "process_read"));
        assert!(wildcard("*", ""));
        assert!(wildcard("a*b*c", "a--b--c"));
        assert!(!wildcard("process_*", "read_file"));
        assert!(!wildcard("read", "read_file"));
        assert!(!wildcard("a*b", "ab-"));
    }

    fn policy(name: &str, stage: &str) -> PolicyFile {
        let text = format!("(name: \"{name}\", about: \"A stage.\", stages: [({stage})])");
        decode(&text, Format::Ron).unwrap()
    }

    fn base() -> PolicyFile {
        policy(
            "base",
            "name: \"cut\", at: [turn_end], when: prompt(above: limit), apply: drop, until: prompt(at_most: ratio(0.5))",
        )
    }

    #[test]
    fn a_stage_keeps_what_its_variant_does_not_say() {
        let merged =
            policy("v", "name: \"cut\", scope: (keep_recent: turns(2)), apply: show(handle)").over(base());

        let expected = policy(
            "v",
            "name: \"cut\", at: [turn_end], when: prompt(above: limit), scope: (keep_recent: turns(2)), apply: show(handle),
             until: prompt(at_most: ratio(0.5))",
        );
        assert_eq!(merged, expected);
    }

    #[test]
    fn a_variant_says_what_it_removes_and_needs_not_repeat_what_the_stage_does() {
        let merged = policy("v", "name: \"cut\", remove: [when, until]").over(base());

        assert_eq!(merged, policy("v", "name: \"cut\", at: [turn_end], apply: drop"));
    }

    #[test]
    fn what_the_nearer_base_removes_the_farther_does_not_bring_back() {
        let middle = policy("m", "name: \"cut\", when: prompt(above: tokens(9))");
        let merged = policy("v", "name: \"cut\", remove: [when]").over(middle.over(base()));

        assert_eq!(merged.stages[0].when, None);
    }
}
