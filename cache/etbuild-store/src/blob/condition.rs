//! The condition of a blob: present, missing or damaged, and the handling of damage.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::map::map;
use super::shared::is_shared;
use crate::verified::Stamp;
use crate::{BlobRef, Damage, Digest, Event, Store, StoreError};

/// The age of a blob's time of last use from which a use renews the time. Much less than any age at which blobs are removed.
const RENEW_AFTER: Duration = Duration::from_secs(600);

/// The condition of a blob.
#[derive(Debug)]
pub(crate) enum Condition {
    /// The bytes that were stored.
    Sound(File),
    /// Missing.
    Absent,
    /// Other bytes; the bytes are in quarantine now.
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

    /// Checks a blob; blobs of up to `hash_up_to` bytes are hashed, larger blobs are only measured.
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
            // The owner has changed the file, which is no fault.
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
        let found = Digest::of(&map(file)?);
        if found != blob.digest {
            return Ok(Some(Damage::Content { found }));
        }
        self.verified().remember(blob.digest, stamp);
        Ok(None)
    }

    /// Moves a damaged blob out of the way, so that the name is free for the right bytes. `stamp` is the stamp of the file
    /// that was found damaged.
    pub(super) fn put_aside(&self, digest: &Digest, stamp: Stamp, damage: Damage) {
        let quarantine = self.move_to_quarantine(digest, stamp).ok().flatten();
        self.report(&Event::BlobQuarantined { blob: *digest, damage, quarantine });
    }

    /// Leaves the blob in place when another process has replaced the file meanwhile, and so healed the blob.
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
/// time is also the time of another owner's file.
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
