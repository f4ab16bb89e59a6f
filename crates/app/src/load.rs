//! The workload of a scenario; recordings are found beside the scenario's own file.

use crate::prelude::*;
use std::borrow::Cow;
use std::io;

use super::models::ModelProfiles;
use ctxsim_engine::take::World;
use ctxsim_input::Scenario;
use ctxsim_input::scenario::Assume;
use ctxsim_input::text::source::to_json;
use ctxsim_timeline::import::{BySession, Glance, Imported};
use ctxsim_timeline::{import, load};
use ctxsim_worlds::NamedFile;

/// Where a scenario names its recording.
pub(super) const RECORDED: &str = "load.recorded.path";

/// Checks a scenario, whose spec may have been overridden, without its recording.
///
/// # Errors
/// Every problem of the scenario.
pub(super) fn check_scenario(scenario: &Loaded<ScenarioFile>, spec: &ScenarioFile) -> Result<Scenario> {
    let checked = Scenario::new(spec).map_err(|problems| scenario.locate_problems(problems))?;
    let unknown = ctxsim_worlds::check(&spec.load);
    if unknown.is_empty() { Ok(checked) } else { Err(scenario.locate_problems(unknown).into()) }
}

/// The same, including what only the recording's place can show.
///
/// # Errors
/// Every problem of the scenario.
pub(super) fn check_scenario_and_files(scenario: &Loaded<ScenarioFile>, spec: &ScenarioFile) -> Result<()> {
    check_scenario(scenario, spec)?;
    let files = paths_and_fields(&spec.load);
    files.iter().try_for_each(|(path, field)| origin_of_named_file(scenario, path, field).map(drop))
}

/// Returns the files that a load names beside its scenario, with the fields that do.
fn paths_and_fields(load: &LoadSpec) -> Vec<(String, String)> {
    match load {
        LoadSpec::Recorded { path, .. } => vec![(path.clone(), RECORDED.to_owned())],
        load => ctxsim_worlds::beside(load),
    }
}

/// Makes the workloads of a scenario, whose spec may have been overridden; a recording may contain several.
///
/// # Errors
/// Every problem of the scenario or of its recording.
pub(super) fn worlds_of_scenario(
    scenario: &Loaded<ScenarioFile>,
    spec: &ScenarioFile,
    neighbours: &BySession,
) -> Result<Vec<Arc<dyn World>>> {
    Ok(worlds_under_specs(scenario, std::slice::from_ref(spec), neighbours)?.pop().unwrap_or_default())
}

/// Makes the workloads of a scenario under several specs that differ in what they assume of its recording, which is read once.
///
/// # Errors
/// As [`worlds_without_recording`].
pub(super) fn worlds_under_specs(
    scenario: &Loaded<ScenarioFile>,
    specs: &[ScenarioFile],
    neighbours: &BySession,
) -> Result<Vec<Vec<Arc<dyn World>>>> {
    let Some(first) = specs.first() else { return Ok(Vec::new()) };
    let path = match &first.load {
        LoadSpec::Recorded { path, .. } if scenario.origin.built_timeline().is_none() => path,
        _ => return specs.iter().map(|it| worlds_without_recording(scenario, it, neighbours)).collect(),
    };
    let origin = origin_of_named_file(scenario, path, RECORDED)?;
    let text = match import::detect_from(origin.open_reader()?.as_mut()) {
        Ok(Some(_)) | Err(_) => None,
        // What is no text is of no world either, and is told as an unknown recording.
        Ok(None) => origin.read_text().ok(),
    };
    if let Some(read) = text.and_then(|it| ctxsim_worlds::read(&it, &first.name)) {
        let world = read.map_err(|it| it.in_file(origin.label()))?;
        return Ok(vec![vec![world]; specs.len()]);
    }
    let checked: Vec<Scenario> =
        specs.iter().map(|it| check_scenario(scenario, it)).collect::<Result<_, _>>()?;
    let assumed = specs.iter().filter_map(|it| match &it.load {
        LoadSpec::Recorded { assume, .. } => Some((**assume).clone()),
        _ => None,
    });
    let mut reader = origin.open_reader()?;
    let read =
        import::import_under(reader.as_mut(), &first.name, &assumed.listed(), &first.file_tools, neighbours);
    let is_file = scenario.source.is_some();
    let under = with_recording_place(&origin, read)
        .map_err(|it| if is_file { with_scenario_place(scenario, it) } else { it })?;
    let laid_out = under.into_iter().zip(&checked).map(|(all, spec)| {
        let timelines =
            all.into_iter().map(|it| load::with_settings_of(timeline_with_losses(it, &spec.name), spec));
        timelines.map(ctxsim_worlds::of_items).listed()
    });
    Ok(laid_out.listed())
}

/// Makes the workloads of a scenario that reads no recording: it has a session in memory, or says itself what is played.
fn worlds_without_recording(
    scenario: &Loaded<ScenarioFile>,
    spec: &ScenarioFile,
    neighbours: &BySession,
) -> Result<Vec<Arc<dyn World>>> {
    let checked = check_scenario(scenario, spec)?;
    if let Some(timeline) = scenario.origin.built_timeline() {
        if spec.load != scenario.spec.load {
            let message = "this session has already been read, so no assumption of reading can change";
            let problem = Diagnostic::at(Code("recording-read"), "load.recorded.assume", message);
            let help = "set it where the session is read: `Recording::assume`";
            return Err(scenario.locate_problems(vec![problem.help(help)]).into());
        }
        let among = timeline.recorded.as_ref().and_then(|it| it.among.as_ref());
        let told = among.zip(neighbours.get("")).map(|(it, neighbours)| it.beside(neighbours));
        let timeline = told.as_ref().unwrap_or(timeline);
        let timeline = Timeline { name: spec.name.clone(), ..(**timeline).clone() };
        return Ok(vec![ctxsim_worlds::of_items(load::with_settings_of(timeline, spec))]);
    }
    if let LoadSpec::Sessions(sessions) = &spec.load {
        return Ok(load::sessions(&checked, sessions).into_iter().map(ctxsim_worlds::of_items).listed());
    }
    let named = paths_and_fields(&spec.load);
    let origins = named.iter().map(|(path, field)| origin_of_named_file(scenario, path, field));
    let beside: Vec<Origin> = origins.collect::<Result<_, _>>()?;
    let file = |file: &Origin| -> Result<NamedFile> {
        let origin = file.clone();
        let again = Box::new(move || origin.read_text().ok().map(Cow::into_owned));
        Ok(NamedFile { reader: file.open_reader()?, again })
    };
    let mut files = beside.iter().map(file).collect::<Result<Vec<_>>>()?;
    if let Some(made) = ctxsim_worlds::make(&checked, &mut files) {
        return made.map_err(|problems| match beside.as_slice() {
            [origin] => problems.into_iter().map(|it| it.in_file(origin.label())).listed().into(),
            _ => problems.into(),
        });
    }
    let unread = |path: &str, _: &Assume| Err(missing_file_problem(path, RECORDED).into());
    Ok(vec![ctxsim_worlds::of_items(load::load(&checked, unread)?)])
}

/// Adds the place in a scenario's own file to the problems that are its own, and not its recording's.
fn with_scenario_place(scenario: &Loaded<ScenarioFile>, error: Error) -> Error {
    match error {
        Error::Invalid(all) => {
            let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.place.file.is_empty());
            Error::Invalid(scenario.locate_problems(own).into_iter().chain(others).listed())
        }
        error => error,
    }
}

/// Glances at the sessions of a scenario's recording, if it has one that can be read.
pub(super) fn glance_at_recording(loaded: &Loaded<ScenarioFile>, spec: &ScenarioFile) -> Option<Vec<Glance>> {
    let LoadSpec::Recorded { path, .. } = &spec.load else { return None };
    if loaded.origin.built_timeline().is_some() {
        return None;
    }
    let origin = origin_of_named_file(loaded, path, RECORDED).ok()?;
    import::glances(origin.open_reader().ok()?.as_mut()).ok()
}

/// Lists what a session of a scenario leaves out among its assumptions.
pub fn timeline_with_losses(session: Imported, scenario: &str) -> Timeline {
    let Imported { mut timeline, losses, .. } = session;
    timeline.assumptions.extend(losses.iter().map(|it| it.sentence(scenario)));
    if let Some(recorded) = &mut timeline.recorded {
        recorded.losses = losses;
        scenario.clone_into(&mut recorded.file);
    }
    timeline
}

/// Adds the file to the problems of reading a recording.
pub(super) fn with_recording_place<T>(origin: &Origin, read: io::Result<Checked<T>>) -> Result<T> {
    let read = read.map_err(|source| Error::Read { path: origin.path().to_owned(), source })?;
    Ok(read.map_err(|problems| {
        let is_of_log = |it: &Diagnostic| it.place.field.is_empty() || it.place.line_column.is_some();
        problems.into_iter().map(|it| if is_of_log(&it) { it.in_file(origin.label()) } else { it }).listed()
    })?)
}

/// Reads the sessions of a recording, by its path or by the name of a scenario that has one, with its losses.
///
/// # Errors
/// There is no such file or scenario, it has no recording, or every problem of it.
pub fn read_recording(catalog: &Catalog, name: &str) -> Result<Vec<Imported>> {
    read_sessions(catalog, name, &BySession::default())
}

/// The same, with what other sessions tell of these.
pub(super) fn read_sessions(catalog: &Catalog, name: &str, neighbours: &BySession) -> Result<Vec<Imported>> {
    map_recording(catalog, name, |origin, spec, assume| {
        let mut reader = origin.open_reader()?;
        let assumed = std::slice::from_ref(assume);
        let under = import::import_under(reader.as_mut(), &spec.name, assumed, &spec.file_tools, neighbours);
        Ok(with_recording_place(origin, under)?.into_iter().flatten().collect())
    })
}

/// Writes the sessions of a recording without their words, in ctxsim's own form.
///
/// # Errors
/// As [`read_recording`].
pub fn redact_recording(catalog: &Catalog, name: &str) -> Result<String> {
    let tools = tool_patterns_of_policies(catalog);
    let models = ModelProfiles::new(ModelProfiles::read_all(&catalog.shipped_inputs()));
    let public_name = |it: &str| models.public_model_name(it);
    map_recording(catalog, name, |origin, spec, assume| {
        let mut reader = origin.open_reader()?;
        let read =
            import::redact(reader.as_mut(), &spec.name, assume, &spec.file_tools, &tools, &public_name);
        with_recording_place(origin, read)
    })
}

/// Returns the patterns by which bundled policies find tools.
fn tool_patterns_of_policies(catalog: &Catalog) -> Vec<String> {
    let policies = catalog.names(InputKind::Policy).filter_map(|it| catalog.policy(it).ok());
    let mut tools = Vec::new();
    let specs = policies.filter_map(|it| to_json(&it.spec).ok());
    specs.for_each(|it| collect_tool_patterns(&it, false, &mut tools));
    tools.sort_unstable();
    tools.dedup();
    tools
}

/// Collects the texts in all lists of tools in a policy.
fn collect_tool_patterns(value: &Value, is_in_tool_list: bool, tools: &mut Vec<String>) {
    match value {
        Value::String(text) if is_in_tool_list => tools.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|it| collect_tool_patterns(it, is_in_tool_list, tools)),
        Value::Object(fields) => {
            for (name, member) in fields {
                collect_tool_patterns(member, matches!(name.as_str(), "tools" | "except_tools"), tools);
            }
        }
        _ => {}
    }
}

/// Makes something of a recording.
fn map_recording<T>(
    catalog: &Catalog,
    name: &str,
    make: impl FnOnce(&Origin, &ScenarioFile, &Assume) -> Result<T>,
) -> Result<T> {
    let scenario = catalog.scenario(name)?;
    let LoadSpec::Recorded { path, assume } = &scenario.spec.load else {
        return Err(not_recorded_error(&scenario));
    };
    let origin = origin_of_named_file(&scenario, path, RECORDED)?;
    make(&origin, &scenario.spec, assume).map_err(|it| with_scenario_place(&scenario, it))
}

/// Checks that a name is of a recording, without reading it.
///
/// # Errors
/// There is no such file or scenario, or it holds no recording.
pub fn check_is_recording(catalog: &Catalog, name: &str) -> Result<()> {
    let scenario = catalog.scenario(name)?;
    let is_recorded = matches!(scenario.spec.load, LoadSpec::Recorded { .. });
    if is_recorded { Ok(()) } else { Err(not_recorded_error(&scenario)) }
}

/// Reports a scenario without a recording.
fn not_recorded_error(scenario: &Loaded<ScenarioFile>) -> Error {
    let problem =
        Diagnostic::at(Code("recording-missing"), "load", "this scenario is not a recorded session");
    let problem = problem.help("name a recording, or a scenario with `load.recorded`");
    scenario.locate_problems(vec![problem]).into()
}

/// Returns where a scenario's recording stands.
///
/// # Errors
/// There is nothing beside the scenario.
pub(super) fn origin_of_named_file(loaded: &Loaded<ScenarioFile>, path: &str, field: &str) -> Result<Origin> {
    let is_there = |origin: &Origin| match origin {
        // A recording that was named itself is looked for where it is read.
        Origin::File(path) => loaded.source.is_none() || path.is_file(),
        _ => true,
    };
    match loaded.origin.file_beside(path).filter(is_there) {
        Some(origin) => Ok(origin),
        None => Err(loaded.locate_problems(vec![missing_file_problem(path, field)]).into()),
    }
}

/// Reports a file named in a scenario that does not exist beside it.
fn missing_file_problem(path: &str, field: &str) -> Diagnostic {
    Diagnostic::at(Code("recording-missing"), field, format!("`{path}` does not exist beside the scenario"))
        .help("write a path relative to the scenario's own folder")
}
