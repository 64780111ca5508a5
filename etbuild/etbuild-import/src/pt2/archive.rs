//! The zip container: members and their bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use etbuild_torch::{Member, TorchError, members};

use super::Bytes;
use crate::ImportError;

/// An archive whose members are used in place.
pub struct Archive {
    bytes: Bytes,
    /// Members by name below the root folder.
    members: BTreeMap<String, Member>,
}

impl Archive {
    /// Reads the central directory and checks that the archive is an exported program.
    pub fn open(bytes: Bytes) -> Result<Self, ImportError> {
        let members = members(bytes.bytes()).map_err(|error| ImportError::NotZip(reason(error)))?;
        let archive = Self { bytes, members };
        match archive.member("archive_format") {
            Ok(b"pt2") => Ok(archive),
            Ok(_) => Err(ImportError::NotPt2("member `archive_format` is not `pt2`".into())),
            Err(ImportError::MemberMissing(_)) => Err(ImportError::NotPt2("member `archive_format` is missing".into())),
            Err(error) => Err(error),
        }
    }

    /// The owner of the bytes of the weights.
    pub fn buffer(&self) -> &Bytes {
        &self.bytes
    }

    /// The contents of a member.
    pub fn member(&self, name: &str) -> Result<&[u8], ImportError> {
        let range = self.range(name)?;
        self.bytes.bytes().get(range).ok_or_else(|| ImportError::MemberMissing(name.to_owned()))
    }

    /// The byte range of a member.
    pub fn range(&self, name: &str) -> Result<Range<usize>, ImportError> {
        let member = self.members.get(name).ok_or_else(|| ImportError::MemberMissing(name.to_owned()))?;
        member.range(name).map_err(|_| ImportError::MemberCompressed(name.to_owned()))
    }
}

/// Why a file is no container.
fn reason(error: TorchError) -> String {
    if let TorchError::NotZip(reason) = error { reason } else { error.to_string() }
}
