//! A stream as a file has it, and as it is played: the same sessions, facts and questions, by name and by place.

use crate::prelude::*;

use super::stream::{AgingProbe, AgingSession, AgingStream, Ask};
use crate::graph::{Accumulator, TotalChange};
use ctxsim_input::scenario::{
    StreamFact, StreamFile, StreamQuestion, StreamRecord, StreamSession, StreamTotal,
};

/// The topic of a stream that names none.
const TOPIC: &str = "general";

/// Returns a checked file's stream.
pub fn read(file: &StreamFile, seed: Seed) -> AgingStream {
    let mut reading = StreamReading::new(file, seed);
    for (session, written) in (0..).zip(&file.sessions) {
        reading.session(session, written);
    }
    for pair in &file.confusable {
        reading.stream.graph.confuse([&pair[0], &pair[1]].map(|it| reading.fact(it)));
    }
    for (session, written) in (0..).zip(&file.sessions) {
        written.asks.iter().for_each(|it| reading.ask(session, it));
    }
    let after = reading.stream.n_sessions();
    file.asks_after.iter().for_each(|it| reading.ask(after, it));
    reading.stream
}

/// A file on its way to a stream.
struct StreamReading<'f> {
    facts: IndexMap<&'f str, FactIx>,
    totals: IndexMap<&'f str, u32>,
    topics: IndexMap<&'f str, u16>,
    stream: AgingStream,
}

impl<'f> StreamReading<'f> {
    fn new(file: &'f StreamFile, seed: Seed) -> Self {
        let topics =
            (0..).zip(&file.topics).map(|(nth, it)| (it.as_str(), nth)).collect::<IndexMap<_, u16>>();
        let place =
            |it: &Option<String>| it.as_ref().and_then(|it| topics.get(it.as_str())).copied().unwrap_or(0);
        let total = |it: &'f StreamTotal| Accumulator {
            initial: it.initial,
            domain: place(&it.topic),
            deltas: Vec::new(),
        };
        let domains = if file.topics.is_empty() { vec![TOPIC.to_owned()] } else { file.topics.clone() };
        let graph =
            Graph { domains, accumulators: file.totals.iter().map(total).collect(), ..Graph::default() };
        let session = |it: &StreamSession| AgingSession { tasks: short(it.tasks), tokens: short(it.tokens) };
        let sessions = file.sessions.iter().map(session).collect();
        Self {
            facts: IndexMap::new(),
            totals: (0..).zip(&file.totals).map(|(nth, it)| (it.name.as_str(), nth)).collect(),
            topics,
            stream: AgingStream { sessions, ..AgingStream::new(graph, file.score, seed) },
        }
    }

    /// Returns a fact by its name, which the file's rules have found.
    fn fact(&self, name: &str) -> FactIx {
        self.facts.get(name).copied().unwrap_or_default()
    }

    fn session(&mut self, session: u32, written: &'f StreamSession) {
        for written in &written.says {
            let topic = written.topic.as_ref().and_then(|it| self.topics.get(it.as_str()));
            let record = self.stream.graph.record(session, topic.copied().unwrap_or(0)).unwrap_or_default();
            self.stream.profile_records += u32::from(written.profile);
            for fact in &written.facts {
                let place = self.say(record, session, fact);
                if let Some(name) = &fact.name {
                    self.facts.insert(name, place);
                }
            }
        }
        for name in &written.retracts {
            self.stream.graph.invalidate(self.fact(name), session);
        }
    }

    fn say(&mut self, record: RecordIx, session: u32, fact: &StreamFact) -> FactIx {
        let place: FactIx = ix(self.stream.graph.facts.len());
        let value = fact.value.or(fact.adds).unwrap_or(i64::from(place));
        let old = fact.replaces.as_ref().map(|it| self.fact(it));
        if let Some(new) = old.and_then(|old| self.stream.graph.update(old, record, value).ok()) {
            return new;
        }
        let says = if fact.subject { Says::Subject } else { Says::Value(value) };
        self.stream.graph.say(record, says, fact.tracked && fact.adds.is_none());
        if let Some(total) = fact.to.as_ref().and_then(|it| self.totals.get(it.as_str())) {
            let change = TotalChange { session, amount: value, fact: place };
            self.stream.graph.accumulators[*total as usize].deltas.push(change);
        }
        place
    }

    fn ask(&mut self, session: u32, written: &StreamQuestion) {
        let Some(ask) = self.asked(session, written) else { return };
        if let Ask::Any { facts, .. } = &ask
            && let [fact] = facts[..]
        {
            self.stream.graph.depend(session, FactRelation::Standalone, vec![fact]);
        }
        let n = self.stream.n_sessions();
        let until = match written.until {
            _ if session >= n => u32::MAX,
            None => session + 1,
            Some(until) if until >= u64::from(n) => u32::MAX,
            Some(until) => short(until),
        };
        self.stream.probes.push(AgingProbe { from: session, until, ask, is_scored: written.scored });
    }

    /// Returns what a question asks.
    fn asked(&mut self, session: u32, it: &StreamQuestion) -> Option<Ask> {
        let names = |all: &[String]| all.iter().map(|it| self.fact(it)).collect::<Vec<FactIx>>();
        let is_echoed = it.echoed;
        let chains = [
            (FactRelation::Compare, it.compare.as_deref()),
            (FactRelation::Trend, it.trend.as_ref().map(|it| it.as_slice())),
            (FactRelation::Synthesize, it.synthesize.as_deref()),
        ];
        if let Some((relation, all)) = chains.into_iter().find_map(|(of, it)| Some((of, it?))) {
            let facts = names(all);
            return Some(Ask::Chain(self.stream.graph.depend(session, relation, facts)));
        }
        if let Some(name) = &it.fact {
            return Some(Ask::Any { facts: vec![self.fact(name)], is_echoed });
        }
        if let Some(all) = &it.any {
            return Some(Ask::Any { facts: names(all), is_echoed });
        }
        if let Some(name) = &it.apart {
            return Some(Ask::Binding { fact: self.fact(name) });
        }
        let accumulator = *self.totals.get(it.total.as_ref()?.as_str())?;
        Some(Ask::Total { accumulator, at: short(it.at_or_before(session as usize)) })
    }
}

/// Returns a stream as a file.
pub fn write(stream: &AgingStream) -> StreamFile {
    let graph = &stream.graph;
    let total = |(nth, it): (usize, &Accumulator)| StreamTotal {
        name: total_name(nth),
        initial: it.initial,
        topic: stream.topic(it.domain),
    };
    let asks_after = stream.asks(stream.n_sessions());
    StreamFile {
        topics: if graph.domains == [TOPIC] { Vec::new() } else { graph.domains.clone() },
        score: stream.scoring,
        totals: graph.accumulators.iter().enumerate().map(total).collect(),
        confusable: graph.pairs.iter().map(|it| it.map(fact_name)).collect(),
        sessions: (0..stream.n_sessions()).map(|it| stream.session(it)).collect(),
        asks_after,
    }
}

impl AgingStream {
    /// Returns a topic's name, unless it is the first.
    fn topic(&self, topic: u16) -> Option<String> {
        (topic > 0).then(|| self.graph.domains.get(usize::from(topic)).cloned()).flatten()
    }

    fn session(&self, session: u32) -> StreamSession {
        let graph = &self.graph;
        let AgingSession { tasks, tokens } = self.sessions[session as usize];
        let ends = |it: &FactIx| graph.facts[*it as usize].invalidated_at == Some(session);
        StreamSession {
            tasks: tasks.into(),
            tokens: tokens.into(),
            says: self.records(session),
            retracts: (0..ix(graph.facts.len())).filter(ends).map(fact_name).collect(),
            asks: self.asks(session),
        }
    }

    /// Returns what a session says; the facts stand in the order of their records.
    fn records(&self, session: u32) -> Vec<StreamRecord> {
        let graph = &self.graph;
        let first = graph.records.partition_point(|it| it.session < session);
        let end = graph.records.partition_point(|it| it.session <= session);
        let of = |nth: usize| {
            let record: RecordIx = ix(nth);
            let start = graph.facts.partition_point(|it| it.record < record);
            let facts = graph.facts[start..].iter().take_while(|it| it.record == record).enumerate();
            StreamRecord {
                topic: self.topic(graph.records[nth].domain),
                profile: record < self.profile_records,
                facts: facts.map(|(at, _)| self.fact(ix(start + at))).collect(),
            }
        };
        (first..end).map(of).collect()
    }

    fn fact(&self, place: FactIx) -> StreamFact {
        let graph = &self.graph;
        let fact = &graph.facts[place as usize];
        let changed = graph.accumulators.iter().enumerate().find_map(|(nth, it)| {
            it.deltas.iter().any(|change| change.fact == place).then(|| total_name(nth))
        });
        let value = if let Says::Value(value) = fact.says { Some(value) } else { None };
        StreamFact {
            name: Some(fact_name(place)),
            value: value.filter(|_| changed.is_none()),
            subject: fact.says == Says::Subject,
            replaces: fact.replaces.map(fact_name),
            adds: value.filter(|_| changed.is_some()),
            tracked: fact.is_tracked || changed.is_some(),
            to: changed,
        }
    }

    /// Returns what a session is the first to ask.
    fn asks(&self, session: u32) -> Vec<StreamQuestion> {
        self.probes.iter().filter(|it| it.from == session).map(|it| self.question(it)).collect()
    }

    fn question(&self, probe: &AgingProbe) -> StreamQuestion {
        let n = self.n_sessions();
        let names = |it: &[FactIx]| it.iter().copied().map(fact_name).collect::<Vec<_>>();
        let is_once = probe.from >= n || probe.until == probe.from + 1;
        let until = (!is_once).then(|| u64::from(probe.until.min(n)));
        let blank = StreamQuestion { until, ..StreamQuestion::new(probe.is_scored) };
        match &probe.ask {
            Ask::Any { facts, is_echoed } => {
                let (fact, any) = match facts[..] {
                    [fact] => (Some(fact_name(fact)), None),
                    _ => (None, Some(names(facts))),
                };
                StreamQuestion { fact, any, echoed: *is_echoed, ..blank }
            }
            Ask::Chain(edge) => {
                let edge = &self.graph.edges[*edge as usize];
                let facts = names(&edge.facts);
                match edge.relation {
                    FactRelation::Trend => {
                        StreamQuestion { trend: <[String; 2]>::try_from(facts).ok(), ..blank }
                    }
                    FactRelation::Synthesize => StreamQuestion { synthesize: Some(facts), ..blank },
                    FactRelation::Compare | FactRelation::Standalone => {
                        StreamQuestion { compare: Some(facts), ..blank }
                    }
                }
            }
            Ask::Binding { fact } => StreamQuestion { apart: Some(fact_name(*fact)), ..blank },
            Ask::Total { accumulator, at } => StreamQuestion {
                total: Some(total_name(*accumulator as usize)),
                at: (u64::from(*at) + 1 != u64::from(probe.from)).then(|| u64::from(*at)),
                ..blank
            },
        }
    }
}

/// Returns a count or a session of a file, which its rules have bounded.
fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

fn fact_name(place: FactIx) -> String {
    format!("fact_{place}")
}

fn total_name(nth: usize) -> String {
    format!("total_{nth}")
}
