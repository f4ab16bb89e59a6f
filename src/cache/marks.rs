//! Where a layout's breakpoints fall in a prompt, and what positions and messages its prefixes form.

use crate::model::layout::{Layout, Place};
use crate::model::{Breakpoints, TtlClass};
use crate::projection::chain::Link;
use crate::spec::layout::LevelEndSpec;
use crate::trace::Kind;
use crate::units::Tokens;

/// A breakpoint in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The prefix behind which it stands.
    pub link: usize,
    /// Tokens in front of it.
    pub tokens: Tokens,
    /// How long its entry lives.
    pub ttl: TtlClass,
}

/// Returns the breakpoints of a prompt, in order; `tail` tokens at its end stand behind the last.
#[must_use]
pub fn place(
    layout: &Layout,
    asked: Option<TtlClass>,
    rules: &Breakpoints,
    links: &[Link],
    tail: Tokens,
) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::with_capacity(4);
    for breakpoint in &layout.breakpoints {
        let ttl = rules.class(breakpoint.ttl.or(asked));
        let mut push = |link: usize| {
            let at_end = link + 1 == links.len();
            let tokens = links[link].tokens.saturating_sub(if at_end { tail } else { 0 });
            if !marks.iter().any(|it| it.link == link) {
                marks.push(Mark { link, tokens, ttl });
            }
        };
        match breakpoint.at {
            Place::EndOf(level) => {
                if let Some(link) = end_of(level, links) {
                    push(link);
                }
            }
            Place::LastMessages { n, offset } => {
                message_ends(links).skip(usize::from(offset)).take(usize::from(n)).for_each(push);
            }
            Place::Automatic => {
                if let Some(link) = links.len().checked_sub(1) {
                    push(link);
                }
            }
        }
    }
    marks.sort_unstable_by_key(|it| it.link);
    let surplus = marks.len().saturating_sub(usize::from(rules.breakpoints_max));
    marks.drain(..surplus);
    marks
}

/// Returns the last prefix of a level that stands at the front.
fn end_of(level: LevelEndSpec, links: &[Link]) -> Option<usize> {
    let kind = match level {
        LevelEndSpec::Tools => Kind::ToolSchema,
        LevelEndSpec::System => Kind::System,
    };
    let front = links.iter().take_while(|it| matches!(it.kind, Kind::ToolSchema | Kind::System));
    front.enumerate().filter(|(_, it)| it.kind == kind).last().map(|(index, _)| index)
}

/// Returns the ends of the messages behind the tools and the system prompt, the last one first.
fn message_ends(links: &[Link]) -> impl Iterator<Item = usize> {
    let sides = links.iter().enumerate().rev().map_while(|(index, it)| Some((index, side(it.kind)?)));
    let mut later = None;
    sides.filter_map(move |(index, side)| {
        let is_end = later.replace(side) != Some(side);
        is_end.then_some(index)
    })
}

/// Returns whether a kind is the model's side; `None` for what stands in no message.
fn side(kind: Kind) -> Option<bool> {
    match kind {
        Kind::System | Kind::ToolSchema => None,
        Kind::Assistant | Kind::Reasoning | Kind::ToolCall => Some(true),
        Kind::User | Kind::ToolResult | Kind::Summary | Kind::Memory | Kind::Approval => Some(false),
    }
}

/// Returns whether two neighbours are one position: a run of calls is, and so is a run of results.
#[must_use]
pub fn is_one_position(earlier: Kind, later: Kind) -> bool {
    earlier == later && matches!(later, Kind::ToolCall | Kind::ToolResult)
}
