//! The fixed part of prompts by who sends it: what stands before the first message, and what writing and reading it was billed.

use std::cmp::Reverse;

use crate::as_logged::{BillAsLogged, MadeFor, ProfileOf, for_each_logged_request};
use crate::bill_by::{NOT_TOLD, SessionBill};
use crate::prelude::*;
use ctxsim_base::quantity::sums;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::fixed::{FixedPiece, each_fixed};
use ctxsim_engine::measure::month::Calendar;
use ctxsim_timeline::FixedPart;

/// The most rows that are shown by project; the others are one more.
const GROUPS_SHOWN: usize = 8;

/// What a part of prompts was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartBill {
    /// Its tokens in all prompts, by how they were billed.
    pub tokens: TokenUse,
    /// What they cost.
    pub bill: Bill,
}

impl PartBill {
    /// Returns what they cost together.
    pub fn total(&self) -> Cost {
        self.bill.read + self.bill.write + self.bill.uncached + self.bill.output
    }
}

sums!(PartBill: tokens, bill);

/// What the prompts of a session were billed, part by part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPartBills {
    /// When it began and ended, in milliseconds since 1970, if its log says so.
    pub span_ms: Option<[i64; 2]>,
    /// The tokens of its first billed prompt.
    pub first_prompt: Tokens,
    /// Of these, what is fixed, by part.
    pub first: BTreeMap<FixedPart, Tokens>,
    /// The bill of each part over all requests that have a price.
    pub parts: BTreeMap<FixedPart, PartBill>,
    /// The same of all that is not fixed.
    pub messages: PartBill,
    /// What the answers of these requests were billed.
    pub output: Cost,
}

impl SessionPartBills {
    /// Follows the fixed part of a session through its billed prompts; `None` if its requests have no bills of their own.
    pub fn from_timeline(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Option<Self> {
        timeline.recorded.as_ref().filter(|it| !it.is_spread && it.usage.iter().any(Option::is_some))?;
        let span_ms = timeline.began_ms.zip(timeline.last_ms()).map(|it| [it.0, it.1]);
        let mut session = Self { span_ms, ..Self::default() };
        let mut by_step: BTreeMap<usize, Vec<FixedPiece>> = BTreeMap::new();
        each_fixed(timeline, |step, usage, pieces| {
            if by_step.is_empty() {
                session.first_prompt = usage.prompt;
                for (part, [from, to]) in pieces {
                    *session.first.entry(*part).or_default() += to - from;
                }
            }
            by_step.insert(step as usize, pieces.to_vec());
        });
        for_each_logged_request(timeline, profile_of, |request| {
            let MadeFor::Step(step) = request.made_for else { return };
            let (tokens, Some(list)) = (request.token_use(), request.price_list()) else { return };
            let whole = Bill::of_request(list, &tokens);
            if whole.is_incomplete {
                return;
            }
            let bill_of = |place| {
                let (tokens, bill) = Bill::of_part(list, &tokens, place);
                PartBill { tokens, bill }
            };
            let mut end = 0;
            for (part, [from, to]) in by_step.get(&step).into_iter().flatten() {
                session.messages += bill_of([end, *from]);
                *session.parts.entry(*part).or_default() += bill_of([*from, *to]);
                end = *to;
            }
            session.messages += bill_of([end, tokens.prompt()]);
            session.output += whole.output;
        });
        Some(session)
    }

    /// Returns the fixed tokens of its first prompt.
    pub fn first_prompt_fixed_tokens(&self) -> Tokens {
        self.first.values().sum()
    }

    /// Returns what the fixed part was billed.
    pub fn total_fixed_bill(&self) -> PartBill {
        sum_if_any(self.parts.values().copied()).unwrap_or_default()
    }
}

/// A session, for adding up what is fixed of its prompts.
#[derive(Clone, Copy, Debug)]
pub struct SenderSession<'f> {
    /// Whose it is.
    pub by: &'f SessionBill,
    pub fixed: Option<&'f SessionPartBills>,
    pub as_logged: Option<&'f BillAsLogged>,
}

/// Who sends a fixed part: the user, the project, and whether it is a sub-agent.
type Sender<'f> = (&'f str, &'f str, bool);

/// A part of some sessions' prompts, or all of their fixed part.
#[derive(Clone, Debug, Default)]
struct PartSum {
    /// Its size in each session's first billed prompt.
    first: Vec<Tokens>,
    bill: PartBill,
    month_usd: f64,
}

impl PartSum {
    fn add_session(&mut self, first_tokens: Tokens, bill: PartBill, weight: f64) {
        self.first.push(first_tokens);
        self.bill += bill;
        self.month_usd += bill.total().usd() * weight;
    }

    /// Returns the smallest, the median and the largest size.
    fn min_median_max_tokens(&self) -> [Tokens; 3] {
        let mut all = self.first.clone();
        all.sort_unstable();
        let at = |nth: usize| all.get(nth).copied().unwrap_or_default();
        let last = all.len().saturating_sub(1);
        [at(0), Tokens::midpoint(at(last / 2), at(all.len() / 2)), at(last)]
    }
}

/// The fixed part of recorded sessions, by who sends it.
#[derive(Debug, Default)]
pub struct FixedPartBySender<'f> {
    by_sender: BTreeMap<(Sender<'f>, FixedPart), PartSum>,
    senders: BTreeMap<Sender<'f>, PartSum>,
    parts: BTreeMap<FixedPart, PartSum>,
    total: PartSum,
    messages: PartBill,
    output: Cost,
    /// The whole bill as logged, of these and all other requests.
    logged: BillAsLogged,
    n_without: usize,
    n_agents: usize,
    calendar: Calendar,
}

fn name_or_not_told(name: &str) -> &str {
    if name.is_empty() { NOT_TOLD } else { name }
}

fn lane_name(is_of_agent: bool) -> &'static str {
    if is_of_agent { "sub-agents" } else { "main" }
}

impl<'f> FixedPartBySender<'f> {
    /// Adds up sessions.
    pub fn new(sessions_sent: impl Iterator<Item = SenderSession<'f>>) -> Self {
        let (mut sessions, mut n_without, mut logged) = (Vec::new(), 0, BillAsLogged::default());
        for SenderSession { by, fixed, as_logged } in sessions_sent {
            as_logged.iter().for_each(|it| logged += it);
            match fixed {
                Some(fixed) => sessions.push((by, fixed, as_logged.map(|it| &it.by_day))),
                None => n_without += 1,
            }
        }
        let calendar = Calendar::new(sessions.iter().map(|it| it.1.span_ms));
        let mut all = Self { logged, n_without, calendar, ..Self::default() };
        for (by, session, by_day) in sessions {
            let weight = all.calendar.weight(session.span_ms, by_day);
            let sender: Sender<'f> = (&by.user, &by.project, by.is_of_agent);
            for (part, first) in &session.first {
                let bill = session.parts.get(part).copied().unwrap_or_default();
                all.by_sender.entry((sender, *part)).or_default().add_session(*first, bill, weight);
                all.parts.entry(*part).or_default().add_session(*first, bill, weight);
            }
            let (first, bill) = (session.first_prompt_fixed_tokens(), session.total_fixed_bill());
            all.senders.entry(sender).or_default().add_session(first, bill, weight);
            all.total.add_session(first, bill, weight);
            all.messages += session.messages;
            all.output += session.output;
            all.n_agents += usize::from(by.is_of_agent);
        }
        all
    }

    /// Returns the parts of each sender as rows: dollars are the nearest floats of exact amounts.
    fn row_values(&self) -> Vec<Value> {
        let row = |(((user, project, is_of_agent), part), sum): (&(Sender<'_>, FixedPart), &PartSum)| {
            let [min, median, max] = sum.min_median_max_tokens();
            let PartBill { tokens: TokenUse { read, write: [short, long], uncached, .. }, bill } = sum.bill;
            group! {
                "user": name_or_not_told(user).to_owned(),
                "project": name_or_not_told(project).to_owned(),
                "lane": lane_name(*is_of_agent),
                "part": part.name(),
                "sessions": sum.first.len(),
                "first_prompt_tokens_min": min,
                "first_prompt_tokens_median": median,
                "first_prompt_tokens_max": max,
                "cache_read_tokens": read,
                "cache_write_short_tokens": short,
                "cache_write_long_tokens": long,
                "uncached_tokens": uncached,
                "cache_read_usd": bill.read.usd(),
                "cache_write_usd": bill.write.usd(),
                "uncached_usd": bill.uncached.usd(),
                "total_usd": sum.bill.total().usd(),
                // Unknown where the logs tell no times, or too few days.
                "usd_a_month": self.calendar.is_month().then_some(sum.month_usd),
            }
        };
        self.by_sender.iter().map(row).listed()
    }

    /// Returns the parts of each sender as rows.
    pub fn to_rows(&self) -> Rows {
        Rows::serialised(&self.row_values())
    }

    /// Returns the parts of each sender, and what they add up to, as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json_text(&group! {
            "schema": "ctxsim.fixed/1",
            "month": Value::serialised(&self.calendar.basis),
            "rows": self.row_values(),
            "fixed_usd": self.total.bill.total().usd(),
            "fixed_usd_a_month": Value::serialised(&self.calendar.is_month().then_some(self.total.month_usd)),
            "messages_usd": self.messages.total().usd(),
            "output_usd": self.output.usd(),
            "sessions_without_bills": self.n_without,
            "as_logged": Value::serialised(&self.logged),
        })
    }

    /// Says what it costs, and how the bill as logged is made up of it and the rest.
    fn describe(&self) -> String {
        let usd = |it: f64| format!("${it:.2}");
        let Bill { read, write, uncached, .. } = self.total.bill.bill;
        let fixed = self.total.bill.total();
        let month = text_if(self.calendar.is_month(), || {
            format!(" That is {} a month ({}).", usd(self.total.month_usd), self.calendar.words())
        });
        let (messages, output) = (self.messages.total(), self.output);
        // In cents that add up: the last part takes what rounding leaves.
        let cents = |it: Cost| (it.usd() * 100.0).round();
        let rest = cents(self.logged.total()) - cents(fixed) - cents(messages) - cents(output);
        let rest = text_if_any(rest, |cents| {
            let usd = usd(cents / 100.0);
            format!(" + {usd} for summaries, left branches and requests without bills of their own")
        });
        let n = counted(self.total.first.len(), "session");
        let amounts = [write, read, uncached, self.logged.total()];
        let [write, read, uncached, all] = amounts.map(|it| usd(it.usd()));
        let [fixed, messages, output] = [fixed, messages, output].map(|it| usd(it.usd()));
        format!(
            "The fixed part of the prompts cost {fixed} in {n}: {write} to write to the cache, {read} to read from it, {uncached} uncached.{month} {all} as logged = {fixed} \
             fixed part + {messages} messages + {output} output{rest}."
        )
    }

    /// Returns it for people: in a few sentences, by user and project, and by part.
    pub fn draw_table(&self, width: usize) -> String {
        let mut text = String::new();
        if self.total.first.is_empty() {
            return "No session has requests with bills of their own, so what is fixed of their prompts is unknown.\n".to_owned();
        }
        wrap(&self.describe(), "", Some(width), &mut text);
        text.push('\n');
        let mut senders = self.senders.iter().map(|(sender, it)| (*sender, it.clone())).listed();
        senders.order_by_key(|it| Reverse(it.1.bill.total()));
        let rest = senders.split_off(senders.len().min(GROUPS_SHOWN));
        text += &format!("{}\n\n", draw_with_note(&self.by_sender_grid(&senders, &rest), Some(width)));
        let parts = self.parts.iter().map(|(part, sum)| (vec![part.name().to_owned()], sum.clone()));
        let all = parts.chain([(vec!["total".to_owned()], self.total.clone())]).listed();
        text += &format!("{}\n\n", draw_with_note(&self.part_sums_grid(&["part"], &all), Some(width)));
        let without = "Left out, because their requests have no bills of their own";
        let without = format!("{without}: {}.", counted(self.n_without, "session"));
        let without = (self.n_without > 0).then_some(without.as_str());
        let notes = [
            "The fixed part is what stands before the first message: the first billed prompt less the messages in it, whose sizes are estimated \
             from their text. Each request pays for it what its bill says of its place: a prompt is first what was read, then what was \
             written for an hour and for five minutes, then the uncached rest.",
            "Hidden: what a log does not show, such as the system prompt, tools and memory files of Claude Code. Shared: of it, what the first \
             request read, because other sessions had sent it, too: tools and system prompt. Own: what is behind that. Unsplit: where the \
             first request read nothing of it, nothing tells these apart.",
        ];
        wrap_all(notes.into_iter().chain(without), "", Some(width), &mut text);
        format!("{}\n", text.trim_end())
    }

    /// Lays sums out, each with its names before its numbers.
    fn part_sums_grid(&self, names: &[&str], rows: &[(Vec<String>, PartSum)]) -> Grid {
        let input = (self.total.bill.total() + self.messages.total()).usd();
        let usd = |cost: Cost| fixed(cost.usd(), 2);
        let row = |(names, sum): &(Vec<String>, PartSum)| {
            let [min, median, max] = sum.min_median_max_tokens().map(thousands);
            let (Bill { read, write, uncached, .. }, all) = (sum.bill.bill, sum.bill.total());
            let share = percent(all.usd() / input.max(f64::MIN_POSITIVE));
            let [write, read, uncached, all] = [write, read, uncached, all].map(usd);
            let n = thousands(sum.first.len() as u64);
            let month = self.calendar.is_month().then(|| fixed(sum.month_usd, 2));
            let numbers = [n, median, min, max, write, read, uncached, all, share];
            names.iter().cloned().chain(numbers).chain(month).listed()
        };
        let sizes = ["sessions", "median tokens", "from", "to"];
        let amounts = ["written USD", "read USD", "uncached USD", "USD", "% of input"];
        let month = self.calendar.is_month().then_some("USD a month");
        let headings = names.iter().copied().chain(sizes).chain(amounts).chain(month).listed();
        let grid = Grid::new("", names.len(), &headings, rows.iter().map(row));
        grid.leaving(&["uncached USD", "from", "to", "written USD", "read USD"])
    }

    fn by_sender_grid(&self, senders: &[(Sender<'_>, PartSum)], rest: &[(Sender<'_>, PartSum)]) -> Grid {
        let mut rows = Vec::new();
        for ((user, project, is_of_agent), sum) in senders {
            // A project stands below its user's home.
            let name = name_or_not_told(if project.starts_with(user) { project } else { user });
            rows.push(([in_one_line(name).into_owned(), lane_name(*is_of_agent).to_owned()], sum.clone()));
        }
        if !rest.is_empty() {
            let mut sum = PartSum::default();
            for (_, more) in rest {
                sum.first.extend(&more.first);
                sum.bill += more.bill;
                sum.month_usd += more.month_usd;
            }
            rows.push(([format!("{} others", rest.len()), String::new()], sum));
        }
        rows.push((["total".to_owned(), String::new()], self.total.clone()));
        let names = if self.n_agents > 0 { &["project", "lane"][..] } else { &["project"] };
        let shown = |(cells, sum): ([String; 2], PartSum)| (cells[..names.len()].to_vec(), sum);
        self.part_sums_grid(names, &rows.into_iter().map(shown).listed())
    }
}
