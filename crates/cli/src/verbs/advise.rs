//! `ctxsim advise`: which settings of an agent to change, what that saves and forgets, and what to paste.

use crate::prelude::*;

use clap::ArgGroup;

use crate::progress::READS_AND_SIMULATES;
use ctxsim_app::advise::agents::Agent;
use ctxsim_app::advise::edit::{ChangedFile, apply_forecast as edited, undo_forecast};
use ctxsim_app::advise::{AdviceRequest, TrialRequest, advise as advised};
use ctxsim_app::parse_forecast;
use ctxsim_report::advise::saved::SavingsForecast;
use ctxsim_report::advise::{Advice, advice_markdown, draw_advice, render_advice_page};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim advise ~/.claude/projects                             what to change, what it saves, what to paste
  ctxsim advise ~/.claude/projects --settings ~/.claude/settings.json   what is in force by the file, not by the logs
  ctxsim advise ~/.claude/projects --save advice.json          and later: ctxsim realised advice.json ~/.claude/projects
  ctxsim advise ~/.claude/projects --try autoCompactWindow=180000 --save advice.json   a setting that you decide on
  ctxsim advise ~/.claude/projects --settings ~/.claude/settings.json --apply --save advice.json   write it down there
  ctxsim advise --undo advice.json --settings ~/.claude/settings.json   and take it back
  ctxsim advise ~/.claude/projects --trial promptCacheTtl=1h --days 28 --save advice.json   days on and off, for realised
  ctxsim advise requests.jsonl --agent langchain               logs of requests, which several agents write

The agent and its version are read from the logs. Every value of every setting that the agent has, within its documented range, and every \
combination is played on all sessions. One rule gives each a word (do, your call, try, don't, cannot tell), which holds beside everything \
else that was tried: docs/reference/advice.md says when, and how often it is right. What is pasted is the “do” that surely saves most.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
pub(super) const FORMATS: Formats<'_> = Formats {
    of: "`advise`",
    known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::JSON, FormatArg::CSV],
};

/// The arguments of `advise`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("paths", |it| it.required(false).required_unless_present("undo")),
    group(ArgGroup::new("changes").args(["apply", "undo"])),
    // What is put back does not depend on anything else.
    mut_args(|it| if ["undo", "settings", "dry_run"].contains(&it.get_id().as_str()) { it } else { it.conflicts_with("undo") }),
    mut_arg("profile", with_help("Model profile by name or path, where no profile covers a session's model [default: each session's own model]"))
)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    sessions: RecordedArgs,
    /// The agent's settings file, for the values in force [default: as the logs show, else the agent's defaults]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Use only the sessions of this agent; it is the agent of logs whose format does not tell
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Judge this setting, too, whatever its word; several are judged together
    #[arg(long = "try", value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Write the forecast to a small file, for `ctxsim realised`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Plan a trial of this setting by days, and judge it as `--try` does; several are tried together
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "apply")]
    trial: Vec<String>,
    /// Length of the trial in days
    #[arg(long, value_name = "N", requires = "trial", default_value_t = 28, allow_negative_numbers = true, value_parser = whole_number_parser::<u64>(4, 366))]
    days: u64,
    /// First day of the trial [default: the day after the newest session]
    #[arg(long, value_name = "YYYY-MM-DD", requires = "trial")]
    from: Option<String>,
    /// Write the advised or tried settings into the file that `--settings` names, after showing the change
    #[arg(long, requires = "settings")]
    apply: bool,
    /// Put back what the settings file said before this forecast was applied; no sessions are read
    #[arg(long, value_name = "FORECAST", requires = "settings")]
    undo: Option<PathBuf>,
    /// Show what `--apply` or `--undo` would change, and write nothing
    #[arg(long, requires = "changes")]
    dry_run: bool,
    #[command(flatten)]
    draw: DrawArgs,
    #[command(flatten)]
    shown: PagedArgs,
    /// Show everything that was tried, and why the rest was not
    #[arg(long)]
    details: bool,
}

/// Advises, writes, and saves the forecast.
pub(super) fn advise_on_sessions(catalog: &Catalog, args: &AdviseArgs) -> Result<()> {
    if let (Some(from), Some(settings)) = (&args.undo, &args.settings) {
        return undo_applied_forecast(catalog, from, settings, args.dry_run);
    }
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let settings = |it: &PathBuf| Ok::<_, Error>((it.display().to_string(), read_settings(it)?));
    let asked = AdviceRequest {
        agent: args.agent.clone(),
        settings: args.settings.as_ref().map(settings).transpose()?,
        min_evidence: args.evidence.min_evidence,
        has_wishes: true,
        pairs: args.pairs.iter().chain(&args.trial).cloned().listed(),
        trial: (!args.trial.is_empty()).then(|| TrialRequest {
            days: args.days,
            from: args.from.clone(),
            seed: args.draw.seed.unwrap_or_default(),
        }),
    };
    args.settings.iter().for_each(|it| catalog.files_read().add_path(it));
    let DrawArgs { seed, trials, threads } = args.draw;
    let comparison = Comparison { seed, trials, ..args.sessions.comparison() };
    let kept = ForceArgs::default().overwrite_rules(catalog.files_read());
    args.save
        .as_deref()
        .map_or(Ok(()), |it| output::check_output_path(it).and_then(|()| kept.check_may_write(it, None)))?;
    args.shown.check_paths_beside(args.save.as_deref(), catalog.files_read())?;
    let changes = args.settings.as_deref().filter(|_| args.apply);
    changes.map_or(Ok(()), output::check_output_path)?;
    let (found, saved) = run_with_progress(READS_AND_SIMULATES, |it| {
        advised(catalog, &comparison, &asked, threads.n_threads(), it)
    })?;
    let change = changes.zip(asked.settings.as_ref()).map(|(path, (_, text))| (path, text.as_str()));
    let is_kept = saved.is_some();
    if let Some(saved) = saved {
        save_and_apply(saved, change, args.save.as_deref(), kept, args.dry_run)?;
    }
    let text = || match format {
        FormatArg::CSV => format.encode_rows(|_| vec![found.levers_to_rows()]),
        FormatArg::JSON => found.to_json().map(String::into_bytes).map_err(unwritable_error),
        FormatArg::MARKDOWN => Ok(String::from(advice_markdown(&found, args.details)).into_bytes()),
        _ => Ok(draw_advice(&found, args.details, args.shown.shown.terminal()).into_bytes()),
    };
    args.shown.write_text_and_page(catalog.files_read(), format, || render_advice_page(&found), text)?;
    // Behind the list, which says why nothing is advised.
    let files =
        changes.into_iter().chain(args.save.as_deref()).map(|it| format!("`{}`", it.display())).listed();
    match files.join(" or ") {
        files if is_kept || files.is_empty() => Ok(()),
        files if found.agents.len() > 1 => Err(several_agents_error(&found, &files)?),
        files => {
            let takes = "it takes a “do” or a `--try KEY=VALUE`, on sessions of one agent with known prices";
            output::print_note(format_args!("Nothing was written to {files}: {takes}."));
            Ok(())
        }
    }
}

/// Says that what several agents have in force is not one file, nor one forecast.
fn several_agents_error(found: &Advice, files: &str) -> Result<Error> {
    let names = found.agents.iter().map(|it| it.agent.clone()).listed();
    let own = Agent::all_by_file_name()?.iter().filter(|it| names.contains(&it.1.name));
    let options = own.map(|it| format!("`--agent {}`", it.0)).listed().join(" or ");
    let message = format!("nothing was written to {files}: these are sessions of {}", listed(&names));
    Ok(usage_error(message, format!("a forecast is of one agent: add {options}")))
}

/// Shows what changes in a settings file, saves a forecast, and applies it, as far as each is asked for. The forecast is saved before it is
/// applied: it knows how to undo.
fn save_and_apply(
    mut forecast: SavingsForecast,
    settings_file: Option<(&Path, &str)>,
    save_path: Option<&Path>,
    kept: OverwriteRules<'_>,
    dry_run: bool,
) -> Result<()> {
    let place = |path: &Path| path.display().to_string();
    let changed = settings_file.map(|(path, text)| edited(&forecast, &place(path), text)).transpose()?;
    if let (Some((path, _)), Some(changed)) = (settings_file, &changed) {
        print_settings_change(path, changed)?;
        forecast.former.clone_from(&changed.former);
    }
    if dry_run {
        return Ok(());
    }
    if let Some(path) = save_path {
        let text = output::to_json_text(&forecast)?;
        output::write_text_file(path, WrittenByRemark::None.add_to_text(&text), kept)?;
        output::print_note(match forecast.n_later_sessions_needed() {
            Some(n) => format!("About {n} later sessions would tell whether the forecast comes true (`ctxsim realised`)."),
            None => "Later bills cannot tell whether the forecast comes true: the earlier ones vary too much. A trial by days (`--trial`) might.".to_owned(),
        });
    }
    if let (Some((path, text)), Some(changed)) = (settings_file, &changed) {
        write_settings_if_unchanged(path, text, changed)?;
        let [file, settings] =
            [save_path.map(place), Some(place(path))].map(|it| quoted(&it.unwrap_or_default()));
        output::print_note(match save_path {
            Some(_) => format!("To take it back: ctxsim advise --undo {file} --settings {settings}"),
            None => "Give `--save FILE`, too, to be able to take it back with `--undo FILE`.".to_owned(),
        });
    }
    Ok(())
}

/// Reads a settings file.
fn read_settings(path: &Path) -> Result<String> {
    if !path.exists() {
        let help = "check the path; an agent that has no settings yet needs the file first: `{}` if they are JSON, empty if TOML";
        return Err(error_at(Code("file"), path, "there is no such settings file", help));
    }
    read_text(path)
}

/// Writes a change that was shown, if the file is still as it was read.
fn write_settings_if_unchanged(path: &Path, text_as_read: &str, changed: &ChangedFile) -> Result<()> {
    if changed.text == text_as_read {
        return Ok(());
    }
    let now = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let text = now.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&now);
    let mark = if text.len() < now.len() { "\u{feff}" } else { "" };
    if text != text_as_read.as_bytes() {
        let message = "somebody else has changed this file in the meantime, so it was left as it is";
        return Err(error_at(Code("output-exists"), path, message, "run the command again"));
    }
    let kept = OverwriteRules { inputs: &InputFiles::default(), replaced: Replaceable::All };
    output::write_text_file(path, format!("{mark}{}", changed.text), kept)
}

/// Shows what goes and what comes, before anything is written.
///
/// # Errors
/// Nobody could be shown it.
fn print_settings_change(path: &Path, changed: &ChangedFile) -> Result<()> {
    let [old, new] = &changed.diff;
    let is_same = old.is_empty() && new.is_empty();
    let said = if is_same { " it says so already, so nothing is written" } else { "" };
    output::print_note(format_args!("{}:{said}", path.display()));
    for (sign, lines) in [('-', old), ('+', new)] {
        lines.iter().for_each(|it| output::print_note(format_args!("{sign} {it}")));
    }
    changed.notes.iter().for_each(output::print_note);
    if output::is_all_stderr_written() {
        return Ok(());
    }
    let message = "the change could not be shown on standard error, so nothing was written";
    Err(error_at(Code("output-exists"), path, message, "run the command where standard error can be written"))
}

/// Takes back what was applied by a forecast, or shows alone what that changes.
fn undo_applied_forecast(catalog: &Catalog, forecast: &Path, settings: &Path, dry_run: bool) -> Result<()> {
    output::check_output_path(settings)?;
    let saved = parse_forecast(&forecast.display().to_string(), &read_text(forecast)?)?;
    catalog.files_read().add_path(forecast);
    let text = read_settings(settings)?;
    let changed = undo_forecast(&saved, &settings.display().to_string(), &text)?;
    print_settings_change(settings, &changed)?;
    if dry_run { Ok(()) } else { write_settings_if_unchanged(settings, &text, &changed) }
}
