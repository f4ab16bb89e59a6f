//! Rows of reports: values under columns, each declared once with its name, its unit and a sentence; and the formats that rows are written in.
//!
//! **Rows are typed.** A kind of row is a type with `Columns`: each has a name, a unit, a sentence and a function that gives the `Value`.
//! They are declared once, with the macro `columns!`, in the file of the kind (`report/runs.rs`, `report/rows/`, `take/run.rs`, and the
//! folders of the worlds). `Rows` are such values with what all of them have in front: the run, the length and trial of a conversation. A
//! format of `row::FORMATS` writes `Rows` as bytes, and nothing parses its output. `docs/reference/rows.md` lists all columns; a test holds
//! it. What the findings of worlds consist of is read off a sample (`found.rs` of each).

pub mod csv;
pub mod json;
mod value;

use std::borrow::{Borrow, Cow};

use serde::{Serialize, Serializer};

pub use value::{Fields, Value};

/// A column of any name.
pub const ANY: &str = "*";

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Words.
    Text,
    /// True or false.
    Flag,
    /// A number of things, or a place among them.
    Count,
    /// An expected number of things.
    Expected,
    Tokens,
    /// US dollars.
    Usd,
    /// A share, from 0 to 1.
    Share,
    Seconds,
    /// Milliseconds.
    Ms,
    Minutes,
    /// Any other number.
    Number,
    /// Several values.
    List,
    /// Columns within a column; all of them are null together.
    Group,
}

impl ColumnUnit {
    /// Returns whether its values are numbers.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Flag | Self::List | Self::Group)
    }
}

/// What a column is called, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its name; a dot parts a group from what is within.
    pub name: String,
    pub unit: ColumnUnit,
    /// Its meaning; empty where another document has it.
    pub doc: &'static str,
}

/// A column of rows that are made of `R`.
#[derive(Debug)]
pub struct RowColumn<R> {
    /// Its name; one with a dot is within a group.
    pub name: &'static str,
    pub unit: ColumnUnit,
    /// Its meaning, in a sentence.
    pub doc: &'static str,
    /// Returns the value under its name.
    value: fn(&R, &'static str) -> Value,
    /// The columns within, of a group.
    within: fn() -> Vec<Head>,
    /// Whether rows leave it out where it is null.
    is_sparse: bool,
}

impl<R> RowColumn<R> {
    /// Declares a column; see [`columns`].
    pub const fn new(
        name: &'static str,
        unit: ColumnUnit,
        doc: &'static str,
        value: fn(&R, &'static str) -> Value,
    ) -> Self {
        Self { name, unit, doc, value, within: Vec::new, is_sparse: false }
    }

    /// Says which columns are within.
    pub const fn within(mut self, heads: fn() -> Vec<Head>) -> Self {
        self.within = heads;
        self
    }

    /// Leaves it out of rows in which it is null.
    pub const fn sparse(mut self) -> Self {
        self.is_sparse = true;
        self
    }

    /// Returns the same column of what has an `R`.
    pub const fn read_by<Q>(&self, value: fn(&Q, &'static str) -> Value) -> RowColumn<Q> {
        RowColumn {
            name: self.name,
            unit: self.unit,
            doc: self.doc,
            value,
            within: self.within,
            is_sparse: self.is_sparse,
        }
    }

    /// Returns what it is called, and what it means.
    pub fn head(&self) -> Head {
        Head { name: self.name.to_owned(), unit: self.unit, doc: self.doc.trim_start() }
    }

    pub fn value(&self, thing: &R) -> Value {
        (self.value)(thing, self.name)
    }
}

impl<R> Clone for RowColumn<R> {
    fn clone(&self) -> Self {
        self.read_by(self.value)
    }
}

impl<R> PartialEq for RowColumn<R> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Makes a list of columns of a type: the comment is the meaning, then come the name, the unit (of a group, also what gives the columns
/// within), `sparse` where it is left out if it is null, and the value.
#[macro_export]
macro_rules! listed {
    ($of:ty; $($(#[doc = $doc:literal])+
        $name:literal: $unit:ident $(($within:expr))? $($sparse:ident)? = |$it:ident| $value:expr,)*) => {
        [$($crate::row::RowColumn::<$of>::new(
            $name,
            $crate::row::ColumnUnit::$unit,
            concat!($($doc),+),
            |$it, _| $crate::row::Value::from($value),
        )$(.within($within))?$(.$sparse())?,)*]
    };
}
pub use listed;

/// Declares the columns of a kind of row, as [`listed`] does.
#[macro_export]
macro_rules! columns {
    ($of:ty; $($column:tt)*) => {
        impl $crate::row::Columns for $of {
            fn columns<'a>() -> std::borrow::Cow<'a, [$crate::row::RowColumn<Self>]>
            where
                Self: 'a,
            {
                std::borrow::Cow::Borrowed(const { &$crate::row::listed![Self; $($column)*] })
            }
        }
    };
}
pub use columns;

/// Returns named values, in their order, as parts of a document.
#[macro_export]
macro_rules! group {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::row::Value::Fields(vec![$(($name.into(), $crate::row::Value::from($value))),*])
    };
}
pub use group;

/// A kind of row: its columns are declared in the file of its type.
pub trait Columns: Sized {
    /// Returns them in the order of rows.
    fn columns<'a>() -> Cow<'a, [RowColumn<Self>]>
    where
        Self: 'a;
}

/// Returns the names and meanings of columns; what is within a group follows the group.
pub fn heads<R: Columns>() -> Vec<Head> {
    heads_of::<R>(|_| true)
}

/// Returns the same of some columns, by name.
pub fn heads_of<R: Columns>(is_asked: impl Fn(&str) -> bool) -> Vec<Head> {
    let mut heads = Vec::new();
    for column in R::columns().iter().filter(|it| is_asked(it.name)) {
        heads.push(column.head());
        let within = (column.within)().into_iter();
        heads.extend(within.map(|it| Head { name: format!("{}.{}", column.name, it.name), ..it }));
    }
    heads
}

/// Returns the numbers below a value; a group whose members have names that depend on data is `open`.
pub fn number_heads(value: &Value, open: &[&str]) -> Vec<Head> {
    let mut found = Vec::new();
    collect(value, "", open, &mut found);
    found
}

fn collect(value: &Value, at: &str, open: &[&str], found: &mut Vec<Head>) {
    if let Value::Fields(fields) = value {
        let is_open = at.rsplit('.').next().is_some_and(|it| open.contains(&it));
        for (name, inner) in fields {
            let name = if is_open { ANY } else { name };
            let below = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            collect(inner, &below, open, found);
        }
    } else if value.number().is_some() {
        found.push(Head { name: at.to_owned(), unit: ColumnUnit::Number, doc: "" });
    }
}

/// Returns columns that are called by what they count.
pub fn heads_named(names: &[&str], unit: ColumnUnit) -> Vec<Head> {
    names.iter().map(|it| Head { name: (*it).to_owned(), unit, doc: "" }).collect()
}

/// Returns the values of a thing under its columns.
pub fn fields<R: Columns>(thing: &R) -> Value {
    Value::Fields(row_fields(&R::columns(), thing))
}

/// Returns a row; columns whose names have a dot are within their group.
pub fn row_fields<R>(columns: &[RowColumn<R>], thing: &R) -> Fields {
    let mut fields: Fields = Vec::with_capacity(columns.len());
    for column in columns {
        let value = column.value(thing);
        if column.is_sparse && value == Value::Null {
            continue;
        }
        let Some((group, name)) = column.name.split_once('.') else {
            fields.push((Cow::Borrowed(column.name), value));
            continue;
        };
        match fields.last_mut() {
            Some((last, Value::Fields(within))) if last == group => within.push((Cow::Borrowed(name), value)),
            _ => fields.push((Cow::Borrowed(group), Value::Fields(vec![(Cow::Borrowed(name), value)]))),
        }
    }
    fields
}

/// Rows of one kind, with what all of them have in front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The first columns, each with one value for all rows: whose rows they are.
    pub of: Fields,
    /// The values, row by row.
    pub rows: Vec<Fields>,
}

impl Rows {
    /// Makes a row of each thing.
    pub fn new<R: Columns>(front: Fields, things: impl IntoIterator<Item: Borrow<R>>) -> Self {
        let columns = R::columns();
        let rows = things.into_iter().map(|it| row_fields(&columns, it.borrow())).collect();
        Self { of: front, rows }
    }

    /// Makes a row of each thing that has fields, whatever they are.
    pub fn serialised<T: Serialize>(things: &[T]) -> Self {
        let fields = |it: &T| if let Value::Fields(it) = Value::serialised(it) { Some(it) } else { None };
        Self { rows: things.iter().filter_map(fields).collect(), ..Self::default() }
    }

    /// Returns all rows, each with what it has in front.
    pub fn each(&self) -> impl Iterator<Item = impl Iterator<Item = &(Cow<'static, str>, Value)>> {
        self.rows.iter().map(|it| self.of.iter().chain(it))
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter().map(|it| Value::Fields(self.of.iter().chain(it).cloned().collect()));
        to.collect_seq(rows)
    }
}

/// Writes rows.
pub type Write = fn(&[Rows]) -> Result<Vec<u8>, serde_json::Error>;

/// A format that rows are written in.
#[derive(Clone, Copy, Debug)]
pub struct RowFormat {
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The extensions of its files, the usual one first.
    pub extensions: &'static [&'static str],
    /// Whether a cell holds text only, so that lists of things are told in words.
    pub is_flat: bool,
    /// Writes rows.
    pub write: Write,
}

impl RowFormat {
    const fn new(
        name: &'static str,
        about: &'static str,
        extensions: &'static [&'static str],
        is_flat: bool,
        write: Write,
    ) -> Self {
        Self { name, about, extensions, is_flat, write }
    }
}

/// Every format that rows can be written in.
pub const FORMATS: [RowFormat; 3] = [
    RowFormat::new("json", "One JSON document", &["json"], false, json::document),
    RowFormat::new("jsonl", "One JSON object per line", &["jsonl", "ndjson"], false, json::lines),
    RowFormat::new("csv", "Comma-separated values", &["csv"], true, csv::table),
];
