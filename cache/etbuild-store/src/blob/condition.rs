//! Whether a blob is there and whole, and what happens to one that is not.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::mapped;
use super::shared::is_shared;
use super::verified::Stamp;
use crate::{BlobRef, Damage, Digest, Event, Store, StoreError};

/// How old a blob's time of last use may be before a use renews it. Much less than any age at which blobs are removed.
const RENEW_AFTER: Duration = Duration::from_secs(600);

/// What was found under a blob's name.
#[derive(Debug)]
pub(crate) enum Condition {
    /// The bytes that were stored.
    Sound(File),
    /// Nothing.
    Absent,
    /// Other bytes; they are in quarantine now.
    Damaged,
}

impl Store {
    /// Looks at a blob that is about to be used, and notes the use.
    pub(crate) fn condition_for_use(&self, blob: &BlobRef, hash_up_to: u64) -> Result<Condition, StoreError> {
        let condition = self.condition(blob, hash_up_to)?;
        if let Condition::Sound(file) = &condition {
            renew(file);
        }
        Ok(condition)
    }

    /// Looks at a blob; blobs of up to `hash_up_to` bytes are hashed, larger ones are only measured.
    pub(crate) fn condition(&self, blob: &BlobRef, hash_up_to: u64) -> Result<Condition, StoreError> {
        let path = self.layout().blob(&blob.digest);
        match File::open(&path) {
            Ok(file) => self.condition_of(file, blob, hash_up_to).map_err(|error| StoreError::io(&path, error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Condition::Absent),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    fn condition_of(&self, file: File, blob: &BlobRef, hash_up_to: u64) -> io::Result<Condition> {
        let metadata = file.metadata()?;
        let stamp = Stamp::of(&metadata);
        match self.damage(&file, stamp, blob, hash_up_to)? {
            None => Ok(Condition::Sound(file)),
            // Its owner has changed it, which is no fault.
            Some(_) if is_shared(&metadata) => {
                fs::remove_file(self.layout().blob(&blob.digest))?;
                Ok(Condition::Absent)
            }
            Some(damage) => {
                self.put_aside(&blob.digest, stamp, damage);
                Ok(Condition::Damaged)
            }
        }
    }

    fn damage(&self, file: &File, stamp: Stamp, blob: &BlobRef, hash_up_to: u64) -> io::Result<Option<Damage>> {
        if stamp.size() != blob.size {
            return Ok(Some(Damage::Size { expected: blob.size, found: stamp.size() }));
        }
        if blob.size > hash_up_to || self.verified().contains(&blob.digest, &stamp) {
            return Ok(None);
        }
        let found = Digest::of(&mapped::map(file)?);
        if found != blob.digest {
            return Ok(Some(Damage::Content { found }));
        }
        self.verified().remember(blob.digest, stamp);
        Ok(None)
    }

    /// Moves a damaged blob out of the way, so that its name is free for the right bytes. `stamp` is that of the file
    /// that was found damaged.
    pub(super) fn put_aside(&self, digest: &Digest, stamp: Stamp, damage: Damage) {
        let quarantine = self.move_to_quarantine(digest, stamp).ok().flatten();
        self.report(&Event::BlobQuarantined { blob: *digest, damage, quarantine });
    }

    /// Leaves the blob where it is when somebody has replaced it meanwhile: they have healed it.
    fn move_to_quarantine(&self, digest: &Digest, stamp: Stamp) -> io::Result<Option<PathBuf>> {
        let (blob, folder) = (self.layout().blob(digest), self.layout().quarantine());
        if Stamp::of(&fs::metadata(&blob)?) != stamp {
            return Ok(None);
        }
        let destination = folder.join(digest.to_string());
        fs::create_dir_all(&folder)?;
        fs::rename(blob, &destination)?;
        Ok(Some(destination))
    }
}

/// Notes that a file has been used, for garbage collection; without effect where the store may not be written, and where the
/// time is also that of somebody else's file.
fn renew(file: &File) {
    let Ok(metadata) = file.metadata() else { return };
    if !is_shared(&metadata) && metadata.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > RENEW_AFTER))
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_that_was_healed_after_the_damage_was_seen_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let blob = store.put(b"bytes").unwrap();
        let damaged = Stamp::of(&fs::metadata(store.layout().cache_tag()).unwrap());
        store.put_aside(&blob.digest, damaged, Damage::Size { expected: 5, found: 4 });
        assert_eq!(&store.open_blob(&blob).unwrap()[..], b"bytes");
    }
}
