//! A bundle of the versions for several targets: equal pieces are stored once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use et_update::{Bundle, Entry, EntryFile, Kind, Manifest, PIECE_SIZE, Piece, SecretKey, Version};
use rayon::prelude::*;

use crate::body::stored;
use crate::cut::parts;
use crate::make::{digest, folder_of, is_same_file, name, staged};
use crate::version::VersionFile;
use crate::{Error, version_files};

/// Parts below this length share a piece with the parts beside: a piece costs 44 bytes.
const LEAST_PIECE: usize = 4096;
/// The pieces that are compressed at a time.
const BATCH: usize = 16;

/// The version for a target, and the facts that devices select by.
#[derive(Clone, Debug)]
pub struct BundleSource {
    /// The folder of results.
    pub folder: PathBuf,
    /// The name of the target.
    pub target: String,
    /// The processor and the operating system, as [`et_update::Machine`] names both.
    pub platform: String,
    /// The only chip that runs the version; `None` for any chip.
    pub chip: Option<String>,
    /// The instruction sets that the version can use.
    pub instruction_sets: Vec<String>,
}

/// A bundle that is written and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// The bytes of the bundle.
    pub size: u64,
    /// The bytes of all files of all targets.
    pub whole: u64,
    /// The bytes of pieces that several files, or several places of a file, share: those beyond the first.
    pub shared: u64,
}

/// Makes the bundle, and checks that every file comes out of the bundle as it went in.
///
/// # Errors
/// Unreadable files, and versions that are not of one model or not for different targets.
pub fn make_bundle(mut sources: Vec<BundleSource>, out: &Path, key: Option<&SecretKey>) -> Result<Bundled, Error> {
    sources.sort_by(|left, right| left.target.cmp(&right.target));
    let versions = sources.iter().map(|source| version_files(&source.folder)).collect::<Result<Vec<_>, _>>()?;
    if versions.iter().flatten().any(|file| is_same_file(&file.path, out)) {
        return Err(Error::NoPair(format!("`{}` is a file of a version, and would be lost", out.display())));
    }
    let name = common_name(&versions)?;
    let folder = folder_of(out);
    let mut body = tempfile::tempfile_in(folder).map_err(Error::at(out))?;
    let mut bundling = Bundling::new(BufWriter::new(&mut body), out);
    let entries = sources.into_iter().zip(&versions).map(|(source, files)| bundling.entry(source, files));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let (pieces, mut made) = bundling.finish()?;
    let manifest = Manifest { name, pieces, entries }.encode()?;
    let staged = staged(Kind::Bundle, &manifest, &mut body, folder, key).map_err(Error::at(out))?;
    check(staged.path())?;
    made.size = staged.as_file().metadata().map_err(Error::at(out))?.len();
    staged.persist(out).map_err(|error| Error::at(out)(error.error))?;
    Ok(made)
}

/// The name of the model, which is the same for all targets.
fn common_name(versions: &[Vec<VersionFile>]) -> Result<String, Error> {
    let names = versions.iter().map(|files| name(files)).collect::<Result<Vec<_>, _>>()?;
    match names.split_first() {
        Some((first, rest)) => match rest.iter().find(|other| *other != first) {
            Some(other) => Err(Error::NoPair(format!("`{first}` and `{other}` are different models"))),
            None => Ok(first.clone()),
        },
        None => Err(Error::NoPair("a bundle without targets".to_owned())),
    }
}

struct Bundling<'a, W> {
    out: W,
    /// The file that failures of `out` name.
    path: &'a Path,
    pieces: Vec<Piece>,
    /// The places of pieces by the digest of their bytes.
    places: BTreeMap<[u8; 32], u32>,
    made: Bundled,
}

impl<'a, W: Write> Bundling<'a, W> {
    fn new(out: W, path: &'a Path) -> Self {
        let made = Bundled { size: 0, whole: 0, shared: 0 };
        Self { out, path, pieces: Vec::new(), places: BTreeMap::new(), made }
    }

    fn entry(&mut self, source: BundleSource, files: &[VersionFile]) -> Result<Entry, Error> {
        let files = files.iter().map(|file| self.file(file)).collect::<Result<Vec<_>, _>>()?;
        let BundleSource { target, platform, chip, instruction_sets, .. } = source;
        Ok(Entry { target, platform, chip, instruction_sets, files })
    }

    fn file(&mut self, file: &VersionFile) -> Result<EntryFile, Error> {
        let mut pieces = Vec::new();
        for ranges in ranges(&file.bytes).chunks(BATCH) {
            self.batch(&file.bytes, ranges, &mut pieces)?;
        }
        let version = Version { size: file.bytes.len() as u64, digest: digest(&file.bytes) };
        self.made.whole += version.size;
        Ok(EntryFile { name: file.name.clone(), executable: file.executable, version, pieces })
    }

    /// Adds the places of the pieces of `ranges`, and stores those that are new.
    fn batch(&mut self, bytes: &[u8], ranges: &[Range<usize>], pieces: &mut Vec<u32>) -> Result<(), Error> {
        let mut new = Vec::new();
        for range in ranges {
            let part = bytes.get(range.clone()).unwrap_or_default();
            let next = (self.pieces.len() + new.len()) as u32;
            let place = *self.places.entry(*blake3::hash(part).as_bytes()).or_insert(next);
            match place == next {
                true => new.push(part),
                false => self.made.shared += part.len() as u64,
            }
            pieces.push(place);
        }
        let stored: Vec<_> = new.into_par_iter().map(|part| stored(part.to_vec())).collect();
        for (piece, bytes) in stored {
            self.out.write_all(&bytes).map_err(Error::at(self.path))?;
            self.pieces.push(piece);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<Piece>, Bundled), Error> {
        self.out.flush().map_err(Error::at(self.path))?;
        Ok((self.pieces, self.made))
    }
}

/// The ranges of a file's pieces: parts in pieces of 1 MiB, and runs of small parts together.
fn ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    for part in parts(bytes) {
        let is_small = part.range.len() < LEAST_PIECE;
        match runs.last_mut() {
            Some((run, true)) if is_small => run.end = part.range.end,
            _ => runs.push((part.range, is_small)),
        }
    }
    let pieces =
        |run: Range<usize>| run.clone().step_by(PIECE_SIZE).map(move |start| start..run.end.min(start + PIECE_SIZE));
    runs.into_iter().flat_map(|(run, _)| pieces(run)).collect()
}

/// Takes every file out of the bundle, which compares the digests.
fn check(bundle: &Path) -> Result<(), Error> {
    let mut bundle = Bundle::open(Box::new(File::open(bundle).map_err(Error::at(bundle))?))?;
    let failed = |source| et_update::Error::File { path: PathBuf::new(), source };
    let entries = bundle.manifest.entries.clone();
    for file in entries.iter().flat_map(|entry| &entry.files) {
        bundle.write_file(file, &mut io::sink(), &failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_file() {
        let program = include_bytes!("../../../runtime/et-format/tests/data/add.pte");
        for bytes in [&program[..], b"", &[0; PIECE_SIZE + 1]] {
            let ranges = ranges(bytes);
            let whole: Vec<u8> = ranges.iter().flat_map(|range| bytes[range.clone()].to_vec()).collect();
            assert_eq!(whole, bytes);
            assert!(ranges.iter().all(|range| range.len() <= PIECE_SIZE));
        }
    }

    #[test]
    fn equal_pieces_are_stored_once() {
        let folder = tempfile::tempdir().unwrap();
        let weights: Vec<u8> =
            (0..3 * PIECE_SIZE as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let source = |target: &str, start: &[u8]| {
            let path = folder.path().join(target);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("m"), [b"\x7fELF", start].concat()).unwrap();
            std::fs::write(path.join("n"), [b"\x7fELF", &weights[4..]].concat()).unwrap();
            let (platform, target) = ("x86_64-linux".to_owned(), target.to_owned());
            BundleSource { folder: path, target, platform, chip: None, instruction_sets: Vec::new() }
        };
        let sources = vec![source("b", b"one"), source("a", b"two")];
        let made = |name: &str| {
            let out = folder.path().join(name);
            (make_bundle(sources.clone(), &out, None).unwrap(), std::fs::read(out).unwrap())
        };
        let (bundled, bytes) = made("first.etb");
        assert_eq!(bundled.shared, weights.len() as u64);
        assert!(bytes.len() < weights.len() + 4096);
        assert_eq!(bytes, made("second.etb").1);
    }
}
