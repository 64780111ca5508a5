//! The file of compiled pipelines in the cache directory of the user. Every failure is ignored: pipelines are then compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::blob::checksum;

/// The file of a driver.
pub struct CacheFile(PathBuf);

/// The bytes of the checksum before the driver's bytes.
const PREFIX: usize = 8;

impl CacheFile {
    /// The file of the driver with this pipeline cache UUID; `None` without a cache directory.
    pub fn of(uuid: &[u8; 16]) -> Option<Self> {
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let root = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
        Some(Self::within(&root, uuid))
    }

    fn within(root: &Path, uuid: &[u8; 16]) -> Self {
        let name: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(root.join("etbuild").join("gpu").join(name + ".bin"))
    }

    /// The stored bytes; `None` for a missing or damaged file.
    pub fn load(&self) -> Option<Vec<u8>> {
        let mut bytes = fs::read(&self.0).ok()?;
        let (sum, rest) = bytes.split_first_chunk::<PREFIX>()?;
        if u64::from_le_bytes(*sum) != checksum(rest) {
            return None;
        }
        Some(bytes.split_off(PREFIX))
    }

    /// Replaces the file at once, through a file of another name.
    pub fn store(&self, bytes: &[u8]) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = self.0.with_extension(format!("{}-{count}.new", std::process::id()));
        let whole = [&checksum(bytes).to_le_bytes(), bytes].concat();
        let stored = self.0.parent().map(fs::create_dir_all).transpose();
        let stored = stored.and_then(|_| fs::write(&new, whole)).and_then(|()| fs::rename(&new, &self.0));
        if stored.is_err() {
            let _ = fs::remove_file(&new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_not_loaded() {
        let root = std::env::temp_dir().join(format!("et-gpu-cache-{}", std::process::id()));
        let file = CacheFile::within(&root, &[0xab; 16]);
        assert!(file.load().is_none());
        file.store(b"pipelines");
        file.store(b"more pipelines");
        assert_eq!(file.load().unwrap(), b"more pipelines");
        assert_eq!(fs::read_dir(file.0.parent().unwrap()).unwrap().count(), 1);
        for index in 0..fs::read(&file.0).unwrap().len() {
            let mut bytes = fs::read(&file.0).unwrap();
            bytes[index] ^= 1;
            fs::write(&file.0, bytes).unwrap();
            assert!(file.load().is_none());
            file.store(b"more pipelines");
        }
        fs::write(&file.0, b"short").unwrap();
        assert!(file.load().is_none());
        fs::remove_dir_all(root).unwrap();
    }
}
