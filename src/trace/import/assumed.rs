//! What a scenario assumes of a recording, applied to its parts and said in sentences.

use indexmap::IndexMap;

use super::sizes::{Allotment, Counting};
use super::transcript::{Exchange, Part, Transcript};
use crate::diag::{Diagnostic, Problems};
use crate::model::scope::wildcard;
use crate::spec::policy::PreserveSpec;
use crate::spec::scenario::{AssumeSpec, NeedRuleSpec, SideRequestSpec, TokenizerSpec, ToolAssumeSpec};
use crate::tokens;
use crate::trace::derive::rules;
use crate::trace::evidence::Recover;
use crate::trace::{Harness, Kind, NewItem, Preserve, Sizes};
use crate::units::{Decimal, Tokens};

/// Checks assumptions that a scenario says.
///
/// # Errors
/// Every problem, with its field path.
pub(super) fn check(spec: &AssumeSpec) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Problems::default();
    problems.within("load.recorded.assume", |problems| {
        if spec.tokenizer.is_some_and(|it| tokens::tokenizer(it).is_none()) {
            let help = "build with `--features tokens`, or leave it out and declare `chars_per_token`";
            problems
                .within("tokenizer", |it| it.push("tokenizer-not-built", "this build counts no texts", help));
        }
        let ratios =
            [("chars_per_token", spec.chars_per_token), ("user_chars_per_token", spec.user_chars_per_token)];
        for (field, _) in ratios.into_iter().filter(|(_, it)| it.is_some_and(|it| it <= Decimal::ZERO)) {
            let help = "write a number above 0, or leave it out";
            problems.within(field, |it| it.push("chars-per-token-zero", "a token has no characters", help));
        }
        if spec.rewind_share_max.is_some_and(|it| it > Decimal::ONE) {
            let help = "write a number from 0 to 1";
            problems.within("rewind_share_max", |it| {
                it.push("ratio-above-one", "no prompt shrinks by more than itself", help);
            });
        }
        problems.within("needs", |problems| {
            for (rule, spec) in &spec.needs {
                problems.within(rule, |problems| check_rule(rule, spec, problems));
            }
        });
    });
    problems.into_result(())
}

/// Checks one rule of needs.
fn check_rule(rule: &str, spec: &NeedRuleSpec, problems: &mut Problems) {
    if !rules().any(|it| it == rule) {
        let known: Vec<String> = rules().map(|it| format!("`{it}`")).collect();
        let message = format!("no rule of needs is called `{rule}`");
        problems.push("need-rule-unknown", message, format!("the rules are {}", known.join(", ")));
    }
    if let Some(weight) = spec.weight.filter(|it| !(0.0..=1.0).contains(it)) {
        problems.within("weight", |problems| {
            problems.push(
                "weight-invalid",
                format!("{weight} is no probability"),
                "write a number from 0 to 1",
            );
        });
    }
}

/// The assumptions of a scenario, with what holds where it is silent.
pub(super) struct Assumed {
    /// How sizes are counted that no recording says.
    pub(super) counting: Counting,
    /// What the calls say about which results were needed again.
    pub(super) needs: IndexMap<String, NeedRuleSpec>,
    summary_tokens_max: Tokens,
    handle_tokens_max: Tokens,
    side_request: Option<SideRequestSpec>,
    side_request_cold_tokens: Tokens,
    tokenizer: Option<TokenizerSpec>,
    tools: Vec<ToolAssumeSpec>,
}

impl Assumed {
    /// Takes assumptions that are complete.
    pub(super) fn new(spec: &AssumeSpec) -> Self {
        let ratio = |ratio: Option<Decimal>| ratio.unwrap_or(Decimal::ONE);
        Self {
            counting: Counting {
                chars_per_token: ratio(spec.chars_per_token),
                user_chars_per_token: ratio(spec.user_chars_per_token),
                user_message_tokens: spec.user_message_tokens.unwrap_or_default(),
                placeholder_output_tokens: spec.placeholder_output_tokens.unwrap_or_default(),
                rewind_share_max: spec.rewind_share_max.unwrap_or(Decimal::ZERO),
            },
            needs: spec.needs.clone(),
            summary_tokens_max: spec.summary_tokens_max.unwrap_or_default(),
            handle_tokens_max: spec.handle_tokens_max.unwrap_or_default(),
            side_request: spec.side_request,
            side_request_cold_tokens: spec.side_request_cold_tokens.unwrap_or_default(),
            tokenizer: spec.tokenizer,
            tools: spec.tools.clone(),
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

    /// Returns how the harness uses the cache: as the scenario declares, else as the format infers.
    pub(super) fn harness(&self, inferred: Harness, assumes: bool) -> Harness {
        let side_request_ms = match self.side_request {
            None => inferred.side_request_ms.filter(|_| assumes),
            Some(SideRequestSpec::Usual) => inferred.side_request_ms,
            Some(SideRequestSpec::None) => None,
            Some(SideRequestSpec::AfterLoop { delay }) => Some(delay.0),
        };
        Harness { side_request_ms, side_request_cold_tokens: self.side_request_cold_tokens, ..inferred }
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
        let rule = self.tools.iter().find(|it| wildcard(&it.tool, &part.tool));
        let tool = rule.and_then(|it| it.counts_as.as_deref()).unwrap_or(&part.tool);
        let mut item = match part.kind {
            Kind::ToolCall => NewItem::call(tool, raw),
            Kind::ToolResult => self.result(tool, part.answers, raw, rule),
            kind => NewItem::plain(kind, raw),
        };
        item.digest = Some(part.digest);
        item.text = part.text.as_ref();
        item
    }

    fn result<'b>(
        &self,
        tool: &'b str,
        answers: usize,
        raw: u32,
        rule: Option<&ToolAssumeSpec>,
    ) -> NewItem<'b> {
        let at_most = |tokens: u32, max| tokens.min(u32::try_from(max).unwrap_or(u32::MAX));
        let summary = at_most(raw, self.summary_tokens_max);
        let handle = at_most(summary, self.handle_tokens_max);
        let recover = Recover { handle: summary, local: summary, exact: summary };
        let preserve = rule.map_or(Preserve::None, |it| it.preserve);
        NewItem::result(tool, answers, Sizes { raw, excerpt: summary, summary, handle }, preserve, recover)
    }
}

/// Says in sentences what the trace assumes.
pub(super) fn sentences(transcript: &Transcript, assumed: &Assumed, allotment: &Allotment) -> Vec<String> {
    let counting = &assumed.counting;
    let mut sentences = vec![
        "The recorded agent does not react: it makes the same requests whatever a policy shows.".to_owned(),
        "Sizes follow the recorded prompts: the growth from one to the next is split over the parts between them by their characters.".to_owned(),
        match assumed.tokenizer {
            None => format!(
                "Parts whose growth is not recorded are counted at {} characters a token.",
                counting.chars_per_token
            ),
            Some(tokenizer) => format!(
                "Parts whose growth is not recorded are counted by the tokenizer {}, those without text at {} characters a token.",
                tokens::name(tokenizer), counting.chars_per_token
            ),
        },
        format!(
            "What a user types is counted at {} characters a token and {} tokens more a message.",
            counting.user_chars_per_token, counting.user_message_tokens
        ),
        format!(
            "A tool result's summary and its exact excerpt take at most {} tokens, its recovery handle at most {}.",
            assumed.summary_tokens_max, assumed.handle_tokens_max
        ),
    ];
    sentences.extend(assumed.tools.iter().map(tool_sentence));
    if allotment.overhead > 0 {
        sentences.push(format!(
            "The first prompt holds {} tokens that the recording does not show; they stand as one stable system item.",
            allotment.overhead
        ));
    }
    if allotment.is_scaled {
        sentences.push("The text before the first request is scaled down to its recorded prompt.".to_owned());
    }
    if let Some(delay_ms) =
        assumed.harness(transcript.harness, transcript.assumes_side_requests).side_request_ms
    {
        sentences.push(format!(
            "{} s after a loop the harness sends the prompt with the reply once more, unless over {} tokens of the request before were not read; no record shows what that is billed.",
            delay_ms as f64 / 1_000.0,
            assumed.side_request_cold_tokens
        ));
    }
    sentences.extend(gaps(transcript, counting, allotment));
    sentences.extend(transcript.assumptions.iter().cloned());
    sentences
}

/// Says what the recording leaves open: prompts that shrank, requests without usage, outputs that are no counts.
fn gaps(transcript: &Transcript, counting: &Counting, allotment: &Allotment) -> Vec<String> {
    let mut sentences = Vec::new();
    let is_told = |exchange: usize| transcript.exchanges[exchange].compacts.is_some();
    let n_resets = allotment.resets.iter().filter(|it| it.exchange > 0 && !is_told(it.exchange)).count();
    if n_resets > 0 {
        sentences.push(format!(
            "Prompts that shrank, so that the harness must have taken history out: {n_resets}. No policy has it any more. Where less than {} of a prompt went, it was its end.",
            counting.rewind_share_max
        ));
    }
    if transcript.forgets_reasoning {
        sentences
            .push("The harness leaves reasoning out of its prompts once the user speaks again.".to_owned());
    }
    if allotment.n_shrunk > 0 {
        sentences.push(format!(
            "Recorded prompts smaller than an earlier one: {}. Later growth makes up for them first; the trace exceeds a recorded prompt by {} tokens at most.",
            allotment.n_shrunk, allotment.excess_max
        ));
    }
    let n_silent = transcript.exchanges.iter().filter(|it| it.usage.is_none()).count();
    if n_silent > 0 {
        sentences.push(format!(
            "Requests without recorded usage: {n_silent}. Their parts share in the next known growth."
        ));
    }
    let placeholder_max = counting.placeholder_output_tokens;
    let usages = transcript.exchanges.iter().filter_map(|it| it.usage);
    let n_placeholders = usages.filter(|it| it.output <= placeholder_max).count();
    if n_placeholders > 0 {
        sentences.push(format!(
            "Requests with a recorded output of {placeholder_max} tokens or fewer, as streams write at their start: {n_placeholders}. They count as what the reply added to the next prompt, if that is more."
        ));
    }
    sentences
}

/// Says what a recorded tool counts as.
fn tool_sentence(rule: &ToolAssumeSpec) -> String {
    let class = match rule.preserve {
        PreserveSpec::WorkingEvidence => "working evidence",
        PreserveSpec::Reference => "reference",
        PreserveSpec::None => "not needed again",
    };
    if rule.tool == "*" && rule.counts_as.is_none() {
        return format!("Results of all other tools are {class}.");
    }
    match &rule.counts_as {
        Some(name) => format!("Tool `{}` counts as `{name}`; its results are {class}.", rule.tool),
        None => format!("Results of tool `{}` are {class}.", rule.tool),
    }
}
