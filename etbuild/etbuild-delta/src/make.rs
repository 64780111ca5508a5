//! A delta of two versions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::Path;

use blake3::Hash;
use et_update::{
    Bases, Delta, FileChange, Header, Kind, Piece, SecretKey, Version, is_file_name, rebuild, sign, write_start,
};

use tempfile::NamedTempFile;

use crate::body::Body;
use crate::cut::{Part, parts};
use crate::search::{Index, Old};
use crate::version::VersionFile;
use crate::{Error, near, search, version_files};

/// A delta that is written and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The bytes of the delta.
    pub size: u64,
    /// The bytes of the new version.
    pub new_size: u64,
    /// The bytes of the new files that are copied as they are from old files, whole parts only.
    pub same: u64,
    /// The bytes of parts that changed.
    pub changed: u64,
    /// The files that change.
    pub files: usize,
}

/// Makes the delta from the version at `old` to the version at `new`, both a file or a folder, and checks that the delta makes the new files.
///
/// # Errors
/// Unreadable files, versions that are no pair.
pub fn make(old: &Path, new: &Path, out: &Path, key: Option<&SecretKey>) -> Result<Made, Error> {
    let is_folder = old.is_dir();
    if is_folder != new.is_dir() {
        return Err(Error::NoPair("one version is a folder and the other is a file".to_owned()));
    }
    let (olds, mut news) = (version_files(old)?, version_files(new)?);
    if let (false, [old], [new]) = (is_folder, &olds[..], &mut news[..]) {
        new.name.clone_from(&old.name);
    }
    if olds.iter().chain(&news).any(|file| is_same_file(&file.path, out)) {
        return Err(Error::NoPair(format!("`{}` is a file of a version, and would be lost", out.display())));
    }
    let mut making = Making::of(&olds, &news, out);
    let folder = folder_of(out);
    let mut body = tempfile::tempfile_in(folder).map_err(Error::at(out))?;
    let changes = making.changes(&mut BufWriter::new(&mut body))?;
    let header = Header { name: name(&olds)?, files: changes }.encode()?;
    // A file that stands at `out` stays until the delta is complete and checked.
    let staged = staged(Kind::Update, &header, &mut body, folder, key).map_err(Error::at(out))?;
    check(staged.path(), old, is_folder)?;
    let size = staged.as_file().metadata().map_err(Error::at(out))?.len();
    staged.persist(out).map_err(|error| Error::at(out)(error.error))?;
    Ok(Made { size, ..making.made })
}

/// The folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths lead to one file; a path to no file leads nowhere.
pub fn is_same_file(file: &Path, other: &Path) -> bool {
    matches!((file.canonicalize(), other.canonicalize()), (Ok(file), Ok(other)) if file == other)
}

/// The name of the version: that of the program file, or else that of the first file.
pub fn name(files: &[VersionFile]) -> Result<String, Error> {
    let program = files.iter().find(|file| file.name.ends_with(".pte")).or(files.first());
    let name = program.and_then(|file| Path::new(&file.name).file_stem()).unwrap_or_default().to_string_lossy();
    if is_file_name(&name) {
        Ok(name.into_owned())
    } else {
        Err(Error::NoPair(format!("`{name}` is no name for a device")))
    }
}

struct Making<'a> {
    /// All names, sorted: the positions of files in the header.
    names: Vec<&'a str>,
    olds: Vec<Option<(&'a VersionFile, Vec<Part>)>>,
    news: Vec<Option<&'a VersionFile>>,
    /// The places of old parts: file and part.
    digests: HashMap<Hash, (usize, usize)>,
    /// The file that failures to write name.
    out: &'a Path,
    made: Made,
}

impl<'a> Making<'a> {
    fn of(olds: &'a [VersionFile], news: &'a [VersionFile], out: &'a Path) -> Self {
        let names: BTreeSet<&str> = olds.iter().chain(news).map(|file| file.name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let find = |files: &'a [VersionFile], name: &str| files.iter().find(|file| file.name == name);
        let olds: Vec<_> = names.iter().map(|name| find(olds, name).map(|file| (file, parts(&file.bytes)))).collect();
        let news = names.iter().map(|name| find(news, name)).collect();
        let mut digests = HashMap::new();
        for (file, parts) in olds.iter().enumerate().filter_map(|(file, old)| Some((file, &old.as_ref()?.1))) {
            for (number, part) in parts.iter().enumerate() {
                digests.entry(part.digest).or_insert((file, number));
            }
        }
        Self { names, olds, news, digests, out, made: Made { size: 0, new_size: 0, same: 0, changed: 0, files: 0 } }
    }

    fn changes(&mut self, out: &mut dyn Write) -> Result<Vec<FileChange>, Error> {
        let mut changes = Vec::new();
        for file in 0..self.names.len() {
            let old = self.olds.get(file).and_then(Option::as_ref).map(|(old, _)| *old);
            let new = self.news.get(file).copied().flatten();
            let version = |file: &VersionFile| Version { size: file.bytes.len() as u64, digest: digest(&file.bytes) };
            let (before, after) = (old.map(version), new.map(version));
            self.made.new_size += after.map_or(0, |after| after.size);
            let pieces = match new {
                Some(new) if before != after => self.pieces(file, new, out)?,
                _ => Vec::new(),
            };
            self.made.files += usize::from(before != after);
            let executable = new.or(old).is_some_and(|file| file.executable);
            let name = self.names.get(file).map(|name| (*name).to_owned()).unwrap_or_default();
            changes.push(FileChange { name, executable, before, after, pieces });
        }
        out.flush().map_err(Error::at(self.out))?;
        Ok(changes)
    }

    fn pieces(&mut self, file: usize, new: &VersionFile, out: &mut dyn Write) -> Result<Vec<Piece>, Error> {
        let new_parts = parts(&new.bytes);
        let present: BTreeSet<[u8; 32]> = new_parts.iter().map(|part| *part.digest.as_bytes()).collect();
        let bases = self.bases(file, &new_parts, &present);
        let mut index = None;
        let mut body = Body::new(out, self.out);
        for (part, base) in new_parts.iter().zip(bases) {
            let bytes = new.bytes.get(part.range.clone()).unwrap_or_default();
            if let Some((old, range)) = self.digests.get(&part.digest).and_then(|place| self.old(*place)) {
                self.made.same += bytes.len() as u64;
                body.copy(old.file, range.start as u64, range.len() as u64)?;
                continue;
            }
            self.made.changed += bytes.len() as u64;
            match base.and_then(|place| self.old(place)) {
                Some((old, range)) => {
                    let before = old.bytes.get(range.clone()).unwrap_or_default();
                    near::write(&mut body, old.file, range.start as u64, before, bytes)?;
                }
                None => {
                    let index = index.get_or_insert_with(|| Index::new(&self.searched(file, &present)));
                    search::write(&mut body, index, bytes)?;
                }
            }
        }
        Ok(body.finish()?)
    }

    fn old(&self, (file, part): (usize, usize)) -> Option<(Old<'a>, Range<usize>)> {
        let (old, parts) = self.olds.get(file)?.as_ref()?;
        Some((Old { file, bytes: &old.bytes }, parts.get(part)?.range.clone()))
    }

    /// The old part of the same file that each new part comes from: of the same name, or the next changed one of the same size.
    fn bases(&self, file: usize, new_parts: &[Part], present: &BTreeSet<[u8; 32]>) -> Vec<Option<(usize, usize)>> {
        let Some((_, old_parts)) = self.olds.get(file).and_then(Option::as_ref) else {
            return vec![None; new_parts.len()];
        };
        let changed = || old_parts.iter().enumerate().filter(|(_, part)| !present.contains(part.digest.as_bytes()));
        let named: BTreeMap<&str, usize> =
            changed().filter_map(|(number, part)| Some((part.name.as_deref()?, number))).collect();
        let mut sized: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        changed().for_each(|(number, part)| sized.entry(part.range.len()).or_default().push(number));
        sized.values_mut().for_each(|numbers| numbers.reverse());
        let base = |part: &Part| {
            if self.digests.contains_key(&part.digest) {
                return None;
            }
            let same_size =
                |number: &usize| old_parts.get(*number).is_some_and(|old| old.range.len() == part.range.len());
            let by_name = part.name.as_deref().and_then(|name| named.get(name)).copied().filter(same_size);
            let by_size = sized.get_mut(&part.range.len()).and_then(Vec::pop);
            // Code of the same size is still moved inside.
            let is_cut = new_parts.len() > 1;
            by_name.or(by_size).filter(|_| is_cut).map(|number| (file, number))
        };
        new_parts.iter().map(base).collect()
    }

    /// The old bytes to search: the file of the same name, without the parts that the new file has too; all files for a new file.
    fn searched(&self, file: usize, present: &BTreeSet<[u8; 32]>) -> Vec<(Old<'a>, Range<usize>)> {
        let is_new = self.olds.get(file).is_none_or(Option::is_none);
        let olds = self.olds.iter().enumerate().filter_map(|(number, old)| Some((number, old.as_ref()?)));
        let searched = olds.filter(|(number, _)| is_new || *number == file);
        searched
            .flat_map(|(file, (old, parts))| {
                let parts = parts.iter().filter(|part| !present.contains(part.digest.as_bytes()));
                parts.map(move |part| (Old { file, bytes: &old.bytes }, part.range.clone()))
            })
            .collect()
    }
}

pub fn digest(bytes: &[u8]) -> Hash {
    blake3::Hasher::new().update_rayon(bytes).finalize()
}

/// The complete file in a temporary file in `folder`.
pub fn staged(
    kind: Kind,
    header: &[u8],
    body: &mut File,
    folder: &Path,
    key: Option<&SecretKey>,
) -> io::Result<NamedTempFile> {
    let signature = key.map(|key| sign(key, kind, blake3::hash(header)));
    let mut builder = tempfile::Builder::new();
    readable_by_all(&mut builder);
    let mut file = BufWriter::new(builder.tempfile_in(folder)?);
    write_start(kind, header, signature.as_ref(), &mut file)?;
    body.rewind()?;
    io::copy(body, &mut file)?;
    let file = file.into_inner()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Temporary files are private otherwise, and servers send updates.
#[cfg(unix)]
fn readable_by_all(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable_by_all(_: &mut tempfile::Builder<'_, '_>) {}

/// Makes the new files as a device does, and compares their digests.
fn check(delta: &Path, old: &Path, is_folder: bool) -> Result<(), Error> {
    let mut delta = Delta::open(Box::new(BufReader::new(File::open(delta).map_err(Error::at(delta))?)))?;
    let open = |change: &FileChange| -> Result<Option<Box<dyn et_update::ReadSeek>>, Error> {
        let path = if is_folder { old.join(&change.name) } else { old.to_owned() };
        let file = change.before.map(|_| File::open(&path)).transpose().map_err(Error::at(&path))?;
        Ok(file.map(|file| Box::new(file) as Box<dyn et_update::ReadSeek>))
    };
    let changes = delta.header.files.clone();
    let mut bases: Bases = changes.iter().map(open).collect::<Result<_, _>>()?;
    let failed = |source| et_update::Error::File { path: old.to_owned(), source };
    for (file, change) in changes.iter().enumerate().filter(|(_, change)| !change.is_same()) {
        let made = rebuild(&mut delta, file, &mut bases, &mut io::sink(), &failed)?;
        if change.after.is_some_and(|after| after.digest != made) {
            return Err(Error::Update(et_update::Error::Malformed(
                "a new file has another digest than the header says",
            )));
        }
    }
    Ok(())
}
