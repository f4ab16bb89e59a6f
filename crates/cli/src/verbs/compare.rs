//! `ctxsim compare`: what changes from one policy to another, and why.

use crate::prelude::*;

use indexmap::IndexSet;

use crate::git::RevisionCatalog;
use ctxsim_app::catalog::Origin;
use ctxsim_app::input_change;
use ctxsim_report::contrast::{
    ComparisonContext, Contrast, InputFate, contrasts_json, contrasts_review_markdown,
    contrasts_summary_markdown, draw_contrasts, render_contrasts_page,
};

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
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("suite", with_help("Suite that supplies the scenarios and profiles that you omit [default: your suites with the candidate, else your scenarios and sessions]"))
)]
pub(crate) struct CompareArgs {
    /// Base policy by name or path, or `rev:REVISION` for the candidate as of that git revision
    #[arg(long, value_name = "P")]
    base: String,
    /// Candidate policies by name or path [default: your policies that differ from `rev:…`]
    #[arg(long = "candidate", value_name = "P", num_args = 1..)]
    candidates: Vec<String>,
    #[command(flatten)]
    what: LoadArgs,
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
pub(super) fn compare_policies(catalog: &Catalog, args: &CompareArgs) -> Result<()> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let comparison = args.what.comparison(catalog, "--candidate", &args.candidates)?;
    let comparison =
        Comparison { suite: args.suite.suite.clone(), ..args.select.add_selection_to(comparison) };
    let pairs = pair_with_base(catalog, &args.base, &comparison.policies)?;
    let found =
        git::read_existing_policy_revisions(catalog, pairs.iter().flatten(), comparison.allow_process)?;
    let (pairs, new) = split_off_new_candidates(pairs, &found, args)?;
    let pairs = keep_differing_pairs(&found, pairs)?;
    let mut beside = ComparisonContext { new, ..changes_since_base(catalog, &args.base)? };
    if pairs.is_empty() {
        args.shown.check_output_paths(catalog.files_read())?;
    } else if !beside.new.is_empty() {
        output::print_note(format_args!("not compared: {}", beside.describe_new_policies()));
    }
    let mut contrasts = Vec::new();
    let groups = if pairs.is_empty() { Vec::new() } else { group_pairs(&found, comparison, pairs)? };
    for ComparedGroup { comparison, pairs, loads } in groups {
        contrasts.extend(compare_pairs(&found, args, comparison, &pairs, &mut beside)?);
        beside.loads.extend(loads);
    }
    let text = || match format {
        FormatArg::JSON => contrasts_json(&contrasts, &beside).map_err(unwritable_error),
        FormatArg::MARKDOWN => Ok(contrasts_review_markdown(&contrasts, &beside).into()),
        FormatArg::GITHUB => Ok(contrasts_summary_markdown(&contrasts, &beside).into()),
        _ => Ok(draw_contrasts(&contrasts, &beside, args.details, args.shown.shown.terminal())),
    };
    let page = || render_contrasts_page(&contrasts, &beside);
    args.shown.write_text_and_page(catalog.files_read(), format, page, text)
}

/// Compares the pairs of a suite.
fn compare_pairs(
    catalog: &Catalog,
    args: &CompareArgs,
    comparison: Comparison,
    pairs: &[ComparedPair],
    beside: &mut ComparisonContext,
) -> Result<Vec<Contrast>> {
    let mut names: IndexSet<String> = IndexSet::new();
    let mut place = |name: &String| names.insert_full(name.clone()).0;
    let places: Vec<[usize; 2]> = pairs.iter().map(|it| it.each_ref().map(&mut place)).listed();
    let plan = Plan::new(catalog, &Comparison { policies: names.into_iter().listed(), ..comparison })?;
    args.shown.check_output_paths(catalog.files_read())?;
    let contrasts = run_with_progress(SIMULATES, |it| plan.contrast_pairs(&places, args.what.threads(), it))?;
    let prices = contrasts.iter().map(|it| (it.profile.clone(), it.as_of.clone())).collect();
    beside.made.add(plan.made_with(prices));
    Ok(contrasts)
}

/// Returns base and candidate names; if only a revision is named, every policy file of the user.
fn pair_with_base(catalog: &Catalog, base: &str, candidates: &[String]) -> Result<Vec<ComparedPair>> {
    let mut candidates = candidates.to_vec();
    if candidates.is_empty() {
        if !base.starts_with(git::MARK) {
            return Err(usage_error("`--candidate` is missing", "name the policy to compare with the base"));
        }
        candidates = own_input_names(catalog, InputKind::Policy);
        if candidates.is_empty() && !has_policies_at_base(catalog, base)? {
            let help = "name one with `--candidate`, or list your folders in `ctxsim.toml`";
            return Err(usage_error("your folders contain no policies", help));
        }
    }
    Ok(candidates.into_iter().map(|it| [git::policy_name_at_revision(base, &it), it]).listed())
}

/// Returns the pairs whose base the revision has, and the other candidates, which are new. A candidate that was named
/// must have a base.
fn split_off_new_candidates(
    pairs: Vec<ComparedPair>,
    found: &RevisionCatalog,
    args: &CompareArgs,
) -> Result<(Vec<ComparedPair>, Vec<String>)> {
    if !args.candidates.is_empty() && !found.lacking.is_empty() {
        return Err(found.lacking.iter().map(|it| it.1.clone()).listed().into());
    }
    let is_new = |pair: &ComparedPair| found.lacking.iter().any(|it| it.0 == pair[0]);
    let (new, known): (Vec<ComparedPair>, Vec<ComparedPair>) = pairs.into_iter().partition(is_new);
    Ok((known, new.into_iter().map(|[_, candidate]| candidate).listed()))
}

/// Returns the pairs whose policies differ in more than their name. The files of a program may differ, so programs
/// are always compared.
fn keep_differing_pairs(catalog: &Catalog, pairs: Vec<ComparedPair>) -> Result<Vec<ComparedPair>> {
    let mut read = catalog.policy_reader();
    let mut kept = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [base, candidate] = [read.read_policy(&pair[0])?.spec, read.read_policy(&pair[1])?.spec];
        if base != candidate || candidate.process.is_some() {
            kept.push(pair);
        }
    }
    Ok(kept)
}

/// Groups pairs by what supplies the loads that the arguments omit: the user's suites that list the candidate, else the user's scenarios and
/// sessions, else the default suite.
fn group_pairs(catalog: &Catalog, asked: Comparison, pairs: Vec<ComparedPair>) -> Result<Vec<ComparedGroup>> {
    if asked.suite.is_some() || !asked.scenarios.is_empty() {
        return Ok(vec![ComparedGroup { comparison: asked, pairs, loads: None }]);
    }
    let mut groups = Vec::new();
    let mut rest = pairs.clone();
    for name in own_input_names(catalog, InputKind::Suite) {
        let suite = catalog.suite(&name)?;
        let listed = suite.spec.policies.iter().flat_map(|policy| {
            let policy = catalog.resolve_name_in_file(&suite.origin, InputKind::Policy, policy);
            catalog.expand_pattern(InputKind::Policy, &policy)
        });
        let listed = listed.filter_map(|it| catalog.find_origin(InputKind::Policy, &it).ok()).listed();
        let is_listed = |pair: &ComparedPair| {
            let origin = catalog.find_origin(InputKind::Policy, &pair[1]);
            origin.is_ok_and(|it| listed.iter().any(|of| of.is_same_input(&it)))
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
        groups.push(group_on_own_loads(catalog, asked, rest));
    }
    Ok(groups)
}

/// Compares on the user's scenarios and sessions, under the user's profiles, as far as there are any.
fn group_on_own_loads(catalog: &Catalog, asked: Comparison, pairs: Vec<ComparedPair>) -> ComparedGroup {
    let mut scenarios = own_input_names(catalog, InputKind::Scenario);
    for folder in catalog.user_folders() {
        let found = catalog.search_scenarios(&folder.display().to_string()).unwrap_or_default().found;
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
    let loads = Some(format!("On the scenarios and sessions of your folders: {}.", listed(&named)));
    let mut comparison = Comparison { scenarios, ..asked };
    if comparison.profiles.is_empty() {
        comparison.profiles = own_input_names(catalog, InputKind::Profile);
        comparison.own_models = true;
    }
    ComparedGroup { comparison, pairs, loads }
}

/// Returns the names of the user's own inputs of a kind.
pub(super) fn own_input_names(catalog: &Catalog, kind: InputKind) -> Vec<String> {
    let is_own = |it: &&str| matches!(catalog.find_origin(kind, it), Ok(Origin::File(_)));
    catalog.names(kind).filter(is_own).map(str::to_owned).listed()
}

/// Returns what changed since the revision that a base names; nothing if it names none.
fn changes_since_base(catalog: &Catalog, base: &str) -> Result<ComparisonContext> {
    let Some(revision) = revision_of(base) else { return Ok(ComparisonContext::default()) };
    let (mut changed, mut unknown) = (Vec::new(), Vec::new());
    for folder in catalog.user_folders() {
        for kind in InputKind::ALL {
            // That the revision exists is known of the policies; a folder need not lie in their repository.
            let Ok(before) = texts_at_revision(revision, folder, kind) else {
                unknown.push(folder.display().to_string());
                break;
            };
            let now = current_texts(catalog, folder, kind)?;
            let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
            for path in paths {
                let texts = [before.get(path), now.get(path)].map(|it| it.map(String::as_str));
                let Some(format) = Format::from_path(path) else { continue };
                let name = path.with_extension("").display().to_string().replace('\\', "/");
                let change = input_change(kind, &name, format, texts);
                // Policies that both have are compared, and new ones are named.
                let is_told = |how| kind != InputKind::Policy || how == InputFate::Removed;
                changed.extend(change.filter(|it| is_told(it.how)));
            }
        }
    }
    Ok(ComparisonContext { revision: Some(revision.to_owned()), changed, unknown, ..Default::default() })
}

/// Returns whether the user's folders had policies in the revision that a base names.
fn has_policies_at_base(catalog: &Catalog, base: &str) -> Result<bool> {
    let Some(revision) = revision_of(base) else { return Ok(false) };
    for folder in catalog.user_folders() {
        if !texts_at_revision(revision, folder, InputKind::Policy)?.is_empty() {
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
fn texts_at_revision(revision: &str, folder: &Path, kind: InputKind) -> Result<BTreeMap<PathBuf, String>> {
    // A folder whose last file is gone is no longer there.
    let own = folder.join(kind.folder_name());
    let is_there = own.is_dir();
    let files = git::read_inputs_at_revision(revision, if is_there { &own } else { folder })?;
    let below = |(path, text): (&Path, &str)| {
        let path = if is_there { path } else { path.strip_prefix(kind.folder_name()).ok()? };
        Some((path.to_owned(), text.to_owned()))
    };
    Ok(files.files().filter_map(below).collect())
}

/// Returns the files of a kind as they are now.
fn current_texts(catalog: &Catalog, folder: &Path, kind: InputKind) -> Result<BTreeMap<PathBuf, String>> {
    let own = folder.join(kind.folder_name());
    let mut found = BTreeMap::new();
    for (_, origin) in catalog.names_and_origins(kind) {
        if let Origin::File(path) = origin
            && let Ok(below) = path.strip_prefix(&own)
        {
            found.insert(below.to_owned(), read_text(path)?);
        }
    }
    Ok(found)
}
