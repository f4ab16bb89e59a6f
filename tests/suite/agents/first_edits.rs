//! Each stage of each preset acts on a bundled load; when it first does, on what, and what that does to the prefix, is locked.

use ctxsim::explain::{By, Explanation, Same, explain};
use ctxsim::grid::numbers::thousands;
use ctxsim::input::policy::Action;
use ctxsim::projection::{Editor, Projector, Watch};

use super::*;

#[test]
fn each_stage_of_each_preset_acts_and_what_it_first_does_is_locked() {
    let (loads, large) = (loads(), large_loads());
    let mut of_agents: IndexMap<String, String> = IndexMap::new();
    for nth in 0..loads[0].policies.len() {
        let name = loads[0].policies[nth].name.clone();
        let pairs = loads.iter().chain(&large).map(|it| (it, &it.policies[nth]));
        let all: BTreeSet<usize> = (0..loads[0].policies[nth].stages().len()).collect();
        let acting =
            |stages: &BTreeSet<usize>| pairs.clone().find_map(|(load, it)| first_edits(load, it, stages));
        // Stages that act on different loads are told one by one.
        let told = acting(&all).or_else(|| all.iter().map(|it| acting(&BTreeSet::from([*it]))).collect());
        let told = told.unwrap_or_else(|| panic!("{name}: some stage acts on none of the loads"));
        let agent = name.split('/').nth(1).unwrap_or_default().to_owned();
        writeln!(of_agents.entry(agent).or_default(), "{name}\n{told}").unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/agents");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (agent, told) in &of_agents {
        settings.bind(|| insta::assert_snapshot!(agent.as_str(), told));
    }
    let folder = root().join("snapshots/agents");
    let kept = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let written: BTreeSet<String> = of_agents.keys().map(|it| format!("{it}.snap")).collect();
    assert_eq!(kept.collect::<BTreeSet<_>>(), written, "what an agent did that is gone stays behind");
}

/// Says what these stages of a policy first do on a load; nothing, where one of them does not act.
fn first_edits(load: &Load, policy: &Policy, stages: &BTreeSet<usize>) -> Option<String> {
    let profile = &load.profiles[0];
    let (mut rows, mut edited) = (Rows::default(), Edited::default());
    let play = Simulation::new(timeline(load), policy, &profile.limits, &profile.cache);
    let outcome = play.run_watched(&mut edited, &mut [&mut rows]);
    if stages.iter().any(|it| outcome.firings[*it].acted == 0) {
        return None;
    }
    let mut told = format!("  on {}, {} requests", load.name, rows.requests.len());
    let pings = |stage: &usize| matches!(policy.stages()[*stage].apply, Action::Ping { .. });
    let mut missing: BTreeSet<usize> = stages.iter().copied().filter(|it| !pings(it)).collect();
    for (stage, row) in stages.iter().copied().filter(pings).zip(first_ping(&rows)) {
        told += &words_of_ping(&policy.stages()[stage].name, row);
    }
    let mains: Vec<usize> =
        (0..rows.requests.len()).filter(|it| rows.requests[*it].role == Role::Main).collect();
    let sent = edited.in_front_of.iter().filter_map(|it| mains.get(*it));
    for n in sent.map(|it| it + 1) {
        let explained = explain(timeline(load), policy, profile, n).unwrap_or_else(|it| panic!("{it:?}"));
        let acted = explained.since.iter().filter_map(|it| match it.by {
            By::Stage(stage, _) => Some(stage),
            _ => None,
        });
        let first: Vec<usize> = acted.filter(|it| missing.remove(it)).collect();
        if !first.is_empty() {
            told += &words(&explained, policy, &rows.requests);
        }
        if missing.is_empty() {
            let has_more = stages.len() < policy.stages().len();
            return Some(told + if has_more { "\n" } else { "" });
        }
    }
    assert!(missing.is_empty(), "{}: stages {missing:?} act late", policy.name);
    Some(told)
}

/// The first request that keeps the prompt in the cache.
fn first_ping(rows: &Rows) -> Option<&RequestRow> {
    rows.requests.iter().find(|it| it.role == Role::KeepAlive)
}

/// Says what a ping was.
fn words_of_ping(stage: &str, row: &RequestRow) -> String {
    let [prompt, read, output] = [row.prompt, row.usage.read, row.output].map(thousands);
    let turn = row.turn_ix + 1;
    format!("\n  after turn {turn}: `{stage}` sends {prompt} tokens, {read} read, {output} written")
}

/// Notes in front of which of the agent's own requests a stage acts for the first time, counted from 0.
#[derive(Default)]
struct Edited {
    n_sent: usize,
    n_acting: usize,
    in_front_of: BTreeSet<usize>,
}

impl Watch for Edited {
    fn after(&mut self, moment: Moment, policy: &dyn Projector, _: &mut Editor<'_, '_>) {
        let n_acting = policy.firings().iter().filter(|it| it.acted > 0).count();
        if n_acting > std::mem::replace(&mut self.n_acting, n_acting) {
            self.in_front_of.insert(self.n_sent);
        }
        self.n_sent += usize::from(moment == Moment::Request);
    }
}

/// Says what a request was sent after.
fn words(it: &Explanation, policy: &Policy, rows: &[RequestRow]) -> String {
    let mut told = format!("\n  request {}: ", it.n);
    let of_stage = it.since.iter().filter_map(|done| {
        let By::Stage(stage, step) = done.by else { return None };
        let step = if step == 0 { String::new() } else { format!(" (step {})", step + 1) };
        let [before, after] = done.tokens.map(thousands);
        let items = if done.n_items == 1 { "item" } else { "items" };
        Some(format!(
            "`{}`{step} edits {} {items}, {before} tokens become {after}",
            policy.stages()[stage].name,
            done.n_items
        ))
    });
    told += &of_stage.collect::<Vec<_>>().join("; ");
    let summaries = rows[..it.n - 1].iter().rev().take_while(|it| it.role == Role::Summariser);
    for row in summaries {
        let (prompt, read) = (thousands(row.prompt), thousands(row.usage.read));
        write!(
            told,
            "\n    summary request: {prompt} tokens, {read} read, {} written",
            thousands(row.output)
        )
        .unwrap();
    }
    let usage = &it.row.usage;
    let written = usage.write[0] + usage.write[1];
    write!(
        told,
        "\n    prompt: {} tokens, {} read, {} written to the cache",
        thousands(it.row.prompt),
        thousands(usage.read),
        thousands(written)
    )
    .unwrap();
    if let Some(prefix) = &it.prefix {
        let same = match &prefix.same {
            Same::All => "begins with all of the request before".to_owned(),
            Same::Until { .. } => {
                format!("begins with {} tokens of the request before", thousands(prefix.same_tokens))
            }
        };
        let before = thousands(prefix.tokens);
        write!(told, "\n    prefix: {same} ({before} tokens)").unwrap();
    }
    told
}
