//! Folders of made-up sessions whose bills follow from their pauses: what five minutes and an hour cost is known by construction.

use crate::support::*;

/// Prices of Claude Opus 4.5 in US dollars per token: read, short write, long write, input, output.
const PRICES: [f64; 5] = [0.5e-6, 6.25e-6, 10e-6, 5e-6, 25e-6];
/// Tokens of tools, system prompt and the first message.
const FRONT: u64 = 20_000;
/// Tokens that each reply takes.
const REPLY: u64 = 120;
/// Requests of a session.
const REQUESTS: usize = 24;

/// A session: by request, the minutes since the one before and the tokens that are new.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) steps: Vec<(u64, u64)>,
    /// The day of 2026 on which it begins, from 0.
    pub(crate) day: u64,
    pub(crate) project: usize,
    pub(crate) is_long: bool,
}

/// A folder of sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    /// The share of its cost that an hour saves against five minutes.
    pub(crate) saving: f64,
    pub(crate) sessions: usize,
    pub(crate) first_day: u64,
}

impl Session {
    /// Returns what each request reads and writes under a lifetime in minutes.
    fn uses(&self, minutes: u64) -> Vec<[u64; 2]> {
        let mut prompt = FRONT;
        let of = |(nth, (pause, new)): (usize, &(u64, u64))| {
            let before = prompt;
            prompt += if nth == 0 { 0 } else { REPLY + new };
            let is_warm = nth > 0 && *pause < minutes;
            if is_warm { [before, prompt - before] } else { [0, prompt] }
        };
        self.steps.iter().enumerate().map(of).collect()
    }

    /// Returns what it costs in US dollars with entries of an hour, or of five minutes.
    pub(crate) fn usd(&self, is_long: bool) -> f64 {
        let write = if is_long { PRICES[2] } else { PRICES[1] };
        let uses = self.uses(if is_long { 60 } else { 5 });
        let cost = |it: &[u64; 2]| {
            it[0] as f64 * PRICES[0] + it[1] as f64 * write + 3.0 * PRICES[3] + REPLY as f64 * PRICES[4]
        };
        uses.iter().map(cost).sum()
    }

    /// Returns the tokens that are written with entries of an hour, or of five minutes.
    pub(crate) fn written(&self, is_long: bool) -> u64 {
        self.uses(if is_long { 60 } else { 5 }).iter().map(|it| it[1]).sum()
    }

    /// Writes it as Claude Code does.
    fn text(&self, id: &str) -> String {
        let mut text = String::new();
        let mut parent = "null".to_owned();
        let mut minute = self.day * 1440 + 480;
        for (nth, ((pause, _), [read, written])) in
            self.steps.iter().zip(self.uses(if self.is_long { 60 } else { 5 })).enumerate()
        {
            minute += if nth == 0 { 0 } else { *pause };
            let day = minute / 1440;
            let (month, day) = (day / 28 + 1, day % 28 + 1);
            let mut line = |kind: &str, second: u32, message: &str| {
                let uuid = format!("{kind}{nth}");
                let _ = writeln!(
                    text,
                    r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{id}","cwd":"/Users/ann/p{}","isSidechain":false,"timestamp":"2026-{month:02}-{day:02}T{:02}:{:02}:{second:02}.000Z","version":"2.1.260","message":{message}}}"#,
                    self.project,
                    minute / 60 % 24,
                    minute % 60,
                );
                parent = format!("\"{uuid}\"");
            };
            line("user", 0, r#"{"role":"user","content":"Go on."}"#);
            let [short, long] = if self.is_long { [0, written] } else { [written, 0] };
            let usage = format!(
                r#"{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":{REPLY},"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}}}}"#
            );
            let message = format!(
                r#"{{"id":"m{nth}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"Done {nth}."}}],"usage":{usage}}}"#
            );
            line("assistant", 4, &message);
        }
        text
    }
}

impl Recipe {
    /// Draws sessions that differ in how often their user pauses, so that in sum an hour saves the given share.
    pub(crate) fn sessions(self) -> Vec<Session> {
        let of =
            |share: f64| -> Vec<Session> { (0..self.sessions).map(|it| self.session(it, share)).collect() };
        let saving = |all: &[Session]| {
            let sum = |is_long| all.iter().map(|it| it.usd(is_long)).sum::<f64>();
            1.0 - sum(true) / sum(false)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if saving(&of(middle)) < self.saving { low = middle } else { high = middle }
        }
        of(high)
    }

    fn session(self, nth: usize, share: f64) -> Session {
        let stream = Seed(self.seed).stream("made-up sessions", 0);
        let mut draw = stream.nth(0, nth as u64);
        // Some users pause nearly twice as often as others.
        let often = share * draw.next_between(700, 1_300) as f64 / 1_000.0;
        let n_pauses = often * (REQUESTS - 1) as f64 + draw.next_between(0, 999) as f64 / 1_000.0;
        let mut places: Vec<(u64, usize)> =
            (1..REQUESTS).map(|it| (draw.next_between(0, u64::MAX), it)).collect();
        places.sort_unstable();
        let pauses: Vec<usize> = places.into_iter().take(n_pauses as usize).map(|it| it.1).collect();
        let mut step = |nth: usize| {
            let (long, short, new) =
                (draw.next_between(8, 45), draw.next_between(1, 2), draw.next_between(300, 1_200));
            (if pauses.contains(&nth) { long } else { short }, new)
        };
        let steps = (0..REQUESTS).map(&mut step).collect();
        Session { steps, day: self.first_day + nth as u64, project: nth % 6, is_long: false }
    }
}

/// Writes sessions into a folder.
pub(crate) fn write(folder: &Path, sessions: &[Session], prefix: &str) {
    for (nth, session) in sessions.iter().enumerate() {
        let id = format!("{prefix}{nth}");
        fs::write(folder.join(format!("{id}.jsonl")), session.text(&id)).unwrap();
    }
}
