//! A scenario's load as a timeline, whatever its source.

use super::build::TimelineBuilder;
use super::{Timeline, import, random, scripted};
use ctxsim_base::error::Error;
use ctxsim_input::scenario::user_messages::{UserMessages, UserNeeds, UserTerms};
use ctxsim_input::scenario::{Assume, LoadSpec, SessionFile};
use ctxsim_input::{Scenario, ScenarioFile};

/// Makes the timeline of a scenario: of conversations, the first; of session streams and chats, none. It has
/// the scenario's name, followed by the session's own if there are several.
///
/// The caller reads recorded sessions, because it knows the scenario's folder: `recorded` receives the path
/// as written in the scenario, and the assumptions.
///
/// # Errors
/// The errors of `recorded`.
pub fn load(
    scenario: &Scenario,
    recorded: impl FnOnce(&str, &Assume) -> Result<Timeline, Error>,
) -> Result<Timeline, Error> {
    let timeline = match &scenario.load {
        LoadSpec::Turns(turns) => scripted::timeline(scenario, turns),
        LoadSpec::Generate(generate) => scripted::generated(scenario, generate),
        LoadSpec::Random { turns } => random::timeline(scenario, *turns),
        LoadSpec::Recorded { path, assume } => {
            let mut timeline = recorded(path, assume)?;
            if !timeline.name.starts_with(&format!("{}/", scenario.name)) {
                timeline.name.clone_from(&scenario.name);
            }
            timeline
        }
        // A world of its own makes what it plays; several sessions are several timelines.
        _ => TimelineBuilder::new(&scenario.name, &[]).finish(),
    };
    Ok(with_settings_of(timeline, scenario))
}

/// Makes the timelines of several sessions; what they begin with stays in the cache between those of a user.
pub fn sessions(scenario: &Scenario, sessions: &[SessionFile]) -> Vec<Timeline> {
    let made = sessions.iter().map(|session| {
        let mut timeline = with_settings_of(scripted::timeline(scenario, &session.turns), scenario);
        timeline.name = format!("{}/{}", scenario.name, session.name);
        timeline.began_ms = i64::try_from(session.at.0).ok();
        if let Some(own) = timeline.spine.sessions.first_mut() {
            session.name.clone_into(&mut own.id);
            own.parent.clone_from(&session.parent);
        }
        timeline
    });
    let mut made: Vec<Timeline> = made.collect();
    let users: Vec<&str> = sessions.iter().map(|it| it.user.as_str()).collect();
    import::hear(&mut made, &users);
    // A message without a name is nobody else's.
    let is_named = |it: &SessionFile| it.turns.first().is_some_and(|turn| turn.says.is_some());
    let named = made.iter_mut().zip(sessions).zip(&users).filter(|it| is_named(it.0.1));
    import::hear_siblings(named.map(|((timeline, _), user)| (timeline, *user)).collect());
    made
}

/// Gives a timeline what its scenario sets, wherever the items come from.
pub fn with_settings_of(mut timeline: Timeline, scenario: &ScenarioFile) -> Timeline {
    timeline.seed = scenario.seed;
    // What was measured of exploration was measured beside needs that were inferred.
    let is_inferred = !timeline.needs.of_items().is_empty();
    timeline.refetch = if is_inferred { scenario.refetch.explored() } else { scenario.refetch };
    timeline.users = users(&timeline, scenario);
    // A timeline that is held in memory has been given its scenario's settings before.
    let words = timeline.users.map(|it| it.words()).filter(|it| !timeline.assumptions.contains(it));
    timeline.assumptions.extend(words);
    timeline.harness.unread_tokens = scenario.unread_tokens;
    timeline
}

/// Returns what is assumed of users' messages: as the scenario says, else of recorded sessions, and of loads that declare no needs.
fn users(timeline: &Timeline, scenario: &ScenarioFile) -> Option<UserTerms> {
    let is_usual = || timeline.recorded.is_some() || timeline.needs.is_empty();
    match scenario.user_messages {
        Some(UserMessages::Ignored) => None,
        Some(UserMessages::Needed(it)) => Some(it.terms()),
        None => is_usual().then(|| UserNeeds::default().terms()),
    }
}
