//! An archive of samples, each read by itself.

#[cfg(feature = "archives")]
use std::collections::BTreeMap;
use std::io;
use std::io::{BufRead, Read as _};

use crate::import::prelude::*;

#[cfg(feature = "archives")]
use super::sample::InspectSample;
#[cfg(feature = "archives")]
use crate::import::document;
#[cfg(feature = "archives")]
use crate::import::lines::LogLines;

/// The first bytes of an archive.
const MARK: &[u8] = b"PK\x03\x04";

/// The longest archive, in bytes; it is held as it is, and unpacked piece by piece.
const ARCHIVE_BYTES_MAX: u64 = 1 << 30;

/// The most that a member may hold, unpacked; its texts are kept.
#[cfg(feature = "archives")]
const MEMBER_BYTES_MAX: u64 = 1 << 30;

/// The most that all members may hold together, unpacked.
const MEMBERS_BYTES_MAX: u64 = 4 << 30;

/// Returns whether a reader's content is an archive.
///
/// # Errors
/// The reader fails.
pub(in crate::import) fn begins(reader: &mut dyn BufRead) -> io::Result<bool> {
    Ok(reader.fill_buf()?.starts_with(MARK))
}

/// Reads the samples of an archive.
///
/// # Errors
/// The reader fails; or, inside, it is not an archive of samples.
pub(in crate::import) fn read(
    reader: &mut dyn BufRead,
    losses: &mut Losses,
) -> io::Result<Result<Vec<Transcript>, Box<Diagnostic>>> {
    let mut bytes = Vec::new();
    reader.take(ARCHIVE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > ARCHIVE_BYTES_MAX {
        let message = format!("the archive is larger than {} GiB", ARCHIVE_BYTES_MAX >> 30);
        return Ok(Err(refused(
            message,
            "write the log in parts, or convert it with `inspect log convert --to json`",
        )));
    }
    Ok(samples(&bytes, MEMBERS_BYTES_MAX, losses))
}

fn refused(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::at(Code("recording-unknown"), "", message).help(help))
}

#[cfg(not(feature = "archives"))]
fn samples(_: &[u8], _: u64, _: &mut Losses) -> Result<Vec<Transcript>, Box<Diagnostic>> {
    let help = "build with the feature `archives`, or convert the log with `inspect log convert --to json`";
    Err(refused("this build does not read archives".to_owned(), help))
}

#[cfg(feature = "archives")]
fn samples(bytes: &[u8], most: u64, losses: &mut Losses) -> Result<Vec<Transcript>, Box<Diagnostic>> {
    let broken = |error: rawzip::Error| {
        let help = "copy the log again; `inspect log recover` repairs one that was not closed";
        refused(format!("the archive is damaged: {error}"), help)
    };
    let archive = rawzip::ZipArchive::from_slice(bytes).map_err(broken)?;
    if archive.end_offset() < bytes.len() as u64 {
        losses.add(1, "bytes behind the end of the archive");
    }
    let (mut samples, mut number, mut room) = (Vec::new(), 0, most);
    let mut taken = BTreeMap::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(broken)? {
        number += 1;
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if !name.starts_with("samples/") || !name.ends_with(".json") {
            continue;
        }
        let Ok(member) = archive.get_entry(entry.wayfinder()) else {
            losses.add(number, "members of the archive that are damaged");
            continue;
        };
        // Whoever packs writes the bytes of each member once; a bomb has many members unpack the same ones.
        if !is_apart(&mut taken, member.compressed_data_range()) {
            let message =
                format!("member {number} of the archive, `{name}`, shares its bytes with another one");
            return Err(refused(message, "pack the log again; this archive was not written by Inspect"));
        }
        let data = member.data();
        let mut read = |data: &mut dyn io::Read| sample(data, &mut room, losses);
        let read = match entry.compression_method() {
            rawzip::CompressionMethod::STORE => read(&mut { data }),
            rawzip::CompressionMethod::DEFLATE => read(&mut flate2::bufread::DeflateDecoder::new(data)),
            rawzip::CompressionMethod::ZSTD => match ruzstd::decoding::StreamingDecoder::new(data) {
                Ok(mut decoder) => read(&mut decoder),
                Err(error) => Err(io::Error::other(error)),
            },
            _ => Err(io::Error::other("an unknown compression")),
        };
        if room == 0 {
            let message = format!("the samples unpack to more than {} MiB", most >> 20);
            return Err(refused(message, "write the log in parts"));
        }
        match read {
            Ok(read) => samples.push(read),
            Err(_) => losses.add(number, "members of the archive that cannot be unpacked, by their numbers"),
        }
    }
    if number > 0 && samples.is_empty() {
        let help = "unpack it first, and name the recordings in it";
        return Err(refused("the archive has no samples of an eval log".to_owned(), help));
    }
    Ok(super::transcripts(samples, losses))
}

/// Takes the bytes of a member; returns whether no other member has any of them.
#[cfg(feature = "archives")]
fn is_apart(taken: &mut BTreeMap<u64, u64>, (from, to): (u64, u64)) -> bool {
    let is_free = taken.range(..to).next_back().is_none_or(|(_, end)| *end <= from);
    if from < to {
        taken.insert(from, to);
    }
    is_free || from == to
}

/// Reads a member, of which no more is unpacked than there is room for.
#[cfg(feature = "archives")]
fn sample(unpacked: &mut dyn io::Read, room: &mut u64, losses: &mut Losses) -> io::Result<InspectSample> {
    let most = MEMBER_BYTES_MAX.min(*room);
    let mut reader = io::BufReader::new(unpacked.take(most));
    let mut lines = LogLines::with_head(&mut reader, 0);
    let mut sample = InspectSample::default();
    document::each(&mut lines, &super::OPENED, losses, |piece, losses| sample.take(piece, losses));
    // What came before a member broke off is kept.
    let ended = lines.finish(losses).or_else(|error| if sample.is_empty() { Err(error) } else { Ok(()) });
    *room -= most - reader.get_ref().limit();
    ended.map(|()| sample)
}

#[cfg(all(test, feature = "archives"))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn members_share_what_may_be_unpacked() {
        let mut bytes = Vec::new();
        let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
        for name in ["samples/1.json", "samples/2.json", "samples/3.json"] {
            let (mut entry, config) = archive
                .new_file(name)
                .compression_method(rawzip::CompressionMethod::DEFLATE)
                .start()
                .unwrap();
            let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(&[b' '; 1 << 20]).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        archive.finish().unwrap();

        let refused = samples(&bytes, 2 << 20, &mut Losses::default()).unwrap_err();
        assert_eq!(refused.message, "the samples unpack to more than 2 MiB");
        assert!(samples(&bytes, 4 << 20, &mut Losses::default()).is_ok(), "each of them and all of them fit");
    }
}
