//! Whether inputs are valid by themselves, and whether policies that are programs follow the protocol: none starts unless that was allowed.

use crate::catalog::REVISION_MARK;
use crate::overrides::NamedPolicies;
use crate::prelude::*;
use crate::{guards, load, overrides, written_loads};
use ctxsim_base::grid::shell::quoted;
use ctxsim_engine::own::process::Process;
use ctxsim_engine::own::{CodeInputs, Own};
use ctxsim_input::Suite;
use ctxsim_input::policy::{Builtin, OwnCode};
use ctxsim_input::profile::cache::{UNMET, by_profile, unmet};
use ctxsim_input::text::set::SetTarget;
use ctxsim_timeline::import::BySession;

pub use written_loads::WARNINGS;

/// Checks an input, by its name or by its path.
///
/// # Errors
/// Every problem of the input.
pub fn check_input(catalog: &Catalog, kind: InputKind, name: &str) -> Result<()> {
    match kind {
        InputKind::Policy => {
            let policy = catalog.policy(name)?;
            check_policy(catalog, &policy.spec, &policy.origin).map_err(|it| policy.locate_problems(it))?;
            Ok(fail_if_any(overrides::unread_param_problems(&policy))?)
        }
        InputKind::Scenario => {
            let scenario = catalog.scenario(name)?;
            let undeclared = overrides::undeclared_param_problems(&scenario.spec.params, &[], catalog);
            let mut problems = scenario.locate_problems(undeclared);
            match load::worlds_of_scenario(&scenario, &scenario.spec, &BySession::default()) {
                Ok(_) => {}
                Err(Error::Invalid(more)) => problems.extend(more),
                Err(other) => return Err(other),
            }
            if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
        }
        InputKind::Profile => {
            let profile = catalog.profile(name)?;
            Profile::new(&profile.spec).map_err(|it| profile.locate_problems(it))?;
            Ok(())
        }
        InputKind::Suite => check_suite(catalog, &catalog.suite(name)?),
    }
}

/// Returns what is wrong with a policy or a scenario by construction, though it runs; nothing of any other input.
///
/// # Errors
/// The input cannot be read or checked.
pub fn lint_input(catalog: &Catalog, kind: InputKind, name: &str) -> Result<Vec<Diagnostic>> {
    match kind {
        InputKind::Policy => {}
        InputKind::Scenario => return written_loads::lint_written_scenario(catalog, name),
        InputKind::Profile => {
            let profile = catalog.profile(name)?;
            return Ok(profile.locate_problems(profile.spec.lints()));
        }
        InputKind::Suite => return unmet_suite_lints(catalog, &catalog.suite(name)?),
    }
    let policy = catalog.policy(name)?;
    let own = check_policy(catalog, &policy.spec, &policy.origin).map_err(|it| policy.locate_problems(it))?;
    let mut found = own.lints();
    let names = catalog.names(InputKind::Profile).map(str::to_owned).listed();
    let profiles = valid_profiles(catalog, &names);
    for (problem, names) in by_profile(&profiles, |it| it.refused(own.layout())) {
        found.push(with_help(problem, &format!("; it is refused under {}", names.join(", "))));
    }
    let of_each = profiles.chunks(1).map(|it| unmet(&own, it));
    let nowhere = of_each.filter(|it| it.iter().all(|it| it.code != UNMET[1])).reduce(|mut all, of_one| {
        all.retain(|it| of_one.iter().any(|other| (other.code, &other.place) == (it.code, &it.place)));
        all
    });
    let message = "no bundled profile has what this field asks for";
    found.extend(nowhere.into_iter().flatten().map(|it| Diagnostic { message: message.to_owned(), ..it }));
    Ok(policy.locate_problems(found))
}

/// Returns the profiles of these names that are valid.
fn valid_profiles(catalog: &Catalog, names: &[String]) -> Vec<Profile> {
    names.iter().filter_map(|it| Profile::new(&catalog.profile(it).ok()?.spec).ok()).listed()
}

/// Returns what the policies of a suite ask that its profiles do not have.
fn unmet_suite_lints(catalog: &Catalog, suite: &Loaded<SuiteFile>) -> Result<Vec<Diagnostic>> {
    let named = |kind, it: &String| catalog.expand_pattern_in_file(&suite.origin, kind, it);
    let profiles = suite.spec.profiles.iter().flat_map(|it| named(InputKind::Profile, it)).listed();
    let profiles = valid_profiles(catalog, &profiles);
    let mut found = Vec::new();
    for (index, name) in suite.spec.policies.iter().enumerate().filter(|it| !it.1.starts_with(REVISION_MARK))
    {
        for name in named(InputKind::Policy, name) {
            // What is wrong with the policy itself is told where it is named.
            let Ok(loaded) = catalog.policy(&name) else { continue };
            let Ok(policy) = check_policy(catalog, &loaded.spec, &loaded.origin) else { continue };
            found.extend(unmet(&policy, &profiles).into_iter().map(|it| {
                let message = format!("{name}: {} (`{}`)", it.message, it.place.field);
                Diagnostic::at(it.code, format!("policies.{index}"), message)
                    .help(it.help.unwrap_or_default())
            }));
        }
    }
    Ok(suite.locate_problems(found))
}

/// Adds to the fix of a problem.
fn with_help(problem: Diagnostic, more: &str) -> Diagnostic {
    let help = format!("{}{more}", problem.help.as_deref().unwrap_or_default());
    problem.help(help)
}

/// Returns which breakpoints of a policy, with all that overrides make of it and of profiles, the APIs of some profiles refuse.
pub(super) fn refused_breakpoint_problems(
    loaded: &Loaded<PolicyFile>,
    overridden: &Policy,
    profiles: &[Profile],
) -> Vec<Diagnostic> {
    let refused = profiles.iter().flat_map(|profile| {
        let problems = profile.refused(overridden.layout()).into_iter();
        problems.map(|it| with_help(it, &format!(", or leave out {}, whose API refuses it", profile.name)))
    });
    loaded.locate_problems(refused.listed())
}

/// Checks a policy, that the prompts and the service that it names are declared, and that there is the model that it names.
pub(super) fn check_policy(catalog: &Catalog, spec: &PolicyFile, origin: &Origin) -> Checked<Policy> {
    let mut policy = Policy::new(spec)?;
    // By where it is, because names may be changed to tell inputs apart.
    if let Some(code) = origin.own_code() {
        policy = policy.with_code(Some(Builtin::Own(code.clone())));
    }
    fail_if_any(spec.memory.as_ref().map(ctxsim_worlds::check_memory).unwrap_or_default())?;
    let policy = with_program_code(policy);
    let Some(name) = &spec.summariser else { return Ok(policy) };
    if catalog.find_origin(InputKind::Profile, name).is_err() {
        return Err(vec![catalog.unknown_name_problem(InputKind::Profile, "summariser", name)]);
    }
    // What is wrong inside the profile is told at its own place.
    let model = catalog
        .profile(name)
        .and_then(|it| Ok(Profile::new(&it.spec).map_err(|found| it.locate_problems(found))?));
    model.map(|it| policy.summarised_by(it)).map_err(|it| vec![it.into_problem()])
}

/// Checks that a suite's names lead somewhere and that its overrides can be read.
fn check_suite(catalog: &Catalog, suite: &Loaded<SuiteFile>) -> Result<()> {
    let spec = &suite.spec;
    let mut problems = overrides::undeclared_param_problems(&spec.params, &[], catalog);
    problems.extend(Suite::new(spec).err().unwrap_or_default());
    problems.extend(guards::check_suite_guards(catalog, &suite.origin, spec));
    for kind in InputKind::ALL {
        let is_input = |it: &String| catalog.find_origin(kind, it).is_ok();
        for (index, name) in kind.names_in_suite(spec).iter().enumerate() {
            // As a run finds them: a scenario may be a folder of recordings.
            let is_found = match kind {
                // Git alone knows what a revision has.
                InputKind::Policy if name.starts_with(REVISION_MARK) => true,
                InputKind::Scenario => catalog
                    .search_scenarios_in_file(&suite.origin, name)
                    .is_ok_and(|it| it.found.iter().all(|it| is_input(&it.name))),
                _ => catalog.expand_pattern_in_file(&suite.origin, kind, name).iter().all(is_input),
            };
            if !is_found {
                let field = format!("{}.{index}", kind.folder_name());
                problems.push(catalog.unknown_name_problem(kind, &field, name));
            }
        }
    }
    if problems.is_empty() {
        problems.extend(misdirected_override_problems(catalog, suite));
    }
    if problems.is_empty() { Ok(()) } else { Err(suite.locate_problems(problems).into()) }
}

/// Reports a suite's overrides of its policies that are for none of them, or for several that they do not name.
fn misdirected_override_problems(catalog: &Catalog, file: &Loaded<SuiteFile>) -> Vec<Diagnostic> {
    let suite = &file.spec;
    let mut read = catalog.policy_reader();
    let named = |it: &String| catalog.expand_pattern_in_file(&file.origin, InputKind::Policy, it);
    let names = suite.policies.iter().flat_map(named);
    // What is wrong with a policy is told where that is checked.
    let Ok(loaded) = names.map(|it| read.read_policy(&it)).collect::<Result<Vec<_>, _>>() else {
        return Vec::new();
    };
    let policies = NamedPolicies { catalog, loaded: &loaded };
    let told = suite.set.iter().enumerate().filter_map(|(index, text)| {
        let setting = Override::parse(text).ok().filter(|it| it.target == SetTarget::Policy)?;
        let mut specs: Vec<PolicyFile> = loaded.iter().map(|it| it.spec.clone()).listed();
        let mut problem = *policies.apply_override(&setting, &mut specs).err()?;
        problem.place = Place { field: format!("set.{index}"), ..Place::default() };
        Some(problem)
    });
    told.listed()
}

/// What a program is tried out on: a recorded session with its texts, and a short one that has sizes alone; under a model whose prompts have a
/// limit, the short one also under one whose prompts have none.
const TRIED_ON: [(&str, &[&str]); 2] = [
    ("recorded/claude-code", &["anthropic/claude-opus-4.5"]),
    ("duckagent/incremental_workspace_audit", &["anthropic/claude-opus-4.5", "unlimited"]),
];
/// What is drawn is drawn once: how a program answers does not hang on how often.
const DRAWN_ONCE: &str = "scenario.refetch.played_trials=1";

/// Returns a problem for each policy whose program may not be started.
pub(super) fn program_refusals(policies: &[Loaded<PolicyFile>], comparison: &Comparison) -> Vec<Diagnostic> {
    let refused = policies.iter().filter_map(|policy| {
        let process = policy.spec.process.as_ref()?;
        let name = &policy.spec.name;
        let line = process.command.iter().map(|it| quoted(it)).listed().join(" ");
        let is_of_revision = matches!(policy.origin, Origin::Revision(..));
        let problem = if process.folder.is_none() && !is_of_revision {
            let message =
                format!("`{name}` starts the program `{line}`, so it must be read from a file on disk");
            Diagnostic::at(Code("process-not-on-disk"), "process", message)
                .help("write the policy to a file, and name that file")
        } else if comparison.allow_process {
            return None;
        } else {
            let message = format!("`{name}` starts a program: `{line}`");
            Diagnostic::at(Code("process-not-allowed"), "process", message)
                .help("add `--allow-process` if you trust this program")
        };
        Some(policy.locate_problems(vec![problem]))
    });
    refused.flatten().listed()
}

/// Puts the program into a policy that is one; it starts when a run begins.
pub(super) fn with_program_code(policy: Policy) -> Policy {
    let Some(process) = policy.process.as_ref().map(|it| Process::new(it, &policy.params)) else {
        return policy;
    };
    let own = Own::process(&policy.name, process);
    policy.with_code(Some(Builtin::Own(OwnCode::new(own))))
}

/// Has the runs of own code played twice.
pub(super) fn with_plays_twice(policy: Policy) -> Policy {
    let Some(Builtin::Own(code)) = &policy.code else { return policy };
    let Some(mut own) = Own::from_code(code).cloned() else { return policy };
    own.plays_twice = true;
    policy.with_code(Some(Builtin::Own(OwnCode::new(own))))
}

/// Tries out a policy that is a program: it is started, plays some loads twice, and is ended.
///
/// # Errors
/// Everything that it does against the protocol, or that its policy file says wrong.
pub fn try_out_program(catalog: &Catalog, name: &str) -> Result<()> {
    let loaded = catalog.policy(name)?;
    let Some(process) = &loaded.spec.process else { return Ok(()) };
    let mut found: Vec<String> = Vec::new();
    let mut short = None;
    for (scenario, profiles) in TRIED_ON {
        let comparison = Comparison {
            policies: vec![name.to_owned()],
            scenarios: vec![scenario.to_owned()],
            profiles: profiles.iter().map(|it| (*it).to_owned()).listed(),
            set: vec![DRAWN_ONCE.to_owned()],
            allow_process: true,
            play_twice: true,
            ..Comparison::default()
        };
        let plan = Plan::new(catalog, &comparison)?;
        for failed in plan.report(None, &|_, _| {})?.failures {
            // What goes wrong at every start is told once.
            if !found.iter().any(|it| it.ends_with(&failed.reason)) {
                found.push(failed.to_string());
            }
        }
        short = Some(plan);
    }
    if let Some(plan) = short.filter(|_| found.is_empty()) {
        let process = Process::new(process, &loaded.spec.params);
        let ended = plan.map_loads(Some(1), &|_, _| {}, |load, _| {
            let (timeline, profile) = (load.timeline()?, load.profiles.first()?);
            process.try_out(&loaded.spec.name, CodeInputs { timeline, limits: profile.limits, play: 0 }).err()
        })?;
        found.extend(ended.into_iter().flatten().next().map(|it| it.to_string()));
    }
    let told = found.into_iter().map(|fault| {
        Diagnostic::at(Code("process-fault"), "process", fault)
            .help("correct the program; docs/reference/processes.md describes the messages and the answers")
    });
    Ok(fail_if_any(loaded.locate_problems(told.listed()))?)
}
