//! `ctxsim list`: the catalogue, at a glance or entry by entry.

use crate::prelude::*;
use ctxsim_app::catalog::PolicyReader;
use ctxsim_base::diag::nearest;
use ctxsim_base::grid::terminal::draw;
use ctxsim_base::grid::tint::Tint;
use ctxsim_base::grid::{CellKind, Grid};
use ctxsim_input::profile::calendar::parse_day;
use ctxsim_input::{Profile, ProfileFile};
use ctxsim_timeline::import;

/// The arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only this kind
    #[arg(value_enum)]
    pub kind: Option<KindArg>,
    /// List only inputs whose name or description contains this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    #[command(flatten)]
    pub wide: WidthArgs,
}

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Rules that turn an agent's history into prompts
    Policies,
    /// Workloads: what an agent does, turn by turn
    Scenarios,
    /// Models with limits, cache rules and prices
    Profiles,
    /// Named comparisons
    Suites,
    /// Recorded sessions that can be read: where they are, what is read, and what the readers were checked on
    Formats,
}

/// What the marks at the end of descriptions mean.
const MARKS: &str = "How a policy is known: [S] its source was read, [D] official documentation, [R] reverse-engineered, [2] other people's accounts, [G] general knowledge, [PR] proposed, [measured] in recorded sessions.";

/// Prints the catalogue, or its entries of a kind or with a text.
pub(super) fn print_catalog(catalog: &Catalog, args: &ListArgs) -> Result<()> {
    let on = args.wide.stdout_terminal();
    let kinds = match args.kind {
        None => InputKind::ALL.to_vec(),
        Some(KindArg::Formats) => return print_log_formats(&args.filter, on),
        Some(kind) => vec![InputKind::ALL[kind as usize]],
    };
    let mut text = String::new();
    let is_glance = args.kind.is_none() && args.filter.is_empty();
    for &kind in &kinds {
        let names = names_matching_filter(catalog, kind, &args.filter);
        if names.is_empty() && !args.filter.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let head =
            format!("{} ({}): {}", kind.folder_name(), thousands(names.len() as u64), describe_kind(kind));
        on.paragraph(Tint::Strong, "", &head, &mut text);
        if is_glance {
            write_folder_overview(&names, on, &mut text);
        } else {
            write_entries(catalog, kind, &names, on, &mut text);
        }
    }
    if text.is_empty() {
        return Err(nothing_listed_problem(catalog, &kinds, &args.filter).into());
    }
    if !on.is_quiet {
        text.push('\n');
        let marks = (!is_glance && kinds.contains(&InputKind::Policy)).then_some(MARKS);
        marks.iter().for_each(|it| on.paragraph(Tint::Faint, "", it, &mut text));
        let more = "ctxsim list policies|scenarios|profiles|suites|formats describes each; --filter TEXT searches; \
            ctxsim show policy NAME prints a file.";
        on.paragraph(Tint::Faint, "", more, &mut text);
    }
    output::print_text(&text)
}

/// Says what the entries of a kind are.
fn describe_kind(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Policy => "rules that turn an agent's history into prompts",
        InputKind::Scenario => "what an agent does, turn by turn",
        InputKind::Profile => "models with limits, cache rules and prices",
        InputKind::Suite => "comparisons by name, with what must hold",
    }
}

/// Writes the folders of names with what is in them, and the names that are in none.
fn write_folder_overview(names: &[&str], terminal: Terminal, text: &mut String) {
    let mut folders: IndexMap<&str, (usize, Vec<&str>)> = IndexMap::new();
    for name in names {
        let (folder, rest) = name.split_once('/').unwrap_or(("", name));
        let (n, within) = folders.entry(folder).or_default();
        *n += 1;
        let first = rest.split('/').next().unwrap_or(rest);
        if within.last() != Some(&first) {
            within.push(first);
        }
    }
    // Those in no folder are the first to try.
    folders.sort_by(|one, _, other, _| one.cmp(other));
    let row = |(folder, (n, within)): (&str, (usize, Vec<&str>))| {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut room = GLANCE;
        let fits = |name: &&&str| {
            room = room.saturating_sub(name.len() + 2);
            room > 0
        };
        let shown = within.iter().take_while(fits).copied().listed();
        let more = within.len() - shown.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        vec![format!("  {folder}"), thousands(n as u64), format!("{}{more}", shown.join(", "))]
    };
    let grid = Grid::new("", 1, &["", "", ""], folders.into_iter().map(row)).with(CellKind::Text, &[2]);
    *text += &(draw(&grid, terminal).text + "\n");
}

/// The letters of a folder's names that are listed at a glance: about two lines.
const GLANCE: usize = 130;

/// Writes what each name is, folder by folder.
fn write_entries(catalog: &Catalog, kind: InputKind, names: &[&str], terminal: Terminal, text: &mut String) {
    let mut read = catalog.policy_reader();
    for group in names.chunk_by(|one, other| folder_of_name(one) == folder_of_name(other)) {
        let head = group.first().map(|it| folder_of_name(it)).unwrap_or_default();
        if !head.is_empty() {
            text.push('\n');
            terminal.paragraph(Tint::Strong, "", &format!("{head}/"), text);
        }
        let row = |name: &&str| {
            let leaf = name.rsplit('/').next().unwrap_or(name);
            vec![format!("  {leaf}"), input_description(catalog, &mut read, kind, name)]
        };
        let grid = Grid::new("", 1, &["", ""], group.iter().map(row)).with(CellKind::Text, &[1]);
        *text += &(draw(&grid, terminal).text + "\n");
    }
}

/// Returns what stands in front of the last part of a name.
fn folder_of_name(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |it| it.0)
}

/// Prints what is known of the formats of recorded sessions whose name or description contains a text.
fn print_log_formats(filter: &str, terminal: Terminal) -> Result<()> {
    let wanted = filter.to_lowercase();
    let has = |(name, about): &(&str, import::FormatText)| {
        let said = [*name, &about.looks_like, &about.place, &about.reads, &about.omits];
        said.join(" ").to_lowercase().contains(&wanted)
    };
    let all = import::formats().into_iter().map(|it| (it.name, it.about()));
    let found: Vec<_> = all.filter(has).listed();
    if found.is_empty() {
        let message = format!("no format has `{filter}` in its description");
        return Err(Error::refused(Code("nothing-listed"), message, "remove `--filter` to list everything"));
    }
    let mut text = String::new();
    let head = format!("formats ({}): logs of agents that can be read", found.len());
    terminal.paragraph(Tint::Strong, "", &head, &mut text);
    for (name, about) in found {
        let lines = [
            ["looks like", &about.looks_like],
            ["found in", &about.place],
            ["read", &about.reads],
            ["not read", &about.omits],
            ["checked on", &about.checked()],
        ];
        text.push('\n');
        terminal.paragraph(Tint::Strong, "  ", name, &mut text);
        for [head, line] in lines {
            terminal.paragraph(Tint::Plain, &format!("    {head:10}  "), line, &mut text);
        }
    }
    output::print_text(&text)
}

/// Returns the inputs of a kind whose names or descriptions contain a text.
fn names_matching_filter<'c>(catalog: &'c Catalog, kind: InputKind, filter: &str) -> Vec<&'c str> {
    let wanted = filter.to_lowercase();
    let mut read = catalog.policy_reader();
    let mut said =
        |name: &str| format!("{name} {}", input_description(catalog, &mut read, kind, name)).to_lowercase();
    let has = |name: &&str| wanted.is_empty() || said(name).contains(&wanted);
    catalog.names(kind).filter(has).listed()
}

/// Reports that no input contains a text; it may be of another kind, or misspelt.
fn nothing_listed_problem(catalog: &Catalog, kinds: &[InputKind], filter: &str) -> Diagnostic {
    let nouns: Vec<&str> = kinds.iter().map(|it| it.noun()).listed();
    let nouns = match nouns.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        only => only.concat(),
    };
    let message = format!("no {nouns} has `{filter}` in its name or description");
    let others = InputKind::ALL.into_iter().filter(|it| !kinds.contains(it));
    let of_others =
        others.map(|kind| (kind, names_matching_filter(catalog, kind, filter).len())).filter(|it| it.1 > 0);
    let of_others: Vec<String> = of_others
        .map(|(it, n)| format!("{n} under `ctxsim list {} --filter {filter}`", it.folder_name()))
        .listed();
    let words = |kind: &InputKind| {
        catalog.names(*kind).flat_map(|it| std::iter::once(it).chain(it.split(['/', '_', '-'])))
    };
    let help = match nearest(&filter.to_lowercase(), kinds.iter().flat_map(words)) {
        _ if !of_others.is_empty() => format!("found {}", of_others.join(", ")),
        Some(near) => format!("did you mean `--filter {near}`?"),
        None => "remove `--filter` to list everything".to_owned(),
    };
    Diagnostic::at(Code("nothing-listed"), "", message).help(help)
}

/// Returns an input's description, after its title if it has one, or nothing for a broken file, which `validate` reports.
fn input_description(catalog: &Catalog, read: &mut PolicyReader<'_>, kind: InputKind, name: &str) -> String {
    let about = match kind {
        InputKind::Policy => read.read_policy(name).map(|policy| match policy.spec.title {
            Some(title) => format!("{title}. {}", policy.spec.about),
            None => policy.spec.about,
        }),
        InputKind::Scenario => catalog.scenario(name).map(|it| it.spec.about),
        InputKind::Profile => {
            catalog.profile(name).map(|it| format!("{}{}", it.spec.about, soon_changes(&it.spec)))
        }
        InputKind::Suite => catalog.suite(name).map(|it| it.spec.about),
    };
    about.unwrap_or_default()
}

/// Says how the prices of a profile change within sixty days of the day on which they were read.
fn soon_changes(spec: &ProfileFile) -> String {
    let (Ok(profile), Some(day)) = (Profile::new(spec), parse_day(&spec.as_of)) else { return String::new() };
    let soon = profile.prices.changes().into_iter().filter(|it| it.is_soon_after(day));
    soon.map(|change| format!(" Prices change {change}, per million tokens.")).collect()
}
