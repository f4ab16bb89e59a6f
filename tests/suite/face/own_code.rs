//! Own code is a policy like any other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ctxsim::{
    BoxError, CacheRequest, CacheRules, CacheUse, Catalog, CodePolicy, Comparison, Cx, Entry, ItemId, Kind,
    Knows, Memory, ModelCall, Part, Policy, Profile, PromptLayout, RunId, Text, View,
};
use proptest::prelude::*;

use crate::fuzz::targets::code;
use crate::laws::hold;

const SESSION: &str = "recorded/claude-code";
const PROFILE: &str = "anthropic/claude-sonnet-4.5";

/// Results older than the newest so many become placeholders of so many tokens.
struct KeepNewest(usize);

impl View for KeepNewest {
    fn view(&mut self, _: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let old = history.iter().filter(|it| it.call.is_some()).rev().nth(self.0).map(|it| it.id);
        let is_old =
            |it: &Entry<'_>| it.call.is_some() && it.tokens > 10 && old.is_some_and(|old| it.id <= old);
        let cleared = |it: &Entry<'_>| Text::sized(it.tokens.min(10), u64::from(it.id.0) + 1);
        let show = |it: &Entry<'_>| match is_old(it) {
            true => Part::rewrite(it.id, cleared(it)),
            false => Part::keep(it.id),
        };
        Ok(history.iter().map(show).collect())
    }
}

/// The same as stages.
const TWIN: &str = r#"(
    name: "twin",
    about: "Results older than the newest ten become placeholders.",
    stages: [(
        name: "code",
        at: [request],
        scope: (kinds: [tool_result], keep_recent: tool_uses(10)),
        apply: show(marker(10)),
    )],
)"#;

fn comparison() -> Comparison {
    Comparison::new().scenario(SESSION).profile(PROFILE)
}

#[test]
fn a_view_comes_to_the_same_as_its_twin_in_stages() {
    let twin = Policy::ron(TWIN).unwrap();
    let own = CodePolicy::view("own", |_| KeepNewest(10));
    let plan = comparison().policy(twin).policy(own).plan().unwrap();
    let report = plan.run().unwrap();

    let [twin, own] = [&report.runs()[0], &report.runs()[1]];
    for place in
        ["input_tokens", "cache_read_tokens", "cache_write_tokens", "prompt_tokens_max", "cost_usd.base"]
    {
        assert_eq!(own.metric(place).unwrap(), twin.metric(place).unwrap(), "{place}");
        assert!(own.metric(place).unwrap().is_some(), "{place}");
    }
    // What the cache did is told by the same numbers of items, whatever slots a view has beside them.
    let cache = |policy: &str| {
        let text = plan.explain(&RunId::new(policy, SESSION, PROFILE), 40).unwrap().to_string();
        let size = text.split_once(" items; ").unwrap().0.rsplit(' ').next().unwrap().to_owned();
        let cache = text.split_once("\nCache\n").unwrap().1.split_once("\n\n").unwrap().0.to_owned();
        (size, cache)
    };
    assert_eq!(cache("own"), cache("twin"));
}

/// One summary of everything that is older, said anew at each request, or kept from the last.
struct Summary {
    says_anew: bool,
    old: Option<ItemId>,
}

impl View for Summary {
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let replies =
            |at: &usize| history[*at].kind != Kind::ToolResult && history[at - 1].kind == Kind::ToolResult;
        if cx.prompt_tokens > 80_000 && self.old.is_none() {
            self.old = (history.len() - 10..history.len()).find(replies).map(|it| history[it].id);
        }
        let Some(until) = self.old else { return Ok(history.iter().map(|it| Part::keep(it.id)).collect()) };
        let (old, new): (Vec<&Entry<'_>>, Vec<_>) =
            history.iter().filter(|it| !it.is_stable).partition(|it| it.id < until);
        let ids = old.iter().map(|it| it.id);
        let summary = Part::insert(Kind::Summary, "What went before.");
        let call = ModelCall::new(cx.prompt_tokens, 500);
        // Said in the place of all, or as other words for the first while the rest is left out.
        let summary = match (self.says_anew, old.first()) {
            (true, _) => summary.replacing(ids).written_by(call),
            (false, Some(first)) if first.kind == Kind::User => {
                Part::rewrite(first.id, "What went before.").written_by(call)
            }
            (false, _) => summary.written_by(call),
        };
        Ok(std::iter::once(summary).chain(new.iter().map(|it| Part::keep(it.id))).collect())
    }
}

#[test]
fn a_summary_said_in_two_ways_costs_the_same_and_is_billed_once() {
    let says = |says_anew| move |_: ctxsim::Trace<'_>| Summary { says_anew, old: None };
    let report = comparison()
        .policy("identity")
        .policy(CodePolicy::view("anew", says(true)))
        .policy(CodePolicy::view("rewritten", says(false)))
        .run()
        .unwrap();

    report.all_passed().unwrap();
    let [identity, anew, rewritten] = [&report.runs()[0], &report.runs()[1], &report.runs()[2]];
    let metric = |run: &ctxsim::Run, place: &str| run.metric(place).unwrap();
    assert_eq!(metric(anew, "cost_usd.base"), metric(rewritten, "cost_usd.base"));
    assert_eq!(metric(anew, "compaction.requests"), Some(1.0));
    assert_eq!(metric(rewritten, "compaction.requests"), Some(1.0));
    assert!(anew.prompt_max() < identity.prompt_max());
    let requests = metric(anew, "cost_usd.base").unwrap() + metric(anew, "cost_usd.compaction").unwrap();
    assert!(
        requests < identity.usd().unwrap(),
        "one break of the cache pays off here, but for what is looked up anew"
    );
}

#[test]
fn own_code_takes_part_in_sensitivity_explanations_snapshots_and_guards() {
    let suite = r#"
        name = "own"
        about = "Guards own code."
        policies = ["identity", "own"]
        scenarios = ["recorded/claude-code"]
        profiles = ["anthropic/claude-sonnet-4.5"]
        [[guards]]
        name = "smaller"
        policy = "own"
        metric = "totals.prompt_tokens_max"
        at_most = 1000
    "#;
    let own = || CodePolicy::view("own", |_| KeepNewest(10));
    let plan = comparison().policy("identity").policy(own()).plan().unwrap();
    let all = plan.stream(|_| Longest::default()).unwrap();
    let (run, longest) = &all[1];
    assert_eq!(run.policy, "own");

    let explained = plan.explain(run, longest.n).unwrap().to_string();
    assert!(explained.contains("marker") || explained.contains("truncate"), "{explained}");
    assert!(plan.sensitivity().unwrap().to_string().contains("own"));
    let report = plan.run().unwrap();
    assert!(report.snapshot().to_string().contains("own "));
    assert!(serde_json::to_string(&report).unwrap().contains("\"policy\":\"own\""));

    let catalog = Catalog::bundled().text("suites/own.toml", suite).unwrap();
    let guarded =
        Comparison::new().catalog(catalog).suite("own").policy("identity").policy(own()).run().unwrap();
    assert_eq!(guarded.broken_guards().len(), 1, "{:?}", guarded.broken_guards());
    assert_eq!(guarded.all_passed().unwrap_err().to_string(), guarded.broken_guards()[0]);
}

/// Finds the row of the longest prompt.
#[derive(Default)]
struct Longest {
    n_rows: usize,
    n: usize,
    tokens: u64,
}

impl ctxsim::Sink for Longest {
    fn request(&mut self, row: &ctxsim::RequestRow) -> std::ops::ControlFlow<()> {
        self.n_rows += 1;
        if row.prompt > self.tokens {
            (self.n, self.tokens) = (self.n_rows, row.prompt);
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// Recalls how much has come.
struct Counts(u32);

impl Memory for Counts {
    fn observe(&mut self, new: &[Entry<'_>]) {
        self.0 += u32::try_from(new.len()).unwrap();
    }

    fn recall(&mut self) -> Result<Option<Text>, BoxError> {
        Ok(Some(Text::sized(200, u64::from(self.0 / 50))))
    }

    fn knows(&mut self, _: ItemId) -> Knows {
        Knows::Exact
    }
}

#[test]
fn a_memory_in_code_stands_where_the_layout_puts_it() {
    let keeps = |_: ctxsim::Trace<'_>| {
        |_: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
            Ok(history.iter().map(|it| Part::keep(it.id)).collect())
        }
    };
    let tail = CodePolicy::view("tail", keeps).memory(|_| Counts(0));
    let first =
        CodePolicy::view("first", keeps).memory(|_| Counts(0)).layout(PromptLayout::default().memory_first());
    let report = comparison().policy("identity").policy(tail).policy(first).run().unwrap();

    report.all_passed().unwrap();
    let [identity, tail, first] = [0, 1, 2].map(|it| &report.runs()[it]);
    assert_eq!(tail.prompt_max(), identity.prompt_max() + 200);
    assert_eq!(first.prompt_max(), identity.prompt_max() + 200);
    assert!(first.usd() > tail.usd(), "what changes in front breaks the whole prompt");
}

#[test]
fn a_result_in_other_words_breaks_the_prefix_under_every_kind_of_cache_rule() {
    let clears = |_: ctxsim::Trace<'_>| {
        |_: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
            let last = history.iter().rposition(|it| it.kind == Kind::User).unwrap_or(0);
            let part = |(nth, it): (usize, &Entry<'_>)| match it.call.is_some() && nth < last {
                true => Part::rewrite(it.id, "gone"),
                false => Part::keep(it.id),
            };
            Ok(history.iter().enumerate().map(part).collect())
        }
    };
    for profile in [PROFILE, "openai/gpt-5.4", "duckagent/openai-gpt-5.4", "deepseek/deepseek-v4-flash"] {
        let own = CodePolicy::view("own", clears);
        let plan = Comparison::new().scenario(SESSION).profile(profile).policy(own).plan().unwrap();
        let rows = plan.stream(|_| Rows::default()).unwrap().remove(0).1.0;
        let broken: Vec<usize> = (1..rows.len()).filter(|it| rows[*it].edits > 0).collect();
        assert!(!broken.is_empty());
        for at in broken {
            assert!(rows[at].cache_read < rows[at - 1].prompt, "{profile}, request {at}");
        }
    }
}

#[derive(Default)]
struct Rows(Vec<ctxsim::RequestRow>);

impl ctxsim::Sink for Rows {
    fn request(&mut self, row: &ctxsim::RequestRow) -> std::ops::ControlFlow<()> {
        self.0.push(*row);
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
fn code_is_made_anew_for_each_run_and_a_second_play_finds_what_differs() {
    let made = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&made);
    let steady = CodePolicy::view("steady", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        KeepNewest(10)
    });
    let report = comparison().policy(steady).play_twice().run().unwrap();
    report.all_passed().unwrap();
    assert!(made.load(Ordering::Relaxed) >= 2);

    let plays = AtomicU64::new(0);
    let wavering = CodePolicy::view("wavering", move |_| {
        KeepNewest(if plays.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { 10 } else { 12 })
    });
    let report = comparison().policy("identity").policy(wavering).play_twice().run().unwrap();
    let failed = report.failures()[0].to_string();
    assert!(failed.contains("wavering failed on recorded/claude-code"), "{failed}");
    assert!(failed.contains("not deterministic"), "{failed}");
    assert_eq!(report.runs().len(), 1);
}

/// What costs a run its requests, by role.
#[derive(Default)]
struct Costs([f64; 2]);

impl ctxsim::Sink for Costs {
    fn request(&mut self, row: &ctxsim::RequestRow) -> std::ops::ControlFlow<()> {
        self.0[usize::from(row.role == ctxsim::Role::Summariser)] += row.usd.unwrap_or_default();
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
fn rows_of_a_summariser_cost_what_its_model_charges() {
    let comparison = || Comparison::new().scenario(SESSION).profile("anthropic/claude-opus-4.5");
    let costs = |policy| {
        let set = comparison().policy(policy).set("*.params.GOOSE_AUTO_COMPACT_THRESHOLD.ratio", 0.3);
        let plan = set.plan().unwrap();
        let Costs(rows) = plan.stream(|_| Costs::default()).unwrap().remove(0).1;
        let total = |place| plan.run().unwrap().runs()[0].metric(place).unwrap().unwrap();
        assert!((rows[0] - total("cost_usd.base")).abs() < 1e-9);
        assert!((rows[1] - total("cost_usd.compaction")).abs() < 1e-9);
        rows[1]
    };
    let own = costs("agents/goose/auto_compact");
    let fast = costs("agents/goose/auto_compact_fast");

    assert!(0.0 < fast && fast < own, "{fast} {own}");
}

#[test]
fn an_explanation_gives_code_the_seed_of_the_run() {
    let seeds: Arc<Mutex<Vec<u64>>> = Arc::default();
    let noted = Arc::clone(&seeds);
    let code = CodePolicy::view("seeded", move |trace| {
        noted.lock().unwrap().push(trace.seed());
        KeepNewest(10)
    });
    let plan = comparison().policy(code).seed(7).plan().unwrap();
    plan.run().unwrap();
    plan.explain(&RunId::new("seeded", SESSION, PROFILE), 3).unwrap();

    let seeds = seeds.lock().unwrap();
    assert!(seeds.len() >= 2 && seeds.iter().all(|it| *it == 7), "{seeds:?}");
}

#[test]
fn cache_rules_in_code_stay_with_their_profile_where_a_file_has_the_same_name() {
    let like = Profile::load(&Catalog::bundled(), PROFILE).unwrap();
    let never = CacheRules::custom(|| {
        |it: &CacheRequest<'_>| -> Result<CacheUse, BoxError> { Ok(it.reading_and_writing(0, 0)) }
    });
    let own = like.to_builder().name("mine").cache(never).build().unwrap();
    let text = "name = \"mine\"\nabout = \"Steps.\"\nas_of = \"2026-01-01\"\nsources = [\"made up\"]\n\
                [cache.prefix_interval]\nmin_tokens = 1\nstep_tokens = 1\n\
                [[prices]]\ninput = 10.0\noutput = 50.0\ncache_read = 1.0\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    let plan = Comparison::new().policy("identity").scenario(SESSION);
    let report = plan.profile(own).profile(path.to_str().unwrap()).run().unwrap();

    let [own, file] = [0, 1].map(|it| &report.runs()[it]);
    assert_ne!(own.profile(), file.profile());
    assert_eq!((own.cache_read(), own.cache_write(), own.uncached()), (0, 0, own.input()));
    assert!(file.cache_read() > 0);
}

fn bytes(n: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..n)
}

#[test]
fn a_view_is_sent_as_it_says_and_cached_by_what_it_says() {
    hold(2, bytes(400), |bytes| {
        code::view(&bytes, false);
        Ok(())
    });
}

#[test]
fn a_view_that_breaks_the_rules_fails_by_name() {
    hold(2, bytes(300), |bytes| {
        code::view(&bytes, true);
        Ok(())
    });
}

#[test]
fn a_cache_that_divides_prompts_as_it_likes_fails_by_name_or_is_billed() {
    hold(2, bytes(300), |bytes| {
        code::cache(&bytes);
        Ok(())
    });
}
