//! The rule on what other commands compare: runs of one session under a base and under several others.

use super::{FamilyRow, FamilySession, Judgement, SessionEffect, TriedFamily};
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
pub(crate) fn judged(sessions: &[ComparedSession<'_>], sets: &[String], floor: f64) -> Vec<Judgement> {
    let sessions = sessions.iter().map(|it| FamilySession {
        project: it.project,
        person: "",
        last_ms: it.last_ms,
        lifetimes: 0,
        is_of_agent: false,
        base: &it.base,
        rows: it.others.iter().listed(),
    });
    let row =
        |set: &String| FamilyRow { set: vec![set.clone()], lanes: vec![[true; 2]], ..FamilyRow::default() };
    TriedFamily { sessions: sessions.listed(), rows: sets.iter().map(row).listed(), floor }.judged()
}
