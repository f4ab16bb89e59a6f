//! Skills and slash commands in mid-session: expanding one rewrites earlier messages, and what follows is sent again without the cache.

use super::*;
use ctxsim_timeline::{ItemIx, Kind, StepIx};

pub(super) struct SkillsLever;

/// So much of the cost makes a skill the one that is named.
const MOST: f64 = 0.5;
/// The most skills that are named.
const NAMED: usize = 3;
/// The longest name, in characters.
const LONGEST: usize = 40;

impl BilledLever for SkillsLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let missed = session.requests.iter().filter(|request| request.has_miss_of(&[MissCause::Skill]));
        let told = missed.map(|request| BilledSaving {
            which: last_skill_before(session.timeline, request.step).unwrap_or_default(),
            saved: request.cache_miss_usd(),
            times: 1,
            ..BilledSaving::default()
        });
        told.listed()
    }

    fn rows_to_judge(&self, sessions: &[AttributedBill<'_>], savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
        let mut kinds = sum_savings_by_choice(savings);
        if kinds.is_empty() {
            return Vec::new();
        }
        kinds.order_by(|one, other| other.total_saved_usd().total_cmp(&one.total_saved_usd()));
        let total: f64 = kinds.iter().map(LeverRow::total_saved_usd).sum();
        let named = kinds.iter().filter(|kind| !kind.lever.of.is_empty()).listed();
        let most = named.first().filter(|kind| kind.total_saved_usd() >= MOST * total);
        let most = most.map(|kind| &kind.lever.of);
        let title = match most {
            Some(name) => format!("Call {name} early or in its own session"),
            None => "Call skills and commands early or in their own sessions".to_owned(),
        };
        let each = |kind: &&LeverRow| format!("{} {}", kind.lever.of, counted(kind.times as usize, "time"));
        let shown = named.iter().take(NAMED).map(each).listed().join(", ");
        let shown = text_if(!shown.is_empty(), || format!(": {shown}"));
        let n_sessions = savings.iter().filter(|own| !own.is_empty()).count();
        let times: u64 = kinds.iter().map(|kind| kind.times).sum();
        let (in_sessions, times) = (counted(n_sessions, "session"), counted(times as usize, "time"));
        let lever = Lever {
            of: most.cloned().unwrap_or_default(),
            title,
            about: format!(
                "In {in_sessions}, a skill or command was expanded, and the prompt was sent again without the cache {times}{shown}"
            ),
            unjudged: Some("whether a skill can wait is yours to judge".to_owned()),
            ..Lever::default()
        };
        let saved = (0..sessions.len()).map(|nth| kinds.iter().map(|kind| kind.saved[nth]).sum()).listed();
        vec![LeverRow { lever, saved, ..LeverRow::default() }]
    }
}

/// Returns the skill or command that was expanded last before a step, in its turn or the one before.
fn last_skill_before(timeline: &Timeline, step: StepIx) -> Option<String> {
    let spine = &timeline.spine;
    let turn = spine.turns.partition_point(|it| it.steps.start <= step).checked_sub(1)?;
    let from = spine.turns[turn.saturating_sub(1)].items.start;
    let to = spine.steps[step as usize].reply.start;
    (from..to).rev().find_map(|item| skill_named_by_item(timeline, item))
}

/// Returns the skill or command that an item expands.
fn skill_named_by_item(timeline: &Timeline, item: ItemIx) -> Option<String> {
    let row = timeline.spine.items.get(item as usize)?;
    let text = || timeline.texts.text(item);
    let name = match row.kind {
        Kind::ToolCall => {
            let tool = timeline.spine.tools.get_index(usize::from(row.tool))?;
            let arguments: serde_json::Value =
                (tool == "Skill").then(text)?.map(serde_json::from_str)?.ok()?;
            ["skill", "command"].into_iter().find_map(|it| Some(arguments.get(it)?.as_str()?.to_owned()))?
        }
        Kind::User => {
            let text = text().filter(|it| it.starts_with("<command-"))?;
            let (_, rest) = text.split_once("<command-name>")?;
            rest.split_once("</command-name>")?.0.to_owned()
        }
        _ => return None,
    };
    let name = in_one_line(name.trim().trim_start_matches('/')).into_owned();
    (!name.is_empty() && name.chars().count() <= LONGEST).then_some(format!("/{name}"))
}
