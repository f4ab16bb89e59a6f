//! `ctxsim tune --fit`: the numbers of a memory that explain what a user's own agent answered.

use crate::prelude::*;

use ctxsim_app::fit_memory as fitted;
use ctxsim_base::grid::{Grid, Of, terminal};
use ctxsim_worlds::aging::probes::{Estimate, FittedMemory};

use crate::verbs::sweep::print_answer;

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim tune --fit answers.csv --policy aging/careful --output models/ours.toml
  ctxsim run --scenario mine.toml --policy aging/careful        with models = [\"models/ours.toml\"] in mine.toml

The table has a line for each question that your agent was asked: `session,fact,lag,right`, where `session` counts from 0, `fact` names what \
was asked for, `lag` says how many sessions before it had been said (0: in the same session), and `right` is yes or no. A column `held` says \
whether the memory held the fact, if you looked; without it, or without questions of lag 0, losing a fact and not using it look alike, and the \
intervals say so. Answers about one fact count as far as they are independent.

Exit codes: 0 success; 2 bad input or usage.";

/// The arguments of `tune --fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Table of questions and answers (.csv or .tsv)
    #[arg(value_name = "PATH")]
    table: PathBuf,
    /// Policy that declares the agent's memory, by name or path
    #[arg(long, value_name = "P")]
    policy: String,
    /// Scenario whose sessions are like the agent's, by name or path
    #[arg(long, value_name = "S", default_value = "aging/s6_12")]
    scenario: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write a model file with the fitted numbers (.toml), atomically
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

/// Fits, prints, and writes the model.
pub(super) fn fit_memory(catalog: &Catalog, args: &FitArgs) -> Result<()> {
    args.output.as_deref().map_or(Ok(()), output::check_output_path)?;
    let file = args.table.display().to_string();
    let found = fitted(catalog, [&args.policy, &args.scenario], &file, &read_text(&args.table)?)?;
    if let Some(path) = &args.output {
        let (answers, facts) = (found.n_answers, found.n_facts);
        let about =
            format!("Fitted to {answers} answers about {facts} facts, {file}, under {}.", args.policy);
        let text = WrittenByRemark::add_to_input(Format::Toml, found.model(&about));
        output::write_text_file(path, text, args.force.overwrite_rules(catalog.files_read()))?;
    }
    print_answer(&found, args.json, || draw_estimates_table(&found, args.wide.stdout_terminal()))
}

/// Returns the numbers as a table.
fn draw_estimates_table(found: &FittedMemory, on: Terminal) -> String {
    let columns: [Of<'_, Estimate>; 6] = [
        ("part", &|it| it.part.to_owned()),
        ("number", &|it| it.number.to_owned()),
        ("fitted", &|it| format!("{:.2}", it.value)),
        ("95% interval", &|it| format!("{:.2} to {:.2}", it.ci95[0], it.ci95[1])),
        ("alike", &|it| format!("{:.1}", it.alike)),
        ("known", &|it| if it.is_known { "yes" } else { "hardly" }.to_owned()),
    ];
    let grid = Grid::from_columns("What the answers show of the memory", 2, &found.estimates, &columns);
    let (table, title) = (terminal::draw_with_note(&grid, on), &grid.title);
    let (answers, facts) = (counted(found.n_answers, "answer"), counted(found.n_facts, "fact"));
    let legend = "`alike`: answers about one fact count as if there were so many times fewer";
    format!("{title}\n{table}\n\n{answers} about {facts}; {legend}.\n")
}
