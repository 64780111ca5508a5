//! The version of a file format, which every file of ours begins with.

use etbuild_diagnostic::{Code, Diagnostic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Node, Value};

/// The version that this etbuild reads.
const SUPPORTED: i128 = 1;

/// The version of the file's format: `1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "u32")]
pub struct FormatVersion(#[schemars(range(min = 1, max = 1))] u32);

impl TryFrom<u32> for FormatVersion {
    type Error = &'static str;

    fn try_from(version: u32) -> Result<Self, &'static str> {
        let supported = i128::from(version) == SUPPORTED;
        supported.then_some(Self(version)).ok_or("unsupported version; write `etbuild: 1`")
    }
}

/// Refuses a file of another format version before its other keys are checked. The reader of the whole file reports a
/// missing or mistyped version.
///
/// # Errors
/// `ETB0114`.
pub fn check_version(root: &Node) -> Result<(), Diagnostic> {
    let Value::Map(map) = &root.value else { return Ok(()) };
    match map.get("etbuild") {
        Some(Node { value: Value::Integer(version), place }) if *version != SUPPORTED => {
            let message = format!("unsupported format version {version}; this etbuild reads version {SUPPORTED}");
            Err(Diagnostic::error(Code::UnsupportedVersion, message).at(place.span()).help("write `etbuild: 1`"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::Position;

    use super::*;
    use crate::{Source, parse};

    #[test]
    fn another_version_is_refused_at_its_place() {
        let check = |text: &str| check_version(&parse(&Source::file("a", text.into())).unwrap());
        let diagnostic = check("name: x\netbuild: 2\n").unwrap_err();
        assert_eq!(diagnostic.code, Code::UnsupportedVersion);
        assert_eq!(diagnostic.span.unwrap().start, Position::new(2, 10));
        assert_eq!(check("etbuild: 1"), Ok(()));
    }
}
