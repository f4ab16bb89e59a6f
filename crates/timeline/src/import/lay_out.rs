//! Builds a timeline from a transcript.

use ctxsim_input::profile::ImageRule;
use ctxsim_input::profile::cache::SETTINGS;
use ctxsim_input::scenario::{Assume, ResetsAssumed as Keeping, TokenizerName, ToolAssume};

use super::assumed::{ScenarioAssumptions, sentences};
use super::harness::{Conduct, Leads};
use super::index::home_folders;
use super::kept::PartPlaces;
use super::side_requests::SideRequests;
use super::sizes::{Allotment, Reset, allot};
use super::transcript::{LoggedMark, RequestForm};
use super::undo::{CompactedSession, Undo, Undone};
use crate::import::prelude::*;
use crate::infer_needs::infer_needs;
use crate::{
    AsideBill, AsideKind, Compaction, FixedPart, FrontItem, ItemIx, NewItem, Recorded, RecordedMark,
    RecordedModel, Timeline, TimelineBuilder, UnbilledSummary,
};

/// How a session is laid out.
#[derive(Clone, Debug)]
pub(super) struct LayOut {
    /// What it is called.
    pub(super) name: String,
    /// Whose tools it has.
    pub(super) harness: &'static str,
    pub(super) assume: Assume,
    /// The tools whose results can be read again by range.
    pub(super) file_tools: Vec<String>,
}

impl Transcript {
    /// Counts the texts of all parts by a tokenizer, if one is chosen and built; returns which.
    fn count(&mut self, chosen: Option<TokenizerName>) -> Option<TokenizerName> {
        let tokenizer = chosen.and_then(tokens::tokenizer)?;
        for part in self.parts_mut() {
            // What has no text keeps the size that the recording gives it.
            part.tokens = part.text.as_ref().map(|it| tokenizer.count(it)).or(part.tokens);
        }
        chosen
    }

    /// Puts the timeline together. A session that its harness compacted can be laid out otherwise later.
    pub(super) fn into_timeline(self, layout: &LayOut) -> Timeline {
        if layout.assume.complete().resets == Some(Keeping::Undo) {
            return self.laid_out(layout, &Undo::All).0;
        }
        let session = (!self.compacted().is_empty())
            .then(|| Arc::new(CompactedSession { transcript: self.clone(), layout: layout.clone() }));
        let mut timeline = self.laid_out(layout, &Undo::Nothing).0;
        if let Some(recorded) = &mut timeline.recorded {
            recorded.session = session;
        }
        timeline
    }

    /// Puts the timeline together, some of the harness's own changes undone; returns it with where each part is among the items.
    pub(super) fn laid_out(mut self, layout: &LayOut, undo: &Undo) -> (Timeline, PartPlaces) {
        let LayOut { harness, file_tools, .. } = layout;
        let assumed = ScenarioAssumptions::new(layout.assume.complete(), harness);
        unwrap(&mut self.exchanges, &assumed.spec.tools);
        let draws = self.draws();
        let tokenizer = self.count(assumed.spec.tokenizer);
        self.count_images(&assumed.counting);
        let mut allotment = allot(&self, assumed.counting);
        let leads = Leads::new(&self, &allotment, assumed.asks_bills());
        let undone = self.undo(&mut allotment, undo);
        if undone.first.is_some() {
            self.assumptions = undone.sentences();
        }
        let format = self.tools_of.unwrap_or(harness);
        let conduct = Conduct::new(&self, format, &allotment, &leads);
        let side_requests = SideRequests::new(&self, &assumed, &conduct);
        let mut builder = self.begin(layout, &assumed, &conduct);
        let n_hidden = builder.next_item();
        builder.timeline.assumptions = sentences(&self, &assumed, &allotment, &conduct, &side_requests);
        let mut clock = SessionClock::default();
        builder.harness(assumed.harness(&self, &conduct, &side_requests));
        builder.session().draws = Some(draws);
        let mut tokens = allotment.tokens.iter().copied();
        let mut places: Vec<ItemIx> = (builder.next_item()..).take(self.stable.len()).collect();
        assumed.items(&self.stable, &mut tokens).iter().for_each(|it| builder.stable_item(it));
        let mut models = RecordingModels::default();
        let Allotment { resets, forgotten, fronts, .. } = &allotment;
        let mut resets = LaidOutResets { left: resets, forgotten, n_stable: builder.next_item() };
        for (index, exchange) in self.exchanges.iter().enumerate() {
            let input = exchange.usage.map_or(0, |it| it.prompt);
            if let Some(number) = models.count(self.model_of(exchange), input) {
                builder.change(Setting::Model, ix(number));
            }
            conduct.tell(index, &mut builder);
            self.tell_form(index, fronts, &places, &mut builder);
            if exchange.begins.is_some() {
                side_requests.tell(index, &clock, &mut builder);
                let mut user: Vec<NewItem<'_>> = resets.carried(index, true).into_iter().collect();
                let n_carried = user.len();
                user.extend(assumed.items(exchange.user(), &mut tokens));
                let first = builder.next_item();
                self.tell_compaction(index, &user[n_carried..], &assumed, &mut builder);
                resets.apply(index, &mut builder, first, &places);
                builder.begin_turn(&user);
                places.extend((first..).skip(n_carried).take(exchange.user().len()));
            }
            let reply = assumed.items(&exchange.reply, &mut tokens);
            let mut results = assumed.items(&exchange.results, &mut tokens);
            places.extend((builder.next_item()..).take(reply.len() + results.len()));
            results.extend(resets.carried(index + 1, false));
            let written = reply.iter().map(|it| Tokens::from(it.sizes.raw)).sum();
            let (at_ms, output) = (clock.since_start(exchange.at_ms), assumed.output(exchange, written));
            builder.step(at_ms, output, &reply, &results);
            builder.response(clock.place(exchange.response_ms), clock.place(exchange.end_ms));
            if self.exchanges.get(index + 1).is_some_and(|it| it.begins.is_none()) {
                // Something unknown may represent what a reset took out.
                let carries = resets.before(index + 1).is_some_and(|it| it.carried > 0);
                let first = builder.next_item() - u32::from(carries);
                self.tell_compaction(index + 1, &[], &assumed, &mut builder);
                resets.apply(index + 1, &mut builder, first, &places);
            }
        }
        let mut timeline = builder.finish();
        (timeline.models, timeline.began_ms, timeline.tokenizer) = (models.0, clock.start, tokenizer);
        infer_needs(&mut timeline, &assumed.spec.needs, file_tools);
        learn(&mut timeline, &conduct, format, &self);
        timeline.hear(&self.neighbours, ix(conduct.n_pieces(conduct.shared)));
        self.note_resets(&mut timeline, &undone, &assumed, self.fixed(n_hidden, &places));
        self.note_marks(&mut timeline, &places);
        let places = PartPlaces { items: places, gone: undone.gone };
        self.keep_needs(&mut timeline, &places, undo, file_tools);
        (timeline, places)
    }

    /// Tells the builder of the request that wrote the summary before an exchange, whoever asked for it; few logs have
    /// its bill.
    fn tell_compaction(
        &self,
        exchange: usize,
        user: &[NewItem<'_>],
        assumed: &ScenarioAssumptions,
        builder: &mut TimelineBuilder,
    ) {
        if self.exchanges[exchange].compacts.is_none() {
            return;
        }
        let summarised = self.summarised();
        let Some(nth) = summarised.iter().position(|it| *it == exchange) else { return };
        let from = nth.checked_sub(1).map_or(0, |it| summarised[it]);
        let n_turns = self.exchanges[from..exchange].iter().filter(|it| it.begins.is_some()).count();
        let stands_in = self.exchanges[exchange].user().iter().zip(user).filter(|it| it.0.stands_in);
        let sizes: Vec<(Kind, Tokens)> =
            stands_in.map(|(part, item)| (part.kind, Tokens::from(item.sizes.raw))).collect();
        let named = sizes.iter().filter(|it| it.0 == Kind::Summary).map(|size| size.1).sum();
        // Some harnesses say the summary like a user, in front of what they attach again.
        let shown = if named > 0 { named } else { sizes.first().map_or(0, |it| it.1) };
        let tokens = self.exchanges[exchange].summarised.last().map_or(shown, |it| it.output);
        let output = assumed.spec.compaction_summary_tokens.filter(|_| tokens == 0).unwrap_or(tokens);
        let instruction = assumed.spec.compaction_instruction_tokens.unwrap_or_default();
        builder.compaction(Compaction { items: ix(n_turns + usize::from(nth > 0)), instruction, output });
        let unbilled = self.unbilled_summary(exchange, output);
        builder.timeline.recorded.iter_mut().for_each(|it| it.unbilled.extend(unbilled.clone()));
    }

    /// Returns the request that wrote the summary before an exchange, if no usage shows it and something tells its sizes.
    fn unbilled_summary(&self, exchange: usize, written: Tokens) -> Option<UnbilledSummary> {
        let Exchange { summarised, summary_sizes: sizes, .. } = &self.exchanges[exchange];
        let before = &self.exchanges[exchange.checked_sub(1)?];
        let sent = before.usage.map(|it| it.prompt + it.output);
        let is_shown = !summarised.is_empty() || sizes.is_step || self.is_spread;
        let prompt = sizes.before.or(sent).filter(|_| !is_shown)?;
        Some(UnbilledSummary {
            prompt,
            output: sizes.after.unwrap_or(written),
            is_stated: sizes.before.is_some(),
            is_long: before.usage.is_some_and(|it| it.cache_write_long.is_some_and(|long| long > 0)),
            model: self.model_of(before).to_owned(),
            at_ms: sizes.at_ms.or(self.exchanges[exchange].at_ms),
            pause_ms: sizes.at_ms.zip(before.end_ms).map(|(at_ms, end_ms)| at_ms.saturating_sub(end_ms)),
        })
    }

    /// Returns what is billed beside the steps, each at the model and the time of what it stands beside.
    fn billed_aside(&self) -> impl Iterator<Item = AsideBill> {
        let of_exchanges = self.exchanges.iter().flat_map(|exchange| {
            let summary =
                |usage: &Usage| AsideBill { kind: AsideKind::Summary, usage: *usage, ..AsideBill::default() };
            let all = exchange.summarised.iter().map(summary).chain(exchange.inner.iter().cloned());
            all.map(|mut bill| {
                if bill.model.is_empty() {
                    self.model_of(exchange).clone_into(&mut bill.model);
                }
                bill.at_ms = bill.at_ms.or(exchange.at_ms);
                bill
            })
        });
        of_exchanges.chain(self.aside.iter().cloned())
    }

    /// Notes where the harness compacted the history, from where on that is undone, and what stands before all messages.
    fn note_resets(
        &self,
        timeline: &mut Timeline,
        undone: &Undone,
        assumed: &ScenarioAssumptions,
        fixed: Box<[(ItemIx, FixedPart)]>,
    ) {
        let Some(recorded) = &mut timeline.recorded else { return };
        recorded.fixed = fixed;
        let newest =
            self.exchanges.iter().map(|it| it.version).max().filter(|version| *version != Version::default());
        recorded.version = newest.map(|it| it.to_string()).unwrap_or_default();
        recorded.newer_than = newest.and_then(|it| HarnessRules::newer_than(self.harness, it));
        recorded.harness_limits =
            newest.map(|it| self.harness_limits(it, &timeline.models)).unwrap_or_default();
        recorded.project = home_folders(&self.folder).project;
        recorded.is_spread = self.is_spread;
        recorded.compactions = self.compacted().into_iter().map(ix).collect();
        recorded.before_compactions = recorded.compactions.iter().map(|it| it.saturating_sub(1)).collect();
        recorded.summarised = self.summarised().into_iter().map(ix).collect();
        let exchanges = self.exchanges.iter().zip(0..);
        recorded.occasions =
            exchanges.flat_map(|(it, step)| it.occasions().map(move |told| (step, told))).collect();
        recorded.aside = self.billed_aside().collect();
        recorded.agents = self.agents.iter().cloned().collect();
        recorded.plan.clone_from(&self.plan);
        recorded.limits = self.limits.iter().cloned().collect();
        recorded.outcome.clone_from(&self.outcome);
        let prompt = |at: usize| self.exchanges[..at].iter().rev().find_map(|it| Some(it.usage?.prompt));
        let smallest = self.compacted().into_iter().filter_map(prompt).min().unwrap_or(0);
        let margin = assumed.spec.compaction_margin.unwrap_or(Decimal::ONE);
        recorded.avoided_below = smallest.saturating_sub(margin.share_of(smallest));
        recorded.harness_limits.trigger = Some(recorded.avoided_below).filter(|it| *it > 0);
        recorded.undone_from = undone.first.map(ix);
    }

    /// Begins a timeline with what was billed, step by step, whose session it is, and what is before every prompt and in no part.
    fn begin(&self, layout: &LayOut, assumed: &ScenarioAssumptions, conduct: &Conduct) -> TimelineBuilder {
        let mut builder = TimelineBuilder::new(&layout.name, &layout.file_tools);
        builder.chars_per_token(assumed.counting.chars_per_token);
        let after_marks = |it: &Exchange| it.usage.filter(|_| self.has_breakpoints).map(|it| it.uncached);
        let exchanges = self.exchanges.iter().enumerate();
        let tails = exchanges.map(|(nth, it)| after_marks(it).unwrap_or_else(|| conduct.cache.unread(nth)));
        let n_costs = self.exchanges.iter().rposition(|it| it.cost.is_some()).map_or(0, |last| last + 1);
        builder.timeline.recorded = Some(Recorded {
            format: layout.harness,
            usage: self.exchanges.iter().map(|it| it.usage).collect(),
            tails: tails.collect(),
            costs: self.exchanges[..n_costs].iter().map(|it| it.cost).collect(),
            ..Recorded::default()
        });
        if let Some([agent, parent]) = &self.of_agent {
            builder.name_session(agent, Some(parent));
        }
        for (kind, tokens) in &conduct.front {
            builder.stable(*kind, saturated(*tokens));
        }
        builder
    }

    /// Tells the builder what a request asks for otherwise than the one before: settings, tools and system prompt.
    fn tell_form(&self, index: usize, sizes: &[Vec<u32>], places: &[ItemIx], builder: &mut TimelineBuilder) {
        let first = RequestForm::default();
        let before = index.checked_sub(1).map_or(&first, |it| &self.exchanges[it].form);
        let form = &self.exchanges[index].form;
        for setting in SETTINGS {
            if form.value(setting) != before.value(setting) {
                builder.change(setting, form.value(setting));
            }
        }
        let (Some(parts), Some(own)) = (self.fronts.get(form.front), sizes.get(form.front)) else { return };
        let of = |front: usize, nth: usize| (self.fronts[front][nth].digest, sizes[front][nth]);
        // What only later versions have does not stand in the first.
        let is_told = |nth: usize, tokens: u32| match index {
            0 => tokens == 0,
            _ => of(form.front, nth) != of(before.front, nth),
        };
        let items = parts.iter().zip(own).zip(places).enumerate();
        let items = items.filter(|(nth, ((_, tokens), _))| is_told(*nth, **tokens));
        let item = |(_, ((part, tokens), item)): (usize, ((&Part, &u32), &ItemIx))| FrontItem {
            item: *item,
            tokens: *tokens,
            digest: part.digest,
        };
        builder.front(items.map(item).collect());
    }

    /// Notes where requests mark their prompts for the cache, where the log has bodies of requests that do.
    fn note_marks(&self, timeline: &mut Timeline, places: &[ItemIx]) {
        let Some(recorded) = &mut timeline.recorded else { return };
        if self.exchanges.iter().all(|it| it.form.marks.is_empty()) {
            return;
        }
        let mark = |it: &LoggedMark| RecordedMark {
            item: it.n_before.map(|n| n.checked_sub(1).and_then(|at| places.get(at).copied()).unwrap_or(0)),
            ttl: if it.is_long { TtlClass::Long } else { TtlClass::Short },
        };
        recorded.marks = self.exchanges.iter().map(|it| it.form.marks.iter().map(mark).collect()).collect();
    }
}

/// Tells a timeline what its models do with images, and what the harness's conduct says of their caches and of odds.
fn learn(timeline: &mut Timeline, conduct: &Conduct, format: &'static str, transcript: &Transcript) {
    for model in &mut timeline.models {
        model.cache = conduct.cache.of_model(&model.name).cloned();
    }
    let main = timeline.main_model().map_or("", |it| it.name.as_str());
    timeline.images.rule = Some(ImageRule::of_model(main));
    timeline.odds = conduct.odds(format, transcript);
}

impl SideRequests {
    /// Tells the builder what the harness sent between the last turn and the one that a request begins.
    fn tell(&self, request: usize, clock: &SessionClock, builder: &mut TimelineBuilder) {
        if let Some(delay_ms) = self.delay_ms.filter(|_| self.due.binary_search(&request).is_ok()) {
            let end_ms = builder.timeline.spine.steps.last().map_or(0, |it| it.end_ms);
            builder.side_request(end_ms.saturating_add_unsigned(delay_ms), false);
        }
        let logged = self.logged.binary_search_by_key(&request, |it| it.0);
        for at_ms in logged.iter().flat_map(|nth| &self.logged[*nth].1) {
            builder.side_request(clock.place(Some(*at_ms)), true);
        }
    }
}

/// The models of a recording, in the order in which they come.
#[derive(Default)]
pub(super) struct RecordingModels(pub(super) Vec<RecordedModel>, usize);

impl RecordingModels {
    /// Counts a request; returns its model's number where it is another than that of the one before.
    pub(super) fn count(&mut self, model: &str, input: Tokens) -> Option<usize> {
        let Self(models, last) = self;
        if model.is_empty() {
            return None;
        }
        let number = models.iter().position(|it| it.name == model).unwrap_or(models.len());
        if number == models.len() {
            models.push(RecordedModel { name: model.to_owned(), ..RecordedModel::default() });
        }
        models[number].requests += 1;
        models[number].input += input;
        (std::mem::replace(last, number) != number).then_some(number)
    }
}

/// Milliseconds since the first request; a clock that goes back stands still.
#[derive(Default)]
pub(super) struct SessionClock {
    start: Option<i64>,
    last: i64,
}

impl SessionClock {
    pub(super) fn since_start(&mut self, at_ms: Option<i64>) -> i64 {
        if let Some(at_ms) = at_ms {
            let start = *self.start.get_or_insert(at_ms);
            self.last = self.last.max(at_ms.saturating_sub(start));
        }
        self.last
    }

    /// Returns when the last request started, in milliseconds since 1970, if any has a time.
    pub(super) fn last_ms(&self) -> Option<i64> {
        self.start.map(|it| it.saturating_add(self.last))
    }

    /// Returns where a time lies since the first request; at the last one, when it is not known.
    fn place(&self, at_ms: Option<i64>) -> i64 {
        let start = self.start.unwrap_or(0);
        at_ms.map_or(self.last, |it| it.saturating_sub(start))
    }
}

/// The resets of a recording while its timeline is put together.
struct LaidOutResets<'a> {
    left: &'a [Reset],
    /// The parts that leave the prompts for another reason, each with the request that does not have it.
    forgotten: &'a [(usize, usize)],
    n_stable: ItemIx,
}

impl LaidOutResets<'_> {
    /// Returns the reset before a request.
    fn before(&self, exchange: usize) -> Option<Reset> {
        self.left.first().filter(|it| it.exchange == exchange).copied()
    }

    /// Returns what represents it, in the message that the request begins with or in the one before.
    fn carried(&self, exchange: usize, begins: bool) -> Option<NewItem<'static>> {
        let reset = self.before(exchange).filter(|it| it.carried > 0 && it.begins == begins)?;
        Some(NewItem::plain(Kind::Summary, saturated(reset.carried)))
    }

    /// Tells the builder of the reset before a request: up to `end`, and from the first part that goes; and which parts no prompt holds
    /// from it on.
    fn apply(&mut self, exchange: usize, builder: &mut TimelineBuilder, end: ItemIx, places: &[ItemIx]) {
        if let Some(reset) = self.before(exchange) {
            let place = |part: usize| places.get(part).copied().unwrap_or(end).min(end);
            builder.reset(reset.from.map_or(self.n_stable, place)..reset.to.map_or(end, place));
            self.left = &self.left[1..];
        }
        while let Some(((_, part), rest)) = self.forgotten.split_first().filter(|it| it.0.0 == exchange) {
            places.get(*part).into_iter().for_each(|item| builder.reset(*item..item + 1));
            self.forgotten = rest;
        }
    }
}

/// Renames the calls of wrapping tools, and their results, to what a field of the input names.
pub(super) fn unwrap(exchanges: &mut [Exchange], tools: &[ToolAssume]) {
    if tools.iter().all(|it| it.name_from.is_none()) {
        return;
    }
    for exchange in exchanges {
        let calls = exchange.reply.iter_mut().filter(|it| it.kind == Kind::ToolCall);
        let mut names: Vec<Option<String>> = Vec::new();
        for call in calls {
            let name = name(&call.tool, call.text.as_deref().unwrap_or_default(), tools);
            if let Some(name) = &name {
                call.tool.clone_from(name);
            }
            names.push(name);
        }
        for result in exchange.results.iter_mut().filter(|it| it.kind == Kind::ToolResult) {
            if let Some(Some(name)) = names.get(result.answers) {
                result.tool.clone_from(name);
            }
        }
    }
}

/// Returns the name of what a call passes on, or none if its input does not say.
fn name(tool: &str, input: &str, tools: &[ToolAssume]) -> Option<String> {
    let field = tools.iter().find(|it| wildcard(&it.tool, tool))?.name_from.as_deref()?;
    let input: serde_json::Value = serde_json::from_str(input).ok()?;
    let name = input.get(field)?.as_str()?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
