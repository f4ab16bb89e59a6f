//! What a log tells of sub-agents whose requests it does not hold: totals, in what their calls gave back and in notifications of their end.

use super::lane_name;
use super::node::ClaudeLane;
use super::record::{AGENT_TOTALS, ClaudeRecord};
use crate::AgentTotals;
use crate::import::prelude::*;
use crate::import::usage::SESSION_TOKENS_MAX;

/// What the model of a sub-agent is called where a call gives it back.
const AGENT_MODEL: &str = "\"resolvedModel\"";

/// How a notification begins that something in the background has ended.
const NOTIFICATION: &str = "<task-notification>";

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
                // It may hold what waited until the agent had ended its turn.
                let queued: Option<Value> = text.and_then(|it| serde_json::from_str(it).ok());
                let prompt = queued.as_ref().and_then(|it| it["prompt"].as_str());
                prompt.into_iter().for_each(|it| self.notification(line, it, losses));
            }
            _ => {}
        }
    }

    /// Takes what a call gave back: of other tools, that has any shape.
    fn result(&mut self, line: usize, text: &str, losses: &mut Losses) {
        if !text.contains(AGENT_TOTALS) && !text.contains(AGENT_MODEL) {
            return;
        }
        let Ok(result) = serde_json::from_str::<Value>(text) else { return };
        let said = |name: &str| result[name].as_str().filter(|it| !it.is_empty());
        let Some(agent) = said("agentId") else { return };
        if let Some(model) = said("resolvedModel") {
            self.models.insert(agent.to_owned(), model.to_owned());
        }
        // What its last request was billed.
        let usage = &result["usage"];
        if result["totalTokens"].is_null() || !usage.is_object() {
            return;
        }
        let long = Count::of(&usage["cache_creation"]["ephemeral_1h_input_tokens"]);
        let is_long = long.known().is_some_and(|it| it > 0);
        let [tokens, tools] = ["totalTokens", "totalToolUseCount"].map(|it| Count::of(&result[it]));
        self.total(line, agent, [tokens, tools, Count(Ok(1))], is_long, losses);
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
