//! Claude Code's automatic compaction beside real ones: when it fires, and how long the prompt is behind it.
//!
//! The recordings are too large for the test data; `CTXSIM_REFERENCE` names a folder that has them.

use super::*;

/// Recorded Claude Code sessions.
fn sessions() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE") else { return Vec::new() };
    let folders = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| Path::new(&root).join(it));
    folders.iter().flat_map(|it| files_below(it, &["jsonl"])).collect()
}

/// A session with its own compactions kept or undone, under its own model; window and reserve follow from its log.
fn opened(session: &Path, resets: &str) -> Load {
    let comparison = Comparison {
        own_models: true,
        set: vec![format!("scenario.load.recorded.assume.resets={resets}")],
        ..comparing(
            &["agents/claude_code/auto_compact"],
            &[&session.display().to_string()],
            &["anthropic/claude-opus-4.5"],
        )
    };
    let plan = planned(&comparison);
    let mut loads = plan.open(&plan.scenarios[0]).unwrap_or_else(|it| panic!("{it}"));
    loads.remove(0)
}

fn rows(load: &Load, timeline: &Timeline) -> Vec<RequestRow> {
    let profile = &load.profiles[0];
    let mut rows = Rows::default();
    Simulation::new(timeline, &load.policies[0], &profile.limits, &profile.cache).run(&mut rows);
    rows.requests
}

/// The first request behind each compaction that a preset makes: its step, and its prompt.
fn predicted(rows: &[RequestRow]) -> Vec<(u32, u64)> {
    let pairs = rows.windows(2).filter(|it| it[0].role == Role::Summariser && it[1].role == Role::Main);
    pairs.map(|it| (it[1].step, it[1].prompt)).collect()
}

/// The first request behind each compaction of the harness: its step, and its prompt as billed.
fn real(load: &Load) -> Vec<(u32, u64)> {
    let timeline = timeline(load);
    let recorded = timeline.recorded.as_ref().unwrap();
    let billed = |step: u32| recorded.usage[step as usize].map(|it| it.prompt);
    recorded.compactions.iter().map(|it| (*it, billed(*it).unwrap())).collect()
}

#[test]
fn claude_code_compacts_within_one_request_of_the_real_one_and_never_where_it_did_not() {
    let mut errors = Vec::new();
    for session in sessions() {
        let name = session.file_name().unwrap().to_string_lossy().into_owned();
        let undone = opened(&session, "undo");
        let real = real(&opened(&session, "keep"));
        let predicted = predicted(&rows(&undone, timeline(&undone)));

        assert_eq!(predicted.len(), real.len(), "{name}: {predicted:?} for {real:?}");
        for (nth, (own, other)) in predicted.iter().zip(&real).enumerate() {
            // Behind the first, the prompt carries what the prediction was off by.
            let off = if nth == 0 { 1 } else { 4 };
            assert!(own.0.abs_diff(other.0) <= off, "{name}: {predicted:?} for {real:?}");
            errors.push((own.1 as f64 / other.1 as f64 - 1.0).abs());
        }
    }
    if errors.is_empty() {
        return;
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] <= 0.15, "{errors:?}");
}

#[test]
fn where_the_first_compaction_is_as_recorded_the_second_comes_within_one_request_too() {
    let (mut offs, sessions) = (Vec::new(), sessions());
    for session in &sessions {
        let kept = opened(session, "keep");
        let real = real(&kept);
        let Some((second, _)) = real.get(1) else { continue };
        let recorded = timeline(&kept).recorded.as_ref().unwrap();
        let history = recorded.session.as_ref().unwrap().without(&[*second]);
        let predicted = predicted(&rows(&kept, &history));
        let last = predicted.last().unwrap().0;
        offs.push((last, *second));
    }

    assert!(offs.len() == 2 || sessions.is_empty(), "{offs:?}");
    assert!(offs.iter().all(|(predicted, real)| predicted.abs_diff(*real) <= 1), "{offs:?}");
}
