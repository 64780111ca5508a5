//! The files of a binary on a device.

use std::path::PathBuf;

/// A file for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFile {
    /// The name in the folder of the device.
    pub name: String,
    /// The file here.
    pub source: PathBuf,
    /// The digest of the bytes.
    pub digest: String,
    /// The number of bytes.
    pub size: u64,
    /// Whether the file is executed.
    pub executable: bool,
}

impl DeviceFile {
    /// The line of the device's list for this file.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.digest, self.size, self.name)
    }
}
