//! A setting that a user asks for: `KEY=VALUE`, checked against what the agent takes.

use super::agents::{Agent, AgentSetting};
use ctxsim_base::diag::{Code, Diagnostic, nearest};
use ctxsim_base::grid::numbers::{listed, listed_code};
use ctxsim_base::list::Listed as _;

/// Settings with the values that are asked for, together one choice.
pub(super) type AskedPairs = Vec<(&'static AgentSetting, String)>;

/// Reads what is asked of an agent; nothing where it has none of these settings and another agent has.
///
/// # Errors
/// A text without `=`, a setting that no agent has, a value that the setting does not take, or a setting that is named twice.
pub(super) fn pairs(agent: &'static Agent, texts: &[String]) -> Result<AskedPairs, Vec<Diagnostic>> {
    let mut all = AskedPairs::new();
    let mut problems = Vec::new();
    for text in texts {
        let Some((key, value)) = text.split_once('=') else {
            problems.push(problem(text, "a setting and its value are expected".to_owned(), example(agent)));
            continue;
        };
        let Some(setting) = agent.setting(key.trim()) else {
            if is_known_elsewhere(agent, key.trim()) {
                return Ok(Vec::new());
            }
            problems.push(unknown(agent, text, key.trim()));
            continue;
        };
        if all.iter().any(|it| it.0.key == setting.key) {
            let message = format!("`{}` is given twice", setting.key);
            problems.push(problem(text, message, "give one value for each setting".to_owned()));
            continue;
        }
        match setting.checked(value.trim()) {
            Ok(Some(value)) => all.push((setting, value)),
            Ok(None) => {
                let message = format!("`{value}` leaves `{}` as if nobody had set it", setting.key);
                problems.push(problem(text, message, format!("give a value: {}", setting.range)));
            }
            Err(help) => {
                let message = format!("`{value}` is not a value of `{}` of {}", setting.key, agent.name);
                problems.push(problem(text, message, help));
            }
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Says that what is asked for contradicts what one of its settings needs.
pub(super) fn contradictory(agent: &Agent, asked: &AskedPairs) -> Vec<Diagnostic> {
    let needs = |it: &(&'static AgentSetting, String)| {
        it.0.needs.iter().map(|(key, value)| format!("{key}={value}")).listed()
    };
    let needed: Vec<String> = asked.iter().flat_map(needs).listed();
    let set: Vec<String> = asked.iter().map(|it| format!("{}={}", it.0.key, it.1)).listed();
    let message =
        format!("{} does nothing in {} without {}", listed_code(&set), agent.name, listed_code(&needed));
    vec![problem(&set[0], message, format!("also give `--try {}`", needed.join(" --try ")))]
}

/// Says that none of the agents of the sessions has what is asked for.
pub(super) fn of_others(agents: &[String], texts: &[String]) -> Vec<Diagnostic> {
    let known = Agent::all().map(|it| it.values().listed()).unwrap_or_default();
    let key = |text: &String| text.split_once('=').map_or(text.clone(), |it| it.0.trim().to_owned());
    let has = |agent: &&Agent| texts.iter().all(|it| agent.setting(&key(it)).is_some());
    let whose: Vec<String> = known.into_iter().filter(has).map(|it| it.name.clone()).listed();
    let whose = if whose.is_empty() { "different agents".to_owned() } else { listed(&whose) };
    let message = format!("these are sessions of {}, and this is a setting of {whose}", listed(agents));
    vec![problem(&texts.join(" "), message, "name sessions of the agent that has the setting".to_owned())]
}

fn is_known_elsewhere(agent: &Agent, key: &str) -> bool {
    Agent::all().is_ok_and(|it| it.values().any(|it| it.name != agent.name && it.setting(key).is_some()))
}

fn example(agent: &Agent) -> String {
    let first = agent.settings.first().and_then(|it| Some(format!("{}={}", it.key, it.values.first()?)));
    format!("write KEY=VALUE, as in `--try {}`", first.unwrap_or_default())
}

/// Says that an agent has no such setting, with the reason where it is one that is not played.
fn unknown(agent: &Agent, text: &str, key: &str) -> Diagnostic {
    let left_out = agent.left_out.iter().find(|it| it.key.split(", ").any(|own| own == key));
    let message = match left_out {
        Some(it) => format!("`{key}` of {} is not simulated: {}", agent.name, it.reason),
        None => format!("{} has no setting `{key}` that is simulated here", agent.name),
    };
    let keys: Vec<String> = agent.settings.iter().map(|it| it.key.clone()).listed();
    let help = match nearest(key, keys.iter().map(String::as_str)).filter(|_| left_out.is_none()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", listed_code(&keys)),
    };
    problem(text, message, help)
}

fn problem(text: &str, message: String, help: String) -> Diagnostic {
    let mut problem = Diagnostic::at(Code("setting-value"), text, message).help(help);
    "--try".clone_into(&mut problem.place.file);
    problem
}
