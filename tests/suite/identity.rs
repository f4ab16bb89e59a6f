//! What caches know a prompt by: who says what, wherever it stands and whoever put it there.

use ctxsim::cache::{CacheRule, RequestView};
use ctxsim::input::policy::EditsLast;
use ctxsim::ledger::{Outcome, RunFault};
use ctxsim::price::PriceRows;
use ctxsim::projection::edit::Manner;
use ctxsim::projection::prompt::ShownAs;
use ctxsim::projection::rendition::Rendered;
use ctxsim::projection::{Ambient, Editor, Projector};
use ctxsim::projection::{PromptText, SlotIx};
use ctxsim::recovery::CompiledRecovery;

use crate::support::*;

/// How a policy says its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A summary takes the place of what it is about, once.
    Summarises,
    /// The first item of what it is about is rewritten, the others are dropped, once.
    RewritesAndDrops,
    /// From the whole history to the whole view, before each request.
    SaysItAllAnew,
}

/// A role, and what it says.
type Part = (bool, String);

/// Once a turn is over, it is told in one sentence.
struct Teller<'t> {
    timeline: &'t Timeline,
    how: How,
    n_told: usize,
    /// By slot: what stands there in words of the policy's own.
    words: IndexMap<SlotIx, String>,
    /// What each request showed, with the digest up to and with each part.
    sent: Vec<Vec<(Part, u128)>>,
}

impl Projector for Teller<'_> {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let n_turns = edit.prompt().history().turns().len() - 1;
        if self.how == How::SaysItAllAnew {
            self.n_told = 0;
            edit.set_manner(Manner {
                moment,
                author: 0,
                stage: 0,
                lasts: EditsLast::Request,
                keeps_prefix: false,
            });
        }
        for turn in std::mem::replace(&mut self.n_told, n_turns)..n_turns {
            self.tell(turn, edit);
        }
        self.note(edit);
    }
}

impl<'t> Teller<'t> {
    fn new(timeline: &'t Timeline, how: How) -> Self {
        Self { timeline, how, n_told: 0, words: IndexMap::new(), sent: Vec::new() }
    }

    fn tell(&mut self, turn: usize, edit: &mut Editor<'_, '_>) {
        let items = edit.prompt().history().turns()[turn].items.clone();
        let words = format!("Turn {turn} had {} parts.", items.len());
        let text = PromptText::counted_words(&words, self.timeline);
        self.words.insert(items.start, words);
        match self.how {
            How::RewritesAndDrops => {
                assert!(rewrite(edit, items.start, text));
                items
                    .skip(1)
                    .for_each(|it| assert!(edit.take_out(it) > 0 || !edit.prompt().slot(it).is_visible()));
            }
            How::Summarises | How::SaysItAllAnew => {
                edit.absorb_as(&items.collect::<Vec<_>>(), text, None);
            }
        }
    }

    fn note(&mut self, edit: &mut Editor<'_, '_>) {
        let links = edit.chain().links().to_vec();
        let prompt = edit.prompt();
        let part = |slot: SlotIx| {
            let own = || format!("item {:x}", prompt.item(slot).digest);
            let is_own = prompt.slot(slot).content.is_some();
            let words = self.words.get(&slot).filter(|_| is_own).cloned().unwrap_or_else(own);
            (matches!(prompt.kind(slot), Kind::User | Kind::Summary), words)
        };
        self.sent.push(links.iter().map(|it| (part(it.slot), it.digest)).collect());
    }
}

fn sonnet() -> Profile {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("profiles/anthropic/claude-sonnet-4.5.toml");
    Profile::new(&Source::read(&path).unwrap().decode::<ProfileFile>().unwrap()).unwrap()
}

/// Puts other words into an item's place.
fn rewrite(edit: &mut Editor<'_, '_>, slot: SlotIx, text: PromptText) -> bool {
    edit.resize(slot, Rendered::sized(ShownAs::Summary, text.tokens, false).saying(text))
}

fn identity() -> Policy {
    policy_from(include_str!("../../policies/identity.ron"))
}

/// Plays a session; returns what was sent, and what the requests cost.
fn told(timeline: &Timeline, how: How) -> (Vec<Vec<(Part, u128)>>, Cost) {
    let profile = sonnet();
    let mut teller = Teller::new(timeline, how);
    let mut ledger = (Sums::default(), PriceRows::default());
    let identity = identity();
    let play = Simulation::new(timeline, &identity, &Limits::NONE, &profile.cache);
    let play = play.recovering(&[CompiledRecovery::one_shot(None)]);
    let outcome = play.run_by(&mut teller, &mut [&mut ledger]);
    assert_eq!(outcome.fault, None);
    let (sums, rows) = ledger;
    let tally = Tally::new(&sums, Some(&rows.into()), &outcome, false, &profile);
    assert!(tally.costs.total().is_some());
    (teller.sent, tally.costs.base())
}

fn recorded() -> Vec<Timeline> {
    let sessions = [
        include_str!("../../scenarios/recorded/claude-code-session.jsonl"),
        include_str!("../data/recorded/pi-session.jsonl"),
    ];
    let mut texts = sessions.map(str::to_owned).to_vec();
    if let Some(folder) = std::env::var_os("CTXSIM_REFERENCE") {
        let files = fs::read_dir(PathBuf::from(folder).join("recorded/claude-code")).unwrap();
        texts.extend(files.map(|it| fs::read_to_string(it.unwrap().path()).unwrap()));
    }
    let timelines = texts.iter().map(|it| import(it, "session", &Assume::default(), &[]).unwrap().timeline);
    // What the harness itself took out cannot be told of again.
    let is_whole = |it: &Timeline| !it.events.iter().any(|it| matches!(it.kind, EventKind::Reset(_)));
    timelines.filter(is_whole).collect()
}

fn parts(sent: &[Vec<(Part, u128)>]) -> Vec<Vec<&Part>> {
    sent.iter().map(|it| it.iter().map(|it| &it.0).collect()).collect()
}

#[test]
fn the_same_view_costs_the_same_however_it_is_said() {
    let sessions: Vec<Timeline> = recorded().into_iter().filter(|it| it.spine.turns.len() > 1).collect();
    assert!(sessions.len() > 1, "two sessions have turns to tell of");
    for timeline in sessions {
        let [once, by_drops, anew] =
            [How::Summarises, How::RewritesAndDrops, How::SaysItAllAnew].map(|it| told(&timeline, it));

        assert_eq!(parts(&once.0), parts(&by_drops.0));
        assert_eq!(parts(&once.0), parts(&anew.0));
        assert_eq!([once.1, once.1], [by_drops.1, anew.1], "picodollars");
    }
}

#[test]
fn prefixes_have_equal_digests_exactly_when_they_say_the_same() {
    let timeline = recorded().swap_remove(0);
    let mut known: IndexMap<u128, Vec<Part>> = IndexMap::new();
    let mut digests: IndexMap<Vec<Part>, u128> = IndexMap::new();
    for how in [How::Summarises, How::RewritesAndDrops, How::SaysItAllAnew] {
        // Whole prompts are enough: a digest stands for everything up to it.
        for sent in told(&timeline, how).0 {
            let said: Vec<Part> = sent.iter().map(|it| it.0.clone()).collect();
            let digest = sent.last().unwrap().1;
            assert_eq!(known.entry(digest).or_insert_with(|| said.clone()), &said);
            assert_eq!(*digests.entry(said).or_insert(digest), digest);
        }
    }
}

/// One turn of a call and its result behind a system prompt, and another turn.
fn small() -> Timeline {
    let mut timeline = TimelineBuilder::new("small", &[]);
    timeline.stable(Kind::System, 1_000);
    for _ in 0..2 {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
        let sizes = ItemSizes { raw: 500, excerpt: 100, summary: 50, handle: 5 };
        let result = NewItem::result("read", 0, sizes, Default::default(), Default::default());
        timeline.step(0, 10, &[NewItem::call("read", 10)], &[result]);
        timeline.step(1_000, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    }
    timeline.finish()
}

/// Does something before the n-th request, from 0.
struct Once<F>(usize, F);

impl<F: FnMut(&mut Editor<'_, '_>)> Projector for Once<F> {
    fn name(&self) -> &str {
        "once"
    }

    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment == Moment::Request {
            if self.0 == 0 {
                (self.1)(edit);
            }
            self.0 = self.0.wrapping_sub(1);
        }
    }
}

/// Makes edits before one request of a small session; returns why the run ended, if it did.
fn play_small(nth: usize, edits: impl FnMut(&mut Editor<'_, '_>)) -> Option<Arc<RunFault>> {
    let (timeline, identity, rules) = (small(), identity(), sonnet().cache);
    let play = Simulation::new(&timeline, &identity, &Limits::NONE, &rules);
    play.run_by(&mut Once(nth, edits), &mut [&mut Rows::default()]).fault
}

#[test]
fn words_are_known_by_themselves_and_by_nothing_else() {
    let digest = |edit: &mut Editor<'_, '_>| edit.chain().links().last().unwrap().digest;

    let played = play_small(3, |edit| {
        let as_it_came = digest(edit);
        rewrite(edit, 3, PromptText::sized(500, 7));
        let first = digest(edit);
        rewrite(edit, 3, PromptText::sized(500, 8));
        let of_equal_size = digest(edit);
        rewrite(edit, 3, PromptText::sized(500, 7));
        let again = digest(edit);
        let item = edit.prompt().item(3);
        let own = PromptText::sized(item.raw, item.digest);
        rewrite(edit, 3, own);
        let own_words = digest(edit);
        edit.resize(3, Rendered::sized(ShownAs::Raw, 500, false));

        assert_eq!([first, as_it_came, as_it_came], [again, own_words, digest(edit)]);
        assert!(first != of_equal_size && first != as_it_came);
    });

    assert_eq!(played, None);
}

#[test]
fn a_summary_of_a_model_is_known_by_its_call() {
    let mut digests = Vec::new();
    for n in 0..2 {
        let played = play_small(3, |edit| {
            edit.absorb(&[1, 2, 3, 4], 20, None);
            for _ in 0..n {
                edit.absorb(&[1], 20, None);
            }
            digests.push(edit.chain().links().last().unwrap().digest);
        });
        assert_eq!(played, None);
    }

    assert_ne!(digests[0], digests[1], "equal in size, but written twice");
}

/// A cache that reads more than there is.
struct Own(fn(u64) -> CacheUse);

impl CacheRule for Own {
    fn needs_chain(&self) -> bool {
        false
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        (self.0)(request.prompt)
    }
}

#[test]
fn a_cache_that_does_not_divide_the_prompt_ends_the_run() {
    let thrice: fn(u64) -> CacheUse = |prompt| CacheUse { read: 3 * prompt, ..CacheUse::default() };
    let wraps: fn(u64) -> CacheUse =
        |prompt| CacheUse { read: u64::MAX, uncached: prompt + 1, ..CacheUse::default() };
    let reads = |read, uncached| {
        format!(
            "a policy in code, turn 1, request 1: the cache reads {read} tokens, writes 0 and leaves {uncached} uncached, which does not add up \
             to the prompt of 1100"
        )
    };
    for (rule, said) in [(thrice, reads(3_300, 0)), (wraps, reads(u64::MAX, 1_101))] {
        let (timeline, identity) = (small(), identity());
        let play = Simulation::new(&timeline, &identity, &Limits::NONE, &CacheRules::None);

        let fault = play.with_cache(|_| Box::new(Own(rule))).run(&mut Rows::default()).fault.unwrap();

        assert_eq!(fault.to_string(), said);
    }
}

#[test]
fn what_has_no_price_costs_nothing_that_is_known() {
    let tiers = "[[prices]]\ninput = 2.0\noutput = 10.0\n[[prices.tiers]]\nabove_prompt_tokens = 1_000\ninput = 4.0\n";
    let head =
        "name = \"p\"\nabout = \"Tiers.\"\nas_of = \"2026-01-01\"\nsources = [\"none\"]\ncache = \"none\"\n";
    let spec = decode::<ProfileFile>(&format!("{head}{tiers}"), Format::Toml).unwrap();
    let profile = Profile::new(&spec).unwrap();

    let tally = Tally::new(&Sums::default(), None, &Outcome::default(), false, &profile);

    assert_eq!(tally.costs.total(), None, "nobody says how long the requests were");
}
