//! What a verb plays: loads, policies and profiles, and how they are selected, changed and drawn.
//!
//! Each group of arguments is part of the verbs that read all of it; where a verb means one of them in a way of its own, it says so with `mut_arg`.

use crate::prelude::*;

use ctxsim_report::verdict::MIN_EVIDENCE;

use ctxsim_base::grid::shell::quoted_all;
use ctxsim_base::quantity::saturated;
use ctxsim_report::NextCommands;

use crate::session_folders::usual_sessions;

/// The profile used when nothing names a model.
const FALLBACK_PROFILE: &str = "anthropic/claude-opus-4.5";

/// Every policy, or every profile, where no other is called so.
const ALL: &str = "all";

/// Loads, and what they are played under.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct LoadArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios by name or path
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// Scenarios by name, path or pattern, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    pub scenarios: Vec<String>,
    #[command(flatten)]
    pub under: PlayedUnder,
    #[command(flatten)]
    pub process: ProcessArgs,
}

impl LoadArgs {
    /// Returns the comparison of policies that an option named; sessions behind options that take several values are
    /// sessions, too.
    pub(super) fn comparison(&self, catalog: &Catalog, option: &str, names: &[String]) -> Result<Comparison> {
        let PlayedUnder { profiles, set, draw: DrawArgs { seed, trials, .. } } = self.under.clone();
        let policies = NamesAndSessions::new(catalog, InputKind::Policy, option, names)?;
        let profiles = NamesAndSessions::new(catalog, InputKind::Profile, "--profile", &profiles)?;
        let named = self.paths.iter().chain(&self.scenarios).cloned();
        let scenarios = named.chain(policies.sessions).chain(profiles.sessions).listed();
        let (policies, profiles) = (policies.kept, profiles.kept);
        let comparison =
            Comparison { policies, scenarios, profiles, seed, trials, set, ..Comparison::default() };
        Ok(self.process.add_permissions_to(comparison))
    }

    /// Returns the number of threads, if given.
    pub(super) fn threads(&self) -> Option<usize> {
        self.under.draw.threads.n_threads()
    }
}

/// What loads are played under.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PlayedUnder {
    /// Model profiles by name, path or pattern; `all` for every one
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    pub profiles: Vec<String>,
    /// Override a field for this run, as in `POLICY.params.trigger.tokens=20000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub draw: DrawArgs,
}

/// Policies beside each other.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PoliciesArgs {
    /// Policies by name, path or pattern; the first one is the baseline
    #[arg(long = "policy", visible_alias = "policies", value_name = "P", num_args = 1..)]
    pub policies: Vec<String>,
}

/// A suite, which supplies what the other options omit.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct SuiteArgs {
    /// Suite that supplies whatever the other options omit [default: default]
    #[arg(long, value_name = "S")]
    pub suite: Option<String>,
}

/// Selects recorded sessions.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct SelectArgs {
    /// Skip recorded sessions that ended before this date
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<String>,
    /// Skip recorded sessions that ended after this date
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub until: Option<String>,
    /// Use only recorded sessions of this user: the home folder, or its last part
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Use only recorded sessions of this project: the working folder, or its last part
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Use only the newest N recorded sessions
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number_parser::<u64>(1, u64::MAX))]
    pub limit: Option<u64>,
    /// Use only recorded sessions of this model: part of its id, or a pattern
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Play each recorded session as if its user had never run another
    #[arg(long)]
    pub alone: bool,
}

impl SelectArgs {
    /// Adds the selection to a comparison.
    pub(super) fn add_selection_to(&self, comparison: Comparison) -> Comparison {
        let Self { since, until, user, project, limit, model, alone } = self.clone();
        Comparison { since, until, user, project, limit: limit.map(saturated), model, alone, ..comparison }
    }

    /// Returns the options that say so, for another command on the same sessions.
    pub(super) fn to_command_options(&self) -> Vec<String> {
        let option = |name: &str, value: Option<String>| value.map(|it| [name.to_owned(), it]);
        let options = [
            option("--since", self.since.clone()),
            option("--until", self.until.clone()),
            option("--user", self.user.clone()),
            option("--project", self.project.clone()),
            option("--limit", self.limit.map(|it| it.to_string())),
            option("--model", self.model.clone()),
        ];
        options.into_iter().flatten().flatten().chain(self.alone.then(|| "--alone".to_owned())).listed()
    }
}

/// Returns how to go on with sessions, and the options that choose among them.
pub(super) fn next_command_on(sessions: &[String], options: &[String]) -> NextCommands {
    let options = if options.is_empty() { String::new() } else { format!(" {}", quoted_all(options)) };
    NextCommands { sessions: quoted_all(sessions), options }
}

/// Random draws and threads.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct DrawArgs {
    /// Random seed [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Number of trials: conversations per length, or samples of the needs [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number_parser::<u64>(1, u64::MAX))]
    pub trials: Option<u64>,
    #[command(flatten)]
    pub threads: ThreadsArgs,
}

/// On how many cores.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ThreadsArgs {
    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number_parser::<u16>(1, 1024))]
    threads: Option<u16>,
}

impl ThreadsArgs {
    /// Takes a number that was not given on a command line.
    pub(super) fn from_number(threads: Option<usize>) -> Self {
        Self { threads: threads.and_then(|it| u16::try_from(it).ok()) }
    }

    /// Returns the number, if given.
    pub(super) fn n_threads(self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// What policies that are programs may do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ProcessArgs {
    /// Let policies start the programs that their files name
    #[arg(long)]
    pub allow_process: bool,
    /// Run each program policy twice, and fail the run at the first difference
    #[arg(long)]
    pub play_twice: bool,
}

impl ProcessArgs {
    /// Adds what is allowed to a comparison.
    pub(super) fn add_permissions_to(self, comparison: Comparison) -> Comparison {
        if self.allow_process {
            ends::install_interrupt_handler();
        }
        Comparison { allow_process: self.allow_process, play_twice: self.play_twice, ..comparison }
    }
}

/// Recorded sessions, each under the profile of its own model unless one is named.
#[derive(Clone, Debug, Args)]
pub(super) struct RecordedArgs {
    /// Recorded sessions (files, folders or patterns)
    #[arg(value_name = "SESSIONS", required = true)]
    pub paths: Vec<String>,
    /// Model profile by name or path [default: each session's own model]
    #[arg(long, value_name = "M")]
    pub profile: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
}

impl RecordedArgs {
    /// Returns the comparison of the sessions.
    pub(super) fn comparison(&self) -> Comparison {
        self.select.add_selection_to(Comparison {
            scenarios: self.paths.clone(),
            profiles: self.profile.iter().cloned().listed(),
            own_models: self.profile.is_none(),
            ..Comparison::default()
        })
    }

    /// Takes the usual sessions where none are named, with a sentence on them.
    pub(super) fn or_usual_sessions(mut self, catalog: &Catalog) -> (Self, Option<String>) {
        let (paths, source) = self.paths.is_empty().then(|| usual_sessions(catalog)).unzip();
        self.paths.extend(paths.into_iter().flatten());
        (self, source)
    }

    /// Returns how to go on with the same sessions.
    pub(super) fn next_command(&self) -> NextCommands {
        let profile = self.profile.iter().flat_map(|it| ["--profile".to_owned(), it.clone()]);
        next_command_on(&self.paths, &profile.chain(self.select.to_command_options()).listed())
    }
}

/// One session of those that are named, and what it is played under.
#[derive(Clone, Debug, Args)]
pub(super) struct SessionArgs {
    /// Session to choose, if there are several
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Model profile [default: the session's model, else anthropic/claude-opus-4.5]
    #[arg(long, value_name = "M")]
    profile: Option<String>,
    /// Override a field, as in `params.trigger.tokens=20000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    pub process: ProcessArgs,
}

impl SessionArgs {
    /// Returns the comparison of one policy on sessions or scenarios.
    pub(super) fn comparison(&self, policy: &str, scenarios: Vec<String>) -> Comparison {
        let comparison = Comparison {
            policies: vec![policy.to_owned()],
            scenarios,
            profiles: self.profile.iter().cloned().listed(),
            own_models: self.profile.is_none(),
            set: self.set.clone(),
            ..Comparison::default()
        };
        with_fallback_profile(self.process.add_permissions_to(comparison))
    }
}

/// Names a profile for loads that come without a model, where none is named.
pub(super) fn with_fallback_profile(mut comparison: Comparison) -> Comparison {
    if comparison.profiles.is_empty() {
        comparison.profiles.push(FALLBACK_PROFILE.to_owned());
    }
    comparison
}

/// One conversation of a scenario.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ConversationArgs {
    /// Conversation length in messages [default: the scenario's first length]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub length: Option<u64>,
    /// Which conversation of that length, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub trial: u64,
}

/// The values of an option that takes several, which would else take the paths behind them.
struct NamesAndSessions {
    kept: Vec<String>,
    sessions: Vec<String>,
}

impl NamesAndSessions {
    /// Tells the values that mean sessions from those of a kind of input.
    fn new(catalog: &Catalog, kind: InputKind, option: &str, given: &[String]) -> Result<Self> {
        let (mut kept, mut sessions) = (Vec::new(), Vec::new());
        for word in given {
            if word == ALL && catalog.find_origin(kind, word).is_err() {
                kept.extend(catalog.names(kind).map(str::to_owned));
                continue;
            }
            // A revision is not a path.
            let is_session = !word.starts_with(git::MARK) && catalog.means_sessions(kind, word)?;
            if is_session { &mut sessions } else { &mut kept }.push(word.clone());
        }
        if kept.is_empty()
            && let Some(word) = given.first()
        {
            let noun = kind.noun();
            let message = format!("`{option}` needs a {noun}, but `{word}` means sessions");
            let help = format!("name a {noun} first, as in `{option} NAME {word}`");
            return Err(usage_error(message, help));
        }
        Ok(Self { kept, sessions })
    }
}

/// Says in the help of a verb what an argument that others have, too, is to it.
pub(super) fn with_help(help: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |arg| arg.help(help)
}

/// How much must be kept.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct EvidenceArgs {
    /// Least share of the needed evidence (of memories: of what they are asked) for a recommendation
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value_t = MIN_EVIDENCE)]
    pub min_evidence: f64,
}

/// Returns a parser of whole numbers within bounds, which names the bounds whatever is wrong.
pub(super) fn whole_number_parser<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|it| (least..=most).contains(it));
        let help = match most {
            _ if most < u64::from(u32::MAX) => format!("use a whole number from {least} to {most}"),
            _ => format!("use a whole number of at least {least}"),
        };
        number.and_then(|it| T::try_from(it).ok()).ok_or(help)
    }
}

/// Parses a share such as `0.9` or `90%`.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |it| (it, 100.0));
    let share =
        number.trim().parse::<f64>().map(|it| it / unit).ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as `0.9`, or a percentage, such as `90%`".to_owned())
}
