//! Records of ctxsim's own form of sessions.

use ctxsim_input::profile::ImageSize;

use crate::import::image::LoggedImage;
use crate::import::prelude::*;
use crate::import::transcript::{LoggedCompaction, PartNeed, RequestForm, SummarySizes};
use crate::{
    AgentTotals, AsideBill, Diagnosis, FixedPart, InjectedText, LoggedOutcome, Occasion, infer_needs,
};

/// The version of the format.
const VERSION: u32 = 1;

/// How long entries are asked to live, by name.
const LIFETIMES: [(&str, Option<TtlClass>); 2] =
    [("short", Some(TtlClass::Short)), ("long", Some(TtlClass::Long))];

/// What a message before the user's first is, by name.
const FIXED: [(&str, FixedPart); 2] =
    [("memory_files", FixedPart::MemoryFiles), ("harness_messages", FixedPart::HarnessMessages)];

/// Returns the name of one of several values; nothing for one that has none.
fn named<T: PartialEq>(names: &[(&str, T)], value: &T) -> String {
    names.iter().find(|it| it.1 == *value).map_or("", |found| found.0).to_owned()
}

/// Returns the value of a name, if it is one.
fn valued<T: Clone>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|it| it.0 == name).map(|found| found.1.clone())
}

/// The beginning of a session.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RedactedHeader {
    ctxsim: String,
    version: u32,
    /// The format that it was recorded in, by which its tools are known.
    format: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    harness: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of_agent: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    ttl: String,
    flags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aside: Vec<AsideBill>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<AgentTotals>,
    #[serde(skip_serializing_if = "String::is_empty")]
    plan: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitReading>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<LoggedOutcome>,
    pub(super) stable: Vec<RedactedPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fronts: Vec<Vec<RedactedPart>>,
}

/// One of the things that a session may say of itself.
type SessionFlag = fn(&mut Transcript) -> &mut bool;

/// What a session may say of itself, by name.
const FLAGS: [(&str, SessionFlag); 8] = [
    ("makes_side_requests", |it| &mut it.makes_side_requests),
    ("has_breakpoints", |it| &mut it.has_breakpoints),
    ("counts_output", |it| &mut it.counts_output),
    ("is_review", |it| &mut it.is_review),
    ("is_spread", |it| &mut it.is_spread),
    ("marks_compactions", |it| &mut it.marks_compactions),
    ("drops_reasoning", |it| &mut it.drops_reasoning),
    ("forgets_reasoning", |it| &mut it.forgets_reasoning),
];

impl RedactedHeader {
    /// Returns whether it is one.
    pub(super) fn is_session(&self) -> bool {
        self.ctxsim == "session" && self.version == VERSION
    }

    /// Describes a session; what holds names and parts is still empty.
    pub(super) fn new(transcript: &Transcript) -> Self {
        let mut flags = transcript.clone();
        Self {
            ctxsim: "session".to_owned(),
            version: VERSION,
            format: transcript.tools_of.unwrap_or_default().to_owned(),
            harness: transcript.harness.to_owned(),
            draws: transcript.draws,
            ttl: named(&LIFETIMES, &transcript.ttl),
            aside: transcript.aside.clone(),
            agents: transcript.agents.clone(),
            plan: transcript.plan.clone(),
            limits: transcript.limits.clone(),
            outcome: transcript.outcome.clone(),
            flags: FLAGS.iter().filter(|it| *it.1(&mut flags)).map(|flag| flag.0.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Begins the session.
    pub(super) fn into_transcript(self, line: usize, losses: &mut Losses) -> Transcript {
        let known = super::super::formats();
        let name_of = |name: &str| known.iter().map(|it| it.name).find(|own| *own == name);
        let mut transcript = Transcript {
            stable: parts(self.stable),
            fronts: self.fronts.into_iter().map(parts).collect(),
            name: self.name,
            of_agent: self.of_agent,
            harness: name_of(&self.harness).unwrap_or_default(),
            tools_of: Some(name_of(&self.format).unwrap_or_default()),
            ttl: valued(&LIFETIMES, &self.ttl).flatten(),
            draws: self.draws,
            aside: asides(self.aside, line, losses),
            agents: self.agents,
            plan: self.plan,
            limits: self.limits,
            outcome: self.outcome,
            ..Transcript::default()
        };
        for (name, flag) in FLAGS {
            *flag(&mut transcript) = self.flags.iter().any(|it| it == name);
        }
        transcript
    }
}

/// A part without its content.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RedactedPart {
    kind: Kind,
    characters: u64,
    /// Equal contents have equal numbers.
    content: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<usize>,
    /// Equal files have equal numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stands_in: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fixed: String,
    /// Of an image: its size in pixels, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pixels: Option<ImageSize>,
}

impl RedactedPart {
    /// Describes a part.
    pub(super) fn of(part: &Part, content: usize, file: Option<usize>, tool: String) -> Self {
        Self {
            kind: part.kind,
            characters: part.characters,
            content: content as u64,
            tokens: part.tokens,
            tool,
            answers: Some(part.answers).filter(|it| *it != usize::MAX),
            file: file.map(|it| it as u64),
            stands_in: part.stands_in,
            fixed: part.fixed.map_or_else(String::new, |it| named(&FIXED, &it)),
            pixels: part.images.first().and_then(|it| it.size),
        }
    }

    fn into_part(self) -> Part {
        let stands_for = |number: u64| xxh3_64(&number.to_le_bytes());
        let image = LoggedImage { digest: stands_for(self.content), size: self.pixels };
        Part {
            digest: stands_for(self.content),
            tokens: self.tokens,
            tool: self.tool,
            answers: or_unlimited(self.answers),
            file: self.file.map(stands_for),
            stands_in: self.stands_in,
            fixed: valued(&FIXED, &self.fixed),
            images: if self.kind == Kind::Image { vec![image] } else { Vec::new() },
            ..Part::new(self.kind, self.characters, 0)
        }
    }
}

/// Returns the parts that were described.
fn parts(all: Vec<RedactedPart>) -> Vec<Part> {
    all.into_iter().map(RedactedPart::into_part).collect()
}

/// Returns a bill that was read, if it is one.
fn checked(mut usage: Usage, line: usize, losses: &mut Losses) -> Option<Usage> {
    let mut bill = BillReader::new(line, "usage", losses);
    let Usage { uncached, cache_read, cache_write, output, .. } = usage;
    let parts = [
        ("uncached", uncached),
        ("cache_read", cache_read),
        ("cache_write", cache_write),
        ("output", output),
    ];
    parts.iter().for_each(|(name, tokens)| _ = bill.count(name, Count(Ok(*tokens))));
    usage.prompt = uncached.saturating_add(cache_read).saturating_add(cache_write);
    usage.cache_write_long = usage.cache_write_long.filter(|it| *it <= cache_write);
    bill.finish(usage)
}

/// Returns such bills of requests that are no steps.
fn asides(mut all: Vec<AsideBill>, line: usize, losses: &mut Losses) -> Vec<AsideBill> {
    all.retain_mut(|it| checked(it.usage, line, losses).map(|usage| it.usage = usage).is_some());
    all
}

/// A request, or the needs of a session.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RedactedRequest {
    /// Its place in its session, from 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) begins: Option<Vec<RedactedPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_ms: Option<i64>,
    /// Why the history was compacted, and the first part that stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    compacts: Option<(String, Option<usize>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    summarised: Vec<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_sizes: Option<SummarySizes>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inner: Vec<AsideBill>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cleared: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rewound_to: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recaps: Vec<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "is_zero")]
    reasoning: u64,
    /// In millionths of a millionth of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reply: Vec<RedactedPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) results: Vec<RedactedPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<RequestForm>,
    /// The needs of the whole session, on a line of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) needs: Option<Vec<NeedRecord>>,
}

/// Returns whether a number is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The causes of compactions, by name.
const CAUSES: [(&str, Remover); 3] =
    [("harness", Remover::Harness), ("asked", Remover::Asked), ("cleared", Remover::Cleared)];

/// Other events, by name.
const OCCASIONS: [(&str, Occasion); 6] = [
    ("skill", Occasion::Skill),
    ("tools_found", Occasion::ToolsFound),
    ("remote_control", Occasion::RemoteControl),
    ("tools_reordered", Occasion::ToolsReordered),
    ("restart", Occasion::Restart),
    ("removed", Occasion::Removed),
];

/// Returns what is written for an event: of what a provider says, its own word.
fn occasion_name(it: &Occasion) -> String {
    match it {
        Occasion::Diagnosed(diagnosis) => diagnosis.name().to_owned(),
        Occasion::Injected(what, characters) => format!("{}:{characters}", what.name()),
        _ => named(&OCCASIONS, it),
    }
}

/// Returns the event for which this is written.
fn occasion_named(name: &str) -> Option<Occasion> {
    let injected = || {
        let (what, characters) = name.split_once(':')?;
        Some(Occasion::Injected(InjectedText::named(what)?, characters.parse().ok()?))
    };
    valued(&OCCASIONS, name).or_else(|| Diagnosis::named(name).map(Occasion::Diagnosed)).or_else(injected)
}

impl RedactedRequest {
    /// Describes a request; its number and its parts are still missing.
    pub(super) fn new(exchange: &Exchange) -> Self {
        Self {
            at_ms: exchange.at_ms,
            response_ms: exchange.response_ms,
            end_ms: exchange.end_ms,
            compacts: exchange.compacts.map(|it| {
                (named(&CAUSES, &it.cause), Some(it.stays_from).filter(|first| *first != usize::MAX))
            }),
            summarised: exchange.summarised.clone(),
            summary_sizes: Some(exchange.summary_sizes).filter(|it| *it != SummarySizes::default()),
            inner: exchange.inner.clone(),
            cleared: exchange.cleared.clone(),
            rewound_to: exchange.rewound_to,
            before: exchange.before.iter().map(occasion_name).collect(),
            recaps: exchange.recaps.clone(),
            version: exchange.version.to_string(),
            model: exchange.model.clone(),
            usage: exchange.usage,
            reasoning: exchange.reasoning,
            cost: exchange.cost.and_then(|it| u64::try_from(it.0).ok()),
            form: Some(exchange.form.clone()).filter(|it| *it != RequestForm::default()),
            ..Self::default()
        }
    }

    /// A record of needs alone.
    pub(super) fn of_needs(needs: Vec<NeedRecord>) -> Self {
        Self { needs: Some(needs), ..Self::default() }
    }

    /// Makes the request; one without a reply is none.
    pub(super) fn into_exchange(self, line: usize, losses: &mut Losses) -> Option<Exchange> {
        if self.reply.is_empty() {
            losses.add(line, "requests without a reply");
            return None;
        }
        let compacts = self.compacts.and_then(|(cause, stays)| {
            Some(LoggedCompaction { stays_from: or_unlimited(stays), cause: valued(&CAUSES, &cause)? })
        });
        let mut cleared = self.cleared;
        cleared.sort_unstable();
        let usage = self.usage.and_then(|it| checked(it, line, losses));
        Some(Exchange {
            begins: self.begins.map(parts),
            at_ms: self.at_ms,
            response_ms: self.response_ms,
            end_ms: self.end_ms,
            compacts,
            summarised: self.summarised.into_iter().filter_map(|it| checked(it, line, losses)).collect(),
            summary_sizes: self.summary_sizes.unwrap_or_default(),
            inner: asides(self.inner, line, losses),
            cleared,
            rewound_to: self.rewound_to,
            before: self.before.iter().filter_map(|it| occasion_named(it)).collect(),
            recaps: self.recaps,
            version: Version::parse(&self.version),
            model: self.model,
            reasoning: self.reasoning.min(usage.map_or(0, |it| it.output)),
            usage,
            cost: self.cost.map(|it| Cost(it.into())),
            reply: parts(self.reply),
            results: parts(self.results),
            form: self.form.unwrap_or_default(),
        })
    }
}

/// A need.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NeedRecord {
    rule: String,
    #[serde(flatten)]
    need: PartNeed,
    /// Whether it holds where nothing is taken out of the history, and not in the history as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undone: Option<bool>,
}

impl NeedRecord {
    /// Describes the needs of both histories; one that both have is told once.
    pub(super) fn of_all([as_recorded, undone]: &[Vec<PartNeed>; 2]) -> Vec<Self> {
        let both = as_recorded.iter().filter(|it| undone.contains(it)).map(|need| Self::of(need, None));
        let of_one = |these: &[PartNeed], others: &[PartNeed], is_undone| {
            let only = these.iter().filter(|it| !others.contains(it));
            only.map(|it| Self::of(it, Some(is_undone))).collect::<Vec<_>>()
        };
        both.chain(of_one(as_recorded, undone, false)).chain(of_one(undone, as_recorded, true)).collect()
    }

    fn of(need: &PartNeed, undone: Option<bool>) -> Self {
        Self { rule: need.rule.to_owned(), need: need.clone(), undone }
    }

    /// Adds the need where it holds, if its rule is known.
    pub(super) fn keep(self, [as_recorded, undone]: &mut [Vec<PartNeed>; 2]) {
        let Some(rule) = infer_needs::rules().find(|it| *it == self.rule) else { return };
        let need = PartNeed { rule, weight: self.need.weight.map(|it| it.clamp(0.0, 1.0)), ..self.need };
        if self.undone != Some(true) {
            as_recorded.push(need.clone());
        }
        if self.undone != Some(false) {
            undone.push(need);
        }
    }
}
