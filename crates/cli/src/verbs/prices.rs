//! `ctxsim prices`: price lists as profiles, and what newer ones change.

use crate::prelude::*;

use clap::Subcommand;
use ctxsim_app::ListPrices;
use ctxsim_app::catalog::price_list_files;
use ctxsim_base::foreign::in_one_line;
use ctxsim_base::grid::numbers::{NONE, plain};
use ctxsim_base::quantity::Rate;
use ctxsim_input::pricelist::place::{PlacedProfile, Placing, place};
use ctxsim_input::pricelist::update::{ListUpdates, updates};
use ctxsim_input::pricelist::{self, ListContents, PriceFile, Unplaced};
use ctxsim_input::profile::calendar;
use ctxsim_input::{CacheRules, Profile};
use ctxsim_report::grouped;
use indexmap::map::Entry as Slot;

use crate::session_folders::own_sessions;
use crate::verbs::init::path_below_folder;

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  ctxsim prices import prices.json --as-of 2026-11-21                    show what would be imported
  ctxsim prices import prices.json --as-of 2026-11-21 --output imported   write the profiles
  ctxsim sensitivity --profiles imported/anthropic                       compare all profiles in a folder";

/// Shown below the options of `update`.
const UPDATE_EXAMPLES: &str = "\
Examples:
  ctxsim prices update prices.json --as-of 2026-11-28                     show which prices have changed
  ctxsim prices update prices.json --as-of 2026-11-28 --output profiles   write the profiles, with a dated period";

/// A command on price lists.
#[derive(Debug, Subcommand)]
pub(crate) enum PricesCommand {
    /// Import LiteLLM or models.dev price lists as profiles
    #[command(after_help = EXAMPLES)]
    Import(PriceImportArgs),
    /// Show what newer lists change in the profiles, and the models that have none, those of your own sessions too
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(UpdatePricesArgs),
}

/// The arguments of `prices import`.
#[derive(Debug, Args)]
pub(crate) struct PriceImportArgs {
    /// Price list files, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// Folder to write profiles to
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
    /// Date the lists were fetched; selects the prices in force (YYYY-MM-DD)
    #[arg(long, value_name = "DATE")]
    pub as_of: String,
    /// List every entry that yields no profile, with its reason
    #[arg(long)]
    pub details: bool,
}

/// The arguments of `prices update`.
#[derive(Debug, Args)]
pub(crate) struct UpdatePricesArgs {
    /// Price list files, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// Date the lists were fetched; the new prices hold from it on (YYYY-MM-DD)
    #[arg(long, value_name = "DATE")]
    pub as_of: String,
    /// Folder to write the changed profiles to, without their comments, and drafts of new ones
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// Imports price lists as profiles; if two lists yield the same profile, the first one is kept.
pub(super) fn import_price_lists(args: &PriceImportArgs) -> Result<()> {
    check_day(&args.as_of)?;
    let inputs = InputFiles::default();
    let lists = read_price_lists(&args.paths, &inputs)?;
    // What is below a folder called `profiles` has its path there as a prefix of its name.
    let profiles_folder = InputKind::Profile.folder_name();
    let prefix = args.output.as_deref().and_then(|it| path_below_folder(it, profiles_folder));
    let prefix = prefix.unwrap_or_default();
    let mut text = String::new();
    let mut profiles: IndexMap<String, PlacedProfile> = IndexMap::new();
    let mut first_unplaced = None;
    for found in &lists {
        let Placing { placed, mut unplaced } = place(found, &args.as_of, &prefix);
        let n_before = profiles.len();
        for profile in placed {
            match profiles.entry(profile.name.to_lowercase()) {
                Slot::Vacant(slot) => _ = slot.insert(profile),
                Slot::Occupied(_) => unplaced.push(Unplaced {
                    list: found.list,
                    name: profile.name,
                    code: "name-duplicate",
                    reason: "an earlier list already has this profile".to_owned(),
                }),
            }
        }
        let made = profiles.values().skip(n_before).listed();
        text += &price_list_summary(found.list, &made, &unplaced, args.details);
        first_unplaced = first_unplaced.or_else(|| unplaced.into_iter().next());
    }
    if profiles.is_empty() {
        return Err(no_profiles_error(first_unplaced));
    }
    match &args.output {
        Some(folder) => {
            let all = profiles.values().map(|it| (&it.name, &it.text));
            write_profiles(folder, all, args.force.overwrite_rules(&inputs))?;
        }
        None => text.push_str("Nothing was written: add `--output DIR` to write the profiles.\n"),
    }
    output::print_text(&text)
}

/// Checks that a text is a date.
fn check_day(text: &str) -> Result<()> {
    if calendar::parse_day(text).is_some() {
        return Ok(());
    }
    let message = format!("`{text}` is not a date (YYYY-MM-DD)");
    Err(error_at(Code("date-format"), "--as-of", message, "write it like \"2026-10-07\""))
}

/// Counts the profiles of a price list and what they lack and, by reason, the entries without one.
fn price_list_summary(
    list_name: &str,
    made: &[&PlacedProfile],
    unplaced: &[Unplaced],
    with_details: bool,
) -> String {
    let mut text = String::new();
    let mut by_code = grouped(unplaced.iter().map(|it| (it.code, it)));
    by_code.sort_by(|_, left, _, right| right.len().cmp(&left.len()));
    let (n_made, n_unplaced) = (made.len(), unplaced.len());
    let _ = writeln!(text, "{list_name}: {n_made} profiles; {n_unplaced} entries yield none");
    for (code, entries) in &by_code {
        let shown = if with_details { entries.len() } else { 1 };
        let _ = writeln!(text, "  {:>5}  [{code}]", entries.len());
        let like = if with_details { "" } else { "for example " };
        for one in &entries[..shown] {
            let _ = writeln!(text, "         {like}{}: {}", one.name, one.reason);
        }
    }
    let lacking = [
        ("omitted from profiles", made.iter().flat_map(|it| &it.left_out).listed()),
        ("unpriced in profiles", made.iter().flat_map(|it| &it.unpriced).listed()),
    ];
    for (what, lacked) in lacking {
        let by_name = grouped(lacked.into_iter().map(|it| (it, ())));
        let parts: Vec<String> = by_name.iter().map(|(it, all)| format!("{it}: {}", all.len())).listed();
        if !parts.is_empty() {
            let _ = writeln!(text, "  {what}: {}", parts.join(", "));
        }
    }
    if !with_details && !unplaced.is_empty() {
        text.push_str("  Add `--details` to list every entry.\n");
    }
    text
}

/// Reports that lists yield no profile, with the reason for the first entry.
fn no_profiles_error(first: Option<Unplaced>) -> Error {
    let help = match first {
        Some(it) => format!("the first entry, `{}`, was left out: {} [{}]", it.name, it.reason, it.code),
        None => "name a price list that contains models".to_owned(),
    };
    Error::refused(Code("price-list-empty"), "no entry in these lists yields a profile", help)
}

/// Writes profiles, by their names, below a folder.
fn write_profiles<'p>(
    folder: &Path,
    names_and_texts: impl Iterator<Item = (&'p String, &'p String)>,
    rules: OverwriteRules<'_>,
) -> Result<()> {
    let text = |text: &String| WrittenByRemark::add_to_input(Format::Toml, text);
    let files = names_and_texts.map(|(name, own)| (folder.join(format!("{name}.toml")), text(own)));
    output::write_together(&files.listed(), rules)
}

/// Prints what lists change in the profiles, and writes those that change.
pub(super) fn update_profile_prices(args: &UpdatePricesArgs, catalog: &Catalog) -> Result<()> {
    check_day(&args.as_of)?;
    let inputs = InputFiles::default();
    let lists = read_price_lists(&args.paths, &inputs)?;
    let prices = ListPrices::read(catalog);
    let vendors = prices.profiles().filter_map(|it| Some(it.name.split_once('/')?.0.to_owned())).collect();
    let is_covered = |id: &str| prices.profile_of(id).is_some();
    let ListUpdates { n_known, changed, new, n_new_uncached } =
        updates(&lists, &args.as_of, &vendors, &is_covered, &|id| prices.profile_file_of(id).cloned());
    let mut text = String::new();
    for profile in &changed {
        let _ = writeln!(text, "{} ({})", profile.name, profile.list);
        for (field, known, listed) in &profile.changes {
            let known = known.map_or_else(|| NONE.to_owned(), |it| it.to_string());
            let _ = writeln!(text, "  {field}: {known} → {listed}");
        }
        if profile.text.is_none() {
            text.push_str("  not written: its prices depend on the hour, or the result breaks a rule\n");
        }
    }
    for draft in &new {
        let _ = writeln!(text, "{}: new, {}", draft.name, draft_prices(&draft.profile));
    }
    let own = own_sessions(catalog);
    if !own.is_empty() {
        for (model, n) in prices.models_without_profile(catalog, own)? {
            let draft = new.iter().find(|it| it.profile.covers(&model.to_lowercase()).is_some());
            let found = draft.map_or("none of these lists has it", |it| it.name.as_str());
            let (model, n) = (in_one_line(&model), counted(n, "session"));
            let _ = writeln!(text, "`{model}`: in {n} of yours, without a profile: {found}");
        }
    }
    let day = calendar::parse_day(&args.as_of).unwrap_or_default();
    for profile in prices.profiles() {
        for change in profile.prices.changes().iter().filter(|it| it.is_soon_after(day)) {
            let _ = writeln!(text, "{}: changes {change}", profile.name);
        }
    }
    let (changes, profiles) = (counted(changed.len(), "profile"), counted(n_known, "profile"));
    let _ = writeln!(text, "{changes} of {profiles} in these lists would change, in USD per million tokens.");
    let (models, more) = (counted(new.len(), "model"), thousands(n_new_uncached as u64));
    let _ = writeln!(
        text,
        "{models} of the same vendors with a price for cached input have no profile, and {more} without one."
    );
    let mut days = prices.profiles().map(|it| it.as_of.as_str()).listed();
    days.sort_unstable();
    if let [first, .., last] = days.as_slice() {
        let _ = writeln!(text, "The prices in use were read from {first} to {last}.");
    }
    match &args.output {
        Some(folder) => {
            let dated = changed.iter().filter_map(|it| Some((&it.name, it.text.as_ref()?)));
            let drafts = new.iter().map(|it| (&it.name, &it.text));
            write_profiles(folder, dated.chain(drafts), args.force.overwrite_rules(&inputs))?;
        }
        None => text.push_str("Nothing was written: add `--output DIR` to write these profiles.\n"),
    }
    output::print_text(&text)
}

/// Says what the draft of a profile costs, and what of it is open.
fn draft_prices(profile: &Profile) -> String {
    let rates = profile.prices.usual();
    let usd = |rate: Rate| plain(rate.0 as f64 / 1e6);
    let output = rates.output.map_or_else(|| NONE.to_owned(), usd);
    let read = rates.cache_read.map_or_else(String::new, |it| format!(", cache reads {}", usd(it)));
    let open = if profile.cache == CacheRules::None { "; open: its cache rules" } else { "" };
    format!("input {}, output {output}{read}{open}", usd(rates.input))
}

/// Reads the lists in files and folders.
fn read_price_lists(paths: &[PathBuf], files_read: &InputFiles) -> Result<Vec<ListContents>> {
    let mut files = Vec::new();
    for path in paths {
        let inner = if path.is_dir() { price_list_files(path)? } else { vec![path.clone()] };
        if inner.is_empty() {
            let help = "price lists end in `.json` or `.toml`";
            return Err(error_at(Code("folder-empty"), path, "the folder contains no price lists", help));
        }
        for path in inner {
            files_read.add_path(&path);
            let text = read_text(&path)?;
            files.push(PriceFile { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(pricelist::read(&files)?)
}
