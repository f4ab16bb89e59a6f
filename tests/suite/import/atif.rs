//! ATIF trajectories: steps as requests, copied context, compactions, trajectories of sub-agents inside the file.

use super::*;

/// A trajectory of some steps.
fn trajectory(id: &str, steps: &[Value]) -> Value {
    json!({"schema_version": "ATIF-v1.7", "session_id": id,
        "agent": {"name": "some-agent", "version": "1", "model_name": "openai/gpt-5.4", "tool_definitions": [{"type": "function"}]},
        "steps": steps})
}

fn said(id: u64, source: &str, text: &str) -> Value {
    json!({"step_id": id, "source": source, "message": text, "timestamp": format!("2026-01-01T00:00:{id:02}Z")})
}

/// A request with its bill: prompt, of it cached, and output.
fn request(id: u64, [prompt, cached, output]: [u64; 3]) -> Value {
    let mut step = said(id, "agent", "ok");
    step["metrics"] = json!({"prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": output, "cost_usd": 0.5});
    step
}

#[test]
fn steps_of_the_agent_are_requests_and_what_they_see_goes_on_with_the_turn() {
    let mut with_call = request(3, [100, 0, 10]);
    with_call["tool_calls"] =
        json!([{"tool_call_id": "c1", "function_name": "execute_bash", "arguments": {"command": "ls"}}]);
    with_call["observation"] = json!({"results": [{"source_call_id": "c1", "content": "a b"}]});
    let mut terminal = request(4, [130, 64, 10]);
    terminal["observation"] = json!({"results": [{"content": "$ "}]});
    let mut written = request(5, [170, 100, 10]);
    written["metrics"]["extra"] = json!({"cache_creation_input_tokens": 50});
    let steps = [said(1, "system", "be good"), said(2, "user", "go"), with_call, terminal, written];

    let imported = imported(&trajectory("t1", &steps).to_string());

    let spine = &imported.timeline.spine;
    assert_eq!(imported.format, "atif");
    assert_eq!((spine.turns.len(), spine.steps.len()), (1, 3));
    let usage: Vec<_> = imported.timeline.recorded.as_ref().unwrap().usage.iter().flatten().collect();
    assert_eq!((usage[1].cache_read, usage[1].uncached), (64, 66));
    assert_eq!((usage[2].cache_write, usage[2].uncached), (50, 20));
    assert_eq!(imported.timeline.models[0].name, "openai/gpt-5.4");
    assert_eq!(spine.items.iter().filter(|it| it.kind == Kind::ToolSchema).count(), 1);
    assert_eq!(losses(&imported), [""; 0]);
}

#[test]
fn copied_context_is_no_request_and_takes_the_place_of_the_history_within_a_file() {
    let copy = |id, source: &str, text: &str| {
        let mut step = said(id, source, text);
        step["is_copied_context"] = true.into();
        step
    };
    let continuation = [copy(1, "user", "the task"), copy(2, "agent", "so far"), request(3, [200, 0, 10])];
    let within = [
        said(1, "user", &"long ".repeat(500)),
        request(2, [900, 0, 10]),
        copy(3, "user", "what was done"),
        request(4, [150, 0, 10]),
    ];

    let (one, other) = (
        imported(&trajectory("t1", &continuation).to_string()),
        imported(&trajectory("t2", &within).to_string()),
    );

    assert_eq!((one.timeline.spine.steps.len(), one.timeline.recorded.unwrap().compactions.len()), (1, 0));
    assert_eq!(other.timeline.recorded.as_ref().unwrap().compactions.len(), 1);
    assert_eq!(played(&other.timeline), [900, 150]);
}

#[test]
fn a_step_that_says_so_compacts_the_history() {
    let mut mark = said(3, "system", "summarised");
    mark["extra"] = json!({"context_management": {"type": "compaction", "boundary": "replace"}});
    let steps = [
        said(1, "user", &"long ".repeat(500)),
        request(2, [900, 0, 10]),
        mark,
        said(4, "user", "go on"),
        request(5, [90, 0, 5]),
    ];

    let timeline = imported(&trajectory("t1", &steps).to_string()).timeline;

    assert_eq!(timeline.recorded.as_ref().unwrap().compactions.len(), 1);
    assert_eq!(played(&timeline), [900, 90]);
}

#[test]
fn trajectories_of_sub_agents_inside_the_file_are_sessions_of_their_own() {
    let mut whole = trajectory("t1", &[said(1, "user", "go"), request(2, [100, 0, 10])]);
    whole["subagent_trajectories"] =
        json!([trajectory("t1-search", &[said(1, "user", "look"), request(2, [50, 0, 5])])]);

    let all = import_all(&whole.to_string(), "test", &Assume::default(), &[]).unwrap();

    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["1", "2-t1-search"]);
    let session = &all[1].timeline.spine.sessions[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("t1-search", Some("t1")));
}

#[test]
fn a_step_without_a_call_of_a_model_is_no_request() {
    let mut none = said(2, "agent", "a note");
    none["llm_call_count"] = 0.into();
    let steps = [said(1, "user", "go"), none, request(3, [100, 0, 10])];

    assert_eq!(imported(&trajectory("t1", &steps).to_string()).timeline.spine.steps.len(), 1);
}

#[test]
fn a_trajectory_that_is_cut_off_doubled_or_out_of_its_mind_is_read_and_told() {
    let steps = [
        said(1, "user", "go"),
        request(2, [100, 0, 10]),
        json!(7),
        json!({"source": "oracle"}),
        request(3, [120, 0, 1]),
    ];
    let text = serde_json::to_string_pretty(&trajectory("t1", &steps)).unwrap();
    for cut in (150..text.len()).step_by(61) {
        let _ = import_all(&text[..cut], "test", &Assume::default(), &[]);
    }
    let all = import_all(&(text.clone() + &text), "test", &Assume::default(), &[]).unwrap();
    assert_eq!(all.len(), 1);
    let told = losses(&all[0]);
    assert!(told.len() == 3 && told[0].contains("stand in the file again"), "{told:?}");
    let problems = import(&text.replace("100", "-100"), "test", &Assume::default(), &[]).unwrap_err();
    assert_eq!(problems[0].place.field, "metrics.prompt_tokens");
}
