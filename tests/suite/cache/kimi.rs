//! The breakpoints rule with Kimi K3's numbers: automatic, two lifetimes, from 256 tokens on.

use ctxsim::input::Settings;
use ctxsim::input::profile::cache::Setting;

use super::listed::{Listed, rules_of, users};

const RULES: &str = r#"[cache.breakpoints]
min_tokens = 256
automatic = "last_block"
implicit = true
ttl = ["5m", "1h"]
invalidates = { tool_choice = "nothing", effort = "tools" }"#;

#[test]
fn kimi_guide_prompts_of_256_tokens_and_more_are_written_as_a_whole() {
    let grows = |first| {
        let prompts = [users(0, &[(1, first)]), users(0, &[(1, first), (2, 100)])];
        Listed::new(&rules_of(RULES), "").reads_and_writes(&prompts)
    };

    assert_eq!(grows(255), [[0, 0], [0, 355]]);
    assert_eq!(grows(256), [[0, 256], [256, 100]]);
}

#[test]
fn kimi_guide_the_request_chooses_between_five_minutes_and_an_hour() {
    let hour = "layout: (breakpoints: [(at: automatic, ttl: \"1h\")])";
    for (layout, write, at_ms, read) in [
        ("", [2_000, 0], 300_000, 2_000),
        ("", [2_000, 0], 300_001, 0),
        (hour, [0, 2_000], 3_600_000, 2_000),
        (hour, [0, 2_000], 3_600_001, 0),
    ] {
        let mut cache = Listed::new(&rules_of(RULES), layout);
        assert_eq!(cache.send(&users(2_000, &[]), 0).write, write);
        assert_eq!(cache.send(&users(2_000, &[]), at_ms).read, read, "{layout} at {at_ms} ms");
    }
}

#[test]
fn kimi_guide_the_choice_of_tools_keeps_the_prompt_and_effort_does_not() {
    for (setting, read) in [(Setting::ToolChoice, 2_000), (Setting::Effort, 0), (Setting::Model, 0)] {
        let mut cache = Listed::new(&rules_of(RULES), "");
        let mut changed = Settings::default();
        changed.set(setting, 1);
        cache.send(&users(2_000, &[]), 0);

        assert_eq!(cache.send_under(&users(2_000, &[]), 60_000, changed).read, read, "{setting:?}");
    }
}
