//! What memory runners do with their services, as rows: actions, calls, answers, and which runner answers more.

use super::assumed::is_probability;
use super::run::ChatPlayer;
use super::{
    Answered, ChatEvent, ChatLog, ChatNumbers, ChatObserved, ChatScenario, Chats, Occurrence, Question, User,
};
use crate::needles::trial::loss_name;
use crate::trial::{Ordering, certain};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::RunName;
use ctxsim_input::policy::memory::ServiceMemory;
use ctxsim_timeline::row::{Head, Rows, Value, columns, heads};

/// What a policy's runner did, if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunnerAction<'a> {
    of: Option<&'a ServiceMemory>,
    event: &'a ChatEvent,
}

/// An action that is a call.
#[derive(Debug)]
pub(super) struct Called<'a>(RunnerAction<'a>);

#[derive(Debug)]
pub(super) struct RunnerAnswer<'a> {
    of: Option<&'a ServiceMemory>,
    chats: &'a Chats,
    answered: &'a Answered,
}

/// Returns the columns of each kind of row, under what gives the rows.
pub(super) fn kinds() -> Vec<(&'static str, Vec<Head>)> {
    vec![
        ("`--rows probes` of chats: one question", heads::<RunnerAnswer<'_>>()),
        ("`--rows calls` of memory runners: one call to the service", heads::<Called<'_>>()),
        (
            "`--rows log`: one action of a memory runner; what an action does not have is left out",
            heads::<RunnerAction<'_>>(),
        ),
        ("`--rows orderings`: one changed assumption", heads::<Ordering>()),
    ]
}

fn all<'a>(of: Option<&'a ServiceMemory>, log: &'a ChatLog) -> impl Iterator<Item = RunnerAction<'a>> {
    log.events.iter().map(move |event| RunnerAction { of, event })
}

/// Returns every action of a log, starting with the agent's initialisation.
pub(super) fn actions(run: RunName<'_>, of: Option<&ServiceMemory>, log: &ChatLog) -> Rows {
    Rows::new::<RunnerAction<'_>>(run.fields(), all(of, log))
}

/// Returns the calls of a log.
pub(super) fn calls(run: RunName<'_>, of: Option<&ServiceMemory>, log: &ChatLog) -> Rows {
    Rows::new::<Called<'_>>(run.fields(), all(of, log).filter(|it| it.call().is_some()).map(Called))
}

/// Returns the answers of a log.
pub(super) fn answers(run: RunName<'_>, of: Option<&ServiceMemory>, chats: &Chats, log: &ChatLog) -> Rows {
    let answers = log.answers.iter().map(|answered| RunnerAnswer { of, chats, answered });
    Rows::new::<RunnerAnswer<'_>>(run.fields(), answers)
}

/// Returns whether a runner keeps only one document; none without a runner.
pub(super) fn is_context_only(of: Option<&ServiceMemory>) -> Option<bool> {
    of.map(|it| !it.write.entries)
}

/// Returns the service of a runner.
pub(super) fn service(of: Option<&ServiceMemory>) -> String {
    of.map(|it| it.service.clone()).unwrap_or_default()
}

impl RunnerAction<'_> {
    fn t_s(&self) -> f64 {
        self.event.at_ms as f64 / 1_000.0
    }

    /// Returns the kind of a call, and the tokens that it carries.
    fn call(&self) -> Option<(&'static str, u64)> {
        if let Occurrence::Call(call, tokens) = self.event.what { Some((call.name(), tokens)) } else { None }
    }

    fn name(&self) -> &'static str {
        match self.event.what {
            Occurrence::Initialised => "agent_initialised",
            Occurrence::Message(_) => "message",
            Occurrence::Call(..) => "call",
            Occurrence::Model { .. } => "model",
            Occurrence::ProtectedOverCap { .. } => "protected_over_cap",
        }
    }

    /// Returns what a model is asked for, and the tokens that are said, the words of the document and the tokens of the answer.
    fn model(&self) -> Option<(&'static str, [u64; 3])> {
        match self.event.what {
            Occurrence::Model { role, said, document_words, output, .. } => {
                Some((role.name(), [said, document_words, output]))
            }
            _ => None,
        }
    }

    /// Returns what is protected and its cap, in words.
    fn protected(&self) -> Option<[u64; 2]> {
        match self.event.what {
            Occurrence::ProtectedOverCap { protected_words, cap_words } => Some([protected_words, cap_words]),
            _ => None,
        }
    }
}

// In the order of their names, as these rows always were; the same holds for the others of services.
columns! { RunnerAction<'_>;
    /// Calls to the service.
    "calls": Count sparse = |it| it.call().map(|_| 1_u32),
    /// The largest document, in words.
    "cap_words": Count sparse = |it| it.protected().map(|words| words[1]),
    /// Whether the runner keeps only one document.
    "context_only": Flag = |it| is_context_only(it.of),
    /// The document in the prompt of a model, in words.
    "document_words": Count sparse = |it| it.model().map(|model| model.1[1]),
    /// What happened.
    "event": Text = |it| it.name(),
    /// The kind of a call.
    "kind": Text sparse = |it| it.call().map(|it| it.0),
    /// The place of a message in its session, from 0.
    "message": Count sparse = |it| if let Occurrence::Message(it) = it.event.what { Some(it) } else { None },
    /// How long it took.
    "ms": Ms = |it| it.event.ms,
    /// What a model writes.
    "output_tokens": Tokens sparse = |it| it.model().map(|model| model.1[2]),
    /// Whether a session is written (`ingestion`) or a question answered (`qa`).
    "phase": Text = |it| it.event.phase.name(),
    /// What is protected, in words, where it is larger than the cap.
    "protected_words": Count sparse = |it| it.protected().map(|words| words[0]),
    /// What a model is asked for.
    "role": Text sparse = |it| it.model().map(|model| model.0),
    /// The instruction and what a model is to read, without system prompt and document.
    "said_tokens": Tokens sparse = |it| it.model().map(|model| model.1[0]),
    /// The service.
    "service": Text sparse =
        |it| (it.call().is_some() || it.event.what == Occurrence::Initialised).then(|| service(it.of)),
    /// The session; of answering, how many are over.
    "session": Count = |it| it.event.session,
    /// When it began.
    "t_s": Seconds = |it| it.t_s(),
    /// What a call carries.
    "tokens": Tokens sparse = |it| it.call().map(|it| it.1),
    /// The user.
    "user": Count = |it| it.event.user,
    /// Of the time of a call, the wait for the index.
    "waited_ms": Ms sparse = |it| it.call().map(|_| it.event.waited_ms),
}

columns! { Called<'_>;
    /// Calls to the service.
    "calls": Count = |_it| 1_u32,
    /// Whether the runner keeps only one document.
    "context_only": Flag = |it| is_context_only(it.0.of),
    /// The kind of call.
    "kind": Text = |it| it.0.call().map(|it| it.0),
    /// How long it took.
    "latency_ms": Ms = |it| it.0.event.ms,
    /// Whether a session is written (`ingestion`) or a question answered (`qa`).
    "phase": Text = |it| it.0.event.phase.name(),
    /// The service.
    "service": Text = |it| service(it.0.of),
    /// The session; of answering, how many are over.
    "session": Count = |it| it.0.event.session,
    /// When it began.
    "t_s": Seconds = |it| it.0.t_s(),
    /// What it carries.
    "tokens": Tokens = |it| it.0.call().map(|it| it.1),
    /// The user.
    "user": Count = |it| it.0.event.user,
    /// Of its time, the wait for the index.
    "waited_ms": Ms = |it| it.0.event.waited_ms,
}

impl RunnerAnswer<'_> {
    fn user(&self) -> &User {
        &self.chats.users[self.answered.user as usize]
    }

    fn question(&self) -> &Question {
        &self.user().questions[self.answered.question as usize]
    }
}

columns! { RunnerAnswer<'_>;
    /// How many sessions are over when it is asked.
    "after_sessions": Count = |it| it.question().after,
    /// Whether the runner keeps only one document.
    "context_only": Flag = |it| is_context_only(it.of),
    /// The facts that an answer needs.
    "facts": List = |it| it.question().needs.clone(),
    /// Whether the answer is right.
    "is_right": Flag = |it| it.answered.is_right,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`.
    "lost_in": Text = |it| it.answered.loss.map(loss_name),
    /// How many passes searched.
    "passes": Count = |it| it.answered.passes,
    /// The question among those of the user, from 0.
    "question": Count = |it| it.answered.question,
    /// The type of the question.
    "type": Text = |it| it.answered.kind.name(),
    /// The user.
    "user": Text = |it| it.user().name.clone(),
}

columns! { Ordering;
    /// The load.
    "scenario": Text = |it| it.scenario.clone(),
    /// The number that is changed.
    "number": Text = |it| it.number.clone(),
    /// Its declared value.
    "declared": Number = |it| it.declared,
    /// The value that it has here.
    "value": Number = |it| it.value,
    /// The type of question.
    "type": Text = |it| it.compared.clone(),
    /// The policy without entries.
    "against": Text = |it| it.against.clone(),
    /// How much more accurate the one with entries is, chat by chat.
    "difference": Group(Vec::new) = |it| Value::serialised(&it.difference),
    /// Who is: `entries`, `document`, or `open` if neither for certain.
    "wins": Text = |it| Wins::new(&it.difference).name(),
}

/// The groups of numbers that are swept: what is written, found and used; sizes and times change no answer but by the cap.
const GROUPS: [&str; 5] = ["entries.", "document.", "dates.", "search.", "use."];
/// The values of a probability.
const SHARES: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0];
/// The values of a margin, in standard deviations of noise.
const MARGINS: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

/// Who is more accurate, where the interval of the difference leaves out 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wins {
    /// The runner with entries.
    Entries,
    /// Neither, for certain.
    Open,
    /// The runner with one document.
    Document,
}

impl Wins {
    /// Reads it off a difference of entries less document.
    pub fn new(difference: &Statistic) -> Self {
        match certain(difference) {
            Some(true) => Self::Entries,
            Some(false) => Self::Document,
            None => Self::Open,
        }
    }

    fn name(self) -> &'static str {
        ["entries", "open", "document"][self as usize]
    }
}

/// Returns the numbers that are swept.
pub fn swept() -> Vec<String> {
    let is_swept = |it: &String| GROUPS.iter().any(|group| it.starts_with(group)) && it != "entries.words";
    ChatNumbers::declared().names().into_iter().filter(is_swept).collect()
}

/// Plays a load with a number at its values, the declared one among them, under a runner with entries and others without.
pub fn orderings(
    load: &ChatScenario,
    number: &str,
    entries: &ServiceMemory,
    others: &[(&str, &ServiceMemory)],
) -> Vec<Ordering> {
    let Some(declared) = load.numbers.get(number) else { return Vec::new() };
    let fixed: &[f64] = if is_probability(number) { &SHARES } else { &MARGINS };
    let mut values: Vec<f64> = fixed.iter().copied().chain([declared]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    // What becomes of it with the number at one value.
    let at = |value: f64| -> Vec<Ordering> {
        let change = std::iter::once((number.to_owned(), value)).collect();
        let Ok(numbers) = load.numbers.with(&change) else { return Vec::new() };
        let mut base = ChatObserved::default();
        let mut observed = vec![ChatObserved::default(); others.len()];
        for trial in 0..load.trials {
            // What is said and asked stays as it was: no number of the workload is swept.
            let chats = load.chats(trial);
            let player = ChatPlayer { chats: &chats, numbers: &numbers };
            base.add(ChatObserved::new(&player.play(Some(entries))));
            for (own, other) in observed.iter_mut().zip(others) {
                own.add(ChatObserved::new(&player.play(Some(other.1))));
            }
        }
        let of = |(own, (name, _)): (&ChatObserved, &(&str, &ServiceMemory))| {
            let one = |(compared, difference)| Ordering {
                scenario: load.name.clone(),
                number: number.to_owned(),
                declared,
                value,
                compared,
                against: (*name).to_owned(),
                difference,
            };
            base.less(own).into_iter().map(one).collect::<Vec<_>>()
        };
        observed.iter().zip(others).flat_map(of).collect()
    };
    values.into_iter().flat_map(at).collect()
}
