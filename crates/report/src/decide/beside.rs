//! The rule on what other commands compare: runs of one session under a base and under several others.

use super::{FamilySession, SessionEffect, TriedFamily};
use crate::lever::Lever;
use crate::prelude::*;

/// A session under a base and under what is compared with it.
#[derive(Clone, Debug)]
pub(crate) struct ComparedSession<'s> {
    pub(crate) project: &'s str,
    pub(crate) last_ms: Option<i64>,
    pub(crate) base: SessionEffect,
    pub(crate) others: Vec<SessionEffect>,
}

/// Judges what is compared as one family. What is compared changes all sessions, and nothing is in it that no play can judge.
pub(crate) fn judge_compared_sessions(
    sessions: &[ComparedSession<'_>],
    settings: &[String],
    min_kept_share: f64,
) -> Vec<Lever> {
    let sessions = sessions.iter().map(|compared| FamilySession {
        project: compared.project,
        person: "",
        last_ms: compared.last_ms,
        is_of_agent: false,
        month_usd: None,
        base: &compared.base,
        rows: compared.others.iter().listed(),
    });
    let lever = |set: &String| Lever { set: vec![set.clone()], ..Lever::default() };
    let levers = settings.iter().map(lever).listed();
    TriedFamily { sessions: sessions.listed(), levers, floor: min_kept_share }.judge_levers()
}
