//! `ctxsim prices`: price lists as profiles, and where they disagree.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ctxsim::catalog::input_files;
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::model::calendar;
use ctxsim::pricelist::compare::compare;
use ctxsim::pricelist::place::{Placing, place};
use ctxsim::pricelist::{self, Found, PriceFile};
use ctxsim::source::read_text;
use indexmap::{IndexMap, IndexSet};

use crate::output;

/// The arguments of `prices`.
#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    /// What to do with them
    #[command(subcommand)]
    pub(crate) command: PricesCommand,
}

/// What can be done with price lists.
#[derive(Debug, Subcommand)]
pub(crate) enum PricesCommand {
    /// Make profiles of LiteLLM's JSON, genai-prices' data.json or models.dev's TOML tree, and list what is in none
    Import(PriceImportArgs),
    /// Show every price on which lists disagree
    Compare(CompareArgs),
}

/// The arguments of `prices import`.
#[derive(Debug, Args)]
pub(crate) struct PriceImportArgs {
    /// Files of price lists, or folders of TOML files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The folder below which profiles are written
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// The day on which the lists were fetched, YYYY-MM-DD
    #[arg(long, value_name = "DATE", default_value = "1970-01-01")]
    pub(crate) as_of: String,
}

/// The arguments of `prices compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Files of price lists, or folders of TOML files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Runs a verb on price lists.
pub(crate) fn prices(command: &PricesCommand) -> Result<(), Error> {
    match command {
        PricesCommand::Import(args) => import(args),
        PricesCommand::Compare(args) => disagreements(args),
    }
}

/// Makes profiles of price lists; of profiles of one name that of the first list is kept.
fn import(args: &PriceImportArgs) -> Result<(), Error> {
    if calendar::day(&args.as_of).is_none() {
        let mut problem = Diagnostic::at("date-format", "", format!("`{}` is no day", args.as_of));
        "--as-of".clone_into(&mut problem.place.file);
        return Err(vec![problem.help("write it as in \"2026-10-07\"")].into());
    }
    let lists = read(&args.paths)?;
    let mut text = String::new();
    let mut names = IndexSet::new();
    for found in &lists {
        let Placing { placed, mut unplaced } = place(found, &args.as_of);
        let mut n_placed = 0;
        for profile in placed {
            if names.insert(profile.name.to_lowercase()) {
                n_placed += 1;
                if let Some(folder) = &args.output {
                    write(folder, &profile.name, &profile.text)?;
                }
            } else {
                unplaced.push(pricelist::Unplaced {
                    list: found.list,
                    name: profile.name,
                    code: "name-duplicate",
                    reason: "an earlier list already gives this profile".to_owned(),
                });
            }
        }
        let mut by_code: IndexMap<&str, usize> = IndexMap::new();
        for one in &unplaced {
            let _ = writeln!(text, "{}: {}: {} [{}]", one.list, one.name, one.reason, one.code);
            *by_code.entry(one.code).or_default() += 1;
        }
        let counts: Vec<String> = by_code.iter().map(|(code, n)| format!("{n} {code}")).collect();
        let reasons = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
        let _ = writeln!(text, "{}: {n_placed} profiles, {} not placed{reasons}", found.list, unplaced.len());
    }
    if args.output.is_none() {
        text.push_str("Nothing was written: --output names a folder for the profiles.\n");
    }
    output::print(&text)
}

/// Writes a profile below a folder.
fn write(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = folder.join(format!("{name}.toml"));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|source| Error::Write { path: parent.to_owned(), source })?;
    }
    output::write(&path, text)
}

/// Prints every price on which lists disagree.
fn disagreements(args: &CompareArgs) -> Result<(), Error> {
    let lists = read(&args.paths)?;
    if lists.len() < 2 {
        let problem = Diagnostic::at("price-lists", "", "one list alone cannot disagree");
        return Err(vec![problem.help("name files or folders of at least two lists")].into());
    }
    let (n_models, rows) = compare(&lists);
    let mut text = String::new();
    for row in &rows {
        let said: Vec<String> = row
            .said
            .iter()
            .map(|(list, price)| format!("{list} {}", price.map_or("–".to_owned(), |it| it.to_string())))
            .collect();
        let _ = writeln!(text, "{}  {}: {}", row.model, row.field, said.join(", "));
    }
    let n_disputed = rows.iter().map(|it| &it.model).collect::<IndexSet<_>>().len();
    let _ = writeln!(
        text,
        "{n_models} models are in two lists or more; they disagree on {} prices of {n_disputed} of them.",
        rows.len()
    );
    output::print(&text)
}

/// Reads the lists that files and folders hold.
fn read(paths: &[std::path::PathBuf]) -> Result<Vec<Found>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let inner = if path.is_dir() { input_files(path)? } else { vec![path.clone()] };
        for path in inner {
            let text = read_text(&path)?;
            files.push(PriceFile { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(pricelist::read(&files)?)
}
