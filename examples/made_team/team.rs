//! A made-up team: eight people with habits that are built in, and the sessions that they draw.

use ctxsim::rng::{Draw, Seed};

/// The days that the logs of a team cover.
pub(crate) const DAYS: u64 = 90;
/// 2026-08-03, a Monday, in milliseconds since 1970.
const FIRST_MS: i64 = 1_785_715_200_000;
const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;

/// Tokens of tools and system prompt that all accounts share; those of a person with tools of his own are longer, and nobody shares them.
pub(crate) const LEAD: u64 = 16_344;
const FAT_LEAD: u64 = 34_344;
/// Tokens in front of the first message that belong to a project: memory files and reminders.
const REST: u64 = 6_000;

/// A person of the team.
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) model: &'static str,
    pub(crate) sessions: u64,
    pub(crate) is_fat: bool,
    /// The share of pauses of 6 to 50 minutes.
    pauses: f64,
}

/// Returns the eight people: the same in every draw, so that what is true of the team is one number.
pub(crate) fn people() -> Vec<Person> {
    const MODELS: [&str; 2] = ["claude-opus-4-8", "claude-sonnet-5"];
    // The sixth has more sessions than the others, and nothing else of his own.
    const SESSIONS: [u64; 8] = [28, 28, 28, 27, 27, 48, 27, 27];
    let person = |nth: usize| Person {
        name: format!("person-{}", nth + 1),
        model: MODELS[usize::from(nth == 7)],
        sessions: SESSIONS[nth],
        is_fat: nth == 2 || nth == 4,
        pauses: [0.28, 0.32, 0.30, 0.34, 0.28, 0.30, 0.32, 0.30][nth],
    };
    (0..8).map(person).collect()
}

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Read,
    Bash,
    /// A command whose output is long, and needed by the edit after it.
    BigBash,
    /// An edit of what the last read or long command showed.
    Edit,
    /// A skill after which the prompt is written anew.
    HouseStyle,
    /// A skill after which it is not.
    Notes,
    /// A sub-agent.
    Agent,
}

/// A request, and what came before it.
pub(crate) struct Request {
    /// When it was made, and when it was answered.
    pub(crate) at_ms: i64,
    pub(crate) answered_ms: i64,
    /// Tokens that a person typed before it.
    pub(crate) typed: Option<u64>,
    /// The call of the reply before it, and the tokens that it gave back.
    pub(crate) result: Option<(Tool, u64)>,
    pub(crate) output: u64,
    /// What its reply calls.
    pub(crate) calls: Option<Tool>,
    /// Whether other people's requests have kept the shared front alive, if the session's own entries have not.
    pub(crate) is_shared: bool,
    /// What a summary of everything before it would take.
    pub(crate) summary: u64,
}

/// A session, of a person or of a sub-agent.
pub(crate) struct Session {
    pub(crate) person: usize,
    pub(crate) project: u64,
    pub(crate) id: u64,
    /// Of a sub-agent: which of its session's.
    pub(crate) agent: Option<u64>,
    pub(crate) lead: u64,
    pub(crate) rest: u64,
    pub(crate) requests: Vec<Request>,
}

/// Draws a team's sessions, sub-agents behind the sessions that started them.
pub(crate) fn sessions(people: &[Person], seed: u64) -> Vec<Session> {
    let mut all = Vec::new();
    for (nth, person) in people.iter().enumerate() {
        for n in 0..person.sessions {
            let id = 1_000 * nth as u64 + n;
            let mut walk = Walk::new(Seed(seed).stream("made-up team", id).draw(), 0);
            // One session a day at most, so that none finds what another has left.
            let day = (n * DAYS / person.sessions) as i64;
            walk.now_ms = FIRST_MS + day * DAY_MS + walk.draw.next_between(420, 720) as i64 * MINUTE_MS;
            walk.play(person);
            let lead = if person.is_fat { FAT_LEAD } else { LEAD };
            let session = Session {
                person: nth,
                project: 1 + walk.draw.next_below(3),
                id,
                agent: None,
                lead,
                rest: REST,
                requests: std::mem::take(&mut walk.requests),
            };
            let project = session.project;
            all.push(session);
            for (agent, requests) in walk.agents.into_iter().enumerate() {
                let agent = Some(agent as u64);
                all.push(Session { person: nth, project, id, agent, lead: 9_000, rest: 1_500, requests });
            }
        }
    }
    all
}

/// A session on its way.
struct Walk {
    draw: Draw,
    now_ms: i64,
    requests: Vec<Request>,
    agents: Vec<Vec<Request>>,
}

impl Walk {
    fn new(draw: Draw, now_ms: i64) -> Self {
        Self { draw, now_ms, requests: Vec::new(), agents: Vec::new() }
    }

    fn is(&mut self, chance: f64) -> bool {
        self.draw.next_unit() < chance
    }

    /// Draws a size with a heavy tail around a median.
    fn size(&mut self, median: f64, max: u64) -> u64 {
        let normal = (0..12).map(|_| self.draw.next_unit()).sum::<f64>() - 6.0;
        ((median * (0.8 * normal).exp()) as u64).clamp(60, max)
    }

    /// Plays the turns of a session.
    fn play(&mut self, person: &Person) {
        let is_long = self.is(0.2);
        let n_turns = self.draw.next_between(5, 8) + if is_long { self.draw.next_between(6, 11) } else { 0 };
        let house_style = if self.is(0.62) { self.draw.next_between(1, n_turns - 1) } else { n_turns };
        let notes = if self.is(0.4) { self.draw.next_between(1, n_turns - 1) } else { n_turns };
        let agent = if self.is(0.5) { self.draw.next_between(1, n_turns - 1) } else { n_turns };
        for turn in 0..n_turns {
            if turn > 0 {
                self.pause(person.pauses);
            }
            let mut calls: Vec<Tool> = Vec::new();
            for (of, tool) in [(house_style, Tool::HouseStyle), (notes, Tool::Notes), (agent, Tool::Agent)] {
                calls.extend((of == turn).then_some(tool));
            }
            for _ in 0..self.draw.next_between(1, 3) {
                calls.extend(self.work());
            }
            self.turn(&calls, true);
        }
    }

    /// Draws one or two calls that belong together.
    fn work(&mut self) -> Vec<Tool> {
        match self.draw.next_unit() {
            it if it < 0.08 => vec![Tool::BigBash, Tool::Edit],
            it if it < 0.45 => vec![Tool::Read, Tool::Edit],
            it if it < 0.65 => vec![Tool::Read],
            _ => vec![Tool::Bash],
        }
    }

    /// Waits for the person: most entries live on, some of five minutes do not, and a few of an hour.
    fn pause(&mut self, share: f64) {
        let minutes = match self.draw.next_unit() {
            it if it < share => self.draw.next_between(6, 50),
            it if it < share + 0.06 => self.draw.next_between(65, 90),
            _ => return self.now_ms += self.draw.next_between(20_000, 220_000) as i64,
        };
        self.now_ms += minutes as i64 * MINUTE_MS;
    }

    /// Plays a turn: a request for each call, and one more that answers.
    fn turn(&mut self, calls: &[Tool], has_person: bool) {
        let mut typed = Some(self.size(90.0, 900)).filter(|_| has_person);
        typed = typed.or(Some(400));
        let mut result = None;
        for nth in 0..=calls.len() {
            let tool = calls.get(nth).copied();
            let output = self.size(if tool.is_some() { 190.0 } else { 420.0 }, 2_000);
            let at_ms = self.now_ms;
            let answered_ms = at_ms + 2_500 + 14 * output as i64;
            let request = Request {
                at_ms,
                answered_ms,
                typed: typed.take(),
                result: result.take(),
                output,
                calls: tool,
                is_shared: true,
                summary: self.draw.next_between(2_000, 4_100),
            };
            self.requests.push(request);
            self.now_ms = answered_ms + self.draw.next_between(400, 9_000) as i64;
            result = tool.map(|it| (it, self.gives(it)));
        }
    }

    /// Returns the tokens that a call gives back; of a sub-agent, after it has played.
    fn gives(&mut self, tool: Tool) -> u64 {
        match tool {
            Tool::Read => self.size(2_100.0, 12_000),
            Tool::Bash => self.size(650.0, 1_400),
            Tool::BigBash => self.draw.next_between(4_200, 6_600),
            Tool::Edit => self.draw.next_between(90, 260),
            Tool::HouseStyle | Tool::Notes => self.draw.next_between(900, 1_400),
            Tool::Agent => {
                let mut agent = Self::new(self.draw.clone(), self.now_ms);
                let calls: Vec<Tool> = (0..9).map(|nth| [Tool::Read, Tool::Bash][nth % 2]).collect();
                agent.turn(&calls, false);
                self.draw = agent.draw;
                self.now_ms = agent.now_ms;
                self.agents.push(agent.requests);
                self.size(700.0, 2_000)
            }
        }
    }
}
