//! `ctxsim compare`: what changes from one policy to another, and why.

use crate::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use crate::git;
use crate::git::Revisions;
use crate::what::{SelectArgs, SuiteArgs, What};
use ctxsim_app::catalog::Origin;
use ctxsim_app::input_change;
use ctxsim_base::grid::numbers;
use ctxsim_report::contrast::{Beside, Contrast, InputFate, document, page, review, summary, table};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim compare --base identity --candidate clear_tool_results --scenario duckagent/long_run
  ctxsim compare --base rev:main --candidate policies/mine.ron ~/.claude/projects   your branch against main
  ctxsim compare --base rev:main                    every policy of yours that differs from main
  ctxsim compare --base A --candidate B --scenario S --set scenario.recovery=sampled --trials 200
  ctxsim compare --base A --candidate B --format github >> \"$GITHUB_STEP_SUMMARY\"

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "`compare`",
    known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::GITHUB],
};

/// The arguments of `compare`.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.offered(it)),
    mut_arg("suite", said("Suite that supplies the scenarios and profiles that you omit [default: your suites with the candidate, else your scenarios and sessions]"))
)]
pub(crate) struct CompareArgs {
    /// Base policy by name or path, or `rev:REVISION` for the candidate as of that git revision
    #[arg(long, value_name = "P")]
    base: String,
    /// Candidate policies by name or path [default: your policies that differ from `rev:…`]
    #[arg(long = "candidate", value_name = "P", num_args = 1..)]
    candidates: Vec<String>,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    shown: PagedArgs,
    /// Show every change, request and need
    #[arg(long)]
    details: bool,
}

/// A base and a candidate.
type ComparedPair = [String; 2];

/// Pairs, and what they are compared on.
struct ComparedGroup {
    comparison: Comparison,
    pairs: Vec<ComparedPair>,
    /// The loads in a sentence, where the arguments omit them.
    loads: Option<String>,
}

/// Own loads that are named in a sentence.
const LOADS_NAMED: usize = 4;

/// Compares and writes.
pub(super) fn compare(catalog: &Catalog, args: &CompareArgs) -> Result<(), Error> {
    let format = args.shown.shown.choose(&FORMATS)?;
    let comparison = args.select.selecting(args.what.comparison(catalog, "--candidate", &args.candidates)?);
    let comparison = Comparison { suite: args.suite.suite.clone(), ..comparison };
    let pairs = pairs(catalog, &args.base, &comparison.policies)?;
    let found = git::found_in_revisions(catalog, pairs.iter().flatten(), comparison.allow_process)?;
    let (pairs, new) = known(pairs, &found, args)?;
    let pairs = changed(&found, pairs)?;
    let mut beside = Beside { new, ..beside_since(catalog, &args.base)? };
    if pairs.is_empty() {
        args.shown.check(catalog.files())?;
    } else if !beside.new.is_empty() {
        output::tell(format_args!("not compared: {}", beside.newness()));
    }
    let mut contrasts = Vec::new();
    let groups = if pairs.is_empty() { Vec::new() } else { groups(&found, comparison, pairs)? };
    for ComparedGroup { comparison, pairs, loads } in groups {
        contrasts.extend(compared(&found, args, comparison, &pairs, &mut beside)?);
        beside.loads.extend(loads);
    }
    let text = || match format {
        FormatArg::JSON => document(&contrasts, &beside).map_err(unwritable),
        FormatArg::MARKDOWN => Ok(review(&contrasts, &beside).into()),
        FormatArg::GITHUB => Ok(summary(&contrasts, &beside).into()),
        _ => Ok(table(&contrasts, &beside, args.details, args.shown.shown.terminal())),
    };
    args.shown.put(catalog.files(), format, || page(&contrasts, &beside), text)
}

/// Compares the pairs of a suite.
fn compared(
    catalog: &Catalog,
    args: &CompareArgs,
    comparison: Comparison,
    pairs: &[ComparedPair],
    beside: &mut Beside,
) -> Result<Vec<Contrast>, Error> {
    let mut names: IndexSet<String> = IndexSet::new();
    let mut place = |name: &String| names.insert_full(name.clone()).0;
    let places: Vec<[usize; 2]> = pairs.iter().map(|it| it.each_ref().map(&mut place)).listed();
    let comparison = Comparison { policies: names.into_iter().listed(), ..comparison };
    let plan = Plan::new(catalog, &comparison)?;
    args.shown.check(catalog.files())?;
    let contrasts = with_progress(SIMULATES, |it| plan.contrasts(&places, args.what.threads(), it))?;
    let prices = contrasts.iter().map(|it| (it.profile.clone(), it.as_of.clone())).collect();
    beside.made.add(plan.made(prices));
    Ok(contrasts)
}

/// Returns base and candidate names; if only a revision is named, every policy file of the user.
fn pairs(catalog: &Catalog, base: &str, candidates: &[String]) -> Result<Vec<ComparedPair>, Error> {
    let mut candidates = candidates.to_vec();
    if candidates.is_empty() {
        if !base.starts_with(git::MARK) {
            let help = "name the policy to compare with the base";
            return Err(wrong(Code("usage"), "`--candidate` is missing", help));
        }
        candidates = own(catalog, Kind::Policy);
        if candidates.is_empty() && !had_policies(catalog, base)? {
            let help = "name one with `--candidate`, or list your folders in `ctxsim.toml`";
            return Err(wrong(Code("usage"), "your folders contain no policies", help));
        }
    }
    Ok(candidates.into_iter().map(|it| [git::named(base, &it), it]).listed())
}

/// Returns the pairs whose base the revision has, and the other candidates, which are new. A candidate that was named
/// must have a base.
fn known(
    pairs: Vec<ComparedPair>,
    found: &Revisions,
    args: &CompareArgs,
) -> Result<(Vec<ComparedPair>, Vec<String>), Error> {
    if !args.candidates.is_empty() && !found.lacking.is_empty() {
        return Err(found.lacking.iter().map(|it| it.1.clone()).listed().into());
    }
    let is_new = |pair: &ComparedPair| found.lacking.iter().any(|it| it.0 == pair[0]);
    let (new, known): (Vec<ComparedPair>, Vec<ComparedPair>) = pairs.into_iter().partition(is_new);
    Ok((known, new.into_iter().map(|[_, candidate]| candidate).listed()))
}

/// Returns the pairs whose policies differ in more than their name. The files of a program may differ, so programs
/// are always compared.
fn changed(catalog: &Catalog, pairs: Vec<ComparedPair>) -> Result<Vec<ComparedPair>, Error> {
    let mut read = catalog.policies();
    let mut kept = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [base, candidate] = [read.policy(&pair[0])?.spec, read.policy(&pair[1])?.spec];
        if base != candidate || candidate.process.is_some() {
            kept.push(pair);
        }
    }
    Ok(kept)
}

/// Groups pairs by what supplies the loads that the arguments omit: the user's suites that list the candidate, else the user's scenarios and
/// sessions, else the default suite.
fn groups(
    catalog: &Catalog,
    asked: Comparison,
    pairs: Vec<ComparedPair>,
) -> Result<Vec<ComparedGroup>, Error> {
    if asked.suite.is_some() || !asked.scenarios.is_empty() {
        return Ok(vec![ComparedGroup { comparison: asked, pairs, loads: None }]);
    }
    let mut groups = Vec::new();
    let mut rest = pairs.clone();
    for name in own(catalog, Kind::Suite) {
        let suite = catalog.suite(&name)?;
        let listed = suite.spec.policies.iter().flat_map(|policy| {
            catalog.expand(Kind::Policy, &catalog.named_by(&suite.origin, Kind::Policy, policy))
        });
        let listed: Vec<Origin> = listed.filter_map(|it| catalog.find(Kind::Policy, &it).ok()).listed();
        let is_listed = |pair: &ComparedPair| {
            catalog.find(Kind::Policy, &pair[1]).is_ok_and(|it| listed.iter().any(|of| of.is_same(&it)))
        };
        rest.retain(|it| !is_listed(it));
        let pairs: Vec<ComparedPair> = pairs.iter().filter(|it| is_listed(it)).cloned().listed();
        if !pairs.is_empty() {
            let loads = Some(format!("On the scenarios of your suite `{name}`."));
            let comparison = Comparison { suite: Some(name), ..asked.clone() };
            groups.push(ComparedGroup { comparison, pairs, loads });
        }
    }
    if !rest.is_empty() {
        groups.push(on_own_loads(catalog, asked, rest));
    }
    Ok(groups)
}

/// Compares on the user's scenarios and sessions, under the user's profiles, as far as there are any.
fn on_own_loads(catalog: &Catalog, asked: Comparison, pairs: Vec<ComparedPair>) -> ComparedGroup {
    let mut scenarios = own(catalog, Kind::Scenario);
    for folder in catalog.folders() {
        let found = catalog.search(&folder.display().to_string()).unwrap_or_default().found;
        let recordings = found.into_iter().filter(|it| Format::from_path(Path::new(&it.name)).is_none());
        scenarios.extend(recordings.map(|it| it.name));
    }
    if scenarios.is_empty() {
        let loads = "On the bundled suite `default`, because your folders have no scenarios and no sessions.";
        return ComparedGroup { comparison: asked, pairs, loads: Some(loads.to_owned()) };
    }
    let mut named = scenarios.iter().take(LOADS_NAMED).cloned().listed();
    let n_more = scenarios.len() - named.len();
    named.extend((n_more > 0).then(|| format!("{n_more} more")));
    let loads = Some(format!("On the scenarios and sessions of your folders: {}.", numbers::listed(&named)));
    let mut comparison = Comparison { scenarios, ..asked };
    if comparison.profiles.is_empty() {
        comparison.profiles = own(catalog, Kind::Profile);
        comparison.own_models = true;
    }
    ComparedGroup { comparison, pairs, loads }
}

/// Returns the names of the user's own inputs of a kind.
pub(super) fn own(catalog: &Catalog, kind: Kind) -> Vec<String> {
    let is_own = |it: &&str| matches!(catalog.find(kind, it), Ok(Origin::File(_)));
    catalog.names(kind).filter(is_own).map(str::to_owned).listed()
}

/// Returns what changed since the revision that a base names; nothing if it names none.
fn beside_since(catalog: &Catalog, base: &str) -> Result<Beside, Error> {
    let Some(revision) = revision_of(base) else { return Ok(Beside::default()) };
    let (mut changed, mut unknown) = (Vec::new(), Vec::new());
    for folder in catalog.folders() {
        for kind in Kind::ALL {
            // That the revision exists is known of the policies; a folder need not lie in their repository.
            let Ok(before) = had(revision, folder, kind) else {
                unknown.push(folder.display().to_string());
                break;
            };
            let now = has(catalog, folder, kind)?;
            let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
            for path in paths {
                let texts = [before.get(path), now.get(path)].map(|it| it.map(String::as_str));
                let Some(format) = Format::from_path(path) else { continue };
                let change = input_change(kind, &named_by(path), format, texts);
                // Policies that both have are compared, and new ones are named.
                let is_told = |how| kind != Kind::Policy || how == InputFate::Removed;
                changed.extend(change.filter(|it| is_told(it.how)));
            }
        }
    }
    Ok(Beside { revision: Some(revision.to_owned()), changed, unknown, ..Beside::default() })
}

/// Returns whether the user's folders had policies in the revision that a base names.
fn had_policies(catalog: &Catalog, base: &str) -> Result<bool, Error> {
    let Some(revision) = revision_of(base) else { return Ok(false) };
    for folder in catalog.folders() {
        if !had(revision, folder, Kind::Policy)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the revision that a base names.
fn revision_of(base: &str) -> Option<&str> {
    let rest = base.strip_prefix(git::MARK)?;
    Some(rest.split_once(':').map_or(rest, |it| it.0))
}

/// Returns the files of a kind as a revision has them, by path below the kind's folder.
fn had(revision: &str, folder: &Path, kind: Kind) -> Result<BTreeMap<PathBuf, String>, Error> {
    // A folder whose last file is gone is no longer there.
    let own = folder.join(kind.folder());
    let is_there = own.is_dir();
    let files = git::files_at(revision, if is_there { &own } else { folder })?;
    let below = |(path, text): (&Path, &str)| {
        let path = if is_there { path } else { path.strip_prefix(kind.folder()).ok()? };
        Some((path.to_owned(), text.to_owned()))
    };
    Ok(files.files().filter_map(below).collect())
}

/// Returns the files of a kind as they are now.
fn has(catalog: &Catalog, folder: &Path, kind: Kind) -> Result<BTreeMap<PathBuf, String>, Error> {
    let own = folder.join(kind.folder());
    let mut found = BTreeMap::new();
    for (_, origin) in catalog.origins(kind) {
        if let Origin::File(path) = origin
            && let Ok(below) = path.strip_prefix(&own)
        {
            found.insert(below.to_owned(), read_text(path)?);
        }
    }
    Ok(found)
}

/// Returns the name of an input's file.
fn named_by(path: &Path) -> String {
    path.with_extension("").display().to_string().replace('\\', "/")
}
