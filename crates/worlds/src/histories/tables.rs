//! Tables of histories: what was fetched again, by kind and lag, what each memory would make of it,
//! and how well one half of the sessions tells the other.

use indexmap::IndexMap;

use super::FetchSummary;
use super::stream::{FetchClass, LAGS};
use super::summary::{Again, DAYS, FetchCount, MemoryNumbers, PROBES_MIN, RateRow};
use ctxsim_base::grid::numbers::{NONE, fixed, fixed_or_none, listed, percent, thousands};
use ctxsim_base::grid::{CellKind, Grid, Of};
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves, Run};
use ctxsim_input::policy::memory::SourceKind;
use ctxsim_input::suite::Reference;

/// A run with what is told of its history.
type HistoryRow<'r> = (&'r Run, &'r FetchSummary);

/// A project, a memory, and what it is worth there.
type MemoryWorth<'r> = (&'r str, &'r str, &'r MemoryNumbers);

/// What the sum of several projects is called.
const ALL: &str = "all";

/// Returns the tables of runs.
pub(super) fn grids(runs: &[&Run], _references: &[Reference]) -> Vec<Grid> {
    let told = told(runs);
    let Some(first) = told.first().map(|it| it.0.policy.as_str()) else { return Vec::new() };
    // What was fetched again is the same whatever the memory.
    let projects: Vec<HistoryRow<'_>> = told.iter().filter(|it| it.0.policy == first).copied().collect();
    let all = sum(projects.iter().map(|it| it.1)).unwrap_or_default();
    let mut grids = vec![rediscovery(&projects, &all), kinds(&all), lags(&all)];
    grids.extend(verdicts(&told, &projects, &all));
    grids.extend(memories(&told, projects.len() > 1));
    grids.extend(rates(&all));
    grids.extend(files(&projects, &all));
    grids
}

/// Returns the curves of rediscovery and staleness by lag, over all projects.
pub(super) fn curves(runs: &[&Run]) -> Vec<Curves> {
    let told = told(runs);
    let policies = policies(&told);
    let Some(all) = told.first().map(|it| it.0.policy.as_str()).and_then(|policy| of_policy(&told, policy))
    else {
        return Vec::new();
    };
    let share = |part: u64, of: u64| {
        (of > 0).then(|| Statistic::new([part as f64 / of as f64].into_iter())).flatten()
    };
    let curve = |name: &str, numbers: Vec<Option<Statistic>>| Curve {
        policy: name.to_owned(),
        name: name.to_owned(),
        is_beside: false,
        numbers,
    };
    let changed = all.lags.values().map(|it| share(it.changed, it.n())).collect();
    let stale = policies.iter().filter_map(|policy| {
        let sum = of_policy(&told, policy)?;
        sum.memory.as_ref()?;
        let numbers = sum.lags.values().map(|it| share(it.stale, it.fresh + it.stale)).collect();
        Some(curve(policy, numbers))
    });
    let again = |of: &FetchSummary| -> Vec<Option<Statistic>> {
        let rows = |lag: &str| {
            of.rates.iter().filter(|it| it.lag == lag).fold([0; 2], |sum, it| {
                [sum[0] + it.first[0] + it.second[0], sum[1] + it.first[1] + it.second[1]]
            })
        };
        of.lags.keys().map(|lag| rows(lag)).map(|it| share(it[0], it[1])).collect()
    };
    let places: Vec<String> = all.lags.keys().map(|it| (*it).to_owned()).collect();
    let drawn = |title: &str, curves: Vec<Curve>| Curves {
        axis: CurvePlaces::Lag,
        title: title.to_owned(),
        subject: told.first().map(|it| it.0.profile.clone()).unwrap_or_default(),
        places: places.clone(),
        curves,
    };
    let staleness = std::iter::once(curve("changed", changed)).chain(stale).collect();
    vec![
        drawn("Sources fetched again by lag", vec![curve("fetched again", again(&all))]),
        drawn("Staleness by lag", staleness),
    ]
}

fn told<'r>(runs: &[&'r Run]) -> Vec<HistoryRow<'r>> {
    runs.iter().filter_map(|run| Some((*run, run.found::<FetchSummary>()?))).collect()
}

/// Adds up what is told of several projects.
fn sum<'s>(mut all: impl Iterator<Item = &'s FetchSummary>) -> Option<FetchSummary> {
    let mut sum = all.next()?.clone();
    let mut n = 1;
    for it in all {
        sum.add(it);
        n += 1;
    }
    sum.half_life_days = sum.half_life_days.filter(|_| n == 1);
    Some(sum)
}

fn of_policy(told: &[HistoryRow<'_>], policy: &str) -> Option<FetchSummary> {
    sum(told.iter().filter(|it| it.0.policy == policy).map(|one| one.1))
}

/// Returns how much of the sessions of each project is rediscovery.
fn rediscovery(projects: &[HistoryRow<'_>], all: &FetchSummary) -> Grid {
    type Named<'s> = (&'s str, &'s FetchSummary);
    let count = |it: &FetchSummary, class| thousands(it.found(class).calls);
    let fetched = |it: &FetchSummary, of: fn(&FetchCount) -> u64| {
        FetchClass::ALL.iter().map(|class| of(&it.found(*class))).sum::<u64>()
    };
    let columns: [Of<'_, Named<'_>>; 18] = [
        ("project", &|(project, _)| (*project).to_owned()),
        ("sessions", &|(_, it)| thousands(it.sessions)),
        ("requests", &|(_, it)| thousands(it.requests)),
        ("resets", &|(_, it)| thousands(it.resets)),
        ("fetches", &|(_, it)| thousands(fetched(it, |found| found.calls))),
        ("new", &|(_, it)| count(it, FetchClass::New)),
        ("other part", &|(_, it)| count(it, FetchClass::OtherPart)),
        ("in session: again", &|(_, it)| count(it, FetchClass::Again)),
        ("after a reset", &|(_, it)| count(it, FetchClass::Lost)),
        ("rediscovered", &|(_, it)| thousands(it.rediscovered().calls)),
        ("unchanged", &|(_, it)| count(it, FetchClass::Unchanged)),
        ("changed", &|(_, it)| count(it, FetchClass::Changed)),
        ("own change", &|(_, it)| thousands(it.own_changes)),
        ("tokens", &|(_, it)| thousands(it.rediscovered().tokens)),
        ("of fetched", &|(_, it)| {
            share(it.rediscovered().tokens as f64, fetched(it, |found| found.tokens) as f64)
        }),
        ("USD", &|(_, it)| fixed(it.again_usd, 2)),
        ("of bill", &|(_, it)| share(it.again_usd, it.billed_usd)),
        ("half-life, days", &|(_, it)| fixed_or_none(it.half_life_days, 1)),
    ];
    let sum = (projects.len() > 1).then_some((ALL, all));
    let rows: Vec<Named<'_>> = projects.iter().map(|it| (it.0.scenario.as_str(), it.1)).chain(sum).collect();
    Grid::of("What sessions fetched again of earlier sessions", 1, &rows, &columns).leaving(&[
        "resets",
        "own change",
        "of fetched",
        "requests",
        "half-life, days",
    ])
}

fn share(part: f64, of: f64) -> String {
    if of > 0.0 { percent(part / of) } else { NONE.to_owned() }
}

/// Returns what the fetches of each kind of source found.
fn kinds(all: &FetchSummary) -> Grid {
    let headings = [
        "kind",
        "new",
        "other part",
        "in session: again",
        "after a reset",
        "unchanged",
        "changed",
        "rediscovered tokens",
    ];
    let rows = all.kinds.iter().map(|(kind, it)| {
        let counts = FetchClass::ALL.iter().map(|class| thousands(it.of(*class).calls));
        let tokens = thousands(it.rediscovered().tokens);
        std::iter::once((*kind).to_owned()).chain(counts).chain([tokens]).collect::<Vec<_>>()
    });
    Grid::new(
        "By kind of source; an action is the outcome of something done, and counts nowhere else",
        1,
        &headings,
        rows,
    )
}

/// Returns how much had changed, by lag.
fn lags(all: &FetchSummary) -> Grid {
    let row = |(lag, it): (String, &Again)| {
        let n = it.n();
        let said = if n < PROBES_MIN { "cannot tell".to_owned() } else { share(it.changed as f64, n as f64) };
        vec![lag, thousands(n), thousands(it.unchanged), thousands(it.changed), said]
    };
    let sessions =
        all.lags.iter().map(|it| (format!("{} session{}", it.0, if *it.0 == "1" { "" } else { "s" }), it.1));
    let days = DAYS.iter().filter_map(|it| Some((it.1.to_owned(), all.days.get(it.1)?)));
    let headings = ["lag", "rediscovered", "unchanged", "changed", "share changed"];
    Grid::new("Rediscovery and change by lag", 1, &headings, sessions.chain(days).map(row))
}

/// Returns what each memory would make of it, in each project and in all.
fn memories(told: &[HistoryRow<'_>], has_sum: bool) -> Option<Grid> {
    let columns: [Of<'_, MemoryWorth<'_>>; 17] = [
        ("project", &|(project, ..)| (*project).to_owned()),
        ("memory", &|(_, memory, _)| (*memory).to_owned()),
        ("known", &|(.., it)| thousands(it.fresh + it.stale)),
        ("stale", &|(.., it)| thousands(it.stale)),
        ("spared", &|(.., it)| percent(it.spared)),
        ("misled", &|(.., it)| percent(it.misled)),
        ("tokens a request", &|(.., it)| thousands(it.shown_tokens.round() as u64)),
        ("writes", &|(.., it)| thousands(it.writes)),
        ("carried USD", &|(.., it)| fixed(it.carried_usd, 2)),
        ("written USD", &|(.., it)| fixed(it.written_usd, 2)),
        ("spared USD", &|(.., it)| fixed(it.spared_usd, 2)),
        ("stale USD", &|(.., it)| fixed(it.stale_usd, 2)),
        ("net USD", &|(.., it)| fixed(it.net_usd, 2)),
        ("from", &|(.., it)| fixed(it.net_interval[0], 2)),
        ("to", &|(.., it)| fixed(it.net_interval[1], 2)),
        ("says", &|(.., it)| it.verdict.to_owned()),
        ("harms from", &|(.., it)| it.harms_from.map_or_else(|| NONE.to_owned(), percent)),
    ];
    let sums: Vec<(&str, FetchSummary)> =
        policies(told).into_iter().filter_map(|it| Some((it, of_policy(told, it)?))).collect();
    let rows: Vec<MemoryWorth<'_>> = if has_sum {
        let in_all = sums.iter().filter_map(|(policy, it)| Some((ALL, *policy, it.memory.as_ref()?)));
        in_all.chain(cheapest(told)).collect()
    } else {
        remembered(told).collect()
    };
    let order =
        ["carried USD", "written USD", "stale USD", "writes", "misled", "stale", "spared USD", "known"];
    let title = if has_sum {
        "What a memory would be worth: in all, and the one that costs least in each project"
    } else {
        "What a memory would be worth"
    };
    (!rows.is_empty()).then(|| Grid::of(title, 2, &rows, &columns).leaving(&order))
}

/// Returns the memories of runs that have one.
fn remembered<'t>(told: &'t [HistoryRow<'_>]) -> impl Iterator<Item = MemoryWorth<'t>> {
    told.iter()
        .filter_map(|(run, it)| Some((run.scenario.as_str(), run.policy.as_str(), it.memory.as_ref()?)))
}

/// Returns of each project the run whose memory costs least.
fn cheapest<'t>(told: &'t [HistoryRow<'_>]) -> Vec<MemoryWorth<'t>> {
    let mut best: IndexMap<&str, MemoryWorth<'t>> = IndexMap::new();
    for (run, it) in told.iter().filter(|it| is_told_of(it.1, 2)) {
        let Some(memory) = &it.memory else { continue };
        let own = (run.scenario.as_str(), run.policy.as_str(), memory);
        let least = best.entry(own.0).or_insert(own);
        if memory.net_usd < least.2.net_usd {
            *least = own;
        }
    }
    best.into_values().collect()
}

/// Says in words whether a memory pays, in each project and in all.
fn verdicts(told: &[HistoryRow<'_>], projects: &[HistoryRow<'_>], all: &FetchSummary) -> Option<Grid> {
    let of_project = |project: &str| {
        let own = told.iter().filter(|it| it.0.scenario == project);
        own.filter_map(|(run, it)| Some((run.policy.clone(), it.memory.clone()?))).collect::<Vec<_>>()
    };
    let mut rows: Vec<[String; 3]> = projects
        .iter()
        .filter(|it| is_told_of(it.1, projects.len()))
        .filter_map(|(run, it)| said(&run.scenario, &of_project(&run.scenario), it.rediscovered().calls))
        .collect();
    if projects.len() > 1 {
        let of_all = |policy: &str| Some((policy.to_owned(), of_policy(told, policy)?.memory?));
        let memories: Vec<(String, MemoryNumbers)> = policies(told).into_iter().filter_map(of_all).collect();
        rows.extend(said(ALL, &memories, all.rediscovered().calls));
    }
    let grid = |rows: Vec<[String; 3]>| {
        Grid::new("Does a memory pay?", 1, &["project", "says", "why"], rows.into_iter().map(Vec::from))
    };
    (!rows.is_empty()).then(|| grid(rows).with(CellKind::Text, &[1, 2]))
}

/// Returns whether a project has a row of its own where memories are told of: in a single session nothing is fetched again.
fn is_told_of(of: &FetchSummary, n_projects: usize) -> bool {
    of.sessions > 1 || n_projects == 1
}

/// Returns whether the order of two memories changes between their lowest costs, as declared, and their highest.
fn is_open(one: &[f64; 3], other: &[f64; 3]) -> bool {
    let differs = |by: fn(&f64, &f64) -> bool| one.iter().zip(other).any(|(one, other)| by(one, other));
    differs(f64::lt) && differs(f64::gt)
}

/// Says whether the cheapest of some memories pays, and which others may be as good.
fn said(project: &str, memories: &[(String, MemoryNumbers)], probes: u64) -> Option<[String; 3]> {
    let (name, best) = memories.iter().min_by(|one, other| one.1.net_usd.total_cmp(&other.1.net_usd))?;
    let ends = |it: &MemoryNumbers| [it.net_interval[0], it.net_usd, it.net_interval[1]];
    let open = memories.iter().filter(|it| it.0 != *name && is_open(&ends(&it.1), &ends(best)));
    let open: Vec<String> = open.map(|it| it.0.clone()).collect();
    let says = match best.verdict {
        "pays" => "a memory pays",
        "harms" => "no memory pays",
        "open" => "open: it hangs on what is assumed",
        _ => "cannot tell",
    };
    let few = if probes < PROBES_MIN { format!(", fewer than {PROBES_MIN}") } else { String::new() };
    let costs = if best.net_usd > 0.0 { "costs" } else { "spares" };
    let mut why = format!(
        "{} {} something was rediscovered{few}; the cheapest, {name}, {costs} {} USD net (from {} to {})",
        thousands(probes),
        if probes == 1 { "time" } else { "times" },
        fixed(best.net_usd.abs(), 2),
        fixed(best.net_interval[0], 2),
        fixed(best.net_interval[1], 2),
    );
    match best.harms_from {
        Some(rate) => {
            why += &format!("; it does harm once more than {} of the sources change", percent(rate));
        }
        None => why += "; it would cost more than it spares even if no source changed",
    }
    if !open.is_empty() {
        why += &format!("; whether it is cheaper than {} hangs on what is assumed", listed(&open));
    }
    Some([project.to_owned(), says.to_owned(), why])
}

/// Returns the policies of some runs, each once.
fn policies<'r>(told: &[HistoryRow<'r>]) -> Vec<&'r str> {
    let mut policies: Vec<&str> = told.iter().map(|it| it.0.policy.as_str()).collect();
    policies.sort_unstable();
    policies.dedup();
    policies
}

/// Returns how well the first half of the sessions tells what the second fetches again.
fn rates(all: &FetchSummary) -> Option<Grid> {
    let said = |share: Option<f64>| share.map_or_else(|| NONE.to_owned(), percent);
    let columns: [Of<'_, &RateRow>; 10] = [
        ("kind", &|it| it.kind.to_owned()),
        ("lag, sessions", &|it| it.lag.to_owned()),
        ("first half: again", &|it| thousands(it.first[0])),
        ("of", &|it| thousands(it.first[1])),
        ("predicted", &|it| said(it.shares()[0])),
        ("second half: again", &|it| thousands(it.second[0])),
        ("of", &|it| thousands(it.second[1])),
        ("seen", &|it| said(it.shares()[1])),
        ("expected", &|it| fixed_or_none(it.shares()[0].map(|share| share * it.second[1] as f64), 1)),
        ("says", &|it| scored(it)),
    ];
    let place = |it: &&RateRow| {
        let kind = SourceKind::ALL.iter().position(|kind| kind.name() == it.kind);
        (kind, LAGS.iter().position(|lag| lag.2 == it.lag))
    };
    let mut sorted: Vec<&RateRow> = all.rates.iter().collect();
    sorted.order_by_key(place);
    let title = "Sources fetched again: predicted from the first half of the sessions, scored on the second";
    (!all.rates.is_empty()).then(|| Grid::of(title, 2, &sorted, &columns))
}

/// Says whether a prediction held: whether what was seen lies within two standard errors of what was expected.
fn scored(row: &RateRow) -> String {
    let [Some(predicted), Some(_)] = row.shares() else { return "cannot tell".to_owned() };
    if row.first[0] < PROBES_MIN || row.second[0] < PROBES_MIN {
        return "cannot tell".to_owned();
    }
    let [n_first, n] = [row.first[1], row.second[1]].map(|it| it as f64);
    let error = (predicted * (1.0 - predicted) * n * (1.0 + n / n_first)).sqrt();
    let off = row.second[0] as f64 - predicted * n;
    if off.abs() <= 2.0 * error { "holds" } else { "misses" }.to_owned()
}

/// Returns what is seen of memory files: observations, of which nothing follows about causes.
fn files(projects: &[HistoryRow<'_>], all: &FetchSummary) -> Vec<Grid> {
    let headings = ["project", "file", "tokens seen", "USD if in every prompt", "spares at most USD"];
    let row = |(run, it): &HistoryRow<'_>| {
        let file = it.memory_file.as_ref()?;
        let costs = [file.usd, file.spares_at_most_usd].map(|it| fixed(it, 2));
        let front = [run.scenario.clone(), file.name.clone(), thousands(file.tokens)];
        Some(front.into_iter().chain(costs).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<String>> = projects.iter().filter_map(row).collect();
    let mut grids = Vec::new();
    if !rows.is_empty() {
        grids.push(Grid::new("Memory files that calls read", 2, &headings, rows));
    }
    let (with, without) = (&all.with_file, &all.without_file);
    if with.sessions > 0 && without.sessions > 0 {
        let row = |name: &str, it: &Again| {
            let mean = it.n() as f64 / it.sessions as f64;
            let said = if it.n() < PROBES_MIN { "cannot tell".to_owned() } else { fixed(mean, 1) };
            vec![name.to_owned(), thousands(it.sessions), thousands(it.n()), said]
        };
        let rows = [row("read or written", with), row("not", without)];
        let headings = ["memory file", "sessions", "rediscovered", "a session"];
        grids.push(Grid::new(
            "Sessions by whether their calls name a memory file: seen, not a cause",
            1,
            &headings,
            rows,
        ));
    }
    grids
}
