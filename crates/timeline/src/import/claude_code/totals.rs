//! What a log tells of sub-agents whose requests it does not hold: totals, in what their calls gave back and in notifications of their end.

use indexmap::IndexMap;

use super::lane_name;
use super::node::ClaudeLane;
use super::record::{AGENT_TOTALS, ClaudeRecord, ClaudeUsage};
use crate::AgentTotals;
use crate::import::losses::Losses;
use crate::import::usage::{SESSION_TOKENS_MAX, Shaped};
use crate::import::values::{Count, MessageContent, Text};
use ctxsim_base::quantity::Tokens;

/// What the model of a sub-agent is called where a call gives it back.
const AGENT_MODEL: &str = "\"resolvedModel\"";

/// How a notification begins that something in the background has ended.
const NOTIFICATION: &str = "<task-notification>";

/// What a `toolUseResult` says of a sub-agent.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToldResult<'a> {
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    resolved_model: Text<'a>,
    total_tokens: Option<Count>,
    total_tool_use_count: Count,
    /// What its last request was billed.
    usage: Shaped<ClaudeUsage>,
}

/// An attachment that holds what waited until the agent had ended its turn.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct QueuedCommand<'a> {
    #[serde(borrow)]
    prompt: Text<'a>,
}

/// What is told of sub-agents, by their names.
#[derive(Debug, Default)]
pub(super) struct ToldAgents {
    models: IndexMap<String, String>,
    totals: IndexMap<String, AgentTotals>,
}

impl ToldAgents {
    /// Takes what a record tells.
    pub(super) fn hear(&mut self, line: usize, record: &ClaudeRecord<'_>, losses: &mut Losses) {
        if let Some(result) = record.tool_use_result {
            self.result(line, result.get(), losses);
        }
        match record.kind.0.as_ref() {
            "user" => {
                let content = record.message.as_ref().map(|it| &it.content);
                let text = match content {
                    Some(MessageContent::Plain(text)) => text.text.as_deref(),
                    Some(MessageContent::Blocks(blocks)) => {
                        blocks.first().and_then(|it| it.text.as_ref()).and_then(|it| it.text.as_deref())
                    }
                    None => None,
                };
                text.into_iter().for_each(|it| self.notification(line, it, losses));
            }
            "attachment" => {
                let text = record.attachment.map(|it| it.get()).filter(|it| it.contains(NOTIFICATION));
                let queued = text.and_then(|it| serde_json::from_str::<QueuedCommand<'_>>(it).ok());
                queued.into_iter().for_each(|it| self.notification(line, &it.prompt.0, losses));
            }
            _ => {}
        }
    }

    /// Takes what a call gave back: of other tools, that has any shape.
    fn result(&mut self, line: usize, text: &str, losses: &mut Losses) {
        if !text.contains(AGENT_TOTALS) && !text.contains(AGENT_MODEL) {
            return;
        }
        let Ok(ToldResult {
            agent_id: Text(agent),
            resolved_model,
            total_tokens,
            total_tool_use_count,
            usage,
        }) = serde_json::from_str(text)
        else {
            return;
        };
        if agent.is_empty() {
            return;
        }
        if !resolved_model.0.is_empty() {
            self.models.insert(agent.clone().into_owned(), resolved_model.0.into_owned());
        }
        let (Some(tokens), Some(usage)) = (total_tokens, usage.object()) else { return };
        let long = usage.cache_creation.object().and_then(|it| it.ephemeral_1h_input_tokens);
        let is_long = long.and_then(Count::known).is_some_and(|it| it > 0);
        self.total(line, &agent, [tokens, total_tool_use_count, Count(Ok(1))], is_long, losses);
    }

    /// Takes what a notification says that a sub-agent, or several of a workflow, came to; other things in the background have no usage.
    fn notification(&mut self, line: usize, text: &str, losses: &mut Losses) {
        let Some(text) = text.trim_start().strip_prefix(NOTIFICATION) else { return };
        // What it reports may quote another one: its own usage stands last.
        let (Some(agent), Some(at)) = (tagged(text, "task-id"), text.rfind("<usage>")) else { return };
        let usage = &text[at..];
        let count = |name: &str| tagged(usage, name).map(|it| Count::of_text(it.trim()));
        let Some(tokens) = count("subagent_tokens").or_else(|| count("total_tokens")) else { return };
        let counts =
            [tokens, count("tool_uses").unwrap_or_default(), count("agent_count").unwrap_or(Count(Ok(1)))];
        self.total(line, agent, counts, false, losses);
    }

    /// Takes totals: tokens, tools and sub-agents. One that was told twice counts once, with the most that it came to.
    fn total(&mut self, line: usize, agent: &str, counts: [Count; 3], is_long: bool, losses: &mut Losses) {
        let known = counts.map(|it| it.known().filter(|it| *it <= SESSION_TOKENS_MAX));
        let [Some(tokens), Some(tools), Some(agents)]: [Option<Tokens>; 3] = known else {
            return losses.add(
                line,
                "totals of sub-agents that are not counts, so that nothing is estimated of these",
            );
        };
        if tokens == 0 || agents == 0 {
            return;
        }
        let told = self.totals.entry(agent.to_owned()).or_default();
        told.agent = agent.to_owned();
        told.tokens = told.tokens.max(tokens);
        told.tools = told.tools.max(tools);
        told.agents = told.agents.max(agents);
        told.is_long |= is_long;
    }

    /// Returns the totals of those of which no lane holds requests.
    pub(super) fn without_requests(self, lanes: &IndexMap<String, ClaudeLane>) -> Vec<AgentTotals> {
        let Self { models, totals } = self;
        let all = totals.into_values().filter(|it| !lanes.contains_key(&lane_name(&it.agent)));
        all.map(|it| AgentTotals { model: models.get(&it.agent).cloned().unwrap_or_default(), ..it })
            .collect()
    }
}

/// Returns what stands in the first element of a name.
fn tagged<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    Some(behind.split_once(&format!("</{name}>"))?.0)
}
