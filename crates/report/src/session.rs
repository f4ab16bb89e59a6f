//! The recorded sessions of a report: what was read, and how well their bills are reproduced.

use serde::{Deserializer, de};

use super::filled::PromptContents;
use super::{BillAsLogged, SkippedFile};
use crate::prelude::*;
use ctxsim_base::quantity::sums;
use ctxsim_engine::calibrate::{BillPair, Calibration, FirstRequests, Pauses, ReadClass};
use ctxsim_timeline::import::{formats, may_be_billed};

/// The name of a format; an alias, since serde would read a reference from the text itself.
type FormatName = &'static str;

/// A recorded session that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionReport {
    /// Its name: that of its runs' scenario.
    pub name: String,
    /// The format of its log, as `list formats` calls it.
    #[serde(deserialize_with = "known_format")]
    pub format: FormatName,
    /// The version of the harness that wrote it, if it is newer than those that are described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<NewerVersion>,
    /// The model that was billed for most of its input; `None` if the recording names none.
    pub model: Option<String>,
    /// The session whose agent started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// Whether it runs under the profile of that model.
    pub is_under_own_model: bool,
    /// When its last request was, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// The number of its requests.
    pub requests: u64,
    /// Of these: requests answered by other models. Each model has its own cache and prices; a model without
    /// a profile is priced as the session's.
    pub requests_of_others: u64,
    /// Of these: requests without recorded usage, whose sizes are estimated from their texts.
    pub requests_estimated: u64,
    /// What its log says was billed, at list prices; `None` if it says nothing, or if it does not run under its own model's profile.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub as_logged: Option<BillAsLogged>,
    /// How well its bill is reproduced; `None` if it has none, or if it does not run under its own model's
    /// profile.
    pub bill: Option<BillCheck>,
    /// Its first request, if it is played among others: whether one of them had left tools and system prompt in the cache.
    pub first_request: Option<FirstRequests>,
    /// What fills its prompts and what of them missed the cache, if it runs under its own model's profile and was billed.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub filled: Option<PromptContents>,
    /// What its pauses cost, if its log tells lifetimes apart.
    #[serde(skip)]
    pub pauses: Option<Pauses>,
    /// Tokens of tools and system prompt that other sessions send, too, if any are known; and when one of them last did, in
    /// milliseconds before its first request.
    pub shared: Option<SharedFront>,
}

impl SessionReport {
    /// Returns it without what totals do not look at.
    pub fn without_details(self) -> Self {
        Self { model: None, as_logged: None, filled: None, pauses: None, shared: None, ..self }
    }
}

/// A log's version, where it is newer than any that is described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewerVersion {
    /// The harness, in words.
    pub harness: String,
    /// Its version.
    pub version: String,
    /// The newest version that is described.
    pub described_to: String,
}

impl NewerVersion {
    /// Returns the version of a recorded session, if it is newer than those that are described.
    pub fn from_timeline(timeline: &Timeline) -> Option<Self> {
        let recorded = timeline.recorded.as_ref()?;
        let newest = recorded.newer_than?;
        let (harness, described_to) = (newest.harness.to_owned(), newest.to.to_owned());
        Some(Self { harness, version: recorded.version.clone(), described_to })
    }
}

/// Reads the name of a format, which must be one that can be read.
fn known_format<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = formats().into_iter().map(|it| it.name).find(|known| *known == name);
    known.ok_or_else(|| de::Error::custom(format!("there is no format `{name}`")))
}

/// The front of a session's prompts that other sessions send, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedFront {
    /// Its tokens.
    pub tokens: Tokens,
    /// How long before the first request another session had last sent it, in milliseconds; `None` if none is known.
    pub sent_before_ms: Option<i64>,
    /// The probability that a session that nobody recorded had left it, where none is known.
    pub chance: Option<f64>,
    /// The same in a sentence.
    pub told: String,
}

impl SharedFront {
    /// Returns what other sessions share of a load.
    pub fn from_timeline(timeline: &Timeline) -> Option<Self> {
        let (shared, tokens) = (timeline.shared.as_ref()?, timeline.shared_tokens());
        Some(Self {
            tokens,
            sent_before_ms: shared.sent_before_ms(),
            chance: shared.chance.map(|it| it.value),
            told: shared.sentence(tokens),
        })
    }
}

/// How well recorded bills are reproduced when everything is kept as the harness kept it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BillCheck {
    /// The number of requests compared: all except a session's first.
    pub requests: usize,
    /// Of these: requests whose predicted cache read equals the billed one.
    pub exact: usize,
    /// Of these: requests within 64 tokens or 0.5%.
    pub close: usize,
    /// The sum of differences between predicted and billed reads, in tokens.
    pub token_error: Tokens,
    /// The billed reads.
    pub read_tokens: Tokens,
    /// The predicted cost of input, in US dollars.
    pub predicted_usd: f64,
    /// The billed cost of input.
    pub billed_usd: f64,
    /// The sum of the differences between the two, request by request, in US dollars.
    pub gross_error_usd: f64,
}

impl BillCheck {
    /// Counts the results of a comparison; `None` if it compared no request.
    pub fn new(calibration: &Calibration) -> Option<Self> {
        let exact = calibration.count(ReadClass::Exact);
        let read_error = |it: &BillPair| it.predicted.read.abs_diff(it.billed.cache_read);
        let check = Self {
            requests: calibration.pairs.len(),
            exact,
            close: exact + calibration.count(ReadClass::Within),
            token_error: calibration.pairs.iter().map(read_error).sum(),
            read_tokens: calibration.pairs.iter().map(|it| it.billed.cache_read).sum(),
            predicted_usd: calibration.predicted_cost.usd(),
            billed_usd: calibration.billed_cost.usd(),
            gross_error_usd: calibration.gross_error.usd(),
        };
        (check.requests > 0).then_some(check)
    }

    /// Says how well the bill is predicted.
    fn summary_sentence(&self) -> String {
        let of_all = |n: usize| percent(n as f64 / self.requests.max(1) as f64);
        let [exact, close] = [self.exact, self.close].map(of_all);
        let input = prediction_error_text(self.predicted_usd, self.billed_usd);
        format!("Cache reads: {exact} of the requests match the bill to the token, {close} closely; {input}.")
    }
}

sums!(BillCheck: requests, exact, close, token_error, read_tokens, predicted_usd, billed_usd, gross_error_usd);

impl Report {
    /// Says that records of logs cannot be read: where they were requests, all totals lack them.
    pub fn note_on_unread_records(&self) -> Option<String> {
        let n = self.losses.by_kind().iter().filter(|it| may_be_billed(it.0)).map(|it| it.1.records).sum();
        let logs = if self.sessions.len() == 1 { "this log" } else { "these logs" };
        let (is, were) = if n == 1 { ("is", "it was a request") } else { ("are", "they were requests") };
        let records = counted(n, "record");
        (n > 0).then(|| {
            format!(
                "{records} of {logs} cannot be read and {is} left out: if {were}, all totals lack what was billed. `ctxsim import` shows \
                 which."
            )
        })
    }

    /// Says which logs are of versions of their harness that are not described yet, harness by harness.
    pub fn notes_on_newer_versions(&self) -> Vec<String> {
        let newer = self.sessions.iter().filter_map(|it| it.newer.as_ref());
        let note = |(harness, newer): (&str, Vec<&NewerVersion>)| {
            let mut versions: Vec<&str> = newer.iter().map(|it| it.version.as_str()).listed();
            versions.order_by_key(|it| it.split('.').map(|part| part.parse().unwrap_or(0)).listed());
            versions.dedup();
            let which_versions = match versions.as_slice() {
                [first, .., last] => format!("{first} to {last}"),
                _ => versions.concat(),
            };
            let which = match (newer.len(), self.sessions.len()) {
                (1, 1) => "This log is".to_owned(),
                (n, all) if n == all => "These logs are".to_owned(),
                (n, all) => format!("{} of {} logs are", thousands(n as u64), thousands(all as u64)),
            };
            let described = newer.first().map_or("", |it| it.described_to.as_str());
            format!(
                "{which} of {harness} {which_versions}, newer than {described}, the newest version that is described here: \
                 when it compacts, and what it does to the cache, may have changed."
            )
        };
        grouped(newer.map(|it| (it.harness.as_str(), it))).into_iter().map(note).listed()
    }

    /// Returns whether it contains several sessions that each run under their own model's profile, so that
    /// they form one comparison.
    pub fn has_sessions_under_own_models(&self) -> bool {
        self.sessions.len() > 1 && self.sessions.iter().all(|it| it.is_under_own_model)
    }

    /// Returns how well the bills of all sessions are reproduced; `None` if none is compared.
    pub fn bill_check(&self) -> Option<BillCheck> {
        sum_if_any(self.sessions.iter().filter_map(|it| it.bill))
    }

    /// Returns what is known of the first requests of all sessions that are played among others.
    pub fn first_request_totals(&self) -> Option<FirstRequests> {
        sum_if_any(self.sessions.iter().filter_map(|it| it.first_request))
    }

    /// Says which command goes on from here; of all there is to say, first what is known without simulating more.
    pub fn next_command_lines(&self, is_detailed: bool) -> Vec<String> {
        let Some(next) = &self.next else { return Vec::new() };
        let lane = |is_of_agent: bool, name: &str| {
            let own = self.sessions.iter().filter(|it| it.parent.is_some() == is_of_agent && is_detailed);
            sum_if_any(own.filter_map(|it| it.pauses)).map(|it| it.words(name))
        };
        let lines = lane(false, "main").into_iter().chain(lane(true, "sub-agents"));
        let command = next.advise_command();
        let is_short = is_detailed || command.chars().count() <= COMMAND;
        let command = if is_short { command } else { "ctxsim advise SESSIONS".to_owned() };
        let more = match self.settings.is_empty() {
            false => "says which settings to change together, and what to paste",
            true => "advises on settings of your agent, none of which is in this table",
        };
        lines.chain([format!("{command} {more}")]).listed()
    }

    /// Says how many sessions found their tools and system prompt in the cache, left by others, and what that was worth.
    fn warm_start_line(&self) -> Option<String> {
        let first = self.first_request_totals()?;
        let FirstRequests { known, known_worth_usd, known_reads, unknown_reads, .. } = first;
        let FirstRequests { expected_reads, expected_reads_low, expected_reads_high, .. } = first;
        let none = "No session begins with tools and system prompt that another one had left in the cache.";
        let mut line = none.to_owned();
        if known > 0 {
            let (sessions, begin) = (counted(known, "session"), if known == 1 { "begins" } else { "begin" });
            line = format!(
                "{sessions} {begin} with tools and system prompt that another session had left in the cache (worth {known_worth_usd:.2} USD; \
                 by the bills {known_reads} of them read something)."
            );
        }
        let n_unknown = first.requests - known;
        if n_unknown > 0 && expected_reads > 0.0 {
            let sessions = counted(n_unknown, "session");
            line += &format!(
                " Of {sessions} without a known neighbour, we expect about {expected_reads:.0} ({expected_reads_low:.0} to {expected_reads_high:.0}) to begin with a warm \
                 cache that sessions outside this folder left; the bills show {unknown_reads}."
            );
        }
        Some(line)
    }

    /// Says in two sentences or three what was read, what it was billed, and how well that is predicted.
    pub fn sessions_summary(&self) -> Vec<String> {
        let mut lines = self.failure_lines();
        let requests: u64 = self.sessions.iter().map(|it| it.requests).sum();
        let n = counted(self.sessions.len(), "session");
        let skipped = or_nothing(SkippedFile::count_with_reasons(&self.skipped), |it| format!(" {it}."));
        let profiles = self.profile_counts_text();
        lines.push(format!("{n} read ({} requests), under {profiles}.{skipped}", thousands(requests)));
        let checked = self.bill_check().map(|it| it.summary_sentence());
        let billed = self.describe_bill_briefly().into_iter().chain(checked);
        lines.extend(billed.reduce(|billed, checked| format!("{billed} {checked}")));
        let estimated: u64 = self.sessions.iter().map(|it| it.requests_estimated).sum();
        let is_told = estimated as f64 > ESTIMATED_MIN * requests as f64;
        lines.extend(self.estimated_requests_line().filter(|_| is_told));
        lines
    }

    /// Describes the sessions and their profiles, and how well the recorded bill is reproduced; empty if
    /// nothing is recorded.
    pub fn sessions_description(&self) -> Vec<String> {
        let skipped = or_nothing(SkippedFile::count_with_reasons(&self.skipped), |it| format!("; {it}"));
        let agents = match self.sessions.iter().filter(|it| it.parent.is_some()).count() {
            0 => String::new(),
            1 => "; 1 is a sub-agent's".to_owned(),
            n => format!("; {} are sub-agents'", thousands(n as u64)),
        };
        let mut lines = [self.failure_lines(), self.logged_bill_lines()].concat();
        if !self.sessions.is_empty() {
            let requests: u64 = self.sessions.iter().map(|it| it.requests).sum();
            let (sessions, requests) = (counted(self.sessions.len(), "session"), thousands(requests));
            let profiles = self.profile_counts_text();
            lines.push(format!("{sessions} read ({requests} requests){agents}{skipped}. Under {profiles}."));
            lines.extend(self.estimated_requests_line());
            let others: u64 = self.sessions.iter().map(|it| it.requests_of_others).sum();
            if others > 0 {
                lines.push(format!(
                    "{} requests used a different model from the rest of their session: each has its own \
                        model's prices, cache entries and cache rules.",
                    thousands(others)
                ));
            }
        } else if !skipped.is_empty() {
            lines.push(format!("No session read{skipped}."));
        }
        lines.extend(self.warm_start_line());
        lines.extend(self.bill_check().map(|bill| {
            let gross = percent(bill.gross_error_usd / bill.billed_usd.max(f64::MIN_POSITIVE));
            let off = percent(bill.token_error as f64 / bill.read_tokens.max(1) as f64);
            let apart = format!("cache-read tokens are off by {off} and input cost by {gross}");
            format!("{} Request by request, {apart}.", bill.summary_sentence())
        }));
        lines
    }

    /// Returns the sessions' profiles with the number of sessions, most frequent first.
    fn profile_counts_text(&self) -> String {
        let sessions: IndexSet<&str> = self.sessions.iter().map(|it| it.name.as_str()).collect();
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        let mut last = None;
        for run in self.run_briefs() {
            // Runs of one session under one profile follow each other.
            let cell = Some((run.scenario, run.profile));
            if cell != last && sessions.contains(run.scenario) {
                *counts.entry(run.profile).or_default() += 1;
            }
            last = cell;
        }
        counts.sort_by(|_, one, _, other| other.cmp(one));
        let names = counts.iter().map(|(name, n)| {
            if counts.len() == 1 { (*name).to_owned() } else { format!("{name} ({})", thousands(*n as u64)) }
        });
        first_few(names, PROFILES_SHOWN)
    }
}

/// The most profiles that are named.
const PROFILES_SHOWN: usize = 4;

/// A smaller share of requests without a bill is told with details alone.
const ESTIMATED_MIN: f64 = 0.01;
/// A longer command names its sessions by one word.
pub(super) const COMMAND: usize = 90;

/// Says on which side of the bill a predicted input cost is.
pub(super) fn prediction_error_text(predicted: f64, billed: f64) -> String {
    let change = numbers::change(predicted, billed).unwrap_or_else(|| "0.0%".to_owned());
    match (change.strip_prefix('−'), change.strip_prefix('+')) {
        (Some(size), _) => format!("the predicted input cost is {size} below the bill"),
        (_, Some(size)) => format!("the predicted input cost is {size} above the bill"),
        _ => "the predicted input cost equals the bill".to_owned(),
    }
}
