//! The rules of a written stream: names that exist, facts that are said before they are asked for, answers that hold.

use crate::prelude::*;

use crate::scenario::{StreamFact, StreamFile, StreamQuestion, StreamSession};

/// The most sessions: each may be asked about every one before it.
pub(super) const SESSIONS_MAX: u64 = 2_000;
/// The most topics.
const TOPICS_MAX: u64 = 1_000;
/// The most tokens of a session.
const TOKENS_MAX: u64 = 1_000_000;
/// The most tasks of a session.
const TASKS_MAX: u64 = 1_000;
/// The largest number of a fact or total, so that sums fit.
const NUMBER_MAX: u64 = 1_000_000_000_000;

/// A fact by its name, as far as the stream has come.
struct NamedFact {
    /// The session that says it.
    session: usize,
    value: Option<i64>,
    /// What replaced it, and when.
    replaced: Option<(String, usize)>,
    /// The session that retracted it.
    retracted: Option<usize>,
}

/// What a stream has said up to a place.
struct StreamNames<'f> {
    file: &'f StreamFile,
    /// The session that says each fact, of the whole stream.
    all: IndexMap<&'f str, usize>,
    /// What has been said so far.
    said: IndexMap<&'f str, NamedFact>,
    /// By total and session: how it changes.
    changes: IndexMap<&'f str, Vec<(usize, i64)>>,
    /// Whether every name so far was found where it belongs. If not, wrong answers may only follow from that.
    is_sound: bool,
    /// Whether somebody wrote it by hand, so that a question about what is not true any more is a slip. Generators make such questions, and
    /// nobody asks them.
    is_by_hand: bool,
}

/// Checks a stream that a scenario contains, or that a file has.
pub(in crate::scenario) fn check(file: &StreamFile, is_by_hand: bool, problems: &mut Problems) {
    let n = file.sessions.len() as u64;
    problems.check_range(Code("aging-range"), "sessions", n, [2, SESSIONS_MAX]);
    problems.check_range(Code("aging-range"), "topics", file.topics.len() as u64, [0, TOPICS_MAX]);
    check_totals(file, problems);
    let facts = file.sessions.iter().enumerate().flat_map(|(nth, it)| facts(it).map(move |fact| (nth, fact)));
    let named = facts.filter_map(|(nth, fact)| Some((fact.name.as_deref()?, nth)));
    let mut all = IndexMap::new();
    named.for_each(|(name, nth)| {
        all.entry(name).or_insert(nth);
    });
    let (said, changes) = (IndexMap::new(), IndexMap::new());
    let mut names = StreamNames { file, all, said, changes, is_sound: true, is_by_hand };
    let mut has_profile_ended = false;
    for (nth, session) in file.sessions.iter().enumerate() {
        problems.within(format_args!("sessions.{nth}"), |problems| {
            problems.check_range(Code("aging-range"), "tasks", session.tasks, [0, TASKS_MAX]);
            problems.check_range(Code("aging-range"), "tokens", session.tokens, [1, TOKENS_MAX]);
            problems.within_each("says", &session.says, |record, problems| {
                check_topic(file, record.topic.as_deref(), problems);
                if record.profile && has_profile_ended {
                    let message = "the profile comes before everything else that is said";
                    let help = "move this record to the front of the first session, or remove `profile`";
                    problems.push_at(Code("fact-order"), "profile", message, help);
                }
                has_profile_ended |= !record.profile;
                if record.facts.is_empty() {
                    let help = "add a fact, such as `{ name = \"rent\", value = 900 }`, or remove the record";
                    problems.push_at(Code("fact-not-one"), "facts", "a record without facts", help);
                }
                problems.within_each("facts", &record.facts, |fact, to| names.say(fact, nth, to));
            });
            problems.within_each("retracts", &session.retracts, |name, to| names.retract(name, nth, to));
            problems.within_each("asks", &session.asks, |question, to| names.ask(question, nth, to));
        });
    }
    let after = file.sessions.len();
    problems.within_each("asks_after", &file.asks_after, |question, to| names.ask(question, after, to));
    for (at, pair) in file.confusable.iter().enumerate() {
        problems.within_each(&format!("confusable.{at}"), pair, |name, to| names.known(name, to));
        if pair[0] == pair[1] {
            let help = "name two facts";
            problems.push_at(Code("name-duplicate"), format_args!("confusable.{at}"), "one fact twice", help);
        }
    }
}

/// Returns the facts of a session, in order.
fn facts(session: &StreamSession) -> impl Iterator<Item = &StreamFact> {
    session.says.iter().flat_map(|it| &it.facts)
}

fn check_totals(file: &StreamFile, problems: &mut Problems) {
    for (at, total) in file.totals.iter().enumerate() {
        problems.within(format_args!("totals.{at}"), |problems| {
            check_topic(file, total.topic.as_deref(), problems);
            check_number("initial", Some(total.initial), problems);
            if file.totals[..at].iter().any(|it| it.name == total.name) {
                let message = format!("there is already a total `{}`", total.name);
                problems.push_at(Code("name-duplicate"), "name", message, "give it another name");
            }
        });
    }
}

fn check_topic(file: &StreamFile, topic: Option<&str>, problems: &mut Problems) {
    let Some(topic) = topic.filter(|it| !file.topics.iter().any(|known| known == it)) else { return };
    let known = file.topics.iter().map(String::as_str);
    let help = near_or(topic, known, || format!("add `{topic:?}` to the stream's `topics`"));
    problems.push_at(Code("domain-unknown"), "topic", format!("unknown topic `{topic}`"), help);
}

fn check_number(field: &str, number: Option<i64>, problems: &mut Problems) {
    if number.is_some_and(|it| it.unsigned_abs() > NUMBER_MAX) {
        let help = "write a number of at most 1,000,000,000,000";
        problems.push_at(Code("aging-range"), field, "the number is too large", help);
    }
}

impl<'f> StreamNames<'f> {
    /// Says a fact.
    fn say(&mut self, fact: &'f StreamFact, session: usize, problems: &mut Problems) {
        self.is_sound &= self.is_one_kind(fact, problems);
        check_number("value", fact.value, problems);
        check_number("adds", fact.adds, problems);
        if let Some(old) = &fact.replaces {
            self.is_sound &= problems.within("replaces", |to| self.replace(old, fact, session, to));
        }
        if let (Some(adds), Some(to)) = (fact.adds, &fact.to) {
            self.changes.entry(to).or_default().push((session, adds));
        }
        let Some(name) = &fact.name else { return };
        if self.said.contains_key(name.as_str()) {
            let message = format!("there is already a fact `{name}`");
            let help = format!(
                "give it another name, such as `{name}_2`, and `replaces = \"{name}\"` if it is its new version"
            );
            problems.push_at(Code("name-duplicate"), "name", message, help);
            self.is_sound = false;
            return;
        }
        let value = fact.value.or(fact.adds);
        self.said.insert(name, NamedFact { session, value, replaced: None, retracted: None });
    }

    /// Returns whether a fact is one kind of fact, and says if it is not.
    fn is_one_kind(&self, fact: &StreamFact, problems: &mut Problems) -> bool {
        if fact.adds.is_some() != fact.to.is_some() {
            let help = "write both `adds` and `to`, as in `{ adds = -40, to = \"budget\" }`";
            let field = if fact.adds.is_some() { "adds" } else { "to" };
            problems.push_at(Code("fact-not-one"), field, "a change needs an amount and a total", help);
            return false;
        }
        let is_new = fact.value.is_some() || fact.replaces.is_some();
        if fact.adds.is_some() && (is_new || fact.subject) || fact.subject && is_new {
            let help = "keep `value` with or without `replaces`, or `subject`, or `adds` with `to`; write the rest as other facts";
            problems.push(Code("fact-not-one"), "this fact is of several kinds", help);
            return false;
        }
        fact.to.as_ref().is_none_or(|it| self.is_total(it, "to", problems))
    }

    /// Replaces a fact by its new version; returns whether it can be.
    fn replace(&mut self, old: &str, new: &StreamFact, session: usize, problems: &mut Problems) -> bool {
        if !self.is_current(old, "replace", session, problems) {
            return false;
        }
        let newer = new.name.clone().unwrap_or_default();
        self.said.get_mut(old).is_some_and(|it| it.replaced.replace((newer, session)).is_none())
    }

    /// Retracts a fact.
    fn retract(&mut self, name: &str, session: usize, problems: &mut Problems) {
        if self.is_current(name, "retract", session, problems)
            && let Some(fact) = self.said.get_mut(name)
        {
            fact.retracted = Some(session);
        }
    }

    /// Returns whether a fact is true in a session, and says if it is not, and so cannot be replaced or retracted.
    fn is_current(&self, name: &str, verb: &str, session: usize, problems: &mut Problems) -> bool {
        if !self.is_known(name, session, problems) {
            return false;
        }
        let Some(fact) = self.said.get(name) else { return false };
        if let Some((newer, _)) = &fact.replaced {
            let message = format!("`{name}` has already been replaced");
            let help = match newer.as_str() {
                "" => "give its newest version a name, and use that".to_owned(),
                newer => format!("{verb} its newest version, `{newer}`"),
            };
            problems.push(Code("fact-replaced"), message, help);
        } else if let Some(ended) = fact.retracted {
            let help = format!("remove the retraction in session {ended}, or this one; or state a new fact");
            let message = format!("`{name}` was retracted in session {ended}");
            problems.push(Code("fact-invalidated"), message, help);
        }
        fact.replaced.is_none() && fact.retracted.is_none()
    }

    /// Asks a question.
    fn ask(&self, question: &StreamQuestion, session: usize, problems: &mut Problems) {
        match question.asks().as_slice() {
            [_] => {}
            [] => {
                let help = "add what it asks for, such as `fact = \"rent\"`";
                problems.push(Code("question-not-one"), "this question asks for nothing", help);
            }
            [first, others @ ..] => {
                let message = format!("this question asks for `{first}` and for `{}`", others.join("`, `"));
                problems.push(Code("question-not-one"), message, "write a question for each");
            }
        }
        let mut is_sound = self.is_sound;
        for (field, name) in question.facts() {
            is_sound &= problems.within(field, |to| self.is_known(name, session, to));
        }
        if let Some(total) = &question.total {
            is_sound &= self.is_total(total, "total", problems);
        }
        self.check_times(question, session, problems);
        if is_sound {
            if self.is_by_hand {
                self.check_truth(question, session, problems);
            }
            self.check_lists(question, problems);
            self.check_answer(question, session, problems);
        }
    }

    /// Checks the sessions that a question names.
    fn check_times(&self, question: &StreamQuestion, session: usize, problems: &mut Problems) {
        if let Some(until) = question.until.filter(|it| *it <= session as u64) {
            let message =
                format!("it is first asked in session {session}, so it cannot end before session {until}");
            let help = format!("write {} or more, or leave `until` out", session + 1);
            problems.push_at(Code("event-session"), "until", message, help);
        }
        let n = self.file.sessions.len() as u64;
        if let Some(until) = question.until.filter(|it| *it > n && session as u64 <= *it) {
            let (message, help) = match session as u64 == n {
                true => ("it is asked once, after all sessions".to_owned(), "remove `until`".to_owned()),
                false => {
                    let message = format!("there is no session {until}: the stream has {n}, counted from 0");
                    (message, format!("write `until = {n}` to ask it up to the last session"))
                }
            };
            problems.push_at(Code("event-session"), "until", message, help);
        }
        if let Some(at) = question.at.filter(|it| *it > session as u64 || question.total.is_none()) {
            let (message, help) = match question.total.is_some() {
                true => (format!("session {at} is not over when it is asked"), "write an earlier session"),
                false => ("only a total has a session at whose end it is meant".to_owned(), "remove `at`"),
            };
            problems.push_at(Code("event-session"), "at", message, help);
        }
    }

    /// Checks that a question asks for something that is still true: what is not is never asked.
    fn check_truth(&self, question: &StreamQuestion, session: usize, problems: &mut Problems) {
        let ended = |name: &str| self.said.get(self.newest(name))?.retracted;
        let (field, names) = match (&question.fact, &question.any) {
            (Some(fact), _) => ("fact", std::slice::from_ref(fact)),
            (None, Some(any)) => ("any", any.as_slice()),
            (None, None) => return,
        };
        let all: Option<Vec<usize>> = names.iter().map(|it| ended(it)).collect();
        if let Some(last) = all.and_then(|it| it.into_iter().max()) {
            let were = if names.len() == 1 { "was" } else { "were" };
            let names = names.join("` and `");
            let message = format!(
                "`{names}` {were} retracted in session {last}: there is no answer in session {session}"
            );
            let help = "ask in an earlier session, or remove the retraction";
            problems.push_at(Code("fact-invalidated"), field, message, help);
        }
    }

    /// Checks that lists of facts are long enough, and that what is to be told apart can be confused.
    fn check_lists(&self, question: &StreamQuestion, problems: &mut Problems) {
        let lists = [
            ("any", &question.any, 1),
            ("compare", &question.compare, 2),
            ("synthesize", &question.synthesize, 2),
        ];
        let is_short = |list: &Option<Vec<String>>, least| list.as_ref().is_some_and(|it| it.len() < least);
        for (field, _, least) in lists.into_iter().filter(|it| is_short(it.1, it.2)) {
            let help = format!("name {least} or more facts, or ask for one with `fact`");
            problems.push_at(Code("question-not-one"), field, "the question names too few facts", help);
        }
        let pairs = &self.file.confusable;
        if let Some(name) = question.apart.as_ref().filter(|it| !pairs.iter().flatten().any(|of| of == *it)) {
            let message = format!("`{name}` is in no pair of facts that can be confused");
            let help = format!(
                "add a pair such as `[\"{name}\", \"its_double\"]` to `confusable`, or ask with `fact`"
            );
            problems.push_at(Code("fact-unknown"), "apart", message, help);
        }
        if let Some([old, new]) = &question.trend
            && self.newest(old) != self.newest(new)
        {
            let message = format!("`{old}` and `{new}` are not versions of one fact");
            let help = format!("add `replaces = \"{old}\"` to the newer one, or ask with `compare`");
            problems.push_at(Code("fact-unknown"), "trend", message, help);
        }
    }

    /// Returns the newest version of a fact.
    fn newest<'n>(&'n self, name: &'n str) -> &'n str {
        let after = |it: &&'n str| Some(self.said.get(*it)?.replaced.as_ref()?.0.as_str());
        std::iter::successors(Some(name), after).take(self.said.len() + 1).last().unwrap_or(name)
    }

    /// Returns whether a fact has been said by a session, and says if it has not.
    fn is_known(&self, name: &str, session: usize, problems: &mut Problems) -> bool {
        if self.said.get(name).is_some_and(|it| it.session <= session) {
            return true;
        }
        match self.all.get(name) {
            Some(later) => {
                let message = format!("`{name}` is not said before session {later}");
                let help = match *later > session {
                    true => format!("move this to session {later} or a later one"),
                    false => "move this behind the record that says it".to_owned(),
                };
                problems.push(Code("fact-order"), message, help);
            }
            None => self.known(name, problems),
        }
        false
    }

    /// Reports a name of no fact.
    fn known(&self, name: &str, problems: &mut Problems) {
        if !self.all.contains_key(name) {
            let help = near_or(name, self.all.keys().copied(), || {
                format!("name a fact that a session says, as in `{{ name = \"{name}\", value = 1 }}`")
            });
            problems.push(Code("fact-unknown"), format!("unknown fact `{name}`"), help);
        }
    }

    /// Returns whether there is a total, and says if there is not.
    fn is_total(&self, total: &str, field: &str, problems: &mut Problems) -> bool {
        let known = self.file.totals.iter().map(|it| it.name.as_str());
        if known.clone().any(|it| it == total) {
            return true;
        }
        let help =
            near_or(total, known, || format!("add it to `totals`: `{{ name = \"{total}\", initial = 0 }}`"));
        problems.push_at(Code("name-unknown"), field, format!("unknown total `{total}`"), help);
        false
    }

    /// Checks that a question's answer is what the facts say when it is asked.
    fn check_answer(&self, question: &StreamQuestion, session: usize, problems: &mut Problems) {
        let Some(answer) = question.answer else { return };
        let right: Vec<i64> = match (&question.total, &question.fact, &question.apart, &question.any) {
            (Some(total), ..) => self.total(total, question.at_or_before(session)).into_iter().collect(),
            (_, Some(fact), ..) | (_, _, Some(fact), _) => self.value(fact).into_iter().collect(),
            (.., Some(any)) => any.iter().filter_map(|it| self.value(it)).collect(),
            _ => Vec::new(),
        };
        if right.contains(&answer) {
            return;
        }
        let said: Vec<String> = right.iter().map(ToString::to_string).collect();
        let (message, help) = match said.as_slice() {
            [] => ("the facts give no number to check it against".to_owned(), "remove `answer`".to_owned()),
            said => {
                let said = said.join(" or ");
                let help = format!("write `answer = {said}`, or correct the facts");
                (format!("the facts say {said} in session {session}"), help)
            }
        };
        problems.push_at(Code("answer-wrong"), "answer", message, help);
    }

    /// Returns the value of a fact's newest version so far.
    fn value(&self, name: &str) -> Option<i64> {
        self.said.get(self.newest(name))?.value
    }

    /// Returns a total at the end of a session.
    fn total(&self, name: &str, at: u64) -> Option<i64> {
        let total = self.file.totals.iter().find(|it| it.name == name)?;
        let changes = self.changes.get(name).into_iter().flatten();
        Some(total.initial + changes.filter(|it| it.0 as u64 <= at).map(|it| it.1).sum::<i64>())
    }
}
