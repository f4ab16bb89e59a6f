//! The log that SQLite writes beside a database (`-wal`) until its pages are put into the database.

use std::ops::Range;

use super::pages::{MARK, page_bytes, u32_at};

/// Where the header says whether the database is read and written through a log: 1 for no, 2 for yes.
pub(super) const MODES: Range<usize> = 18..20;

/// What precedes the frames, and each page.
const HEADER_BYTES: usize = 32;
const FRAME_BYTES: usize = 24;

/// Returns whether a file is an SQLite database, from its first bytes.
pub fn is_database(front: &[u8]) -> bool {
    front.starts_with(MARK)
}

/// Returns a database with the pages of its log: of all transactions that were finished, up to the first frame that is not one of this log.
/// With a log that fits or is empty, it says no more that it needs one.
pub fn with_log(mut database: Vec<u8>, log: &[u8]) -> Vec<u8> {
    let fits = |it: &mut Vec<u8>| it.get_mut(MODES).into_iter().for_each(|it| it.fill(1));
    if log.is_empty() {
        fits(&mut database);
    }
    let Some(size) = page_bytes(&database).filter(|it| u32_at(log, 8) == Some(*it)) else { return database };
    let mut sums = match log.get(..HEADER_BYTES).zip(u32_at(log, 0)) {
        Some((header, 0x377f_0682 | 0x377f_0683)) => LogSums::new(header),
        _ => return database,
    };
    if !sums.agree(&log[..HEADER_BYTES - 8], &log[HEADER_BYTES - 8..HEADER_BYTES]) {
        return database;
    }
    let mut pending: Vec<(usize, &[u8])> = Vec::new();
    let mut n_pages = database.len().div_ceil(size);
    for frame in log[HEADER_BYTES..].chunks_exact(FRAME_BYTES + size) {
        let (head, page) = frame.split_at(FRAME_BYTES);
        // The salts are those of the log as it was begun last: what is left of an earlier one is behind its end.
        let is_own = head[8..16] == log[16..24];
        let (Some(number), Some(n_after)) = (u32_at(head, 0).filter(|it| *it > 0), u32_at(head, 4)) else {
            break;
        };
        if !is_own || !sums.agree(&[&head[..8], page].concat(), &head[16..24]) {
            break;
        }
        pending.push((number, page));
        // A transaction is finished by how many pages there are after it, of which it wrote what is new.
        if n_after > n_pages + pending.len() {
            break;
        }
        if n_after > 0 {
            n_pages = n_after;
            database.resize(n_pages * size, 0);
            for (number, page) in pending.drain(..).filter(|it| it.0 <= n_after) {
                database[(number - 1) * size..number * size].copy_from_slice(page);
            }
        }
    }
    // The page with the modes may be among those that were written.
    fits(&mut database);
    database
}

/// The running sums of a log, over its words in the order of bytes that it names.
struct LogSums {
    is_big: bool,
    sums: [u32; 2],
}

impl LogSums {
    fn new(header: &[u8]) -> Self {
        Self { is_big: header[3] & 1 == 1, sums: [0; 2] }
    }

    /// Goes on over some bytes; returns whether the sums are those that are written.
    fn agree(&mut self, bytes: &[u8], written: &[u8]) -> bool {
        let words = |bytes: &[u8], is_big: bool| -> Vec<u32> {
            let word = |it: &[u8; 4]| if is_big { u32::from_be_bytes(*it) } else { u32::from_le_bytes(*it) };
            bytes.as_chunks().0.iter().map(word).collect()
        };
        for pair in words(bytes, self.is_big).as_chunks::<2>().0 {
            let [one, other] = self.sums;
            let one = one.wrapping_add(pair[0]).wrapping_add(other);
            self.sums = [one, other.wrapping_add(pair[1]).wrapping_add(one)];
        }
        self.sums[..] == words(written, true)[..]
    }
}
