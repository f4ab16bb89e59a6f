//! The pages of an SQLite file, for reading alone: trees of tables, chains of overflow pages, and the records in them.
//!
//! Each page is taken once, so that pages which lead to one another in a circle end in an error, and nothing takes longer than the file is long.

use serde_json::Number;

use crate::import::prelude::*;

/// The first bytes of every SQLite file.
pub(in crate::import) const MARK: &[u8] = b"SQLite format 3\0";

/// What comes before the tree on the first page.
const HEADER_BYTES: usize = 100;

/// The kinds of pages that the tree of a table is made of.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

/// What is wrong with a file, and on which page, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageDamage {
    pub(super) page: usize,
    pub(super) what: &'static str,
}

/// What was read, or what is wrong with the file.
pub(super) type PageResult<T> = Result<T, PageDamage>;

/// A table of a database.
#[derive(Debug)]
pub(super) struct DatabaseTable {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    /// The column that holds the number of each row, which records leave out.
    alias: Option<usize>,
    root: usize,
}

impl DatabaseTable {
    /// Returns where columns stand, if the table has all of them.
    pub(super) fn places<const N: usize>(&self, names: [&str; N]) -> Option<[usize; N]> {
        let places = names.map(|name| self.columns.iter().position(|it| it.eq_ignore_ascii_case(name)));
        places.iter().all(Option::is_some).then(|| places.map(Option::unwrap_or_default))
    }
}

/// A database in memory.
pub(super) struct DatabasePages<'b> {
    bytes: &'b [u8],
    page_bytes: usize,
    /// The bytes of each page that may hold content.
    usable: usize,
    taken: Vec<bool>,
}

impl<'b> DatabasePages<'b> {
    /// Reads the header.
    pub(super) fn new(bytes: &'b [u8]) -> PageResult<Self> {
        let damaged = |what| PageDamage { page: 1, what };
        let header = bytes.get(..HEADER_BYTES).ok_or(damaged("the header is cut off"))?;
        let page_bytes =
            page_bytes(header).ok_or(damaged("the size of its pages is not one that SQLite has"))?;
        let usable = page_bytes - usize::from(header[20]);
        if usable < 480 {
            return Err(damaged("its pages have too little room"));
        }
        if header[56..60] != [0, 0, 0, 1] && header[56..60] != [0; 4] {
            return Err(damaged("its texts are not UTF-8"));
        }
        if !bytes.len().is_multiple_of(page_bytes) {
            let what = "it is cut off, or it is not one of the database";
            return Err(PageDamage { page: bytes.len() / page_bytes + 1, what });
        }
        Ok(Self { bytes, page_bytes, usable, taken: vec![false; bytes.len() / page_bytes] })
    }

    /// Returns the tables that have rows with numbers, which all have that are not made otherwise on purpose.
    pub(super) fn tables(&mut self) -> PageResult<Vec<DatabaseTable>> {
        let mut tables = Vec::new();
        self.rows(1, 5, |_, cells| {
            if let [Value::String(kind), Value::String(name), _, Value::Number(root), Value::String(sql)] =
                cells.as_slice()
                && kind == "table"
                && !sql.to_ascii_lowercase().contains("without rowid")
                && let Some(root) = root.as_u64().and_then(|it| usize::try_from(it).ok()).filter(|it| *it > 0)
            {
                let (columns, alias) = columns(sql);
                tables.push(DatabaseTable { name: name.clone(), columns, alias, root });
            }
        })?;
        Ok(tables)
    }

    /// Hands over the rows of a table in the order of their numbers.
    pub(super) fn each(&mut self, table: &DatabaseTable, mut take: impl FnMut(Vec<Value>)) -> PageResult<()> {
        self.rows(table.root, table.columns.len(), |number, mut cells| {
            cells.resize(table.columns.len(), Value::Null);
            if let Some(alias) = table.alias {
                cells[alias] = number.into();
            }
            take(cells);
        })
    }

    /// Walks the tree below a page.
    fn rows(
        &mut self,
        root: usize,
        n_columns: usize,
        mut take: impl FnMut(i64, Vec<Value>),
    ) -> PageResult<()> {
        let mut open = vec![root];
        while let Some(number) = open.pop() {
            let page = self.take(number)?;
            let damaged = |what| PageDamage { page: number, what };
            let at = if number == 1 { HEADER_BYTES } else { 0 };
            let cut_off = damaged("a cell reaches beyond it");
            let n_cells = usize::from(u16_at(page, at + 3).ok_or(cut_off)?);
            let first = match page.get(at) {
                Some(&INTERIOR) => at + 12,
                Some(&LEAF) => at + 8,
                _ => return Err(damaged("it is not a page of a table")),
            };
            let cells = (0..n_cells).map(|nth| u16_at(page, first + 2 * nth).map(usize::from).ok_or(cut_off));
            if page[at] == INTERIOR {
                let last = u32_at(page, at + 8).ok_or(cut_off)?;
                open.push(last);
                for cell in cells.rev() {
                    open.push(u32_at(page, cell?).ok_or(cut_off)?);
                }
                continue;
            }
            let mut room = self.usable;
            for cell in cells {
                let cell = LeafCell::at(page, cell?, self.usable).ok_or(cut_off)?;
                room = room.checked_sub(cell.local.len()).ok_or(damaged("its cells lie in one another"))?;
                let payload = self.payload(&cell, number)?;
                let cells = record(&payload, n_columns).ok_or(damaged("a record is not one"))?;
                take(cell.number, cells);
            }
        }
        Ok(())
    }

    /// Returns all of a record, with what lies on pages of its own.
    fn payload(&mut self, cell: &LeafCell<'b>, page: usize) -> PageResult<Vec<u8>> {
        let mut payload = cell.local.to_vec();
        let mut next = cell.overflow;
        while payload.len() < cell.length {
            let part =
                self.take(next).map_err(|it| if next == 0 { PageDamage { page, ..it } } else { it })?;
            let n = (cell.length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(&part[4..4 + n]);
            next = u32_at(part, 0).unwrap_or_default();
        }
        Ok(payload)
    }

    /// Returns what a page may hold, once.
    fn take(&mut self, number: usize) -> PageResult<&'b [u8]> {
        let damaged = |what| PageDamage { page: number, what };
        let taken = number.checked_sub(1).and_then(|it| self.taken.get_mut(it));
        let taken = taken.ok_or(damaged("the file has no such page"))?;
        if std::mem::replace(taken, true) {
            return Err(damaged("two places lead to it"));
        }
        let from = (number - 1) * self.page_bytes;
        self.bytes.get(from..from + self.usable).ok_or(damaged("it is cut off"))
    }
}

/// A cell of a leaf.
struct LeafCell<'b> {
    number: i64,
    /// How many bytes the record has.
    length: usize,
    /// Those of them that lie on the page.
    local: &'b [u8],
    /// The page with the next of them, if there are more.
    overflow: usize,
}

impl<'b> LeafCell<'b> {
    fn at(page: &'b [u8], at: usize, usable: usize) -> Option<Self> {
        let (length, at) = varint(page, at)?;
        let (number, at) = varint(page, at)?;
        let length = usize::try_from(length).ok()?;
        let most = usable - 35;
        let least = (usable - 12) * 32 / 255 - 23;
        let n_local = match length {
            _ if length <= most => length,
            _ => Some(least + (length - least) % (usable - 4)).filter(|it| *it <= most).unwrap_or(least),
        };
        let local = page.get(at..at + n_local)?;
        let overflow = if n_local < length { u32_at(page, at + n_local)? } else { 0 };
        Some(Self { number: number.cast_signed(), length, local, overflow })
    }
}

/// Returns the size of a database's pages.
pub(super) fn page_bytes(header: &[u8]) -> Option<usize> {
    match u16_at(header, 16)? {
        1 => Some(1 << 16),
        bytes => Some(usize::from(bytes)).filter(|it| it.is_power_of_two() && *it >= 512),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?)).ok()
}

/// Reads a number of one to nine bytes, and returns where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for n in 0..8 {
        let byte = *bytes.get(at + n)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, at + n + 1));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(at + 8)?), at + 9))
}

/// Reads the first values of a record.
fn record(payload: &[u8], n_columns: usize) -> Option<Vec<Value>> {
    let (header_bytes, mut at) = varint(payload, 0)?;
    let mut body = usize::try_from(header_bytes).ok()?;
    let header = payload.get(..body)?;
    let mut cells = Vec::new();
    while at < header.len() && cells.len() < n_columns {
        let (kind, end) = varint(header, at)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => (kind - 12) / 2,
        };
        let end_of_body = body.checked_add(usize::try_from(length).ok()?)?;
        cells.push(cell(kind, payload.get(body..end_of_body)?));
        (at, body) = (end, end_of_body);
    }
    Some(cells)
}

/// Returns a value; bytes that are no text are nothing here.
fn cell(kind: u64, bytes: &[u8]) -> Value {
    let negative = bytes.first().is_some_and(|it| *it >= 0x80);
    let integer =
        || bytes.iter().fold(if negative { -1 } else { 0 }, |sum: i64, it| sum << 8 | i64::from(*it));
    match kind {
        1..=6 => integer().into(),
        7 => Number::from_f64(f64::from_bits(integer().cast_unsigned())).map_or(Value::Null, Value::Number),
        8 => 0.into(),
        9 => 1.into(),
        13.. if kind % 2 == 1 => String::from_utf8_lossy(bytes).into(),
        _ => Value::Null,
    }
}

/// Returns the names of a table's columns, and which of them is the number of the row.
fn columns(sql: &str) -> (Vec<String>, Option<usize>) {
    const OTHERS: [&str; 5] = ["constraint", "primary", "unique", "check", "foreign"];
    let (mut columns, mut alias) = (Vec::new(), None);
    for words in definitions(sql) {
        let [name, rest @ ..] = words.as_slice() else { continue };
        if OTHERS.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let is_key = rest
            .windows(2)
            .any(|it| it[0].eq_ignore_ascii_case("primary") && it[1].eq_ignore_ascii_case("key"));
        if is_key && rest[0].eq_ignore_ascii_case("integer") {
            alias = Some(columns.len());
        }
        columns.push(name.clone());
    }
    (columns, alias)
}

/// Returns the words of each definition between the outermost brackets; names without their quotes.
fn definitions(sql: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word, mut depth) = (Vec::new(), Vec::new(), String::new(), 0_usize);
    let mut characters = sql.chars().peekable();
    while let Some(it) = characters.next() {
        let next = characters.peek().copied();
        match it {
            '-' if next == Some('-') => {
                let _ = characters.by_ref().find(|it| *it == '\n');
            }
            '/' if next == Some('*') => {
                let mut before = ' ';
                let _ =
                    characters.by_ref().find(|it| std::mem::replace(&mut before, *it) == '*' && *it == '/');
            }
            '"' | '`' | '\'' | '[' => {
                let end = if it == '[' { ']' } else { it };
                word.extend(characters.by_ref().take_while(|it| *it != end));
            }
            '(' | ')' | ',' => {
                words.extend(Some(std::mem::take(&mut word)).filter(|it| !it.is_empty() && depth > 0));
                depth = if it == '(' { depth + 1 } else { depth.saturating_sub(usize::from(it == ')')) };
                if depth == usize::from(it == ',') {
                    all.push(std::mem::take(&mut words));
                }
            }
            it if it.is_whitespace() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|it| !it.is_empty() && depth > 0));
            }
            it => word.push(it),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_whatever_is_written_around_them() {
        let sql = "CREATE TABLE `x` (\n\t`id` text PRIMARY KEY NOT NULL, -- a, b\n n integer primary key, [a b] text DEFAULT 'c, d',\n\
            \"time\" numeric(5, 2) /* e, f */ CHECK (n > 0),\n\tCONSTRAINT `k` FOREIGN KEY (`id`) REFERENCES `y`(`id`), last)";

        assert_eq!(columns(sql), (["id", "n", "a b", "time", "last"].map(str::to_owned).to_vec(), Some(1)));
    }

    #[test]
    fn numbers_and_texts_are_read_in_all_their_lengths() {
        assert_eq!(varint(&[0x81, 0], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 8], 0), None);
        let record_of = |header: &[u8], body: &[u8]| record(&[header, body].concat(), 9).map(Value::Array);
        let read =
            record_of(&[7, 0, 1, 2, 9, 7, 15], &[&[0xfe, 1, 0][..], &1.5_f64.to_be_bytes(), b"e"].concat());
        assert_eq!(read, Some(serde_json::json!([null, -2, 256, 1, 1.5, "e"])));
        assert_eq!(record_of(&[2, 10], &[]), None);
        assert_eq!(record_of(&[2, 4], &[1, 2]), None);
    }
}
