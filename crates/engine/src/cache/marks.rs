//! Where a layout's breakpoints fall in a prompt, and what positions and messages its prefixes form.

use super::RequestView;
use crate::prelude::*;
use ctxsim_input::policy::AskedBreakpoint;
use ctxsim_input::profile::cache::{Automatic, LookbackUnit, Lookup};
use ctxsim_input::{Breakpoints, LayoutSpec, LevelEnd, PromptPlace, TtlClass};

/// A breakpoint in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheMark {
    /// The prefix after which it stands.
    pub link: usize,
    /// Tokens before it.
    pub tokens: Tokens,
    /// How long its entry lives.
    pub ttl: TtlClass,
}

/// A mark of the recorded request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnMark {
    /// The last slot before it; `None` for one that the provider places.
    pub slot: Option<SlotIx>,
    /// How long its entry lives.
    pub ttl: TtlClass,
}

/// What a prompt asks of its cache: its layout, and the marks of the recorded request where that is silent.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    pub layout: &'a LayoutSpec,
    pub marks: Option<&'a [OwnMark]>,
    /// The lifetime that the harness requests.
    pub ttl: Option<TtlClass>,
}

impl<'a> Asked<'a> {
    /// What a request asks.
    pub fn by_request(request: &RequestView<'a>) -> Self {
        Self { prompt: request.prompt, layout: request.layout, marks: request.marks, ttl: request.ttl }
    }
}

/// Returns the breakpoints of a prompt at which it may write, in order; `tail` tokens at its end are after
/// the last.
pub fn place(asked: Asked<'_>, rules: &Breakpoints, chain: &Chain, tail: Tokens) -> Vec<CacheMark> {
    let mut marks: Vec<CacheMark> = places(asked, rules, chain, tail).into_iter().map(|it| it.0).collect();
    let surplus = marks.len().saturating_sub(usize::from(rules.breakpoints_max));
    marks.drain(..surplus);
    marks
}

/// Returns the places of a prompt at which entries are looked for, the longest prefix first.
pub fn look_ups(asked: Asked<'_>, rules: &Breakpoints, lookup: &Lookup, chain: &Chain) -> Vec<usize> {
    let links = seen(rules, chain);
    let marks = places(asked, rules, chain, 0);
    let automatic = marks.iter().find(|it| it.1).map(|it| it.0.link);
    let explicit: Vec<usize> = marks.iter().filter(|it| !it.1).map(|it| it.0.link).collect();
    let n_earlier = explicit.len().saturating_sub(usize::from(lookup.latest));
    let mut links_at: Vec<usize> = explicit.iter().take(usize::from(lookup.first)).copied().collect();
    links_at.extend(&explicit[n_earlier..]);
    if let Some(automatic) = automatic {
        let earlier = eligible_ends(links).filter(|it| *it < automatic);
        links_at.extend(earlier.take(usize::from(lookup.message_ends)));
        links_at.push(automatic);
        links_at.extend(lead_end(links).filter(|_| lookup.lead));
    }
    links_at.sort_unstable_by(|one, other| other.cmp(one));
    links_at.dedup();
    links_at
}

/// Returns all breakpoints of a prompt, in order, each with whether it is the automatic one.
///
/// Those that a layout counts in messages are the agent's own; what is asked after them can carry the
/// automatic one alone.
pub(super) fn places(
    asked: Asked<'_>,
    rules: &Breakpoints,
    chain: &Chain,
    tail: Tokens,
) -> Vec<(CacheMark, bool)> {
    let Asked { prompt, layout, marks: own, ttl: asked } = asked;
    let links = seen(rules, chain);
    let own = own.filter(|it| layout.is_silent() && !(it.is_empty() && rules.is_implicit));
    if let Some(own) = own {
        return recorded(own, rules, links, tail);
    }
    let mut marks: Vec<(CacheMark, bool)> = Vec::with_capacity(4);
    let is_implicit = layout.is_silent() && rules.is_implicit;
    if let Some(link) = lead_end(links).filter(|_| is_implicit && rules.marks_lead) {
        marks.push((CacheMark { link, tokens: links[link].tokens, ttl: rules.class(asked) }, false));
    }
    let automatic_alone = AskedBreakpoint { nth: 0, at: PromptPlace::Automatic, class: None };
    let implicit = is_implicit.then_some(automatic_alone);
    let explicit = layout.asked(prompt).filter(|_| !is_implicit);
    for AskedBreakpoint { at, class, .. } in implicit.into_iter().chain(explicit) {
        let ttl = rules.class(class.or(asked));
        let is_automatic = at == PromptPlace::Automatic;
        let mut push = |link: usize| {
            let at_end = link + 1 == links.len();
            let tokens = links[link].tokens.saturating_sub(if at_end { tail } else { 0 });
            if !marks.iter().any(|it| it.0.link == link) {
                marks.push((CacheMark { link, tokens, ttl }, is_automatic));
            }
        };
        match at {
            PromptPlace::EndOf(level) => {
                if let Some(link) = end_of(level, links) {
                    push(link);
                }
            }
            PromptPlace::LastMessages { n, offset } => {
                message_ends(chain.own_links()).skip(usize::from(offset)).take(usize::from(n)).for_each(push);
            }
            PromptPlace::BeforeTurn(back) => {
                if let Some(link) = before_turn(back, chain.own_links()) {
                    push(link);
                }
            }
            PromptPlace::Automatic => {
                if let Some(link) = automatic(rules.automatic, links) {
                    push(link);
                }
            }
        }
    }
    marks.sort_unstable_by_key(|it| it.0.link);
    marks
}

/// Returns the marks of a recorded request, each behind the last prefix that is not after it.
fn recorded(own: &[OwnMark], rules: &Breakpoints, links: &[Link], tail: Tokens) -> Vec<(CacheMark, bool)> {
    let mut marks: Vec<(CacheMark, bool)> = Vec::with_capacity(own.len());
    for mark in own {
        let link = match mark.slot {
            Some(slot) => links.iter().rposition(|it| it.slot <= slot),
            None => automatic(rules.automatic, links),
        };
        if let Some(link) = link.filter(|link| marks.iter().all(|it| it.0.link != *link)) {
            let behind = if link + 1 == links.len() { tail } else { 0 };
            let tokens = links[link].tokens.saturating_sub(behind);
            let ttl = rules.class(Some(mark.ttl));
            marks.push((CacheMark { link, tokens, ttl }, mark.slot.is_none()));
        }
    }
    marks.sort_unstable_by_key(|it| it.0.link);
    marks
}

/// Returns the prefixes that can carry an automatic breakpoint.
fn seen<'c>(rules: &Breakpoints, chain: &'c Chain) -> &'c [Link] {
    if rules.marks_instruction { chain.links() } else { chain.own_links() }
}

/// Returns where an automatic breakpoint falls.
fn automatic(at: Automatic, links: &[Link]) -> Option<usize> {
    match at {
        Automatic::LastBlock => links.iter().rposition(|it| it.kind != Kind::Reasoning),
        Automatic::LastMessage => eligible_ends(links).next().or_else(|| lead_end(links)),
    }
}

/// Returns the last prefix of what is before all messages.
pub(super) fn lead_end(links: &[Link]) -> Option<usize> {
    lead(links).checked_sub(1)
}

/// Returns how many prefixes end before all messages: after the tools, the system prompt, or a memory before
/// them.
fn lead(links: &[Link]) -> usize {
    let n_memory = links.iter().take_while(|it| it.kind == Kind::Memory).count();
    let front = links[n_memory..].iter().take_while(|it| matches!(it.kind, Kind::ToolSchema | Kind::System));
    match front.count() {
        0 => 0,
        n => n_memory + n,
    }
}

/// Returns the ends of user messages and of runs of results, the last one first.
fn eligible_ends(links: &[Link]) -> impl Iterator<Item = usize> {
    let mut later = None;
    links.iter().enumerate().rev().filter_map(move |(index, _)| {
        let group = match kind_of_block(links, index) {
            Kind::User | Kind::Summary | Kind::Memory => Some(Kind::User),
            Kind::ToolResult => Some(Kind::ToolResult),
            _ => None,
        };
        let is_end = std::mem::replace(&mut later, group) != group;
        (is_end && group.is_some()).then_some(index)
    })
}

/// Returns what a block is; an image belongs to the result or to the message that it stands behind.
fn kind_of_block(links: &[Link], at: usize) -> Kind {
    if links[at].kind != Kind::Image {
        return links[at].kind;
    }
    let before = links[..at].iter().rev().find(|it| it.kind != Kind::Image);
    before.map(|it| it.kind).filter(|it| *it == Kind::ToolResult).unwrap_or(Kind::User)
}

/// Returns the last prefix of a level that is at the front.
fn end_of(level: LevelEnd, links: &[Link]) -> Option<usize> {
    let kind = match level {
        LevelEnd::Tools => Kind::ToolSchema,
        LevelEnd::System => Kind::System,
    };
    links[..lead(links)].iter().rposition(|it| it.kind == kind)
}

/// Returns the ends of the messages after the tools and the system prompt, the last one first.
fn message_ends(links: &[Link]) -> impl Iterator<Item = usize> {
    let sides = links.iter().enumerate().rev().map_while(|(index, it)| Some((index, side(it.kind)?)));
    let mut later = None;
    sides.filter_map(move |(index, side)| {
        let is_end = later.replace(side) != Some(side);
        is_end.then_some(index)
    })
}

/// Returns the last prefix before a turn, counted back from the active one: turns begin where the user
/// speaks.
fn before_turn(back: u8, links: &[Link]) -> Option<usize> {
    let is_user = |at: usize| kind_of_block(links, at) == Kind::User;
    let begins = |at: &usize| is_user(*at) && !at.checked_sub(1).is_some_and(is_user);
    (0..links.len()).rev().filter(begins).nth(back.into())?.checked_sub(1)
}

/// Returns whether a kind is the model's side; `None` for what is in no message.
fn side(kind: Kind) -> Option<bool> {
    match kind {
        Kind::System | Kind::ToolSchema => None,
        Kind::Assistant | Kind::Reasoning | Kind::ToolCall => Some(true),
        Kind::User | Kind::ToolResult | Kind::Summary | Kind::Memory | Kind::Approval | Kind::Image => {
            Some(false)
        }
    }
}

/// Returns whether two neighbours are one position: where runs are, a run of calls is, and so is a run of results.
pub fn is_one_position(unit: LookbackUnit, earlier: Kind, later: Kind) -> bool {
    let is_run = earlier == later && matches!(later, Kind::ToolCall | Kind::ToolResult);
    // The images of a result are within its block.
    let is_within = earlier == Kind::ToolResult && later == Kind::Image;
    let is_behind = earlier == Kind::Image && later == Kind::ToolResult;
    is_within || unit == LookbackUnit::Run && (is_run || is_behind)
}
