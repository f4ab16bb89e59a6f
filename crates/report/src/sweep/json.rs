//! A sweep in JSON, whole or as a shard; merging all shards yields the same bytes as the whole.

use serde::{Deserialize, Serialize};

use super::{Sweep, SweepHead, SweepPoint};
use crate::part::SumRoom;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::list::Listed as _;
use ctxsim_timeline::row::json::json_text;
use ctxsim_timeline::row::{Value, group};

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
pub fn document(sweep: &Sweep) -> Result<String, serde_json::Error> {
    let Sweep { head, points, front, knee } = sweep;
    json_text(&group! {
        "schema": SCHEMA,
        "sweep": Value::of(head),
        "front": front.clone(),
        "knee": *knee,
        "points": Value::of(points),
    })
}

/// Returns a shard.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn shard(
    shard: [usize; 2],
    sweep: SweepHead,
    points: Vec<SweepPoint>,
) -> Result<String, serde_json::Error> {
    json_text(&SweepShard { schema: SCHEMA.to_owned(), shard, sweep, points })
}

/// Merges shards, each with its file.
///
/// # Errors
/// A file is not a shard or belongs to another sweep, or a point is missing or duplicated.
pub fn merged(files: &[(String, String)]) -> Result<Sweep, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut problem = |file: &str, message: String, help: &str| {
        let mut it = Diagnostic::at(Code("shard"), "", message).help(help);
        file.clone_into(&mut it.place.file);
        problems.push(it);
    };
    let mut head: Option<SweepHead> = None;
    let mut room = SumRoom::default();
    let mut points: Vec<Option<SweepPoint>> = Vec::new();
    for (file, text) in files {
        let shard: SweepShard = match serde_json::from_str(text) {
            Ok(shard) => shard,
            Err(error) => {
                problem(
                    file,
                    format!("not a shard of a sweep: {error}"),
                    "name files written by `ctxsim sweep --shard`",
                );
                continue;
            }
        };
        let own = head.get_or_insert_with(|| shard.sweep.clone());
        if *own != shard.sweep {
            problem(
                file,
                "this shard belongs to another sweep".to_owned(),
                "merge shards of the same command line",
            );
            continue;
        }
        if own.points > POINTS_MAX || room.take(&shard).is_err() {
            let message = "a number of this shard is out of range".to_owned();
            problem(file, message, "name files written by `ctxsim sweep --shard`");
            continue;
        }
        points.resize(own.points, None);
        for point in shard.points {
            match points.get_mut(point.index) {
                Some(place @ None) => *place = Some(point),
                Some(Some(_)) => {
                    problem(file, format!("point {} occurs twice", point.index), "name each shard once");
                    break;
                }
                None => {
                    problem(file, format!("point {} does not exist", point.index), "run this shard again");
                    break;
                }
            }
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
