//! Runs that fail: named by policy and request, never with a number, and never at the cost of the others.

use ctxsim::{
    BoxError, CacheRequest, CacheRules, CacheUse, Catalog, CodePolicy, Comparison, Cx, Entry, ItemId, Kind,
    Level, Memory, ModelCall, Part, Policy, Profile, PromptLayout, Recording, RunId, Scenario, Text,
};

const SESSION: &str = "recorded/claude-code";
const PROFILE: &str = "anthropic/claude-sonnet-4.5";

type Answer = Result<Vec<Part>, BoxError>;

/// Plays a view that does something at its 20th request; returns what the report says of it.
fn said(does: fn(&Cx<'_>, &[Entry<'_>], Vec<Part>) -> Answer) -> String {
    let code = CodePolicy::view("mine", move |_| {
        move |cx: &Cx<'_>, history: &[Entry<'_>]| -> Answer {
            let whole = history.iter().map(|it| Part::keep(it.id)).collect();
            if cx.request == 19 { does(cx, history, whole) } else { Ok(whole) }
        }
    });
    let report =
        Comparison::new().policy("identity").policy(code).scenario(SESSION).profile(PROFILE).run().unwrap();
    assert_eq!(report.runs().len(), 1, "the others finish");
    assert!(report.get("mine", SESSION, PROFILE).is_none());
    let sums: Vec<_> = report.sums().collect();
    assert_eq!(sums[0].unwrap().policy(), "identity");
    assert_eq!(sums[1].unwrap_err().policy, "mine", "a policy that failed is not just absent");
    assert!(report.to_string().contains("1 run FAILED"), "{report}");
    let [failed] = report.failures() else { panic!("one run fails") };
    assert_eq!((failed.request, failed.policy.as_str()), (20, "mine"));
    failed.reason.clone()
}

#[test]
fn what_is_wrong_with_a_text_in_code_has_its_line_and_column() {
    let ron = "(name: \"x\", about: \"y\",\n  stages: [(name: \"a\", apply: shw(marker(12)))])";
    let toml = "name = \"x\"\nabout = \"y\"\n[[stages]]\nname = \"a\"\nappply = \"drop\"\n";
    for (error, line, what) in [
        (Policy::ron(ron).unwrap_err(), 2, "memory:policy"),
        (Policy::toml(toml).unwrap_err(), 5, "memory:policy"),
        (PromptLayout::ron("(memory: head,\n\n memry: tail)").unwrap_err(), 3, "memory:layout"),
        (Recording::new("x").assume("(\nnothing: 1)").unwrap_err(), 2, "memory:assume"),
    ] {
        let problem = &error.problems()[0];
        assert_eq!(problem.line_column.unwrap().0, line, "{error}");
        assert_eq!(problem.file, what, "{error}");
        assert!(error.to_string().starts_with(&format!("{what}:{line}:")), "{error}");
    }
}

#[test]
fn what_a_view_does_wrong_is_said_in_its_own_numbers() {
    let cases = [
        said(|_, _, _| Err("no idea".into())),
        said(|_, _, _| panic!("index out of bounds")),
        said(|_, _, whole| Ok(whole.into_iter().chain([Part::keep(ItemId(9_999))]).collect())),
        said(|_, _, whole| Ok(whole.into_iter().rev().collect())),
        said(|_, _, whole| Ok(whole.iter().chain(whole.last()).cloned().collect())),
        said(|_, history, whole| {
            let result = history.iter().rposition(|it| it.call.is_some()).unwrap();
            Ok(whole.into_iter().enumerate().filter(|it| it.0 != result).map(|it| it.1).collect())
        }),
        said(|_, history, _| Ok(vec![Part::rewrite(history[0].id, "another system prompt")])),
        said(|_, history, whole| {
            let last = history.last().unwrap().id;
            Ok(whole.into_iter().chain([Part::insert(Kind::Summary, "all").replacing([last])]).collect())
        }),
        said(|_, _, whole| {
            Ok(whole.into_iter().chain([Part::insert(Kind::ToolResult, "made up")]).collect())
        }),
        said(|_, _, whole| {
            let many = (0..3).map(|_| Part::insert(Kind::User, Text::sized(u64::MAX, 1)));
            Ok(whole.into_iter().chain(many).collect())
        }),
        said(|_, _, whole| {
            let call = ModelCall::new(10, 10).sharing_prefix();
            Ok(whole.into_iter().chain([Part::insert(Kind::User, "a note").written_by(call)]).collect())
        }),
        said(|_, history, whole| {
            let (at, notes) = (history.len() - 1, (0..3).map(|_| Part::insert(Kind::User, "note")));
            Ok(whole[..at].iter().cloned().chain(notes).chain(whole[at..].iter().cloned()).collect())
        }),
    ];
    insta::with_settings!({
        snapshot_path => "../../../snapshots/face", prepend_module_to_snapshot => false, omit_expression => true,
    }, { insta::assert_snapshot!("failures", cases.join("\n")) });
}

#[test]
fn a_factory_a_memory_or_a_cache_that_fails_ends_the_run_by_name() {
    fn keeps(_: &Cx<'_>, history: &[Entry<'_>]) -> Answer {
        Ok(history.iter().map(|it| Part::keep(it.id)).collect())
    }
    struct Forgets;
    impl Memory for Forgets {
        fn recall(&mut self) -> Result<Option<Text>, BoxError> {
            Err("the store is gone".into())
        }
    }
    let base = || Comparison::new().scenario(SESSION);
    let like = Profile::load(&Catalog::bundled(), PROFILE).unwrap();
    let under = |rules: CacheRules| like.to_builder().name("own").cache(rules).build().unwrap();
    let greedy = || {
        CacheRules::custom(|| {
            |it: &CacheRequest<'_>| -> Result<CacheUse, BoxError> { Ok(it.reading(3 * it.prompt_tokens())) }
        })
    };
    let broken =
        || CacheRules::custom(|| |_: &CacheRequest<'_>| -> Result<CacheUse, BoxError> { panic!("no entry") });
    let unmade =
        CodePolicy::view("unmade", |_| -> fn(&Cx<'_>, &[Entry<'_>]) -> Answer { panic!("no config") });
    let reports = [
        base().policy(unmade).profile(PROFILE).run().unwrap(),
        base()
            .policy(CodePolicy::view("forgets", |_| keeps).memory(|_| Forgets))
            .profile(PROFILE)
            .run()
            .unwrap(),
        base().policy("identity").profile(under(greedy())).run().unwrap(),
        base().policy("identity").profile(under(broken())).run().unwrap(),
    ];
    let lines: Vec<String> = reports.iter().flat_map(|it| it.failures()).map(ToString::to_string).collect();
    assert!(reports.iter().all(|it| it.runs().is_empty()));
    insta::with_settings!({
        snapshot_path => "../../../snapshots/face", prepend_module_to_snapshot => false, omit_expression => true,
    }, { insta::assert_snapshot!("failed_runs", lines.join("\n")) });
}

#[test]
fn code_that_fails_is_not_explained() {
    let fails = |_: &Cx<'_>, _: &[Entry<'_>]| -> Answer { Err("no idea".into()) };
    let code = CodePolicy::view("mine", move |_| fails);
    let plan = Comparison::new().policy(code).scenario(SESSION).profile(PROFILE).plan().unwrap();
    let said = plan.explain(&RunId::new("mine", SESSION, PROFILE), 1).unwrap_err();

    assert_eq!(said.problems()[0].code, "run-failed");
    assert!(plan.sensitivity().unwrap_err().to_string().contains("no idea"));
}

#[test]
fn builders_report_every_problem_at_once_and_nothing_panics_on_any_value() {
    let scenario = Scenario::builder("")
        .stable(Kind::ToolResult, "x")
        .turn("x", |turn| {
            turn.needs(3, Level::RawContent, f64::NAN);
        })
        .build();
    let profile = Profile::builder("mine").price(-1.0, f64::NAN).cache_read("cheap").as_of("someday").build();
    let unknown = Comparison::new().policy("identitty").scenario("recorded/*").profile("nope").plan();
    let plan = Comparison::new().policy("identity").scenario(SESSION).profile(PROFILE).plan().unwrap();
    let keeps = |_: &Cx<'_>, _: &[Entry<'_>]| -> Answer { Ok(Vec::new()) };
    let mine = || CodePolicy::view("mine", move |_| keeps);
    let same = Comparison::new().policy(mine()).policy(mine()).scenario(SESSION).profile(PROFILE).plan();
    let shadows = Comparison::new().policy("identity").policy(CodePolicy::view("identity", move |_| keeps));
    let shadows = shadows.scenario(SESSION).profile(PROFILE).plan();
    let said = [
        scenario.err(),
        same.err(),
        shadows.err(),
        profile.err(),
        unknown.err(),
        Scenario::generate("duckagent/plain_chat", 3, 0).err(),
        Scenario::generate("recorded/claude-code", 3, 0).err(),
        Catalog::empty().text("mine.ron", "()").err(),
        plan.explain(&RunId::new("nobody", SESSION, PROFILE), 1).err(),
        plan.explain(&RunId::new("identity", SESSION, PROFILE), 0).err(),
    ];
    let lines: Vec<String> = said
        .into_iter()
        .flatten()
        .flat_map(|it| it.problems())
        .map(|it| format!("{} [{}] {} | {}", it.file, it.code, it.message, it.help.unwrap_or_default()))
        .collect();
    insta::with_settings!({
        snapshot_path => "../../../snapshots/face", prepend_module_to_snapshot => false, omit_expression => true,
    }, { insta::assert_snapshot!("problems", lines.join("\n")) });
    assert!(Comparison::new().threads(0).policy("identity").scenario(SESSION).profile(PROFILE).run().is_ok());
}
