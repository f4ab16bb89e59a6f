//! Recorded sessions, agent by agent.

use ctxsim::app::Comparison;
use ctxsim::app::advise::{AdviceRequest, JudgedChoice, PlayedSessions};
use ctxsim::catalog::bundled_catalog;

use crate::rates::{CameTo, FLOOR, Parting, Rates};

/// Prints what the rule captures on folders: halves of all sessions, of some twenty, and the newer half.
pub(crate) fn print(folders: &[String]) {
    let catalog = bundled_catalog();
    let comparison = Comparison { scenarios: folders.to_vec(), own_models: true, ..Comparison::default() };
    let asked = AdviceRequest { min_evidence: FLOOR, ..AdviceRequest::default() };
    let folder = match PlayedSessions::read_and_play(&catalog, &comparison, &asked) {
        Ok(it) => it,
        Err(error) => {
            eprintln!("{error}");
            return;
        }
    };
    for agent in folder.agent_names() {
        let n = folder.n_sessions(agent);
        for size in [n / 2, 20] {
            if size * 2 <= n && size > 4 {
                println!("{}", rates(&folder, agent, Parting::Halves, size, 200).row(agent, size));
            }
        }
        let newer = rates(&folder, agent, Parting::Time, n / 2, 1);
        println!("{}", newer.row(&format!("{agent}, newer half"), n / 2));
    }
}

/// Measures the rule on parts of an agent's sessions.
fn rates(folder: &PlayedSessions<'_>, agent: &str, parting: Parting, size: usize, times: u64) -> Rates {
    let mut found = Rates::default();
    let all: Vec<usize> = (0..folder.n_sessions(agent)).collect();
    for seed in 0..times {
        let [mut read, mut other] =
            parting.parts(seed, all.len(), |nth| folder.last_request_ms(agent, nth).unwrap_or_default());
        if parting == Parting::Halves {
            // Of halves at random, those that come first by another draw are as random.
            let drawn = |from: &[usize], seed: u64| -> Vec<usize> {
                let order = Parting::Halves.parts(seed, from.len(), |_| 0).concat();
                order.iter().take(size).map(|it| from[*it]).collect()
            };
            (read, other) = (drawn(&read, seed + 1_000), drawn(&other, seed + 2_000));
        }
        let best = folder.cheapest_choice(agent, &all, FLOOR);
        let best = best.map_or(0.0, |it| folder.saving_and_evidence_shares(agent, &other, &it).0);
        let judged = folder.judge_choices(agent, &read, FLOOR).unwrap_or_default();
        let pasted = judged.iter().position(|row| row.is_pasted);
        let came = |row: JudgedChoice| {
            let (saving, kept) = folder.saving_and_evidence_shares(agent, &other, &row.choice);
            (row.lever, CameTo { saving, kept: kept.unwrap_or(1.0) })
        };
        found.add(best, &judged.into_iter().map(came).collect::<Vec<_>>(), pasted);
    }
    found
}
