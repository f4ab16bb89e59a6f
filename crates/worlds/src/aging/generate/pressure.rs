//! How hard a load presses on a memory: the benchmark's eight knobs, with its presets.

use serde::Serialize;

use ctxsim_input::scenario::{AgingLoad, PressurePreset};

/// The eight knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pressure {
    /// What the environment says in a session.
    pub tokens_per_session: u32,
    /// The share of sessions with a question over several facts.
    pub dependency_density: f64,
    /// The share of facts that are changed in a session.
    pub update_rate: f64,
    /// How many versions a fact can have.
    pub max_chain_depth: u64,
    /// Pairs of facts that could be confused.
    pub confusable_pairs: u64,
    /// The session in which they are said.
    pub confusable_start_session: u64,
    /// Sessions without questions over several facts.
    pub warmup_sessions: u64,
    /// The share of facts that are retracted in a session.
    pub forget_rate: f64,
}

impl Pressure {
    pub fn preset(preset: PressurePreset) -> Self {
        let of = |tokens, density, update, depth, pairs, start, warmup, forget| Self {
            tokens_per_session: tokens,
            dependency_density: density,
            update_rate: update,
            max_chain_depth: depth,
            confusable_pairs: pairs,
            confusable_start_session: start,
            warmup_sessions: warmup,
            forget_rate: forget,
        };
        match preset {
            PressurePreset::Usual => of(2_000, 0.5, 0.15, 3, 3, 5, 3, 0.0),
            PressurePreset::None => of(1_000, 0.0, 0.0, 1, 0, 5, 999, 0.0),
            PressurePreset::Light => of(500, 0.3, 0.1, 2, 1, 5, 3, 0.05),
            PressurePreset::Medium => of(2_000, 0.5, 0.2, 3, 3, 5, 3, 0.1),
            PressurePreset::Heavy => of(5_000, 0.7, 0.3, 4, 12, 8, 5, 0.15),
        }
    }

    /// Returns the pressure of a load: its preset, with the fields that it gives.
    pub fn of(load: &AgingLoad) -> Self {
        let preset = Self::preset(load.pressure);
        let tokens = load.tokens_per_session.and_then(|it| u32::try_from(it).ok());
        Self {
            tokens_per_session: tokens.unwrap_or(preset.tokens_per_session),
            dependency_density: load.dependency_density.unwrap_or(preset.dependency_density),
            update_rate: load.update_rate.unwrap_or(preset.update_rate),
            max_chain_depth: load.max_chain_depth.unwrap_or(preset.max_chain_depth),
            confusable_pairs: load.confusable_pairs.unwrap_or(preset.confusable_pairs),
            confusable_start_session: load
                .confusable_start_session
                .unwrap_or(preset.confusable_start_session),
            warmup_sessions: load.warmup_sessions.unwrap_or(preset.warmup_sessions),
            forget_rate: load.forget_rate.unwrap_or(preset.forget_rate),
        }
    }

    /// Returns what knobs press on without anything asking about it, in sentences: without questions over several facts, other
    /// knobs leave metrics without coverage.
    pub fn vacuous(&self) -> Vec<String> {
        if self.dependency_density > 0.0 {
            return Vec::new();
        }
        let said = |field: &str, metrics: &str| {
            format!("`{field}` is set but `dependency_density` is 0, so nothing measures {metrics}.")
        };
        let mut all = Vec::new();
        if self.update_rate > 0.0 {
            all.push(said("update_rate", "version_accuracy and chain_recall by version depth"));
        }
        if self.max_chain_depth > 1 {
            all.push(said("max_chain_depth", "chain_recall and per-hop recall"));
        }
        if self.confusable_pairs > 0 {
            all.push(said("confusable_pairs", "interference_resistance (binding probes still do)"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_density_names_the_metrics_that_other_knobs_leave_uncovered() {
        let silent = Pressure::preset(PressurePreset::None);
        let vacuous = Pressure { update_rate: 0.2, confusable_pairs: 3, ..silent };

        assert!(silent.vacuous().is_empty());
        let said = vacuous.vacuous();
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("version_accuracy") && said[1].contains("interference_resistance"));
        assert!(Pressure::preset(PressurePreset::Heavy).vacuous().is_empty());
    }
}
