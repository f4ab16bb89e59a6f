//! What a recording loses on its way to a timeline, counted by reason, and for what it is refused.

use ctxsim_base::foreign::Foreign;

use crate::import::prelude::*;

/// A reason for omitted records.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LossReason {
    /// The first affected line, from 1.
    pub line: usize,
    /// How often it occurred.
    pub count: usize,
    /// The affected lines, in order.
    #[serde(skip)]
    pub lines: Vec<usize>,
    /// What was left out, and why.
    pub what: String,
}

/// What a record is called that cannot be read: if it was a request, its bill is missing.
pub(super) const NOT_JSON: &str = "text that is not JSON";
pub(super) const CUT_OFF: &str = "records that are cut off";
pub(super) const NOT_RECORDS: &str = "objects that are not records";
pub(super) const REST_NOT_JSON: &str = "the rest of a document that is not JSON";

/// What ends the words for records that add nothing to a prompt.
const NEVER: &str = "which is never part of a prompt";

/// Returns whether what is left out stands in no prompt anyway.
pub fn is_never_sent(what: &str) -> bool {
    what.ends_with(NEVER)
}

/// Returns whether no bill lacks what is left out.
pub fn changes_no_bill(what: &str) -> bool {
    ["attachments", "repeated", "reply lines", "user "].iter().any(|it| what.starts_with(it))
}

/// What times are called that cannot be read.
pub(super) const NOT_TIMES: &str = "times that cannot be read; these records count as having none";

/// Returns whether what is left out may have been a billed request.
pub fn may_be_billed(what: &str) -> bool {
    [NOT_JSON, CUT_OFF, NOT_RECORDS, REST_NOT_JSON].iter().any(|it| what.starts_with(it))
}

impl LossReason {
    /// Says what is left out of a recording, in a sentence.
    pub fn sentence(&self, file: &str) -> String {
        format!("Left out of {file}: {self}.")
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

/// Watches whether records stand in the order of their times or places, where nothing else says what follows what.
#[derive(Debug, Default)]
pub(super) struct OrderWatch {
    last: Option<i64>,
}

impl OrderWatch {
    /// Takes the next record's time or place.
    pub(super) fn next(&mut self, line: usize, at: Option<i64>, losses: &mut Losses) {
        if at.is_some() && at < self.last {
            losses.add(line, "records after a later one, which are read as they stand");
        }
        self.last = at.or(self.last);
    }
}

/// Puts what came with a request into the order of their times, where all have one; says which came late.
pub(super) fn order_by_time<T>(
    all: &mut [T],
    place: impl Fn(&T) -> (usize, Option<i64>),
    late: &str,
    losses: &mut Losses,
) {
    let times: Option<Vec<i64>> = all.iter().map(|it| place(it).1).collect();
    if times.is_none_or(|it| it.is_sorted()) {
        return;
    }
    for pair in all.windows(2).filter(|it| place(&it[1]).1 < place(&it[0]).1) {
        losses.add(place(&pair[1]).0, late);
    }
    all.order_by_key(|it| place(it).1);
}

/// What requests are called that stand after a later one.
pub(super) const LATE: &str = "requests after a later one; they are ordered by their times";

/// Collects losses, one entry per reason.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// The format that is read.
    pub(super) format: &'static str,
    by_reason: IndexMap<String, Vec<usize>>,
    /// Fields that are refused, and why: where each stands first (in column 0 until it is located), and on how many lines.
    refused: IndexMap<(String, &'static str), (usize, usize, usize)>,
}

impl Losses {
    /// Counts a loss on a line. What is said of it may hold words of the log, and is one line.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>) {
        let what = Foreign(&what.into()).to_string();
        self.by_reason.entry(what).or_default().push(line);
    }

    /// Counts a loss that a line may have several times, once.
    pub(super) fn add_once(&mut self, line: usize, what: String) {
        if self.by_reason.get(&what).and_then(|it| it.last()) != Some(&line) {
            self.add(line, what);
        }
    }

    /// Counts records of a type that adds nothing to prompts.
    pub(super) fn never(&mut self, line: usize, kind: &str) {
        self.add(line, format!("records of type `{kind}`, {NEVER}"));
    }

    /// Refuses the recording for a field of a line.
    pub(super) fn refuse(&mut self, line: usize, field: String, why: &'static str) {
        self.refused.entry((field, why)).or_insert((line, 0, 0)).2 += 1;
    }

    /// Finds in a line the columns of the fields that are refused there first.
    pub(super) fn locate(&mut self, line: usize, text: &str) {
        self.locate_by(line, |field| (line, column_of(text, member(text, field))));
    }

    /// Says where the fields stand that were refused last, on a line, from what they are called.
    pub(super) fn locate_by<'f>(&'f mut self, line: usize, mut place: impl FnMut(&'f str) -> (usize, usize)) {
        for ((field, _), (first, column, _)) in &mut self.refused {
            if *first == line && *column == 0 {
                (*first, *column) = place(field);
            }
        }
    }

    /// Returns why the recording is refused; empty if it is not.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let problems = self.refused.iter().map(|((field, why), (line, column, n_lines))| {
            let more = match n_lines {
                1 => String::new(),
                n => format!(", on {n} lines"),
            };
            let problem = Diagnostic::at(Code("recording-usage"), field.as_str(), format!("{why}{more}"));
            let mut problem = problem.help(
                "a count is a whole number from 0 to 100,000,000; correct the number, or leave the recording out",
            );
            problem.place.line_column = Some((*line, (*column).max(1)));
            problem
        });
        problems.collect()
    }

    /// Returns the losses by their first lines.
    pub(super) fn in_order(self) -> Vec<LossReason> {
        let losses = self.by_reason.into_iter().map(|(what, mut lines)| {
            lines.sort_unstable();
            LossReason { line: lines.first().copied().unwrap_or(0), count: lines.len(), lines, what }
        });
        let mut losses: Vec<LossReason> = losses.collect();
        losses.order_by_key(|it| it.line);
        losses
    }
}

/// Returns the rest of a JSON text from the key of a member on, given by the keys that lead there.
pub(super) fn member<'t>(text: &'t str, field: &str) -> &'t str {
    field.split('.').filter(|it| !it.is_empty()).fold(text, |text, key| {
        text.find(&format!("\"{key}\"")).and_then(|it| text.get(it..)).unwrap_or(text)
    })
}

/// Returns the column, in characters from 1, at which a part of a line begins.
pub(super) fn column_of(line: &str, part: &str) -> usize {
    let before = (part.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    line.get(..before).map_or(0, |it| it.chars().count()) + 1
}
