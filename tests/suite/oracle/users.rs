//! What users asked, and what requests still show of it.

use ctxsim::input::policy::ShownAs;
use ctxsim::ledger::{NeedRow, UserRow};
use ctxsim::timeline::evidence::{EARLIER, RUNNING};
use ctxsim::timeline::{Inferred, Kind, Level};

use super::Run;
use super::history::Stands;

/// The number of parts of a message.
const PARTS: u64 = 1 << 20;

/// What a request shows of messages: parts as they came, and parts behind summaries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    running: Option<[u64; 2]>,
    earlier: [u64; 2],
    n_earlier: u64,
}

impl Run<'_> {
    /// Looks through all messages of the session, and says at the turn's last request what the turn needed of them.
    pub(super) fn user_needs(&mut self, turn_ix: usize, step: usize) {
        let Some(terms) = self.timeline.users else { return };
        let spine = &self.timeline.spine;
        let steps = spine.turns[turn_ix].steps.clone();
        if step == steps.start as usize {
            self.shown.clear();
        }
        let first = spine.sessions.iter().rfind(|it| it.turns.start as usize <= turn_ix).unwrap().turns.start;
        let mut shown = Shown { running: self.message(turn_ix), ..Shown::default() };
        for parts in (first as usize..turn_ix).filter_map(|it| self.message(it)) {
            shown.earlier = [0, 1].map(|it| shown.earlier[it] + parts[it]);
            shown.n_earlier += 1;
        }
        self.shown.push(shown);
        if step + 1 != steps.end as usize {
            return;
        }
        let said =
            |turn: usize| spine.turns[turn].user.clone().find(|it| is_said(&spine.items[*it as usize]));
        let sum = |all: &dyn Fn(&Shown) -> [u64; 2]| {
            self.shown.iter().map(all).fold([0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]])
        };
        let mut row = |rule, item, weights: [f64; 3], left: [u64; 2], n: u64| {
            let [kept, least, most] =
                terms.summarised.map(|it| (left[0] as f64 + it * left[1] as f64) / (n * PARTS) as f64);
            self.rows.needs.push(NeedRow {
                turn_ix: turn_ix as u32,
                level: Level::RawContent,
                weight: weights[0],
                met: kept,
                inferred: Some(Inferred { rule, step: step as u32, item, names: None }),
                of_user: Some(UserRow { weights: [weights[1], weights[2]], met: [least, most] }),
                ..NeedRow::default()
            });
        };
        let n_running = self.shown.iter().filter(|it| it.running.is_some()).count() as u64;
        if n_running > 0 {
            let left = sum(&|it| it.running.unwrap_or_default());
            row(RUNNING, said(turn_ix).unwrap(), [1.0; 3], left, n_running);
        }
        let n_earlier: u64 = self.shown.iter().map(|it| it.n_earlier).sum();
        if n_earlier > 0 && terms.earlier[2] > 0.0 {
            let often = n_earlier as f64 / self.shown.len() as f64;
            let newest = (first as usize..turn_ix).rev().find_map(said).unwrap();
            row(EARLIER, newest, terms.earlier.map(|it| it * often), sum(&|it| it.earlier), n_earlier);
        }
    }

    /// What stands of the message of a turn, as it came and behind summaries; nothing where it has none, or the harness took it out.
    fn message(&self, turn_ix: usize) -> Option<[u64; 2]> {
        let history = &self.history;
        let slots = history.turns[turn_ix].clone();
        let slots: Vec<usize> =
            slots.filter(|it| is_said(history.item(*it)) && !history.slots[*it].is_reset).collect();
        let total: u64 = slots.iter().map(|it| u64::from(history.item(*it).raw)).sum();
        let mut left = [0; 2];
        for slot in slots {
            let (view, tokens) = (&history.slots[slot].view, u64::from(history.item(slot).raw));
            match view.stands {
                Stands::Shown | Stands::Told | Stands::Fold(_) if view.rendition == ShownAs::Raw => {
                    left[0] += tokens;
                }
                Stands::Behind | Stands::Summary(_) => {
                    let is_host = |it: &usize| matches!(history.slots[*it].view.stands, Stands::Summary(_));
                    let host = (0..=slot).rev().find(is_host);
                    left[1] += host.map_or(0, |it| tokens.min(history.slots[it].view.tokens));
                }
                _ => {}
            }
        }
        (total > 0).then(|| left.map(|it| it * PARTS / total))
    }
}

fn is_said(item: &ctxsim::timeline::Item) -> bool {
    matches!(item.kind, Kind::User | Kind::Summary) && item.raw > 0
}
