//! `budget:`.

use etbuild_yaml::{ByteSize, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

/// Limits of size and memory; a result over a limit is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The largest total size of the binary, its program file and its data files.
    #[serde(default)]
    pub file: Option<Spanned<ByteSize>>,
    /// The largest peak memory of a run on a hosted target.
    #[serde(default)]
    pub peak_ram: Option<Spanned<ByteSize>>,
    /// The largest use of read-only banks (flash) on bare metal, without verification data.
    #[serde(default)]
    pub flash: Option<Spanned<ByteSize>>,
    /// The largest use of writable banks (RAM) on bare metal, stack included.
    #[serde(default)]
    pub ram: Option<Spanned<ByteSize>>,
}
