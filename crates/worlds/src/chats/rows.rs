//! What memory runners do with their services, as rows: actions, calls, answers, and which runner answers more.

use crate::chats::{Answered, ChatEvent, ChatLog, ChatPhase, Chats, Occurrence, Ordering, Question, User};
use crate::needles::trial::loss_name;
use ctxsim_engine::take::RunName;
use ctxsim_timeline::row::{Head, Rows, Value, columns, heads};

/// The runner of a log: its service, and whether it keeps only one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runner<'a> {
    /// Whether only one document is kept; `None` without a runner.
    pub context_only: Option<bool>,
    pub service: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RunnerAction<'a> {
    of: Runner<'a>,
    event: &'a ChatEvent,
}

/// An action that is a call.
#[derive(Debug)]
pub(super) struct Called<'a>(RunnerAction<'a>);

#[derive(Debug)]
pub(super) struct RunnerAnswer<'a> {
    of: Runner<'a>,
    chats: &'a Chats,
    answered: &'a Answered,
}

/// Which runner answers more at a value of a number.
#[derive(Debug)]
pub(super) struct Ordered<'a> {
    scenario: &'a str,
    ordering: &'a Ordering,
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
        ("`--rows orderings`: one changed assumption", heads::<Ordered<'_>>()),
    ]
}

fn all<'a>(of: Runner<'a>, log: &'a ChatLog) -> impl Iterator<Item = RunnerAction<'a>> {
    log.events.iter().map(move |event| RunnerAction { of, event })
}

/// Returns every action of a log, starting with the agent's initialisation.
pub(super) fn actions((run, of): (RunName<'_>, Runner<'_>), log: &ChatLog) -> Rows {
    Rows::new::<RunnerAction<'_>>(run.fields(), all(of, log))
}

/// Returns the calls of a log.
pub(super) fn calls((run, of): (RunName<'_>, Runner<'_>), log: &ChatLog) -> Rows {
    Rows::new::<Called<'_>>(run.fields(), all(of, log).filter(|it| it.kind().is_some()).map(Called))
}

/// Returns the answers of a log.
pub(super) fn answers((run, of): (RunName<'_>, Runner<'_>), chats: &Chats, log: &ChatLog) -> Rows {
    let answers = log.answers.iter().map(|answered| RunnerAnswer { of, chats, answered });
    Rows::new::<RunnerAnswer<'_>>(run.fields(), answers)
}

/// Returns which runner answers more at each value of a number.
pub(super) fn orderings(scenario: &str, all: &[Ordering]) -> Rows {
    Rows::new::<Ordered<'_>>(Vec::new(), all.iter().map(|ordering| Ordered { scenario, ordering }))
}

impl RunnerAction<'_> {
    fn t_s(&self) -> f64 {
        self.event.at_ms as f64 / 1_000.0
    }

    fn phase(&self) -> &'static str {
        if self.event.what == Occurrence::Initialised { ChatPhase::Ingestion } else { self.event.phase }
            .name()
    }

    /// Returns the kind of a call.
    fn kind(&self) -> Option<&'static str> {
        if let Occurrence::Call(call, _) = self.event.what { Some(call.name()) } else { None }
    }

    fn tokens(&self) -> Option<u64> {
        if let Occurrence::Call(_, tokens) = self.event.what { Some(tokens) } else { None }
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

    fn service(&self) -> String {
        self.of.service.to_owned()
    }
}

// In the order of their names, as these rows always were; the same holds for the others of services.
columns! { RunnerAction<'_>;
    /// Calls to the service.
    "calls": Count sparse = |it| it.kind().map(|_| 1_u32),
    /// The largest document, in words.
    "cap_words": Count sparse = |it| it.protected().map(|words| words[1]),
    /// Whether the runner keeps only one document.
    "context_only": Flag = |it| it.of.context_only,
    /// The document in the prompt of a model, in words.
    "document_words": Count sparse = |it| it.model().map(|model| model.1[1]),
    /// What happened.
    "event": Text = |it| it.name(),
    /// The kind of a call.
    "kind": Text sparse = |it| it.kind(),
    /// The place of a message in its session, from 0.
    "message": Count sparse = |it| if let Occurrence::Message(it) = it.event.what { Some(it) } else { None },
    /// How long it took.
    "ms": Ms = |it| it.event.ms,
    /// What a model writes.
    "output_tokens": Tokens sparse = |it| it.model().map(|model| model.1[2]),
    /// Whether a session is written (`ingestion`) or a question answered (`qa`).
    "phase": Text = |it| it.phase(),
    /// What is protected, in words, where it is larger than the cap.
    "protected_words": Count sparse = |it| it.protected().map(|words| words[0]),
    /// What a model is asked for.
    "role": Text sparse = |it| it.model().map(|model| model.0),
    /// The instruction and what a model is to read, without system prompt and document.
    "said_tokens": Tokens sparse = |it| it.model().map(|model| model.1[0]),
    /// The service.
    "service": Text sparse =
        |it| (it.kind().is_some() || it.event.what == Occurrence::Initialised).then(|| it.service()),
    /// The session; of answering, how many are over.
    "session": Count = |it| it.event.session,
    /// When it began.
    "t_s": Seconds = |it| it.t_s(),
    /// What a call carries.
    "tokens": Tokens sparse = |it| it.tokens(),
    /// The user.
    "user": Count = |it| it.event.user,
    /// Of the time of a call, the wait for the index.
    "waited_ms": Ms sparse = |it| it.kind().map(|_| it.event.waited_ms),
}

columns! { Called<'_>;
    /// Calls to the service.
    "calls": Count = |_it| 1_u32,
    /// Whether the runner keeps only one document.
    "context_only": Flag = |it| it.0.of.context_only,
    /// The kind of call.
    "kind": Text = |it| it.0.kind(),
    /// How long it took.
    "latency_ms": Ms = |it| it.0.event.ms,
    /// Whether a session is written (`ingestion`) or a question answered (`qa`).
    "phase": Text = |it| it.0.phase(),
    /// The service.
    "service": Text = |it| it.0.service(),
    /// The session; of answering, how many are over.
    "session": Count = |it| it.0.event.session,
    /// When it began.
    "t_s": Seconds = |it| it.0.t_s(),
    /// What it carries.
    "tokens": Tokens = |it| it.0.tokens(),
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
    "context_only": Flag = |it| it.of.context_only,
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

columns! { Ordered<'_>;
    /// The load.
    "scenario": Text = |it| it.scenario.to_owned(),
    /// The number that is changed.
    "number": Text = |it| it.ordering.number.clone(),
    /// Its declared value.
    "declared": Number = |it| it.ordering.declared,
    /// The value that it has here.
    "value": Number = |it| it.ordering.value,
    /// The type of question.
    "type": Text = |it| it.ordering.r#type,
    /// The policy without entries.
    "against": Text = |it| it.ordering.against.clone(),
    /// How much more accurate the one with entries is, chat by chat.
    "difference": Group(Vec::new) = |it| Value::of(&it.ordering.difference),
    /// Who is: `entries`, `document`, or `open` if neither for certain.
    "wins": Text = |it| Value::of(&it.ordering.wins),
}
