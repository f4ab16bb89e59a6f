//! Claude Code sessions: JSON lines whose records form a tree, with several lines per reply.

mod node;
mod record;
mod scan;

use self::node::{ClaudeNode, ClaudeParts, SessionFacts};
use self::record::ClaudeRecord;
use super::index::Indexed;
use crate::import::prelude::*;
use crate::{AsideBill, AsideKind, Diagnosis, Occasion};

/// What the rules about harnesses call it.
pub(super) const HARNESS: &str = "claude-code";

pub(super) const FORMAT: LogFormat = LogFormat { name: "claude-code", detect, read };

/// Returns whether one of the first lines holds a user's or an assistant's record.
pub(super) fn detect(head: &str) -> bool {
    let is_record = |line: &str| {
        let records = serde_json::Deserializer::from_str(line).into_iter::<ClaudeRecord<'_>>();
        records.map_while(Result::ok).any(|it| is_message(&it))
    };
    json::unlisted(head).lines().any(is_record)
}

/// Returns whether a record is one that a prompt may hold.
fn is_message(record: &ClaudeRecord<'_>) -> bool {
    let is_named = !record.uuid.0.is_empty() || !record.timestamp.0.is_empty();
    is_named && matches!(record.kind.0.as_ref(), "user" | "assistant") && record.message.is_some()
}

/// Reads a session, of the agent itself and of each of its sub-agents whose records the file holds: the branch that ends at the last
/// message of each.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let (lanes, mut agents) = records(lines, |lines| node::read(lines, losses));
    let is_alone = lanes.len() == 1;
    let lane = |(name, node::ClaudeLane { nodes, of_agent, .. })| {
        let path = follow(&nodes, losses);
        let mut transcript = gather(&nodes, &path, losses);
        transcript.harness = HARNESS;
        // What is known of side requests was seen of the agent's own sessions.
        transcript.makes_side_requests = true;
        transcript.of_agent = of_agent;
        // The agent's own session is the first, if there is one.
        transcript.agents = std::mem::take(&mut agents);
        transcript.name = if is_alone { String::new() } else { name };
        transcript
    };
    lanes.into_iter().map(lane).collect()
}

/// Returns what a scan of a recording tells of its sessions; what cannot be used is passed over.
pub(super) fn scan(lines: &mut LogLines<'_>) -> Vec<Indexed> {
    records(lines, scan::scan)
}

/// Reads lines, also where they stand in a list.
fn records<T>(lines: &mut LogLines<'_>, read: impl FnOnce(&mut LogLines<'_>) -> T) -> T {
    if !lines.head().trim_ascii_start().starts_with('[') {
        return read(lines);
    }
    let text = lines.rest();
    read(&mut LogLines::new(&mut json::unlisted(&text).as_bytes()))
}

/// Returns what a sub-agent's session is called within its file.
fn lane_name(agent: &str) -> String {
    let name = agent.strip_prefix("agent-").unwrap_or(agent);
    format!("agent-{}", if name.is_empty() { "unnamed" } else { name })
}

/// Gathers the requests of a branch.
fn gather(nodes: &[ClaudeNode], path: &[usize], losses: &mut Losses) -> Transcript {
    let mut on_path = vec![false; nodes.len()];
    for index in path {
        on_path[*index] = true;
    }
    let aside = billed_aside(nodes, path);
    let replies = Replies::join(nodes, path, &on_path, losses);
    let remote_controls = nodes.iter().filter(|it| it.told == SessionFacts::RemoteControl);
    let mut session = BranchWalk {
        aside: replies.results_aside(nodes, &on_path, losses),
        replies,
        losses,
        assembler: Assembler::default(),
        late: Vec::new(),
        is_asked: false,
        n_cleared: 0,
        has_found_tools: false,
        remote_controls: remote_controls.map(|it| it.stamp.line).collect(),
        said_at: 0,
    };
    for index in path {
        session.visit(&nodes[*index]);
    }
    Transcript { aside, ..session.finish() }
}

/// Returns what the replies were billed of which no line is on the branch, once each.
fn billed_aside(nodes: &[ClaudeNode], path: &[usize]) -> Vec<AsideBill> {
    let on_path: IndexSet<&str> = path.iter().filter_map(|it| Some(reply(&nodes[*it])?.0)).collect();
    let mut bills: IndexMap<&str, Vec<AsideBill>> = IndexMap::new();
    for (node, (id, model, bill)) in nodes.iter().filter_map(|it| Some((it, reply(it)?))) {
        let Some(usage) = bill.usage.filter(|_| !on_path.contains(id)) else { continue };
        let output = bills.get(id).map_or(0, |it| it[0].usage.output).max(usage.output);
        let own = AsideBill {
            kind: AsideKind::LeftBranch,
            usage: Usage { output, ..usage },
            model: model.to_owned(),
            at_ms: node.stamp.ms,
        };
        let inner =
            bill.inner.iter().map(|it| AsideBill { at_ms: own.at_ms, ..it.clone() }).collect::<Vec<_>>();
        bills.insert(id, std::iter::once(own).chain(inner).collect());
    }
    bills.into_values().flatten().collect()
}

/// Returns the name of a reply, its model and what was billed for it.
fn reply(node: &ClaudeNode) -> Option<(&str, &str, &ReplyBill)> {
    match &node.said {
        ClaudeParts::Reply { id, model, bill, .. } => Some((id, model, bill)),
        _ => None,
    }
}

/// The tool whose calls expand a skill.
const SKILL_TOOL: &str = "Skill";

/// The tool that searches for tools whose definitions no prompt holds yet.
const TOOL_SEARCH: &str = "ToolSearch";

/// The replies of a branch and the calls in them.
#[derive(Debug, Default)]
struct Replies<'n> {
    /// From all lines of each; a reply that has begun its request is gone.
    by_id: IndexMap<&'n str, Option<Exchange>>,
    /// Per call: its reply.
    calls: IndexMap<&'n str, usize>,
    /// Calls that expand a skill.
    skills: IndexSet<&'n str>,
    /// Per reply: why the provider says that it did not read what it had cached.
    diagnoses: IndexMap<&'n str, Diagnosis>,
}

impl<'n> Replies<'n> {
    /// Joins the lines of each reply of the branch, those on side branches too.
    fn join(nodes: &'n [ClaudeNode], path: &[usize], on_path: &[bool], losses: &mut Losses) -> Self {
        let mut replies = Self::default();
        for index in path {
            if let ClaudeParts::Reply { id, .. } = &nodes[*index].said {
                replies.by_id.insert(id.as_str(), Some(Exchange::default()));
            }
        }
        let mut names = IndexSet::new();
        for (node, is_on_path) in nodes.iter().zip(on_path) {
            let ClaudeParts::Reply { id, parts, model, bill: billed, diagnosis } = &node.said else {
                continue;
            };
            let Some(reply_ix) = replies.by_id.get_index_of(id.as_str()) else {
                losses.add(node.stamp.line, "reply lines on abandoned branches");
                continue;
            };
            if !node.uuid.is_empty() && !names.insert(node.uuid.as_str()) {
                losses.add(node.stamp.line, "repeated reply lines");
                continue;
            }
            let Some(exchange) = &mut replies.by_id[reply_ix] else { continue };
            bill(exchange, node, billed);
            exchange.model.clone_from(model);
            exchange.version = node.version;
            replies.diagnoses.extend(diagnosis.map(|it| (id.as_str(), it)));
            for part in parts {
                if part.tool == SKILL_TOOL {
                    replies.skills.insert(&part.call);
                }
                // A line may repeat what an earlier one of its reply has.
                let is_call = part.kind == Kind::ToolCall;
                let is_known = if is_call {
                    replies.calls.contains_key(part.call.as_str())
                } else {
                    !*is_on_path && exchange.reply.iter().any(|it| it.digest == part.digest)
                };
                if is_known {
                    continue;
                }
                exchange.reply.push(part.clone());
                if is_call && !part.call.is_empty() {
                    replies.calls.insert(&part.call, reply_ix);
                }
            }
        }
        replies
    }

    /// Returns, by reply, the results that side branches hold for calls of this one: parallel calls leave them there.
    fn results_aside(
        &self,
        nodes: &'n [ClaudeNode],
        on_path: &[bool],
        losses: &mut Losses,
    ) -> LateByReply<'n> {
        let mut answered: IndexSet<&str> = IndexSet::new();
        for (node, _) in nodes.iter().zip(on_path).filter(|(_, is_on_path)| **is_on_path) {
            answered.extend(results(node).map(|it| it.call.as_str()));
        }
        let mut aside: LateByReply<'n> = IndexMap::new();
        for (node, _) in nodes.iter().zip(on_path).filter(|(_, is_on_path)| !**is_on_path) {
            let ClaudeParts::User { parts, .. } = &node.said else { continue };
            let mut n_left = parts.len();
            for result in results(node) {
                let Some(reply_ix) = self.calls.get(result.call.as_str()) else { continue };
                if answered.insert(result.call.as_str()) {
                    aside.entry(*reply_ix).or_default().push((node, result));
                    n_left -= 1;
                }
            }
            if n_left > 0 {
                losses.add(node.stamp.line, "user records on abandoned branches");
            }
        }
        aside
    }
}

/// Takes what a line says was billed: lines repeat it, and only the output grows.
fn bill(exchange: &mut Exchange, node: &ClaudeNode, billed: &ReplyBill) {
    exchange.response_ms = exchange.response_ms.or(node.stamp.ms);
    exchange.end_ms = exchange.end_ms.max(node.stamp.ms);
    let Some(usage) = &billed.usage else { return };
    let output = exchange.usage.map_or(0, |it| it.output).max(usage.output);
    exchange.usage = Some(Usage { output, ..*usage });
    if !billed.inner.is_empty() {
        exchange.inner.clone_from(&billed.inner);
    }
}

/// Returns the results in a record.
fn results(node: &ClaudeNode) -> impl Iterator<Item = &Part> {
    let parts = if let ClaudeParts::User { parts, .. } = &node.said { parts.as_slice() } else { &[] };
    parts.iter().filter(|it| it.kind == Kind::ToolResult)
}

/// A result that is on a side branch, and its record.
type Late<'n> = (&'n ClaudeNode, &'n Part);

/// Such results by the replies that they belong to.
type LateByReply<'n> = IndexMap<usize, Vec<Late<'n>>>;

/// The walk along the branch.
struct BranchWalk<'s, 'n> {
    replies: Replies<'n>,
    /// Results that are on side branches, by reply.
    aside: LateByReply<'n>,
    losses: &'s mut Losses,
    assembler: Assembler,
    /// Of the last request, results on side branches that have not been brought to it yet.
    late: Vec<Late<'n>>,
    /// Whether the user asked for the compaction whose summary comes next.
    is_asked: bool,
    /// The number of results the harness cleared.
    n_cleared: usize,
    /// Whether the model has searched for tools.
    has_found_tools: bool,
    /// The lines that say that a remote control is connected, of those that no request has heeded: most are on no branch.
    remote_controls: Vec<usize>,
    /// The line of the user's side that was visited last.
    said_at: usize,
}

impl BranchWalk<'_, '_> {
    fn visit(&mut self, node: &ClaudeNode) {
        self.heed(&node.told);
        match &node.said {
            ClaudeParts::Nothing => {}
            ClaudeParts::Reply { id, .. } => self.reply(id),
            ClaudeParts::User { parts, is_meta, is_summary } => {
                self.results_before(node.stamp.line);
                self.said_at = node.stamp.line;
                if *is_summary {
                    let is_asked = std::mem::take(&mut self.is_asked);
                    let cause = if is_asked { Remover::Asked } else { Remover::Harness };
                    self.assembler.compacted(usize::MAX, cause);
                }
                let is_typed = !*is_meta && results(node).next().is_none();
                for part in parts {
                    if part.kind == Kind::ToolResult {
                        self.assembler.answered(node.stamp, part.clone(), self.losses);
                    } else if *is_summary {
                        self.assembler.stood_in(node.stamp, part.clone());
                    } else {
                        self.assembler.said(node.stamp, part.clone(), is_typed);
                    }
                }
            }
        }
    }

    /// Applies what a record says about the session.
    fn heed(&mut self, told: &SessionFacts) {
        if self.assembler.is_empty() {
            return;
        }
        match told {
            SessionFacts::Nothing | SessionFacts::RemoteControl => {}
            SessionFacts::Cleared => self.assembler.compacted(usize::MAX, Remover::Cleared),
            SessionFacts::Compacted(is_asked, sizes) => {
                self.is_asked = *is_asked;
                self.assembler.sized(*sizes);
            }
            SessionFacts::Resumed => self.assembler.happened(Occasion::Restart),
            SessionFacts::Recapped(at_ms) => self.assembler.recapped(*at_ms),
            SessionFacts::SkillCommand => self.assembler.happened(Occasion::Skill),
            SessionFacts::Follows(call) if self.replies.skills.contains(call.as_str()) => {
                self.assembler.happened(Occasion::Skill);
            }
            SessionFacts::Follows(_) => {}
            SessionFacts::Injected(what, characters) => {
                self.assembler.happened(Occasion::Injected(*what, *characters));
            }
            SessionFacts::ClearedResults(calls) => {
                self.results_before(usize::MAX);
                self.n_cleared += self.assembler.cleared(calls);
            }
        }
    }

    /// Begins a request at the first line of its reply.
    fn reply(&mut self, id: &str) {
        let Some((reply_ix, _, open)) = self.replies.by_id.get_full_mut(id) else { return };
        let Some(exchange) = open.take() else { return };
        self.results_before(usize::MAX);
        self.late = self.aside.swap_remove(&reply_ix).unwrap_or_default();
        if let Some(diagnosis) = self.replies.diagnoses.get(id) {
            self.assembler.happened(Occasion::Diagnosed(*diagnosis));
        }
        // What comes behind the last message came too late for this request.
        let n_connected = self.remote_controls.partition_point(|line| *line < self.said_at);
        if self.remote_controls.drain(..n_connected).next().is_some() {
            self.assembler.happened(Occasion::RemoteControl);
        }
        let finds_tools = !self.has_found_tools && exchange.reply.iter().any(|it| it.tool == TOOL_SEARCH);
        self.assembler.replied(exchange);
        if finds_tools {
            self.assembler.happened(Occasion::ToolsFound);
            self.has_found_tools = true;
        }
    }

    /// Brings results on side branches to the last request, in the order of the file.
    fn results_before(&mut self, line: usize) {
        let n_due = self.late.iter().take_while(|(node, _)| node.stamp.line < line).count();
        for (node, result) in self.late.drain(..n_due) {
            self.assembler.answered(node.stamp, result.clone(), self.losses);
        }
    }

    fn finish(mut self) -> Transcript {
        self.results_before(usize::MAX);
        let mut transcript = self.assembler.finish(self.losses);
        if self.n_cleared > 0 {
            transcript.assumptions.push(format!(
                "Results that the harness cleared to make room: {}. No policy has them afterwards.",
                self.n_cleared
            ));
        }
        transcript.has_breakpoints = true;
        transcript
    }
}

/// Returns the nodes from the root to the last message, by their places in the file.
fn follow(nodes: &[ClaudeNode], losses: &mut Losses) -> Vec<usize> {
    let mut by_name: IndexMap<&str, usize> = IndexMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, it)| !it.uuid.is_empty()) {
        by_name.entry(node.uuid.as_str()).or_insert(index);
    }
    let is_tree = nodes.iter().any(|it| it.parent.is_some());
    let mut is_taken = vec![false; nodes.len()];
    let mut path = Vec::new();
    let mut next = end(nodes, &by_name);
    while let Some(index) = next {
        is_taken[index] = true;
        path.push(index);
        let node = &nodes[index];
        let missing = match &node.parent {
            Some(name) => {
                next = by_name.get(name.as_str()).copied().filter(|it| !is_taken[*it]);
                "missing parents; the previous line is used instead"
            }
            None if is_tree && can_begin(node) => {
                // What a session that was cleared was before: every request of it was billed.
                let is_said = |it: &usize| !is_taken[*it] && !matches!(nodes[*it].said, ClaudeParts::Nothing);
                next = (0..index).rfind(is_said).filter(|_| node.told == SessionFacts::Cleared);
                continue;
            }
            None => {
                next = None;
                "records without a parent; the previous line is used instead"
            }
        };
        if next.is_none() {
            next = before(&is_taken, index);
            if node.parent.is_some() || next.is_some() {
                losses.add(node.stamp.line, missing);
            }
        }
    }
    path.reverse();
    path
}

/// Returns the last message; where the latest of all follows it in the tree, the file is out of order, and that one.
fn end(nodes: &[ClaudeNode], by_name: &IndexMap<&str, usize>) -> Option<usize> {
    let is_message = |it: &usize| !matches!(nodes[*it].said, ClaudeParts::Nothing);
    let last = (0..nodes.len()).rfind(is_message)?;
    let latest = (0..nodes.len()).filter(is_message).max_by_key(|it| nodes[*it].stamp.ms).unwrap_or(last);
    let parent = |it: &usize| by_name.get(nodes[*it].parent.as_deref()?).copied();
    let follows = std::iter::successors(Some(latest), parent).take(nodes.len()).any(|it| it == last);
    Some(if follows { latest } else { last })
}

/// Returns whether a session can begin with a record: a reply answers something, and a result belongs to a call.
fn can_begin(node: &ClaudeNode) -> bool {
    let can = match &node.said {
        ClaudeParts::Nothing => true,
        ClaudeParts::User { parts, .. } => parts.iter().all(|it| it.kind != Kind::ToolResult),
        ClaudeParts::Reply { .. } => false,
    };
    can && !node.uuid.is_empty()
}

/// Returns the nearest place before this one that is not taken.
fn before(is_taken: &[bool], index: usize) -> Option<usize> {
    is_taken[..index].iter().rposition(|it| !it)
}
