//! A sweep in JSON, whole or as a shard; merging all shards yields the same bytes as the whole.

use ctxsim_base::diag::{Code, Diagnostic};

use super::{Sweep, SweepHead, SweepPoint};
use crate::part::SumHeadroom;
use crate::prelude::*;

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.sweep/1";

/// The most points of a sweep.
pub const POINTS_MAX: usize = 1_000_000;

/// A shard of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepShard {
    schema: String,
    /// Its number and the number of shards, from 1.
    pub shard: [usize; 2],
    /// What the sweep is of.
    pub sweep: SweepHead,
    /// The points of this shard.
    pub points: Vec<SweepPoint>,
}

/// Returns a whole sweep.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn sweep_json(sweep: &Sweep) -> Result<String, serde_json::Error> {
    let Sweep { head, points, front, knee } = sweep;
    json_text(&group! {
        "schema": SCHEMA,
        "sweep": Value::serialised(head),
        "front": front.clone(),
        "knee": *knee,
        "points": Value::serialised(points),
    })
}

/// Returns a shard.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn shard_json(
    number_and_count: [usize; 2],
    sweep: SweepHead,
    points: Vec<SweepPoint>,
) -> Result<String, serde_json::Error> {
    json_text(&SweepShard { schema: SCHEMA.to_owned(), shard: number_and_count, sweep, points })
}

/// Merges shards, each with its file.
///
/// # Errors
/// A file is not a shard or belongs to another sweep, or a point is missing or duplicated.
pub fn merge_shards(names_and_texts: &[(String, String)]) -> Result<Sweep, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut head: Option<SweepHead> = None;
    let mut room = SumHeadroom::default();
    let mut points: Vec<Option<SweepPoint>> = Vec::new();
    for (file, text) in names_and_texts {
        if let Err((message, help)) = add_shard(text, &mut head, &mut room, &mut points) {
            let mut problem = Diagnostic::at(Code("shard"), "", message).help(help);
            file.clone_into(&mut problem.place.file);
            problems.push(problem);
        }
    }
    if let Some(missing) = points.iter().position(Option::is_none).filter(|_| problems.is_empty()) {
        let message = format!("point {missing} is missing");
        let help = "name every shard; rerun those that failed";
        problems.push(Diagnostic::at(Code("shard"), "", message).help(help));
    }
    match head {
        Some(head) if problems.is_empty() => Ok(Sweep::new(head, points.into_iter().flatten().listed())),
        _ => Err(problems),
    }
}

/// Takes the points of a shard; what is wrong with it is told with a way out.
fn add_shard(
    text: &str,
    head: &mut Option<SweepHead>,
    room: &mut SumHeadroom,
    points: &mut Vec<Option<SweepPoint>>,
) -> Result<(), (String, &'static str)> {
    const WRITTEN: &str = "name files written by `ctxsim sweep --shard`";
    let shard = serde_json::from_str::<SweepShard>(text);
    let shard = shard.map_err(|error| (format!("not a shard of a sweep: {error}"), WRITTEN))?;
    let own = head.get_or_insert_with(|| shard.sweep.clone());
    if *own != shard.sweep {
        let message = "this shard belongs to another sweep".to_owned();
        return Err((message, "merge shards of the same command line"));
    }
    if own.points > POINTS_MAX || room.reserve_for(&shard).is_err() {
        return Err(("a number of this shard is out of range".to_owned(), WRITTEN));
    }
    points.resize(own.points, None);
    for point in shard.points {
        let index = point.index;
        match points.get_mut(index) {
            Some(place @ None) => *place = Some(point),
            Some(Some(_)) => return Err((format!("point {index} occurs twice"), "name each shard once")),
            None => return Err((format!("point {index} does not exist"), "run this shard again")),
        }
    }
    Ok(())
}
