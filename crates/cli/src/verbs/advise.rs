//! `ctxsim advise`: which settings of an agent to change, what that saves and forgets, and what to paste.

use crate::prelude::*;

use clap::ArgGroup;

use crate::progress::READS_AND_SIMULATES;
use ctxsim_app::advise::agents::Agent;
use ctxsim_app::advise::edit::{ChangedFile, agent_of_forecast, apply_forecast as edited, undo_forecast};
use ctxsim_app::advise::stated::SettingsFile;
use ctxsim_app::advise::{AdviceRequest, TrialRequest, advise as advised};
use ctxsim_app::parse_forecasts;
use ctxsim_base::grid::numbers::listed_code;
use ctxsim_report::advise::saved::{ForecastFile, SavingsForecast};
use ctxsim_report::advise::{AgentAdvice, advice_markdown, draw_advice, render_advice_page};
use ctxsim_report::lever::Word;

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
    /// An agent's settings file, for the values in force; AGENT=FILE says whose [default: as the logs show, else the agent's defaults]
    #[arg(long, value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Use only the sessions of this agent; it is the agent of logs whose format does not tell
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Judge this setting, too, whatever its word; several are judged together
    #[arg(long = "try", value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Write the forecasts, one for each agent, to a small file, for `ctxsim realised`
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
    /// Write the advised or tried settings into the files that `--settings` names, after showing the change
    #[arg(long, requires = "settings")]
    apply: bool,
    /// Put back what the settings files said before this forecast was applied; no sessions are read
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

/// Advises, writes, and saves the forecasts.
pub(super) fn advise_on_sessions(catalog: &Catalog, args: &AdviseArgs) -> Result<()> {
    let settings = read_settings_files(catalog, args)?;
    if let Some(from) = &args.undo {
        return undo_applied_forecasts(catalog, from, &settings, args.dry_run);
    }
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let asked = AdviceRequest {
        agent: args.agent.clone(),
        settings,
        min_evidence: args.evidence.min_evidence,
        has_wishes: true,
        pairs: args.pairs.iter().chain(&args.trial).cloned().listed(),
        trial: (!args.trial.is_empty()).then(|| TrialRequest {
            days: args.days,
            from: args.from.clone(),
            seed: args.draw.seed.unwrap_or_default(),
        }),
    };
    let DrawArgs { seed, trials, threads } = args.draw;
    let comparison = Comparison { seed, trials, ..args.sessions.comparison() };
    let kept = ForceArgs::default().overwrite_rules(catalog.files_read());
    args.save
        .as_deref()
        .map_or(Ok(()), |it| output::check_output_path(it).and_then(|()| kept.check_may_write(it, None)))?;
    args.shown.check_paths_beside(args.save.as_deref(), catalog.files_read())?;
    let (found, mut forecasts) = run_with_progress(READS_AND_SIMULATES, |it| {
        advised(catalog, &comparison, &asked, threads.n_threads(), it)
    })?;
    let (mut changes, mut left) = (Vec::new(), Vec::new());
    for advice in &found.agents {
        let mut own = forecasts.iter_mut().find(|it| it.agent == advice.agent);
        let may_apply = |it: &SavingsForecast| !asked.pairs.is_empty() || it.word == Word::Do.text();
        let own = own.as_mut().filter(|it| !args.apply || may_apply(it));
        match (own, advice.settings_file.map(|it| &asked.settings[it])) {
            (Some(_), _) if !args.apply => {}
            (Some(forecast), Some(settings)) => {
                let changed = edited(forecast, &settings.file, &settings.text)?;
                forecast.former.clone_from(&changed.former);
                changes.push((settings, changed));
            }
            (own, _) => left.extend(why_unwritten(advice, own.is_some(), &asked)),
        }
    }
    let is_lacking = forecasts.is_empty() || args.apply && changes.is_empty();
    if !is_lacking {
        save_and_apply(forecasts, &changes, args, kept)?;
    }
    let text = || match format {
        FormatArg::CSV => format.encode_rows(|_| vec![found.levers_to_rows()]),
        FormatArg::JSON => found.to_json().map(String::into_bytes).map_err(unwritable_error),
        FormatArg::MARKDOWN => Ok(String::from(advice_markdown(&found, args.details)).into_bytes()),
        _ => Ok(draw_advice(&found, args.details, args.shown.shown.terminal()).into_bytes()),
    };
    args.shown.write_text_and_page(catalog.files_read(), format, || render_advice_page(&found), text)?;
    // Behind the list, which says why nothing is advised.
    let files = asked.settings.iter().filter(|_| args.apply).map(|it| it.file.clone());
    let files = files.chain(args.save.iter().map(|it| it.display().to_string())).listed();
    if is_lacking && !files.is_empty() {
        return Err(usage_error(format!("nothing was written to {}", listed_code(&files)), left.join("; ")));
    }
    if !files.is_empty() {
        left.iter().for_each(|it| output::print_note(format_args!("Nothing was written for {it}.")));
    }
    Ok(())
}

/// Says why nothing of an agent was written, or what to add; nothing where another agent's settings are asked for.
fn why_unwritten(advice: &AgentAdvice, has_forecast: bool, asked: &AdviceRequest) -> Option<String> {
    let name = || Some(Agent::all_by_file_name().ok()?.iter().find(|it| it.1.name == advice.agent)?.0);
    let why = match &advice.asked {
        _ if has_forecast => format!("add `--settings {}=FILE`", name()?),
        Some(_) => "`--try` changes nothing in these sessions, or they are too few".to_owned(),
        None if asked.pairs.is_empty() => "nothing is “do”; name a setting with `--try KEY=VALUE`".to_owned(),
        None => return None,
    };
    Some(format!("{}: {why}", advice.agent))
}

/// A settings file and what it becomes.
type SettingsChange<'a> = (&'a SettingsFile, ChangedFile);

/// Shows what changes in settings files, saves forecasts, and applies them, as far as each is asked for. Forecasts are saved before they are
/// applied: they know how to undo.
fn save_and_apply(
    forecasts: Vec<SavingsForecast>,
    changes: &[SettingsChange<'_>],
    args: &AdviseArgs,
    kept: OverwriteRules<'_>,
) -> Result<()> {
    changes.iter().try_for_each(print_settings_change)?;
    if args.dry_run {
        return Ok(());
    }
    if let Some(path) = &args.save {
        let notes = forecasts.iter().map(saved_note).listed();
        let text = output::to_json_text(&ForecastFile(forecasts))?;
        output::write_text_file(path, WrittenByRemark::None.add_to_text(&text), kept)?;
        notes.iter().for_each(output::print_note);
    }
    changes.iter().try_for_each(write_settings_if_unchanged)?;
    if !changes.is_empty() {
        let undo = args.save.iter().map(|it| format!(" --undo {}", quoted(&it.display().to_string())));
        let named = |it: &SettingsFile| {
            it.agent.as_ref().map_or_else(|| it.file.clone(), |agent| format!("{agent}={}", it.file))
        };
        let settings = changes.iter().map(|it| format!(" --settings {}", quoted(&named(it.0))));
        output::print_note(match &args.save {
            Some(_) => format!("To take it back: ctxsim advise{}", undo.chain(settings).collect::<String>()),
            None => "Give `--save FILE`, too, to be able to take it back with `--undo FILE`.".to_owned(),
        });
    }
    Ok(())
}

/// Says what was saved, and when it can be told what became of it.
fn saved_note(forecast: &SavingsForecast) -> String {
    let SavingsForecast { agent, word, set, .. } = forecast;
    let when = match forecast.n_later_sessions_needed() {
        Some(n) => format!("about {n} later sessions would tell whether the forecast comes true (`ctxsim realised`)"),
        None => "later bills cannot tell whether the forecast comes true: the earlier ones vary too much. A trial by days (`--trial`) might".to_owned(),
    };
    format!("Saved for {agent}: {} ({word}); {when}.", listed_code(set))
}

/// Reads settings files, each with the agent that is named before it.
fn read_settings_files(catalog: &Catalog, args: &AdviseArgs) -> Result<Vec<SettingsFile>> {
    let mut all = Vec::new();
    for given in &args.settings {
        let named = given.to_str().filter(|_| !given.exists()).and_then(|it| it.split_once('='));
        let (agent, path) =
            named.map_or((None, given.as_path()), |it| (Some(it.0.to_owned()), Path::new(it.1)));
        if args.apply || args.undo.is_some() {
            output::check_output_path(path)?;
        }
        if !path.exists() {
            let help = "check the path; an agent that has no settings yet needs the file first: `{}` if they are JSON, empty if TOML";
            return Err(error_at(Code("file"), path, "there is no such settings file", help));
        }
        let text = read_text(path)?;
        catalog.files_read().add_path(path);
        all.push(SettingsFile { file: path.display().to_string(), text, agent });
    }
    Ok(all)
}

/// Writes a change that was shown, if the file is still as it was read.
fn write_settings_if_unchanged((settings, changed): &SettingsChange<'_>) -> Result<()> {
    let (path, text_as_read) = (Path::new(&settings.file), &settings.text);
    if changed.text == *text_as_read {
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
fn print_settings_change((settings, changed): &SettingsChange<'_>) -> Result<()> {
    let [old, new] = &changed.diff;
    let is_same = old.is_empty() && new.is_empty();
    let said = if is_same { " it says so already, so nothing is written" } else { "" };
    output::print_note(format_args!("{}:{said}", settings.file));
    for (sign, lines) in [('-', old), ('+', new)] {
        lines.iter().for_each(|it| output::print_note(format_args!("{sign} {it}")));
    }
    changed.notes.iter().for_each(output::print_note);
    if output::is_all_stderr_written() {
        return Ok(());
    }
    let message = "the change could not be shown on standard error, so nothing was written";
    let help = "run the command where standard error can be written";
    Err(error_at(Code("output-exists"), &settings.file, message, help))
}

/// Takes back what was applied by forecasts, or shows alone what that changes.
fn undo_applied_forecasts(
    catalog: &Catalog,
    forecast: &Path,
    settings: &[SettingsFile],
    dry_run: bool,
) -> Result<()> {
    let place = forecast.display().to_string();
    let saved = parse_forecasts(&place, &read_text(forecast)?)?;
    catalog.files_read().add_path(forecast);
    let agents = saved.iter().map(|it| agent_of_forecast(it, &place)).collect::<Result<Vec<_>>>()?;
    let files = SettingsFile::indices_for_agents(settings, &agents)?;
    let mut changes = Vec::new();
    for (saved, file) in saved.iter().zip(files) {
        match file.map(|it| &settings[it]) {
            Some(own) => changes.push((own, undo_forecast(saved, &own.file, &own.text)?)),
            None if saved.former.is_empty() => {}
            None => output::print_note(format_args!("Not taken back: {}; give its file, too.", saved.agent)),
        }
    }
    changes.iter().try_for_each(print_settings_change)?;
    if dry_run { Ok(()) } else { changes.iter().try_for_each(write_settings_if_unchanged) }
}
