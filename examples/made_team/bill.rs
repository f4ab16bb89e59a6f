//! What a provider with a prefix cache bills for a session, as it was or with a lever pulled: an oracle that shares nothing with ctxsim.

use crate::team::{Session, Tool};

/// What a reply takes in later prompts less than was billed for it.
const REPLY_LESS: u64 = 2;
/// What stands behind the last mark of a prompt, and is not cached.
const TAIL: u64 = 2;
/// What a request for a summary adds to the prompt.
const INSTRUCTION: u64 = 1_000;
/// What comes back with a summary: the last files, each up to so many tokens, and something more.
const RESTORED: (usize, u64, u64) = (5, 5_000, 5_000);
/// What a window keeps free.
const RESERVE: u64 = 33_000;

/// How long entries live, from their last use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    FiveMinutes,
    Hour,
}

impl Life {
    fn ms(self) -> i64 {
        if self == Self::Hour { 3_600_000 } else { 300_000 }
    }

    fn factor(self) -> f64 {
        if self == Self::Hour { 2.0 } else { 1.25 }
    }
}

/// How a team's agents are set, and what they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) main: Life,
    pub(crate) agents: Life,
    pub(crate) window: Option<u64>,
    /// Whether the skill has the prompt written anew.
    pub(crate) rewrites: bool,
    /// The person whose front is as small as the others'.
    pub(crate) slim: Option<usize>,
}

/// As the logs have it.
pub(crate) const AS_IS: Setting =
    Setting { main: Life::FiveMinutes, agents: Life::Hour, window: None, rewrites: true, slim: None };

/// What a request was billed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Billed {
    pub(crate) read: u64,
    pub(crate) write: u64,
    pub(crate) uncached: u64,
    pub(crate) output: u64,
}

/// Returns dollars for a million tokens of input and of output.
fn prices(model: &str) -> [f64; 2] {
    if model == "claude-sonnet-5" { [2.0, 10.0] } else { [5.0, 25.0] }
}

/// The entries of one session: how far the prompt is cached, and until when.
struct Cache {
    life: Life,
    cached: u64,
    used_ms: Option<i64>,
    lead: u64,
    is_shared: bool,
}

impl Cache {
    /// Answers a request: reads what is cached in front, and writes the rest up to its last mark.
    fn bill(&mut self, at_ms: i64, prompt: u64, is_shared: bool, is_new: bool) -> Billed {
        let lives = self.used_ms.is_some_and(|it| at_ms - it <= self.life.ms());
        let has_lead = lives || is_shared && self.is_shared;
        let read = match lives && !is_new {
            true => self.cached,
            false => self.lead * u64::from(has_lead),
        };
        let to = prompt - TAIL;
        (self.cached, self.used_ms) = (to, Some(at_ms));
        Billed { read, write: to - read, uncached: TAIL, output: 0 }
    }
}

/// Bills the requests of a session, and those for summaries that a window adds; returns them and the dollars.
pub(crate) fn bill(session: &Session, model: &str, setting: &Setting, slim: u64) -> (Vec<Billed>, f64) {
    let life = if session.agent.is_some() { setting.agents } else { setting.main };
    let is_slim = session.agent.is_none() && setting.slim == Some(session.person);
    let lead = if is_slim { slim } else { session.lead };
    let is_shared = lead <= slim;
    let mut cache = Cache { life, cached: 0, used_ms: None, lead, is_shared };
    let (mut prompt, mut files) = (lead + session.rest, Vec::new());
    let (mut all, mut extra) = (Vec::new(), Vec::new());
    for request in &session.requests {
        prompt += request.typed.unwrap_or(0) + request.result.map_or(0, |it| it.1);
        files.extend(request.result.filter(|it| it.0 == Tool::Read).map(|it| it.1));
        let mut is_new = setting.rewrites && request.result.is_some_and(|it| it.0 == Tool::HouseStyle);
        if setting.window.is_some_and(|it| prompt >= it - RESERVE) {
            let billed = cache.bill(request.at_ms, prompt + INSTRUCTION, request.is_shared, is_new);
            extra.push(Billed { output: request.summary, ..billed });
            let back: u64 = files.iter().rev().take(RESTORED.0).map(|it| RESTORED.1.min(*it)).sum();
            prompt = lead + session.rest + request.summary + back + RESTORED.2;
            is_new = true;
        }
        let billed = cache.bill(request.at_ms, prompt, request.is_shared, is_new);
        all.push(Billed { output: request.output, ..billed });
        prompt += request.output - REPLY_LESS;
    }
    let [input, output] = prices(model);
    let dollars = |it: &Billed| {
        let tokens = it.read as f64 * 0.1 + it.write as f64 * life.factor() + it.uncached as f64;
        (tokens * input + it.output as f64 * output) / 1e6
    };
    let sum = all.iter().chain(&extra).map(dollars).sum();
    (all, sum)
}
