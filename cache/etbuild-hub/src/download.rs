//! Downloads into the cache. A file appears under its name when all its bytes are there; the bytes of an ended download stay in
//! `blobs/DIGEST.incomplete`, from which this and the hub's own tools go on.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use etbuild_system::System;
use sha2::{Digest, Sha256};

use crate::cache::Cache;
use crate::client::Hub;
use crate::listing::{Listed, Listing};
use crate::reference::is_commit;
use crate::{HubError, Reference};

/// How many times the progress of a download is said.
const STEPS: u64 = 10;

/// Downloads the files of a checkpoint that the cache lacks.
pub(crate) fn download(
    system: &dyn System,
    cache: &Cache,
    reference: &Reference,
    say: &dyn Fn(String),
) -> Result<PathBuf, HubError> {
    let hub = Hub::new(system, reference)?;
    let path = format!(
        "api/models/{}/revision/{}?blobs=true",
        reference.repository,
        escaped(reference.revision()).replace('/', "%2F")
    );
    let listing: Listing = serde_json::from_slice(&hub.text(&path)?).map_err(|error| hub.failed(error.to_string()))?;
    if !is_commit(&listing.commit) {
        return Err(hub.failed("the hub names no commit".to_owned()));
    }
    let wanted = listing.wanted(reference)?;
    let total = wanted.iter().map(|file| file.size).sum();
    say(format!("downloading {} ({})", reference, megabytes(total)));
    let transfer = Transfer { cache, hub, reference, commit: &listing.commit, total, done: Cell::new(0), say };
    wanted.into_iter().try_for_each(|file| transfer.file(file))?;
    if reference.revision() != listing.commit {
        let path = cache.folder.join("refs").join(reference.revision());
        let written = system.write(&path, listing.commit.as_bytes(), false);
        written.map_err(|source| HubError::Io { path, source })?;
    }
    let snapshot = cache.snapshot(&listing.commit);
    Ok(reference.file.as_ref().map_or(snapshot.clone(), |file| snapshot.join(file)))
}

/// A download in progress.
struct Transfer<'a> {
    cache: &'a Cache,
    hub: Hub<'a>,
    reference: &'a Reference,
    commit: &'a str,
    /// The bytes of all files.
    total: u64,
    /// The bytes that are there.
    done: Cell<u64>,
    say: &'a dyn Fn(String),
}

impl Transfer<'_> {
    /// Puts a file into the snapshot.
    fn file(&self, file: &Listed) -> Result<(), HubError> {
        let damaged = || HubError::Damaged { reference: self.reference.clone(), file: file.path.clone() };
        let stays_inside = file.path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        let name = file.blob().filter(|_| stays_inside).ok_or_else(damaged)?;
        let blob = self.cache.folder.join("blobs").join(name);
        let _lock = lock(&self.cache.locks.join(format!("{name}.lock")))?;
        if blob.exists() {
            self.advance(file.size);
        } else {
            let part = self.cache.folder.join("blobs").join(format!("{name}.incomplete"));
            self.fetch(file, &part)?;
            if !is_whole(file, &part).map_err(|source| HubError::Io { path: part.clone(), source })? {
                // Another attempt begins anew.
                let _removed = fs::remove_file(&part);
                return Err(damaged());
            }
            fs::rename(&part, &blob).map_err(|source| HubError::Io { path: blob.clone(), source })?;
        }
        link(&blob, &self.cache.snapshot(self.commit).join(&file.path), file.path.matches('/').count())
    }

    /// Reads the bytes of a file that `part` lacks.
    fn fetch(&self, file: &Listed, part: &Path) -> Result<(), HubError> {
        let failed = |source| HubError::Io { path: part.to_owned(), source };
        parent(part)?;
        let mut output = OpenOptions::new().write(true).create(true).truncate(false).open(part).map_err(failed)?;
        if output.metadata().map_err(failed)?.len() > file.size {
            output.set_len(0).map_err(failed)?;
        }
        let begun = self.done.get();
        let mut end = output.seek(SeekFrom::End(0)).map_err(failed)?;
        if end < file.size || file.size == 0 {
            let path = format!("{}/resolve/{}/{}", self.reference.repository, self.commit, escaped(&file.path));
            let at = Cell::new(end);
            let start = || Ok(at.get());
            self.hub.read(&path, start, |from, piece| {
                if from != end {
                    // The server began elsewhere.
                    output.set_len(from).and_then(|()| output.seek(SeekFrom::Start(from))).map_err(failed)?;
                }
                output.write_all(piece).map_err(failed)?;
                end = from + piece.len() as u64;
                at.set(end);
                self.advance((begun + end.min(file.size)).saturating_sub(self.done.get()));
                Ok(())
            })?;
        }
        self.advance((begun + file.size).saturating_sub(self.done.get()));
        output.sync_all().map_err(failed)
    }

    /// Counts bytes, and says each tenth of the whole.
    fn advance(&self, bytes: u64) {
        let tenth = |done: u64| done * STEPS / self.total.max(1);
        let before = self.done.get();
        self.done.set(before + bytes);
        let reached = tenth(before + bytes).min(STEPS);
        if reached > tenth(before) && reached < STEPS {
            (self.say)(format!(
                "downloading {}: {} % of {}",
                self.reference,
                reached * 100 / STEPS,
                megabytes(self.total)
            ));
        }
    }
}

/// Whether a downloaded file has the size and, as far as the hub tells it, the digest of the wanted file.
fn is_whole(file: &Listed, part: &Path) -> io::Result<bool> {
    let mut input = File::open(part)?;
    if input.metadata()?.len() != file.size {
        return Ok(false);
    }
    let Some(wanted) = file.sha256() else { return Ok(true) };
    let (mut digest, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match input.read(&mut piece)? {
            0 => break,
            length => digest.update(&piece[..length]),
        }
    }
    let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits.eq_ignore_ascii_case(wanted))
}

/// Makes a link in a snapshot; `depth` folders below it. Where links are not allowed, the file is copied.
fn link(blob: &Path, place: &Path, depth: usize) -> Result<(), HubError> {
    let failed = |source| HubError::Io { path: place.to_owned(), source };
    parent(place)?;
    if place.exists() {
        return Ok(());
    }
    // A link to nothing.
    let _removed = fs::remove_file(place);
    #[cfg(unix)]
    {
        let name = blob.file_name().unwrap_or_default();
        let target: PathBuf = std::iter::repeat_n("..", depth + 2).collect();
        std::os::unix::fs::symlink(target.join("blobs").join(name), place).map_err(failed)
    }
    #[cfg(not(unix))]
    {
        let _ = depth;
        let copied = || {
            let part = place.with_extension("incomplete");
            fs::copy(blob, &part).and_then(|_| fs::rename(&part, place))
        };
        fs::hard_link(blob, place).or_else(|_| copied()).map_err(failed)
    }
}

/// Waits until no other tool downloads the same file. The lock ends with the value.
fn lock(path: &Path) -> Result<File, HubError> {
    parent(path)?;
    let file = File::create(path).and_then(|file| file.lock().map(|()| file));
    file.map_err(|source| HubError::Io { path: path.to_owned(), source })
}

/// Makes the folder of a file.
fn parent(path: &Path) -> Result<(), HubError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| HubError::Io { path: folder.to_owned(), source })
}

/// A revision or a path in an address.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
