//! `ctxsim advise`: which settings of an agent to change, what that saves and forgets, and what to paste.

use crate::prelude::*;

use clap::ArgGroup;

use crate::output::{KeptFile, Remark, Replaced};
use crate::progress::READS_AND_SIMULATES;
use crate::what::{DrawArgs, RecordedArgs};
use crate::what::{EvidenceArgs, number};
use ctxsim_app::advise::agents::Agent;
use ctxsim_app::advise::edit::{ChangedFile, applied as edited, undone};
use ctxsim_app::advise::{AdviceRequest, TrialRequest, advise as advised};
use ctxsim_app::forecast;
use ctxsim_base::grid::numbers::listed;
use ctxsim_base::grid::shell::quoted;
use ctxsim_report::advise::saved::Saved;
use ctxsim_report::advise::{Advice, markdown, page, table};

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
    mut_arg("format", |it| FORMATS.offered(it)),
    mut_arg("paths", |it| it.required(false).required_unless_present("undo")),
    group(ArgGroup::new("changes").args(["apply", "undo"])),
    // What is put back does not depend on anything else.
    mut_args(|it| if ["undo", "settings", "dry_run"].contains(&it.get_id().as_str()) { it } else { it.conflicts_with("undo") }),
    mut_arg("profile", said("Model profile by name or path, where no profile covers a session's model [default: each session's own model]"))
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
    #[arg(long, value_name = "N", requires = "trial", default_value_t = 28, allow_negative_numbers = true, value_parser = number::<u64>(4, 366))]
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
pub(super) fn advise(catalog: &Catalog, args: &AdviseArgs) -> Result<(), Error> {
    if let (Some(from), Some(settings)) = (&args.undo, &args.settings) {
        return undo(catalog, from, settings, args.dry_run);
    }
    let format = args.shown.shown.choose(&FORMATS)?;
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
    args.settings.iter().for_each(|it| catalog.files().note(it));
    let DrawArgs { seed, trials, threads } = args.draw;
    let comparison = Comparison { seed, trials, ..args.sessions.comparison() };
    let kept = ForceArgs::default().kept(catalog.files());
    args.save.as_deref().map_or(Ok(()), |it| output::writable(it).and_then(|()| kept.check(it, None)))?;
    args.shown.check_beside(args.save.as_deref(), catalog.files())?;
    let changes = args.settings.as_deref().filter(|_| args.apply);
    changes.map_or(Ok(()), output::writable)?;
    let (found, saved) =
        with_progress(READS_AND_SIMULATES, |it| advised(catalog, &comparison, &asked, threads.number(), it))?;
    let change = changes.zip(asked.settings.as_ref()).map(|(path, (_, text))| (path, text.as_str()));
    let is_kept = saved.is_some();
    if let Some(saved) = saved {
        keep(saved, change, args.save.as_deref(), kept, args.dry_run)?;
    }
    let text = || match format {
        FormatArg::CSV => format.write(|_| vec![found.as_rows()]),
        FormatArg::JSON => found.document().map(String::into_bytes).map_err(unwritable),
        FormatArg::MARKDOWN => Ok(String::from(markdown(&found, args.details)).into_bytes()),
        _ => Ok(table(&found, args.details, args.shown.shown.terminal()).into_bytes()),
    };
    args.shown.put(catalog.files(), format, || page(&found), text)?;
    // Behind the list, which says why nothing is advised.
    let files =
        changes.into_iter().chain(args.save.as_deref()).map(|it| format!("`{}`", it.display())).listed();
    match files.join(" or ") {
        files if is_kept || files.is_empty() => Ok(()),
        files if found.agents.len() > 1 => Err(of_several(&found, &files)?),
        files => {
            let takes = "it takes a “do” or a `--try KEY=VALUE`, on sessions of one agent with known prices";
            output::tell(format_args!("Nothing was written to {files}: {takes}."));
            Ok(())
        }
    }
}

/// Says that what several agents have in force is not one file, nor one forecast.
fn of_several(found: &Advice, files: &str) -> Result<Error, Error> {
    let names = found.agents.iter().map(|it| it.agent.clone()).listed();
    let own = Agent::all()?.iter().filter(|it| names.contains(&it.1.name));
    let options = own.map(|it| format!("`--agent {}`", it.0)).listed().join(" or ");
    let message = format!("nothing was written to {files}: these are sessions of {}", listed(&names));
    Ok(wrong(Code("usage"), message, format!("a forecast is of one agent: add {options}")))
}

/// Shows what changes in a settings file, saves a forecast, and applies it, as far as each is asked for. The forecast is saved before it is
/// applied: it knows how to undo.
fn keep(
    mut saved: Saved,
    change: Option<(&Path, &str)>,
    save: Option<&Path>,
    kept: KeptFile<'_>,
    is_dry: bool,
) -> Result<(), Error> {
    let place = |path: &Path| path.display().to_string();
    let changed = change.map(|(path, text)| edited(&saved, &place(path), text)).transpose()?;
    if let (Some((path, _)), Some(changed)) = (change, &changed) {
        show_change(path, changed)?;
        saved.former.clone_from(&changed.former);
    }
    if is_dry {
        return Ok(());
    }
    if let Some(path) = save {
        let text = output::json(&saved)?;
        output::write(path, Remark::None.on(&text), kept)?;
        output::tell(match saved.sessions_to_know() {
            Some(n) => format!("About {n} later sessions would tell whether the forecast comes true (`ctxsim realised`)."),
            None => "Later bills cannot tell whether the forecast comes true: the earlier ones vary too much. A trial by days (`--trial`) might.".to_owned(),
        });
    }
    if let (Some((path, text)), Some(changed)) = (change, &changed) {
        put_settings(path, text, changed)?;
        let [file, settings] = [save.map(place), Some(place(path))].map(|it| quoted(&it.unwrap_or_default()));
        output::tell(match save {
            Some(_) => format!("To take it back: ctxsim advise --undo {file} --settings {settings}"),
            None => "Give `--save FILE`, too, to be able to take it back with `--undo FILE`.".to_owned(),
        });
    }
    Ok(())
}

/// Reads a settings file.
fn read_settings(path: &Path) -> Result<String, Error> {
    if !path.exists() {
        let help = "check the path; an agent that has no settings yet needs the file first: `{}` if they are JSON, empty if TOML";
        return Err(wrong_at(Code("file"), path, "there is no such settings file", help));
    }
    read_text(path)
}

/// Writes a change that was shown, if the file is still as it was read.
fn put_settings(path: &Path, read: &str, changed: &ChangedFile) -> Result<(), Error> {
    if changed.text == read {
        return Ok(());
    }
    let unread = |source| Error::Read { path: path.to_owned(), source };
    let now = fs::read(path).map_err(unread)?;
    let (mark, text) = match now.strip_prefix("\u{feff}".as_bytes()) {
        Some(text) => ("\u{feff}", text),
        None => ("", &now[..]),
    };
    if text != read.as_bytes() {
        let message = "somebody else has changed this file in the meantime, so it was left as it is";
        return Err(wrong_at(Code("output-exists"), path, message, "run the command again"));
    }
    let kept = KeptFile { inputs: &Files::default(), replaced: Replaced::All };
    output::write(path, format!("{mark}{}", changed.text), kept)
}

/// Shows what goes and what comes, before anything is written.
///
/// # Errors
/// Nobody could be shown it.
fn show_change(path: &Path, changed: &ChangedFile) -> Result<(), Error> {
    let [old, new] = &changed.diff;
    if old.is_empty() && new.is_empty() {
        output::tell(format_args!("{}: it says so already, so nothing is written", path.display()));
    } else {
        output::tell(format_args!("{}:", path.display()));
    }
    for (sign, lines) in [('-', old), ('+', new)] {
        lines.iter().for_each(|it| output::tell(format_args!("{sign} {it}")));
    }
    changed.notes.iter().for_each(output::tell);
    if output::is_told() {
        return Ok(());
    }
    let message = "the change could not be shown on standard error, so nothing was written";
    Err(wrong_at(Code("output-exists"), path, message, "run the command where standard error can be written"))
}

/// Takes back what was applied by a forecast, or shows alone what that changes.
fn undo(catalog: &Catalog, from: &Path, settings: &Path, is_dry: bool) -> Result<(), Error> {
    output::writable(settings)?;
    let saved = forecast(&from.display().to_string(), &read_text(from)?)?;
    catalog.files().note(from);
    let text = read_settings(settings)?;
    let changed = undone(&saved, &settings.display().to_string(), &text)?;
    show_change(settings, &changed)?;
    if is_dry { Ok(()) } else { put_settings(settings, &text, &changed) }
}
