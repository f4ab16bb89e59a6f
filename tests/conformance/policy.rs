//! The policies of a file as policies of the library: written in its language, in code where it has no words for them.

use ctxsim::input::policy::Moment;
use ctxsim::input::{Format, Policy, source};
use ctxsim::projection::edit::Purpose;
use ctxsim::projection::prompt::SlotIx;
use ctxsim::projection::{Ambient, Editor, Projector, SideRequest};
use serde::Deserialize;
use serde_json::Value;

/// A policy as a file says it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    /// Shows everything.
    AppendOnly {},
    /// Shows the oldest `floor(max(0, all - keep) / batch) × batch` results as markers.
    Mask { keep: usize, batch: usize, marker: u32 },
    /// At the first request of a turn, shows larger results of earlier turns as markers of `to` tokens.
    PruneAtTurnStart { larger_than: u64, to: u32 },
    /// From a prompt of `at` tokens on, shows all but the newest results as markers, if that frees enough.
    Clear { at: u64, keep: u64, marker: u32, at_least: Option<u64> },
    /// From a prompt of `at` tokens on, replaces the history by a summary that a request of its own writes.
    Compact(Compact),
}

/// A compaction: the prompt or the history, with an instruction, gives `output` tokens, of which a summary stays.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compact {
    at: u64,
    prompt: SummaryPrompt,
    instruction: u64,
    output: u64,
    summary: u32,
    /// The system prompt of a separate request; 500, when silent.
    system: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SummaryPrompt {
    /// Begins as the prompt does.
    Aligned,
    /// Has a system prompt of its own, and nothing cached.
    Separate,
}

impl Compact {
    fn own_system(&self) -> u64 {
        if self.prompt == SummaryPrompt::Separate { self.system.unwrap_or(500) } else { 0 }
    }
}

/// A policy ready to play.
pub(super) struct Ready {
    pub(super) play: Play,
    /// How long a summariser's own system prompt is.
    pub(super) own_system: u64,
}

/// How it is played.
pub(super) enum Play {
    Declared(Box<Policy>),
    Coded(Compact),
}

impl Ready {
    /// Makes a policy.
    pub(super) fn new(object: &Value) -> Result<Self, String> {
        let record: Record = serde_json::from_value(object.clone()).map_err(|it| it.to_string())?;
        let own_system = if let Record::Compact(it) = &record { it.own_system() } else { 0 };
        let play = match record {
            Record::Compact(it) if it.output != u64::from(it.summary) => Play::Coded(it),
            _ => Play::Declared(Box::new(declared(&stage(&record))?)),
        };
        Ok(Self { play, own_system })
    }
}

/// Reads a policy of one stage, or of none.
pub(super) fn declared(stage: &str) -> Result<Policy, String> {
    let text = format!("(name: \"it\", about: \"it\", stages: [{stage}])");
    let policy = source::decode(&text, Format::Ron).and_then(|it| Policy::new(&it));
    policy.map_err(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Writes the stage of a policy.
fn stage(record: &Record) -> String {
    match record {
        Record::AppendOnly {} => String::new(),
        Record::Mask { keep, batch, marker } => format!(
            "(name: \"mask\", scope: (kinds: [tool_result], keep_recent: tool_uses({keep}), \
             by: tool_uses({batch}), whole: true), apply: show(marker({marker})))"
        ),
        Record::PruneAtTurnStart { larger_than, to } => format!(
            "(name: \"prune\", at: [turn_start], scope: (part: completed, kinds: [tool_result], \
             larger_than: tokens({larger_than}), shown: [raw]), apply: show(marker({to})))"
        ),
        Record::Clear { at, keep, marker, at_least } => format!(
            "(name: \"clear\", when: all([prompt(at_least: tokens({at})), reclaimable(at_least: tokens({}))]), \
             scope: (kinds: [tool_result], keep_recent: tool_uses({keep})), apply: show(marker({marker})))",
            at_least.unwrap_or(1).max(1)
        ),
        Record::Compact(it) => {
            let prompt = if it.prompt == SummaryPrompt::Aligned { "aligned" } else { "separate" };
            format!(
                "(name: \"compact\", when: prompt(at_least: tokens({})), \
                 apply: summarise(output: tokens({}), overhead: tokens({}), prompt: {prompt}))",
                it.at,
                it.summary,
                it.instruction + it.own_system()
            )
        }
    }
}

/// A compaction of whose output only a part stays, which the language has no words for.
impl Projector for Compact {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment == Moment::Request {
            compact(edit, *self);
        }
    }
}

fn compact(edit: &mut Editor<'_, '_>, policy: Compact) {
    let (prompt, stable) = (edit.prompt().tokens(), edit.prompt().stable_tokens());
    let history = edit.prompt().history().session_from()..edit.prompt().len();
    let gone: Vec<SlotIx> = history.filter(|it| edit.prompt().slot(*it).is_visible()).collect();
    if prompt < policy.at || u64::from(policy.summary) >= prompt - stable {
        return;
    }
    let chain = (policy.prompt == SummaryPrompt::Aligned).then(|| edit.chain().asking(policy.instruction));
    let before = if chain.is_some() { prompt } else { policy.own_system() + prompt - stable };
    let request = SideRequest {
        prompt: before + policy.instruction,
        chain,
        output: policy.output,
        items: 1,
        purpose: Purpose::Summary,
    };
    edit.absorb(&gone, policy.summary, Some(request));
}
