//! The manifest of a bundle, and its bytes. Numbers are little-endian.
//!
//! | field | bytes |
//! |---|---|
//! | name | length (1), UTF-8 |
//! | number of pieces | 4 |
//! | per piece | stored (4), size (4), digest (32) |
//! | number of targets | 4 |
//! | per target: name, platform | length (1), UTF-8 each |
//! | chip | flag (1); length (1), UTF-8 |
//! | number of instruction sets, their names | 4; length (1), UTF-8 each |
//! | number of files | 4 |
//! | per file: name, executable | length (1), UTF-8; flag (1) |
//! | size, digest | 8, 32 |
//! | number of pieces, their places in the list of pieces | 4; 4 each |

use crate::header::{bounded, check_names, file_name, piece, put_count, put_piece, put_text, put_version};
use crate::limits::FILES_MOST;
use crate::reader::Reader;
use crate::{Error, Piece, Version};

/// What a bundle has: the files of each target, made of pieces that targets share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name of the binary and of the program file, without ending.
    pub name: String,
    /// The pieces, each once, in the order of the bundle.
    pub pieces: Vec<Piece>,
    /// The targets, sorted by name.
    pub entries: Vec<Entry>,
}

/// The version for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the target.
    pub target: String,
    /// The processor and the operating system, such as `aarch64-android`.
    pub platform: String,
    /// The only chip that runs the version, such as `SM8750`; `None` for any chip of the platform.
    pub chip: Option<String>,
    /// The instruction sets that the version can use.
    pub instruction_sets: Vec<String>,
    /// The files, sorted by name.
    pub files: Vec<EntryFile>,
}

/// A file of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFile {
    /// The name in the folder of the version.
    pub name: String,
    /// Whether the file is executable.
    pub executable: bool,
    /// The size and the digest.
    pub version: Version,
    /// The places of the file's pieces in the list of pieces.
    pub pieces: Vec<u32>,
}

impl Manifest {
    /// The bytes. Equal manifests have equal bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a manifest that [`Manifest::decode`] would refuse.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        put_text(&mut bytes, &self.name);
        put_count(&mut bytes, self.pieces.len());
        self.pieces.iter().for_each(|piece| put_piece(&mut bytes, piece));
        put_count(&mut bytes, self.entries.len());
        self.entries.iter().for_each(|entry| put_entry(&mut bytes, entry));
        let bytes = bounded(bytes)?;
        Self::decode(&bytes).map(|_| bytes)
    }

    /// Reads and checks the bytes of a manifest.
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader(bytes);
        let name = file_name(&mut reader)?;
        let pieces = reader.list(piece)?;
        let entries = reader.list(entry)?;
        reader.end()?;
        if entries.is_empty() || entries.len() > FILES_MOST {
            return Err(Error::Malformed("no target, or more than 1024"));
        }
        check_names(entries.iter().map(|entry| entry.target.as_str()))?;
        let manifest = Self { name, pieces, entries };
        manifest.entries.iter().flat_map(|entry| &entry.files).try_for_each(|file| manifest.check_size(file))?;
        Ok(manifest)
    }

    /// Whether a file has as many bytes as its pieces.
    fn check_size(&self, file: &EntryFile) -> Result<(), Error> {
        let size = file.pieces.iter().try_fold(0_u64, |size, place| {
            let piece = self.pieces.get(*place as usize)?;
            size.checked_add(u64::from(piece.size))
        });
        if size == Some(file.version.size) {
            Ok(())
        } else {
            Err(Error::Malformed("a file is not as long as its pieces"))
        }
    }

    /// The stored bytes of all pieces, which follow the manifest.
    pub fn body_size(&self) -> u64 {
        self.pieces.iter().map(|piece| u64::from(piece.stored)).sum()
    }
}

fn entry(reader: &mut Reader<'_>) -> Result<Entry, Error> {
    let (target, platform) = (file_name(reader)?, file_name(reader)?);
    let chip = if reader.flag()? { Some(file_name(reader)?) } else { None };
    let instruction_sets = reader.list(file_name)?;
    let files = reader.list(file)?;
    if files.is_empty() || files.len() > FILES_MOST {
        return Err(Error::Malformed("a target without files, or with more than 1024"));
    }
    check_names(files.iter().map(|file| file.name.as_str()))?;
    Ok(Entry { target, platform, chip, instruction_sets, files })
}

fn file(reader: &mut Reader<'_>) -> Result<EntryFile, Error> {
    let (name, executable) = (file_name(reader)?, reader.flag()?);
    Ok(EntryFile { name, executable, version: reader.version()?, pieces: reader.list(Reader::word)? })
}

fn put_entry(bytes: &mut Vec<u8>, entry: &Entry) {
    put_text(bytes, &entry.target);
    put_text(bytes, &entry.platform);
    bytes.push(entry.chip.is_some().into());
    entry.chip.iter().for_each(|chip| put_text(bytes, chip));
    put_count(bytes, entry.instruction_sets.len());
    entry.instruction_sets.iter().for_each(|set| put_text(bytes, set));
    put_count(bytes, entry.files.len());
    for file in &entry.files {
        put_text(bytes, &file.name);
        bytes.push(file.executable.into());
        put_version(bytes, &file.version);
        put_count(bytes, file.pieces.len());
        file.pieces.iter().for_each(|place| bytes.extend(place.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let piece = |size| Piece { stored: size, size, digest: blake3::hash(b"abc") };
        let file = |name: &str, size, pieces| EntryFile {
            name: name.to_owned(),
            executable: false,
            version: Version { size, digest: blake3::hash(b"a") },
            pieces,
        };
        let entry = |target: &str, chip: Option<&str>, files| Entry {
            target: target.to_owned(),
            platform: "aarch64-android".to_owned(),
            chip: chip.map(str::to_owned),
            instruction_sets: vec!["neon".to_owned()],
            files,
        };
        let entries = vec![
            entry("a", None, vec![file("m", 3, vec![0]), file("m.pte", 8, vec![0, 1])]),
            entry("b", Some("SM8750"), vec![file("m.pte", 5, vec![1])]),
        ];
        Manifest { name: "m".into(), pieces: vec![piece(3), piece(5)], entries }
    }

    #[test]
    fn a_manifest_is_what_its_bytes_say() {
        let bytes = manifest().encode().unwrap();
        assert_eq!(Manifest::decode(&bytes).unwrap(), manifest());
        assert_eq!(manifest().body_size(), 8);
    }

    #[test]
    fn a_shortened_or_lengthened_manifest_is_refused() {
        let bytes = manifest().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(Manifest::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(Manifest::decode(&[bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn hostile_names_sizes_and_places_are_refused() {
        let changes: [fn(&mut Manifest); 7] = [
            |manifest| manifest.entries[0].files[0].name = "../m".into(),
            |manifest| manifest.entries[0].target = "..".into(),
            |manifest| manifest.entries[1].target = "A".into(),
            |manifest| manifest.entries[0].files[1].version.size = 9,
            |manifest| manifest.entries[0].files[1].pieces[1] = 2,
            |manifest| manifest.entries[0].chip = Some("\x1b[2J".into()),
            |manifest| manifest.entries.clear(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut manifest = manifest();
            change(&mut manifest);
            assert!(manifest.encode().is_err(), "{number}");
        }
    }
}
