//! The session loop: users write their sessions through a runner and are asked questions, in the order of their own clocks.

mod context_only;
mod desk;
mod entries;

use super::answer;
use super::assumed::{ChatNumbers, RunnerRules};
use super::log::{ChatLog, ChatPhase, Occurrence, Storage};
use super::service::Service;
use super::users::Chats;
use ctxsim_input::policy::memory::ServiceMemory as Spec;

pub use context_only::ContextOnly;
pub use desk::Desk;
pub(super) use desk::user_seed;
pub use entries::EntriesRunner;

/// Writes a user's sessions to a memory service.
pub trait SessionRunner {
    /// A session begins.
    fn begin(&self, desk: &mut Desk<'_, '_>);
    /// A message comes.
    fn message(&self, desk: &mut Desk<'_, '_>, message: u32);
    /// The session is over.
    fn end(&self, desk: &mut Desk<'_, '_>);
}

/// Keeps nothing: the floor.
struct Nothing;

impl SessionRunner for Nothing {
    fn begin(&self, _desk: &mut Desk<'_, '_>) {}
    fn message(&self, _desk: &mut Desk<'_, '_>, _message: u32) {}
    fn end(&self, _desk: &mut Desk<'_, '_>) {}
}

/// Returns the runner that a policy selects.
fn runner(spec: Option<&Spec>) -> Box<dyn SessionRunner> {
    match spec {
        None => Box::new(Nothing),
        Some(spec) if !spec.write.entries => Box::new(ContextOnly),
        Some(_) => Box::new(EntriesRunner),
    }
}

/// Plays runners over chats.
pub struct ChatPlayer<'a> {
    pub chats: &'a Chats,
    /// The declared numbers, as the load has them.
    pub numbers: &'a ChatNumbers,
}

impl ChatPlayer<'_> {
    /// Plays a policy's runner; a policy without one keeps nothing.
    pub fn play(&self, spec: Option<&Spec>) -> ChatLog {
        let rules = RunnerRules::new(spec, self.numbers);
        let runner = runner(spec);
        let users = &self.chats.users;
        let mut service = Service::new(&rules.service, users);
        let mut log =
            ChatLog { storage: vec![Storage::default(); self.chats.n_sessions()], ..ChatLog::default() };
        let mut states: Vec<desk::DeskState> =
            (0..users.len()).map(|user| desk::DeskState::new(self.chats, user, &rules)).collect();
        for (user, state) in states.iter_mut().enumerate() {
            desk(user, state, &mut service, &rules, &mut log, self.chats).note(0, Occurrence::Initialised);
        }
        // Whoever's clock stands earliest goes on, so that writes reach the one indexer nearly in order.
        let is_left =
            |user: usize, state: &desk::DeskState| (state.session as usize) < users[user].sessions.len();
        while let Some(user) = (0..users.len())
            .filter(|it| is_left(*it, &states[*it]))
            .min_by_key(|it| (states[*it].now_ms, *it))
        {
            let mut desk = desk(user, &mut states[user], &mut service, &rules, &mut log, self.chats);
            one_session(&*runner, &mut desk);
        }
        log.wall_ms = states.iter().map(|it| it.now_ms).max().unwrap_or(0);
        log
    }
}

/// Writes one session, and asks what is asked after it.
fn one_session(runner: &dyn SessionRunner, desk: &mut Desk<'_, '_>) {
    runner.begin(desk);
    for message in 0..desk.session().messages {
        desk.receive(message);
        runner.message(desk, message);
    }
    runner.end(desk);
    desk.close();
    desk.state.phase = ChatPhase::Qa;
    answer::due(desk);
    desk.state.phase = ChatPhase::Ingestion;
    desk.pause();
}

fn desk<'d, 'a>(
    user: usize,
    state: &'d mut desk::DeskState,
    service: &'d mut Service<'a>,
    rules: &'a RunnerRules,
    log: &'d mut ChatLog,
    chats: &'a Chats,
) -> Desk<'d, 'a> {
    Desk { user: &chats.users[user], user_ix: user, chats, rules, service, log, state }
}
