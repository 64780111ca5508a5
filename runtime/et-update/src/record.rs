//! The record of an update: what every process that starts has to know. A new record replaces the old record at once.

use std::fmt::Write as _;
use std::io::Read as _;
use std::io::Write as _;

use crate::disk::Disk;
use crate::place::{Place, is_file_name};
use crate::{Error, Version};

/// The record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) phase: Phase,
    pub(crate) files: Vec<RecordedFile>,
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The new files are complete and take the places of the old files.
    Forward,
    /// The kept files take their places again.
    Back,
    /// The new version has started so many times, never with success.
    Trial(u32),
    /// The new version has run with success; the earlier version is kept.
    Kept,
}

/// A file that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedFile {
    pub(crate) name: String,
    pub(crate) executable: bool,
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
}

const FIRST_LINE: &str = "etbuild update 1";
/// The longest record.
const MOST: u64 = 1 << 20;

/// Writes the record. The record is on the disk when the function returns.
pub(crate) fn write(disk: &dyn Disk, place: &Place, record: &Record) -> Result<(), Error> {
    let (path, next) = (place.record(), place.record().with_extension("next"));
    let written = disk.create(&next, false).and_then(|mut file| {
        file.write_all(record.text().as_bytes())?;
        file.sync()
    });
    let renamed = written.and_then(|()| disk.rename(&next, &path));
    renamed.and_then(|()| disk.sync_folder(&place.update())).map_err(Error::at(&path))
}

/// Removes the record.
pub(crate) fn remove(disk: &dyn Disk, place: &Place) -> Result<(), Error> {
    let removed = disk.remove(&place.record()).and_then(|()| disk.sync_folder(&place.update()));
    removed.map_err(Error::at(&place.record()))
}

/// Reads the record; `None` without an update.
pub(crate) fn read(disk: &dyn Disk, place: &Place) -> Result<Option<Record>, Error> {
    let path = place.record();
    let Some(file) = disk.open(&path).map_err(Error::at(&path))? else { return Ok(None) };
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(|_| Error::Damaged(path.clone()))?;
    Record::parse(&text).map(Some).ok_or(Error::Damaged(path))
}

impl Record {
    /// Whether the files are between two versions.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Forward | Phase::Back)
    }

    fn text(&self) -> String {
        let phase = match self.phase {
            Phase::Forward => "forward".to_owned(),
            Phase::Back => "back".to_owned(),
            Phase::Trial(starts) => format!("trial {starts}"),
            Phase::Kept => "kept".to_owned(),
        };
        let mut text = format!("{FIRST_LINE}\n{phase}\n");
        for RecordedFile { name, executable, before, after } in &self.files {
            // Text in memory takes every line.
            let _ = writeln!(text, "{} {} {} {name}", u8::from(*executable), version_text(before), version_text(after));
        }
        let digest = blake3::hash(text.as_bytes());
        text + &format!("{digest}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let (body, digest) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let body = text.get(..body.len() + 1)?;
        if blake3::hash(body.as_bytes()).to_hex().as_str() != digest {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let phase = match lines.next()? {
            "forward" => Phase::Forward,
            "back" => Phase::Back,
            "kept" => Phase::Kept,
            trial => Phase::Trial(trial.strip_prefix("trial ")?.parse().ok()?),
        };
        Some(Self { phase, files: lines.map(file).collect::<Option<_>>()? })
    }
}

fn file(line: &str) -> Option<RecordedFile> {
    let mut words = line.splitn(4, ' ');
    let executable = words.next()? == "1";
    let (before, after) = (version(words.next()?)?, version(words.next()?)?);
    let name = words.next().filter(|name| is_file_name(name))?.to_owned();
    Some(RecordedFile { name, executable, before, after })
}

fn version_text(version: &Option<Version>) -> String {
    version.as_ref().map_or_else(|| "-".to_owned(), |version| format!("{}:{}", version.size, version.digest))
}

fn version(text: &str) -> Option<Option<Version>> {
    if text == "-" {
        return Some(None);
    }
    let (size, digest) = text.split_once(':')?;
    Some(Some(Version { size: size.parse().ok()?, digest: digest.parse().ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_what_its_text_says() {
        let version = Some(Version { size: 5, digest: blake3::hash(b"a") });
        let file = RecordedFile { name: "a model.pte".into(), executable: true, before: version, after: None };
        for phase in [Phase::Forward, Phase::Back, Phase::Trial(2), Phase::Kept] {
            let record = Record {
                phase,
                files: vec![file.clone(), RecordedFile { before: None, after: version, ..file.clone() }],
            };
            assert_eq!(Record::parse(&record.text()), Some(record));
        }
    }

    #[test]
    fn a_torn_record_is_refused() {
        let text = Record { phase: Phase::Trial(1), files: Vec::new() }.text();
        for length in 0..text.len() {
            assert_eq!(Record::parse(&text[..length]), None, "{length}");
        }
    }
}
