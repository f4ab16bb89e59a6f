//! With a loss in one stage alone, the error is that stage's.

use ctxsim::input::policy::memory::MemoryPart;
use ctxsim::input::policy::memory::{SessionMemory as Spec, SessionRead, SessionStore};
use ctxsim::worlds::aging::{Attribution, Ladder, PipelineStage};

use super::{load, memory, model, summary};

/// Returns how the error is divided where some parts lose nothing.
fn divided(spec: Spec, oracle: &[MemoryPart], by: &str) -> Attribution {
    let spec = Spec { oracle: oracle.to_vec(), ..spec };
    summary(&load("s6_12"), 20, &spec, model(by)).attribution.unwrap()
}

/// A memory of records that are brought back by likeness.
fn records() -> Spec {
    Spec { read: SessionRead::Top { n: 5, crowding: true }, ..memory("append_only") }
}

/// Files that are written with losses and all read.
fn files() -> Spec {
    Spec {
        store: SessionStore::Files,
        read: SessionRead::Top { n: 2, crowding: true },
        ..memory("workspace")
    }
}

#[test]
fn a_loss_in_one_stage_is_attributed_to_that_stage() {
    let read = divided(records(), &[MemoryPart::Write, MemoryPart::Use], "mid");
    let used = divided(records(), &[MemoryPart::Write, MemoryPart::Read], "weak");
    let write = divided(files(), &[MemoryPart::Read, MemoryPart::Use], "mid");

    assert_eq!(
        (read.candidate, used.candidate, write.candidate),
        (Some(PipelineStage::Read), Some(PipelineStage::Use), Some(PipelineStage::Write))
    );
    let share = |part: f64, all: &Attribution| part / all.total_error;
    assert!(share(read.read_error.unwrap(), &read) >= 0.95, "{read:?}");
    assert!(share(used.use_error, &used) >= 0.95, "{used:?}");
    assert!(share(write.write_error.unwrap(), &write) >= 0.95, "{write:?}");
    assert!(read.total_error > 0.05 && used.total_error > 0.05 && write.total_error > 0.05);
}

#[test]
fn oracles_never_make_answers_worse_on_the_same_draws_and_a_planted_cell_is_an_anomaly() {
    for spec in [records(), files(), memory("lossy")] {
        assert!(divided(spec, &[], "mid").anomalies.is_empty());
    }
    let planted = [Ladder { session: 4, accuracy: [0.7, 0.6, 0.9], n: 10 }];
    assert_eq!(Attribution::new(&planted, true).unwrap().anomalies, [4]);
}

#[test]
fn a_single_summary_has_no_retrieval_step_to_tell_write_and_read_apart_by() {
    let all = summary(&load("s1_curated_8"), 5, &memory("lossy"), model("mid")).attribution.unwrap();

    assert_eq!((all.write_error, all.read_error), (None, None));
    assert_eq!(all.candidate, Some(PipelineStage::WriteOrRead));
}
