//! A scenario's assumptions about a recording, applied to its parts and described in sentences.

use ctxsim_input::scenario::{Assume, ExactExcerpt, HiddenRequest, ToolAssume};

use super::harness::Conduct;
use super::side_requests::{SideRequestEvidence, SideRequests};
use super::sizes::{Allotment, SizeAssumptions};
use crate::evidence::Recover;
use crate::import::prelude::*;
use crate::{Harness, ItemSizes, NewItem, Preserve, tool_form};

/// The assumptions of a scenario, with defaults filled in.
pub(super) struct ScenarioAssumptions {
    /// How unrecorded sizes are counted.
    pub(super) counting: SizeAssumptions,
    /// The assumptions as they are written.
    pub(super) spec: Assume,
    pub(super) inference: SideRequestEvidence,
    harness: &'static str,
}

impl ScenarioAssumptions {
    /// Takes assumptions that are complete, of a recording of some harness.
    pub(super) fn new(spec: Assume, harness: &'static str) -> Self {
        Self {
            counting: SizeAssumptions {
                chars_per_token: spec.chars_per_token.unwrap_or(Decimal::ONE),
                user_chars_per_token: spec.user_chars_per_token.unwrap_or(Decimal::ONE),
                counts_users: spec.tokenizer.is_none(),
                user_message_tokens: spec.user_message_tokens.unwrap_or_default(),
                placeholder_output_tokens: spec.placeholder_output_tokens.unwrap_or_default(),
                rewind_share_max: spec.rewind_share_max.unwrap_or(Decimal::ZERO),
            },
            inference: SideRequestEvidence {
                delay_ms: spec.side_request_delay.map_or(0, |it| it.0),
                cold_tokens: spec.side_request_cold_tokens.unwrap_or_default(),
                share: spec.side_request_share.unwrap_or(Decimal::ZERO),
                prior_turns: spec.side_request_prior_turns.unwrap_or_default(),
            },
            spec,
            harness,
        }
    }

    /// Returns what the model wrote: the recorded count, or what the reply added to the next prompt if that is more.
    pub(super) fn output(&self, exchange: &Exchange, written: Tokens) -> Tokens {
        match exchange.usage {
            Some(usage) if usage.output > self.counting.placeholder_output_tokens => usage.output,
            Some(usage) => usage.output.max(written),
            None => written,
        }
    }

    /// Returns how the harness uses the cache: as the scenario declares, else as is known of the format.
    pub(super) fn harness(&self, transcript: &Transcript, conduct: &Conduct, side: &SideRequests) -> Harness {
        Harness {
            ttl: conduct.ttl().or(transcript.ttl),
            makes_side_requests: side.delay_ms.is_some(),
            side_request_cold_tokens: self.inference.cold_tokens,
            unread_tokens: 0,
        }
    }

    /// Returns whether the bills of a session's earlier requests are used.
    pub(super) fn asks_bills(&self) -> bool {
        matches!(self.spec.side_request, None | Some(HiddenRequest::Inferred))
    }

    /// Makes items of parts, each with the next size.
    pub(super) fn items<'b>(
        &'b self,
        parts: &'b [Part],
        tokens: &mut impl Iterator<Item = u32>,
    ) -> Vec<NewItem<'b>> {
        parts.iter().map(|it| self.item(it, tokens.next().unwrap_or_default())).collect()
    }

    fn item<'b>(&'b self, part: &'b Part, raw: u32) -> NewItem<'b> {
        let rule = self.spec.tools.iter().find(|it| wildcard(&it.tool, &part.tool));
        let counts_as = rule.and_then(|it| it.counts_as.as_deref());
        let tool = counts_as.unwrap_or(&part.tool);
        let mut item = match part.kind {
            Kind::ToolCall => NewItem::call(tool, raw),
            Kind::ToolResult => self.result(tool, part.answers, raw, rule),
            Kind::Image => NewItem {
                tool,
                answers: usize::MAX,
                ..NewItem::image(part.images.first().and_then(|it| it.size), raw)
            },
            kind => NewItem::plain(kind, raw),
        };
        item.digest = Some(part.digest);
        item.text = part.text.as_ref();
        item.file = part.file;
        item.form = tool_form::form_of(self.harness, &part.tool);
        // Who says what a tool counts as has said all that policies know it by.
        item.capability = item.form.filter(|_| counts_as.is_none()).map(|it| it.capability);
        item
    }

    fn result<'b>(&self, tool: &'b str, answers: usize, raw: u32, rule: Option<&ToolAssume>) -> NewItem<'b> {
        let at_most = |tokens: u32, max| tokens.min(saturated(max));
        let summary = at_most(raw, self.spec.summary_tokens_max.unwrap_or_default());
        let handle = at_most(summary, self.spec.handle_tokens_max.unwrap_or_default());
        let excerpt = match self.spec.exact_excerpt.unwrap_or_default() {
            ExactExcerpt::Whole => raw,
            ExactExcerpt::AtMost(tokens) => at_most(raw, tokens),
        };
        let recover = Recover { handle: summary, local: summary, exact: excerpt };
        let preserve = rule.map_or(Preserve::None, |it| it.preserve);
        NewItem::result(tool, answers, ItemSizes { raw, excerpt, summary, handle }, preserve, recover)
    }
}

/// Describes the timeline's assumptions.
pub(super) fn sentences(
    transcript: &Transcript,
    assumed: &ScenarioAssumptions,
    allotment: &Allotment,
    conduct: &Conduct,
    side_requests: &SideRequests,
) -> Vec<String> {
    let counting = &assumed.counting;
    let mut sentences =
        vec![
        "The recorded agent does not react: it makes the same requests whatever a policy shows.".to_owned(),
        "Sizes follow the recorded prompts: the growth between two prompts is split over the new parts in \
            proportion to their characters.".to_owned(),
        match assumed.spec.tokenizer {
            None => format!(
                "Parts whose growth is not recorded are counted at {} characters per token.",
                counting.chars_per_token
            ),
            Some(tokenizer) => format!(
                "Parts whose growth is not recorded are counted with the tokenizer {}, those without text \
                    at {} characters per token.",
                tokens::name(tokenizer), counting.chars_per_token
            ),
        },
        user_sentence(transcript, counting),
        format!(
            "A tool result's summary takes at most {} tokens, its recovery handle at most {}.",
            assumed.spec.summary_tokens_max.unwrap_or_default(),
            assumed.spec.handle_tokens_max.unwrap_or_default()
        ),
        match assumed.spec.exact_excerpt.unwrap_or_default() {
            ExactExcerpt::Whole => "A tool result's exact excerpt is everything that a later need could \
                read: a file, or the requested range.".to_owned(),
            ExactExcerpt::AtMost(tokens) => format!("A tool result's exact excerpt takes at most {tokens} \
                tokens."),
        },
    ];
    sentences.extend(assumed.spec.tools.iter().map(tool_sentence));
    if allotment.overhead > 0 {
        sentences.push(front_sentence(allotment.overhead, conduct));
    }
    if allotment.is_scaled {
        sentences
            .push("Text before the first request is scaled down to the first recorded prompt.".to_owned());
    }
    if let Some(delay_ms) = side_requests.delay_ms {
        let inference = &assumed.inference;
        sentences.push(format!(
            "{} s after a turn the harness sends the prompt and the reply again, unless more than {} tokens \
                of the previous request were not read; no record shows how this is billed.",
            delay_ms as f64 / 1_000.0,
            inference.cold_tokens
        ));
        if assumed.asks_bills() {
            sentences.push(format!(
                "It does so only if more than {} of the earlier turns had such a request, judging by their \
                    billed reads and counting {} extra before the first; the turn's own reads are never \
                    used.",
                inference.share, inference.prior_turns
            ));
        }
    }
    if side_requests.n_logged() > 0 {
        sentences.push(format!(
            "Summaries for a user who was away, with each of which the harness sent the prompt and the reply again: {}.",
            side_requests.n_logged()
        ));
    }
    sentences.extend(conduct.sentences.iter().cloned());
    sentences.extend(transcript.image_sentence());
    sentences.extend(gaps(transcript, counting, allotment));
    sentences.extend(transcript.assumptions.iter().cloned());
    sentences
}

/// Describes how what the user says is counted.
fn user_sentence(transcript: &Transcript, counting: &SizeAssumptions) -> String {
    let mut said = transcript.exchanges.iter().flat_map(Exchange::user);
    let is_counted = counting.counts_users && said.any(|it| it.kind == Kind::User && it.tokens.is_some());
    let how = if is_counted {
        "User text is counted with the reconstructed vocabulary of the billed model, and where it has other than ASCII \
            characters"
    } else {
        "User text is counted"
    };
    let comma = if is_counted { "," } else { "" };
    format!(
        "{how} at {} characters per token{comma} plus {} tokens per message.",
        counting.user_chars_per_token, counting.user_message_tokens
    )
}

/// Describes the unrecorded part of the first prompt.
fn front_sentence(overhead: Tokens, conduct: &Conduct) -> String {
    match conduct.front.iter().filter(|it| it.0 == Kind::User).map(|it| it.1).sum::<Tokens>() {
        0 => format!(
            "The first prompt holds {overhead} tokens that the recording does not show; they count as one \
                stable system item."
        ),
        rest => format!(
            "The first prompt holds {overhead} tokens that the recording does not show: {} of tools and \
                system prompt, and {rest} before the first message. They are stable.",
            overhead - rest
        ),
    }
}

/// Describes what the recording leaves open: prompts that shrank, requests without usage, placeholder
/// outputs.
fn gaps(transcript: &Transcript, counting: &SizeAssumptions, allotment: &Allotment) -> Vec<String> {
    let mut sentences = Vec::new();
    let is_told = |exchange: usize| transcript.exchanges[exchange].compacts.is_some();
    let n_resets = allotment.resets.iter().filter(|it| it.exchange > 0 && !is_told(it.exchange)).count();
    if n_resets > 0 {
        sentences.push(format!(
            "Prompts that shrank, so the harness must have removed history: {n_resets}. No policy has it \
                afterwards. If less than {} of a prompt went, it was its end.",
            counting.rewind_share_max
        ));
    }
    if transcript.drops_reasoning {
        sentences.push("No prompt holds reasoning: it is billed as output, and never sent again.".to_owned());
    }
    if transcript.forgets_reasoning {
        sentences
            .push("The harness removes reasoning from its prompts once the user speaks again.".to_owned());
    }
    if allotment.n_shrunk > 0 {
        sentences.push(format!(
            "Recorded prompts smaller than an earlier one: {}. Later growth makes up for them first; the \
                timeline exceeds a recorded prompt by at most {} tokens.",
            allotment.n_shrunk, allotment.excess_max
        ));
    }
    let models =
        transcript.exchanges.iter().map(|it| transcript.model_of(it)).filter(|model| !model.is_empty());
    let models: Vec<&str> = models.collect();
    let n_switches = models.windows(2).filter(|it| it[0] != it[1]).count();
    if n_switches > 0 {
        sentences.push(format!(
            "Model switches: {n_switches}. No model reads what another has cached, under any profile."
        ));
    }
    let n_timeless = transcript.exchanges.iter().filter(|it| it.at_ms.is_none()).count();
    if n_timeless > 0 {
        sentences.push(format!(
            "Requests without a recorded time: {n_timeless}. They start with the previous request, and \
                nothing expires in between."
        ));
    }
    let n_silent = transcript.exchanges.iter().filter(|it| it.usage.is_none()).count();
    if n_silent > 0 {
        sentences.push(format!(
            "Requests without recorded usage: {n_silent}. Their parts share the next known growth."
        ));
    }
    let placeholder_max = counting.placeholder_output_tokens;
    let usages = transcript.exchanges.iter().filter_map(|it| it.usage);
    let n_placeholders = usages.filter(|it| it.output <= placeholder_max).count();
    if n_placeholders > 0 {
        sentences.push(format!(
            "Requests with a recorded output of at most {placeholder_max} tokens, as streams write at their \
                start: {n_placeholders}. Their output counts as what the reply added to the next prompt, \
                if that is more."
        ));
    }
    sentences
}

/// Describes how a recorded tool is treated.
fn tool_sentence(rule: &ToolAssume) -> String {
    let class = match rule.preserve {
        Preserve::WorkingEvidence => "working evidence",
        Preserve::Reference => "reference",
        Preserve::None | Preserve::Unset => "not needed again",
    };
    if rule.tool == "*" && rule.counts_as.is_none() {
        return format!("Results of all other tools are {class}.");
    }
    match &rule.counts_as {
        Some(name) => format!("Tool `{}` counts as `{name}`; its results are {class}.", rule.tool),
        None => format!("Results of tool `{}` are {class}.", rule.tool),
    }
}
