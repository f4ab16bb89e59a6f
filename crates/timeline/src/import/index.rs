//! The index of recordings: what a scan of each log tells of its sessions, without reading what was said.
//!
//! It knows, too, which sessions a file holds by the ids in its log, whose they are by their working folders, and which models answered.

use std::io::{self, BufRead};

use ctxsim_base::counts::count_one;

use super::lay_out::{RecordingModels, SessionClock};
use super::{claude_code, database, found, inspect_ai, read, usage_csv};
use crate::import::prelude::*;
use crate::own::OwnCounts;
use crate::{RecordedModel, StepRow, Timeline, main_model};

/// The shortest lifetime of cache entries that any provider has: a shorter pause loses nothing.
const PAUSE_MS: i64 = 300_000;

/// A session of a recording, as a scan of its log knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Its id in the log, with that of the sub-agent if it is one's session; empty if the log has none.
    pub id: String,
    /// Its name within the file; empty for a single session.
    pub session: String,
    /// Whether the recording has the texts of the session, and not only its usage.
    pub has_texts: bool,
    /// The session whose agent started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// The user's home, as far as the working folder shows it.
    pub user: String,
    /// The working folder; that of the checkout for a worktree of it.
    pub project: String,
    /// The models that answered, in the order in which they come.
    pub(super) models: Vec<RecordedModel>,
    /// When each request was sent and answered, in milliseconds since 1970; empty where the format's logs are not scanned for
    /// it.
    pub(super) moments: Vec<[i64; 2]>,
    /// By request: a digest of the ids of its reply, 0 where none are known; empty where the format's logs are not scanned for it.
    pub(super) replies: Vec<u64>,
    /// What its neighbours have in common with it.
    pub(super) kin: Kin,
    /// Tokens of tools and system prompt, as its own reads show them.
    pub(super) front_tokens: Option<Tokens>,
    /// How long its harness asks entries to live, in milliseconds.
    pub(super) life_ms: Option<i64>,
    /// Whether its first request read anything, if that is known.
    pub(super) reads_first: Option<bool>,
    /// With what a sub-agent was started, if the scan reads it: a digest of the message, and the size of its first prompt.
    pub(super) started_with: Option<(u64, Tokens)>,
    /// What its bills show of odds that no log tells beforehand.
    pub own: OwnCounts,
}

/// What sessions have in common that send the same tools and the same system prompt, besides their user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kin {
    pub(super) harness: &'static str,
    pub(super) version: Version,
    pub(super) model: String,
    pub(super) is_of_agent: bool,
}

impl Indexed {
    /// Returns what is known of a session that a scenario says.
    fn of(timeline: &Timeline, user: &str) -> Self {
        let began_ms = timeline.began_ms.unwrap_or_default();
        let moment = |it: &StepRow| [it.at_ms, it.end_ms].map(|it| began_ms.saturating_add(it));
        Self {
            user: user.to_owned(),
            moments: timeline.spine.steps.iter().map(moment).collect(),
            kin: Kin { is_of_agent: timeline.is_of_agent(), ..Kin::default() },
            ..Self::default()
        }
    }

    /// Returns the same of a session that stands for all of its recording.
    pub fn as_whole_file(&self) -> Self {
        Self { session: String::new(), ..self.clone() }
    }

    /// Returns what is known of it before it is laid out, if its log was scanned for it.
    pub fn glance(&self) -> Option<Glance> {
        let last = self.moments.last()?;
        Some(Glance::new(&self.session, Some(last[0]), self.models.clone()))
    }

    /// Returns when its first request was sent, in milliseconds since 1970, if that is known.
    pub fn began_ms(&self) -> Option<i64> {
        self.moments.first().map(|it| it[0])
    }

    /// Returns how many requests were scanned.
    pub fn requests(&self) -> usize {
        self.moments.len()
    }

    /// Returns the moments before which it was silent for longer than entries live anywhere, each with when it had spoken last: the
    /// first has nothing before it.
    fn pauses(&self) -> impl Iterator<Item = (i64, i64)> {
        let first = self.moments.first().map(|it| (i64::MIN, it[0]));
        let later = self.moments.windows(2).map(|it| (it[0][1], it[1][0]));
        first.into_iter().chain(later.filter(|(before, at)| at.saturating_sub(*before) > PAUSE_MS))
    }
}

/// Returns the sessions of a recording whose log names them, or whose times it tells; none of one that cannot be read, which is
/// told when it is opened.
///
/// # Errors
/// The reader fails.
pub fn index(reader: &mut dyn BufRead) -> io::Result<Vec<Indexed>> {
    count_one(|it| &mut it.scans);
    if inspect_ai::begins(reader)? {
        return Ok(Vec::new());
    }
    if let Some(text) = database::text(reader, &mut Losses::default())? {
        let ids = text.map_or_else(|_| Vec::new(), |it| database::ids(&it));
        let is_alone = ids.len() == 1;
        let named = |id: String| Indexed {
            session: if is_alone { String::new() } else { id.clone() },
            id,
            has_texts: true,
            ..Indexed::default()
        };
        return Ok(ids.into_iter().map(named).collect());
    }
    let mut lines = LogLines::with_head(reader, HEAD_BYTES);
    if found(lines.head()).is_some_and(|it| it.name == claude_code::FORMAT.name) {
        return Ok(claude_code::scan(&mut lines));
    }
    let HomeFolders { user, project } =
        lines.head().lines().find_map(folder_of).map(home_folders).unwrap_or_default();
    let named = |it: Indexed| Indexed { user: user.clone(), project: project.clone(), ..it };
    Ok(identities(&mut lines).into_iter().map(named).collect())
}

/// Returns the working folder that a record names, wherever it stands in it.
fn folder_of(line: &str) -> Option<&str> {
    const FOLDER: &str = "\"cwd\":\"";
    let rest = &line[line.find(FOLDER)? + FOLDER.len()..];
    rest.split('"').next().filter(|it| !it.is_empty())
}

/// Returns what the others of some sessions tell of each: only tools and system prompt are ever shared, so what they tell does
/// not depend on any policy, nor on the order of the sessions.
pub fn neighbours(sessions: &[&Indexed]) -> Vec<Neighbours> {
    let mut all: Vec<Neighbours> = vec![Neighbours::default(); sessions.len()];
    let mut groups: IndexMap<(&str, &Kin), Vec<usize>> = IndexMap::new();
    for (nth, it) in sessions.iter().enumerate().filter(|it| !it.1.moments.is_empty()) {
        groups.entry((&it.user, &it.kin)).or_default().push(nth);
    }
    for members in groups.into_values() {
        let group = FrontGroup::new(sessions, &members);
        for nth in members {
            all[nth] = group.tell(nth);
        }
    }
    tell_siblings(sessions, &mut all);
    tell_own(sessions, &mut all);
    tell_billed(sessions, &mut all);
    all
}

/// Tells each session when replies of its log ended that the log of one which began before holds, too: a session that is taken up again may
/// copy them, and they were billed once.
fn tell_billed(sessions: &[&Indexed], all: &mut [Neighbours]) {
    let mut oldest_first: Vec<usize> = (0..sessions.len()).collect();
    oldest_first.sort_by_key(|nth| (sessions[*nth].began_ms(), &sessions[*nth].id));
    let mut holders: IndexMap<u64, usize> = IndexMap::new();
    for nth in oldest_first {
        let Indexed { replies, moments, .. } = sessions[nth];
        for (reply, moment) in replies.iter().zip(moments).filter(|it| *it.0 != 0) {
            if *holders.entry(*reply).or_insert(nth) != nth {
                all[nth].billed_ms.push(moment[1]);
            }
        }
        all[nth].billed_ms.sort_unstable();
    }
}

/// How a sub-agent was started: sub-agents that agree in it send the same first prompt.
#[derive(PartialEq, Eq, Hash)]
struct AgentStart<'s> {
    user: &'s str,
    parent: &'s str,
    kin: &'s Kin,
    with: (u64, Tokens),
}

/// Tells each sub-agent when another of its parent was last answered that had been started with the same message, in a prompt of the same
/// size: all of it is the same then.
fn tell_siblings(sessions: &[&Indexed], all: &mut [Neighbours]) {
    let mut groups: IndexMap<AgentStart<'_>, Vec<usize>> = IndexMap::new();
    for (nth, it) in sessions.iter().enumerate() {
        if let (Some(parent), Some(with)) = (&it.parent, it.started_with) {
            let start = AgentStart { user: &it.user, parent, kin: &it.kin, with };
            groups.entry(start).or_default().push(nth);
        }
    }
    for members in groups.into_values().filter(|it| it.len() > 1) {
        let group = FrontGroup::new(sessions, &members);
        for nth in members {
            all[nth].sibling_ms = sessions[nth].began_ms().and_then(|it| group.last(nth, i64::MIN, it));
        }
    }
}

/// Tells each session what was counted in those of its user, under the same declared odds, that had ended when it began: what judges a
/// choice had no part in it.
fn tell_own(sessions: &[&Indexed], all: &mut [Neighbours]) {
    // By user, by which of the declared rows, and by which one of that.
    let mut groups: IndexMap<(&str, &str, usize, usize), Vec<usize>> = IndexMap::new();
    for (nth, it) in sessions.iter().enumerate().filter(|it| !it.1.moments.is_empty()) {
        let rows = HarnessRules::own_rows(it.kin.harness, it.kin.version).into_iter().flatten().enumerate();
        // Cases of agents' own sessions tell nothing of sub-agents' fronts.
        let rows = rows.filter(|(kind, _)| *kind == 0 || !it.kin.is_of_agent);
        for (kind, row) in rows.filter_map(|(kind, row)| Some((kind, row?))) {
            groups.entry((&it.user, it.kin.harness, kind, row)).or_default().push(nth);
        }
    }
    for ((_, harness, kind, _), members) in groups {
        let cases = |nth: usize, told: &Neighbours| match kind {
            0 => sessions[nth].own.clone(),
            _ => {
                // The first request of a session before which none is known to have left tools and system prompt.
                let mut own = OwnCounts::default();
                let read = sessions[nth].reads_first.filter(|_| told.chance.is_some());
                read.into_iter().for_each(|it| own.front.count(it));
                own
            }
        };
        let counted: Vec<OwnCounts> = members.iter().map(|nth| cases(*nth, &all[*nth])).collect();
        let fewest = HarnessRules::own_cases_min(harness);
        for (nth, earlier) in members.iter().zip(earlier(sessions, &members, &counted)) {
            all[*nth].own += &earlier;
            all[*nth].own.fewest = if all[*nth].own.is_silent() { 0 } else { fewest };
        }
    }
}

/// Returns the sum of what was counted in the members that had ended before each of them began; copies of a session count once.
fn earlier(sessions: &[&Indexed], members: &[usize], counted: &[OwnCounts]) -> Vec<OwnCounts> {
    let ended = |it: &Indexed| it.moments.iter().map(|moment| moment[1]).max();
    let mut by_end: Vec<(i64, &str, &OwnCounts)> = members
        .iter()
        .zip(counted)
        .filter_map(|(nth, counts)| Some((ended(sessions[*nth])?, sessions[*nth].id.as_str(), counts)))
        .collect();
    by_end.sort_unstable();
    let mut known = IndexSet::new();
    let mut sums = vec![(i64::MIN, OwnCounts::default())];
    for (ended_ms, id, counts) in by_end {
        if id.is_empty() || known.insert(id) {
            let mut sum = sums.last().map(|it| it.1.clone()).unwrap_or_default();
            sum += counts;
            sums.push((ended_ms, sum));
        }
    }
    let before = |nth: &usize| {
        let began_ms = sessions[*nth].began_ms().unwrap_or(i64::MIN);
        let end = sums.partition_point(|it| it.0 < began_ms).max(1);
        sums[end - 1].1.clone()
    };
    members.iter().map(before).collect()
}

/// Tells the sessions of a scenario what the others of their users send.
pub fn hear(timelines: &mut [Timeline], users: &[&str]) {
    let indexed: Vec<Indexed> = timelines.iter().zip(users).map(|it| Indexed::of(it.0, it.1)).collect();
    let told = neighbours(&indexed.iter().collect::<Vec<_>>());
    for (timeline, neighbours) in timelines.iter_mut().zip(told) {
        let spine = &timeline.spine;
        let front = spine.items.iter().take(spine.n_stable as usize);
        let end = front.take_while(|it| matches!(it.kind, Kind::System | Kind::ToolSchema)).count();
        timeline.hear(&neighbours, ix(end));
    }
}

/// Tells each session of a scenario how far its first prompt is one that another of its user had sent.
pub fn hear_siblings(mut timelines: Vec<(&mut Timeline, &str)>) {
    let first = |it: &Timeline| {
        let end = it.spine.turns.first().map_or(0, |turn| turn.user.end);
        it.spine.items[..end as usize].iter().map(|it| (it.kind, it.digest, it.raw)).collect::<Vec<_>>()
    };
    let answered = |it: &Timeline| Some(it.began_ms?.saturating_add(it.spine.steps.first()?.end_ms));
    let told: Vec<(Vec<_>, Option<i64>, &str)> =
        timelines.iter().map(|(it, user)| (first(it), answered(it), *user)).collect();
    for (nth, (timeline, user)) in timelines.iter_mut().enumerate() {
        let (Some(began_ms), Some(shared)) = (timeline.began_ms, &mut timeline.shared) else { continue };
        let others = (0..told.len()).filter(|it| *it != nth && told[*it].2 == *user);
        let common = |other: usize| {
            let sent_ms = told[other].1.filter(|it| *it <= began_ms)?;
            let items = told[nth].0.iter().zip(&told[other].0);
            let end = items.take_while(|(own, other)| own == other).count();
            (end > shared.end as usize).then_some((ix(end), sent_ms.saturating_sub(began_ms)))
        };
        shared.sibling = others.filter_map(common).max();
    }
}

/// Sessions that send the same tools and system prompt.
struct FrontGroup<'s> {
    sessions: &'s [&'s Indexed],
    /// When any of them was answered, each with which it was.
    answered: Vec<(i64, usize)>,
    /// What each shows of the size, by size.
    fronts: IndexMap<Tokens, Vec<usize>>,
}

impl<'s> FrontGroup<'s> {
    fn new(sessions: &'s [&'s Indexed], members: &[usize]) -> Self {
        let mut answered = Vec::new();
        let mut fronts: IndexMap<Tokens, Vec<usize>> = IndexMap::new();
        for nth in members {
            let session = sessions[*nth];
            answered.extend(session.moments.iter().map(|it| (it[1], *nth)));
            if let Some(tokens) = session.front_tokens {
                fronts.entry(tokens).or_default().push(*nth);
            }
        }
        answered.sort_unstable();
        Self { sessions, answered, fronts }
    }

    /// Returns what the others tell of one.
    fn tell(&self, nth: usize) -> Neighbours {
        let session = self.sessions[nth];
        let sent = session.pauses().filter_map(|(before, at)| self.last(nth, before, at));
        let sent_ms: Vec<i64> = sent.collect();
        let began = session.began_ms().unwrap_or_default();
        let is_warm =
            |it: &i64| *it <= began && session.life_ms.is_none_or(|life| began.saturating_sub(*it) <= life);
        let is_known = sent_ms.first().is_some_and(is_warm);
        let kin = &session.kin;
        let chance = HarnessRules::chance(kin.harness, kin.version, kin.is_of_agent).filter(|_| !is_known);
        Neighbours { front_tokens: self.front(nth), sent_ms, chance, ..Neighbours::default() }
    }

    /// Returns the last time at which another one was answered after a moment and not after another.
    fn last(&self, nth: usize, after_ms: i64, until_ms: i64) -> Option<i64> {
        let end = self.answered.partition_point(|it| it.0 <= until_ms);
        let others = self.answered[..end].iter().rev().take_while(|it| it.0 > after_ms);
        others.filter(|it| self.is_other(nth, it.1)).map(|other| other.0).next()
    }

    /// Returns the size that most others show: of several that are as frequent, the one that is nearest in time, then the smallest.
    fn front(&self, nth: usize) -> Option<Tokens> {
        let began = |nth: usize| self.sessions[nth].began_ms().unwrap_or_default();
        let weight = |(tokens, by): (&Tokens, &Vec<usize>)| {
            let others = by.iter().filter(|it| self.is_other(nth, **it));
            let nearest = others.clone().map(|it| began(*it).abs_diff(began(nth))).min()?;
            Some((others.count(), std::cmp::Reverse(nearest), std::cmp::Reverse(*tokens)))
        };
        self.fronts.iter().filter_map(weight).max().map(|it| it.2.0)
    }

    /// Returns whether two are different sessions, and not one that two files hold.
    fn is_other(&self, nth: usize, other: usize) -> bool {
        let id = |nth: usize| self.sessions[nth].id.as_str();
        nth != other && (id(nth).is_empty() || id(nth) != id(other))
    }
}

/// What is known of a recorded session before it is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// Its name within the file; empty for a single session.
    pub session: String,
    /// When its last request started, in milliseconds since 1970, if the recording says so.
    pub last_ms: Option<i64>,
    /// The models that answered, in the order in which they come.
    pub models: Vec<RecordedModel>,
}

impl Glance {
    /// Takes what is known of a session.
    pub(super) fn new(session: &str, last_ms: Option<i64>, models: Vec<RecordedModel>) -> Self {
        Self { session: session.to_owned(), last_ms, models }
    }

    /// Returns the model that was billed for the most input.
    pub fn main_model(&self) -> Option<&RecordedModel> {
        main_model(&self.models)
    }
}

/// Glances at the sessions of a recording; none where it cannot be used.
///
/// # Errors
/// The reader fails.
pub fn glances(reader: &mut dyn BufRead) -> io::Result<Vec<Glance>> {
    count_one(|it| &mut it.glances);
    let read = read(reader, &mut Losses::default())?;
    Ok(read.map_or_else(|_| Vec::new(), |(_, transcripts)| transcripts.iter().map(glance).collect()))
}

fn glance(transcript: &Transcript) -> Glance {
    let (mut clock, mut models) = (SessionClock::default(), RecordingModels::default());
    for exchange in &transcript.exchanges {
        clock.since_start(exchange.at_ms);
        models.count(transcript.model_of(exchange), exchange.usage.map_or(0, |it| it.prompt));
    }
    Glance::new(&transcript.name, clock.last_ms(), models.0)
}

/// How much of a file is searched for an id.
pub(super) const HEAD_BYTES: usize = 128 << 10;

/// Returns the sessions of a recording whose log names them.
fn identities(lines: &mut LogLines<'_>) -> Vec<Indexed> {
    if usage_csv::detect(lines.head()) {
        let sessions = usage_csv::sessions(lines).into_iter();
        return sessions.map(|(session, id)| Indexed { id, session, ..Indexed::default() }).collect();
    }
    let of_log = |id: String| Indexed { id, has_texts: true, ..Indexed::default() };
    let mut of_agent = None;
    for record in lines.head().lines().filter_map(json::first::<Members<'_>>) {
        match id(&record) {
            // A session's file may begin with what its sub-agents did.
            Some(id) if record.get("isSidechain") == Some(true) => {
                of_agent.get_or_insert_with(|| format!("{id}/{}", record.text("agentId")));
            }
            Some(id) => return vec![of_log(id.into_owned())],
            None => {}
        }
    }
    // The id at the front of a document.
    let outline = FrontOutline::of(lines.head());
    let id = ["info.id", "sessionId", "session_id"].iter().find_map(|it| outline.get(it));
    of_agent.or(id.filter(|it| !it.is_empty()).map(str::to_owned)).map(of_log).into_iter().collect()
}

/// Returns the id of the session that a record names.
fn id<'r>(record: &Members<'r>) -> Option<Cow<'r, str>> {
    let id = match record.text("type").as_ref() {
        "session_meta" => record.get::<Members<'_>>("payload")?.text("id"),
        "session" => record.text("id"),
        _ => record.text("sessionId"),
    };
    Some(id).filter(|it| !it.is_empty())
}

/// Folders that hold the worktrees of a checkout.
const WORKTREES: [&str; 3] = ["/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/"];

/// A user and a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HomeFolders {
    /// The user's home; empty where the folder is in none.
    pub(super) user: String,
    /// The folder; that of the checkout, where it is a worktree of one.
    pub(super) project: String,
}

/// Returns the user and the project of a working folder.
pub(super) fn home_folders(folder: &str) -> HomeFolders {
    let plain = folder.replace('\\', "/");
    let checkout = WORKTREES.iter().filter_map(|it| plain.find(it)).min().unwrap_or(plain.len());
    HomeFolders {
        user: user_of(&plain).to_owned(),
        project: plain[..checkout].trim_end_matches('/').to_owned(),
    }
}

/// Returns the home that a folder is in; empty where it is in none.
pub fn user_of(folder: &str) -> &str {
    let is_in = |root: &str| folder == root || folder.starts_with(&format!("{root}/"));
    if is_in("/root") {
        return "/root";
    }
    // A drive may stand in front, as in `C:/Users/ann`.
    let from = folder.find(':').filter(|it| *it == 1).map_or(0, |at| at + 1);
    let Some(root) = ["/Users/", "/home/"].iter().find(|it| folder[from..].starts_with(**it)) else {
        return "";
    };
    let start = from + root.len();
    let end = folder[start..].find('/').map_or(folder.len(), |it| start + it);
    if end == start { "" } else { &folder[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::SeenCases;

    fn session(id: &str, user: &str, minutes: &[i64], front: Option<Tokens>) -> Indexed {
        let kin = Kin { harness: "claude-code", ..Kin::default() };
        let moments = minutes.iter().map(|it| [it * 60_000, it * 60_000 + 1_000]).collect();
        Indexed {
            id: id.to_owned(),
            user: user.to_owned(),
            moments,
            kin,
            front_tokens: front,
            life_ms: Some(PAUSE_MS),
            ..Indexed::default()
        }
    }

    #[test]
    fn the_size_is_the_one_that_most_others_show_and_never_ones_own() {
        let all = [
            session("a", "ann", &[0], Some(10)),
            session("b", "ann", &[100], Some(20)),
            session("c", "ann", &[200], Some(20)),
            session("d", "ann", &[300], None),
            // A copy is no neighbour.
            session("b", "ann", &[100], Some(20)),
        ];

        let told = neighbours(&all.iter().collect::<Vec<_>>());

        let fronts: Vec<Option<Tokens>> = told.iter().map(|it| it.front_tokens).collect();
        assert_eq!(fronts, [Some(20), Some(10), Some(20), Some(20), Some(10)]);
    }

    /// A session that lasts a minute from an hour on, with so many new turns of which one fell.
    fn counted(id: &str, user: &str, hour: i64, n_turns: u32) -> Indexed {
        let mut it = session(id, user, &[hour * 60, hour * 60 + 1], None);
        it.reads_first = Some(true);
        it.own.turn = SeenCases { happened: 1, of: n_turns };
        it
    }

    #[test]
    fn a_session_is_told_what_was_counted_in_those_of_its_user_that_had_ended_when_it_began() {
        let newer = Kin { version: Version::parse("2.1.200"), ..session("", "", &[], None).kin };
        let long = counted("long", "ann", 1, 1_000);
        let all = [
            counted("a", "ann", 0, 4),
            Indexed { moments: [long.moments.clone(), vec![[900 * 60_000; 2]]].concat(), ..long },
            counted("b", "ann", 2, 8),
            counted("b", "ann", 2, 8),
            counted("c", "bob", 3, 16),
            Indexed { kin: newer, ..counted("d", "ann", 3, 32) },
            counted("e", "ann", 4, 64),
            counted("f", "ann", 20, 128),
        ];
        let told = |sessions: &[&Indexed]| {
            let told = neighbours(sessions);
            let by_id: IndexMap<String, (SeenCases, SeenCases)> = sessions
                .iter()
                .zip(told)
                .map(|(session, it)| (session.id.clone(), (it.own.turn, it.own.front)))
                .collect();
            ["a", "long", "b", "c", "d", "e", "f"].map(|it| by_id[it])
        };

        let forward = told(&all.iter().collect::<Vec<_>>());
        let backward = told(&all.iter().rev().collect::<Vec<_>>());

        let seen = |happened, of| SeenCases { happened, of };
        let turns = [(0, 0), (1, 4), (1, 4), (0, 0), (0, 0), (2, 12), (4, 1_076)];
        assert_eq!(forward.map(|it| it.0), turns.map(|(happened, of)| seen(happened, of)));
        assert_eq!(forward, backward);
        // Nobody known had left anything before any of them.
        assert_eq!(forward.map(|it| it.1.of), [0, 1, 1, 0, 0, 2, 4]);
    }

    #[test]
    fn the_user_is_the_home_and_worktrees_are_of_their_checkout() {
        let told = |folder| {
            let HomeFolders { user, project } = home_folders(folder);
            (user, project)
        };
        let pair = |user: &str, project: &str| (user.to_owned(), project.to_owned());

        assert_eq!(told("/Users/ann/work/cli"), pair("/Users/ann", "/Users/ann/work/cli"));
        assert_eq!(told("/home/bob/cli/.worktrees/2/src"), pair("/home/bob", "/home/bob/cli"));
        assert_eq!(told("/home/bob/cli/.claude/worktrees/x"), pair("/home/bob", "/home/bob/cli"));
        assert_eq!(told(r"C:\Users\eve\cli"), pair("C:/Users/eve", "C:/Users/eve/cli"));
        assert_eq!(told("/root/x/"), pair("/root", "/root/x"));
        assert_eq!(told("/workspace"), pair("", "/workspace"));
        assert_eq!(told(""), pair("", ""));
        assert_eq!(told("/Users/Users/x"), pair("/Users/Users", "/Users/Users/x"));
    }
}
