//! Zip files of stored members.

use std::borrow::Cow;
use std::io::{Cursor, Write};

use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// A zip file of stored members, the same for the same members.
///
/// # Errors
/// A failure of the writer.
pub fn archive(members: &[(String, Cow<'_, [u8]>)]) -> ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix);
    for (name, bytes) in members {
        writer.start_file(name.as_str(), stored.large_file(bytes.len() >= u32::MAX as usize))?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}
