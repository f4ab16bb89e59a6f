//! The records of one branch, gathered into requests: lines of a reply joined, results brought to their calls.

use indexmap::{IndexMap, IndexSet};

use super::node::{Node, Said};
use crate::timeline::import::losses::Losses;
use crate::timeline::import::transcript::{Exchange, Named, Part, Transcript};
use crate::timeline::{Kind, Usage};

/// Gathers the requests of a branch.
pub(super) fn gather(nodes: &[Node], path: &[usize], losses: &mut Losses) -> Transcript {
    let mut on_path = vec![false; nodes.len()];
    for index in path {
        on_path[*index] = true;
    }
    let replies = Replies::join(nodes, path, &on_path, losses);
    let mut session = Session {
        late: replies.results_aside(nodes, &on_path, losses),
        replies,
        losses,
        requests: Vec::new(),
        pending: Pending::default(),
        n_summaries: 0,
    };
    for index in path {
        session.visit(&nodes[*index]);
    }
    session.finish()
}

/// A reply, from all of its lines.
#[derive(Debug, Default)]
struct Reply {
    parts: Vec<Part>,
    n_calls: usize,
    model: String,
    usage: Option<Usage>,
    /// When its first line was written.
    at_ms: Option<i64>,
    /// When its last one was.
    end_ms: Option<i64>,
    is_begun: bool,
}

/// The replies of a branch and the calls in them.
#[derive(Debug, Default)]
struct Replies<'n> {
    by_id: IndexMap<&'n str, Reply>,
    /// Per call: its reply, which of the reply's calls it is, and its tool.
    calls: IndexMap<&'n str, (usize, usize, &'n str)>,
}

impl<'n> Replies<'n> {
    /// Joins the lines of each reply of the branch, those on side branches too.
    fn join(nodes: &'n [Node], path: &[usize], on_path: &[bool], losses: &mut Losses) -> Self {
        let mut replies = Self::default();
        for index in path {
            if let Said::Reply { id, .. } = &nodes[*index].said {
                replies.by_id.entry(id.as_str()).or_default();
            }
        }
        let mut names = IndexSet::new();
        for (node, is_on_path) in nodes.iter().zip(on_path) {
            let Said::Reply { id, parts, model, usage } = &node.said else { continue };
            let Some(reply_ix) = replies.by_id.get_index_of(id.as_str()) else {
                losses.add(node.line, "reply lines on branches that were left");
                continue;
            };
            if !node.uuid.is_empty() && !names.insert(node.uuid.as_str()) {
                losses.add(node.line, "reply lines that stand twice");
                continue;
            }
            replies.bill(reply_ix, node, usage.as_ref(), losses);
            replies.by_id[reply_ix].model.clone_from(model);
            for named in parts {
                replies.append(reply_ix, named, *is_on_path);
            }
        }
        replies
    }

    /// Takes what a line says was billed: lines repeat it, and only the output grows.
    fn bill(&mut self, reply_ix: usize, node: &Node, usage: Option<&Usage>, losses: &mut Losses) {
        let reply = &mut self.by_id[reply_ix];
        reply.at_ms = reply.at_ms.or(node.at_ms);
        reply.end_ms = reply.end_ms.max(node.at_ms);
        let Some(usage) = usage else { return };
        if reply.usage.is_some_and(|it| it.prompt != usage.prompt) {
            losses.add(node.line, "reply lines whose usage contradicts an earlier line; the last one holds");
        }
        let output = reply.usage.map_or(0, |it| it.output).max(usage.output);
        reply.usage = Some(Usage { output, ..*usage });
    }

    /// Appends a part of a line; what a side branch repeats is taken once.
    fn append(&mut self, reply_ix: usize, named: &'n Named, is_on_path: bool) {
        let is_call = named.part.kind == Kind::ToolCall;
        let call = named.call.as_str();
        if is_call && self.calls.contains_key(call) {
            return;
        }
        let reply = &mut self.by_id[reply_ix];
        if !is_call && !is_on_path && reply.parts.iter().any(|it| it.digest == named.part.digest) {
            return;
        }
        reply.parts.push(named.part.clone());
        if is_call {
            if !call.is_empty() {
                self.calls.insert(call, (reply_ix, reply.n_calls, &named.part.tool));
            }
            reply.n_calls += 1;
        }
    }

    /// Returns, by reply, the results that side branches hold for calls of this one: parallel calls leave them there.
    fn results_aside(
        &self,
        nodes: &'n [Node],
        on_path: &[bool],
        losses: &mut Losses,
    ) -> IndexMap<usize, Vec<(&'n Node, Part)>> {
        let mut answered: IndexSet<&str> = IndexSet::new();
        for (node, _) in nodes.iter().zip(on_path).filter(|(_, is_on_path)| **is_on_path) {
            answered.extend(results(node).map(|it| it.call.as_str()));
        }
        let mut aside: IndexMap<usize, Vec<(&Node, Part)>> = IndexMap::new();
        for (node, _) in nodes.iter().zip(on_path).filter(|(_, is_on_path)| !**is_on_path) {
            let Said::User { parts, .. } = &node.said else { continue };
            let mut n_left = parts.len();
            for result in results(node) {
                let Some((reply_ix, nth, tool)) = self.calls.get(result.call.as_str()) else { continue };
                if answered.insert(result.call.as_str()) {
                    aside.entry(*reply_ix).or_default().push((node, answer(&result.part, *nth, tool)));
                    n_left -= 1;
                }
            }
            if n_left > 0 {
                losses.add(node.line, "user records on branches that were left");
            }
        }
        aside
    }
}

/// Returns the results in a record.
fn results(node: &Node) -> impl Iterator<Item = &Named> {
    let parts = match &node.said {
        Said::User { parts, .. } => parts.as_slice(),
        _ => &[],
    };
    parts.iter().filter(|it| it.part.kind == Kind::ToolResult)
}

/// Brings a result to its call.
fn answer(result: &Part, nth: usize, tool: &str) -> Part {
    Part { tool: tool.to_owned(), answers: nth, ..result.clone() }
}

/// A request while what follows it is still being gathered.
#[derive(Debug)]
struct Request {
    exchange: Exchange,
    reply_ix: usize,
    /// What follows the reply, with its lines.
    after: Vec<(usize, Part)>,
    /// The last time at which something of it arrived.
    after_ms: Option<i64>,
}

/// The user's parts that no request has seen yet.
#[derive(Debug, Default)]
struct Pending {
    parts: Vec<Part>,
    line: usize,
    at_ms: Option<i64>,
    /// Whether the harness put a summary in place of the history.
    is_compacted: bool,
}

/// The walk along the branch.
struct Session<'s, 'n> {
    replies: Replies<'n>,
    /// Results that stand on side branches, by reply.
    late: IndexMap<usize, Vec<(&'n Node, Part)>>,
    losses: &'s mut Losses,
    requests: Vec<Request>,
    pending: Pending,
    n_summaries: usize,
}

impl Session<'_, '_> {
    fn visit(&mut self, node: &Node) {
        match &node.said {
            Said::Nothing => {}
            Said::Reply { id, .. } => {
                if let Some(reply_ix) = self.replies.by_id.get_index_of(id.as_str()) {
                    self.request(reply_ix);
                }
            }
            Said::User { parts, is_meta, is_summary } => {
                if *is_summary {
                    self.n_summaries += 1;
                    self.pending.is_compacted = true;
                }
                let has_results = results(node).next().is_some();
                for named in parts {
                    if named.part.kind == Kind::ToolResult {
                        self.result(node, named);
                    } else {
                        self.user(node, &named.part, !*is_meta && !has_results);
                    }
                }
            }
        }
    }

    /// Begins a request at the first line of its reply.
    fn request(&mut self, reply_ix: usize) {
        let begun = Reply { is_begun: true, ..Reply::default() };
        let reply = std::mem::replace(&mut self.replies.by_id[reply_ix], begun);
        if reply.is_begun {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let before = self.requests.last().and_then(|it| it.after_ms);
        let begins = !pending.parts.is_empty() || self.requests.is_empty();
        let mut parts = reply.parts;
        if parts.is_empty() {
            parts.push(Part::new(Kind::Assistant, 0, 0));
        }
        let exchange = Exchange {
            compacts: pending.is_compacted.then_some(usize::MAX),
            begins: begins.then_some(pending.parts),
            at_ms: pending.at_ms.max(before).or(reply.at_ms),
            response_ms: reply.at_ms,
            end_ms: reply.end_ms,
            model: reply.model,
            usage: reply.usage,
            reply: parts,
            ..Exchange::default()
        };
        let mut request = Request { exchange, reply_ix, after: Vec::new(), after_ms: None };
        for (node, part) in self.late.swap_remove(&reply_ix).unwrap_or_default() {
            request.after.push((node.line, part));
            request.after_ms = request.after_ms.max(node.at_ms);
        }
        self.requests.push(request);
    }

    /// Appends a result to the request whose call it answers.
    fn result(&mut self, node: &Node, named: &Named) {
        let call = self.replies.calls.get(named.call.as_str());
        let Some(last) = self.requests.last_mut() else {
            self.losses.add(node.line, "results before the first request, which count as user text");
            return self.user(node, &Part { kind: Kind::User, ..named.part.clone() }, true);
        };
        let part = match call {
            Some((reply_ix, nth, tool)) if *reply_ix == last.reply_ix => answer(&named.part, *nth, tool),
            _ => {
                self.losses.add(
                    node.line,
                    "results that answer no call of the reply before them; they stand without their call",
                );
                answer(&named.part, usize::MAX, call.map_or("", |(_, _, tool)| tool))
            }
        };
        last.after.push((node.line, part));
        last.after_ms = last.after_ms.max(node.at_ms);
    }

    /// Appends user text: to a new turn, or to the results when the turn goes on and the user did not speak.
    fn user(&mut self, node: &Node, part: &Part, begins: bool) {
        match self.requests.last_mut().filter(|it| it.exchange.has_calls()) {
            Some(last) if !begins && self.pending.parts.is_empty() => {
                last.after.push((node.line, part.clone()));
                last.after_ms = last.after_ms.max(node.at_ms);
            }
            _ => {
                self.pending.line = node.line;
                self.pending.at_ms = self.pending.at_ms.max(node.at_ms);
                self.pending.parts.push(part.clone());
            }
        }
    }

    fn finish(self) -> Transcript {
        if !self.pending.parts.is_empty() {
            self.losses.add(self.pending.line, "user text after the last request, which no model has seen");
        }
        let mut transcript = Transcript::default();
        if self.n_summaries > 0 {
            transcript.assumptions.push(format!(
                "Summaries of compacted history that count as user text: {}. No policy has what they replaced any more.",
                self.n_summaries
            ));
        }
        transcript.has_breakpoints = true;
        transcript.exchanges = self.requests.into_iter().map(Request::finish).collect();
        transcript
    }
}

impl Request {
    /// Puts what follows the reply in the order of the file.
    fn finish(mut self) -> Exchange {
        self.after.sort_by_key(|(line, _)| *line);
        self.exchange.results = self.after.into_iter().map(|(_, part)| part).collect();
        self.exchange
    }
}
