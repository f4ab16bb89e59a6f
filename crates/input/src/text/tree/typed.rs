//! A value of a type as a tree, in the shapes of TOML.

use super::{Node, Value};
use crate::text::Said;

impl From<Said> for Node {
    fn from(said: Said) -> Self {
        match said {
            Said::Bool(it) => Self::of(Value::Bool(it)),
            Said::I64(it) => Self::of(Value::Whole(it.into())),
            Said::U64(it) => Self::of(Value::Whole(it.into())),
            Said::I128(it) => Self::of(Value::Whole(it)),
            Said::U128(it) => Self::of(i128::try_from(it).map_or(Value::Real(it as f64), Value::Whole)),
            Said::F64(it) => Self::of(Value::Real(it)),
            Said::Text(it) => Self::of(Value::Text(it)),
            Said::Some(it) | Said::NewtypeStruct(_, it) => (*it).into(),
            Said::UnitVariant((.., name)) => Self::of(Value::Text(name.to_owned())),
            Said::NewtypeVariant((.., name), it) => Self::table(vec![(name.to_owned(), (*it).into())]),
            Said::TupleVariant((.., name), all) => Self::table(vec![(name.to_owned(), list(all))]),
            Said::StructVariant((.., name), all) => Self::table(vec![(name.to_owned(), fields(all))]),
            Said::Struct(_, all) => fields(all),
            Said::Map(_, all) => table(all.into_iter().map(|(key, it)| (word(&key.into()), it))),
            Said::Seq(_, all) | Said::Tuple(all) => list(all),
            Said::None | Said::Unit => Self::of(Value::Map(Vec::new())),
        }
    }
}

fn list(all: Vec<Said>) -> Node {
    Node::list(all.into_iter().map(Node::from).collect())
}

fn fields(all: Vec<(&'static str, Said)>) -> Node {
    table(all.into_iter().map(|(key, it)| (key.to_owned(), it)))
}

/// Returns a table without what is absent.
fn table(all: impl Iterator<Item = (String, Said)>) -> Node {
    let there = all.filter(|(_, it)| !matches!(it, Said::None | Said::Unit));
    Node::table(there.map(|(key, it)| (key, it.into())).collect())
}

/// Returns a key as text.
fn word(key: &Node) -> String {
    match &key.value {
        Value::Text(it) | Value::Word(it) => it.clone(),
        Value::Whole(it) => it.to_string(),
        _ => String::new(),
    }
}
