//! `budget:`.

use etbuild_yaml::{ByteSize, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the result may cost; more is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Largest size of the binary with its program file and data files.
    #[serde(default)]
    pub file: Option<Spanned<ByteSize>>,
    /// Most memory that a hosted run may use at any moment.
    #[serde(default)]
    pub peak_ram: Option<Spanned<ByteSize>>,
    /// Most bytes in banks that are not written, on bare metal, without verification data.
    #[serde(default)]
    pub flash: Option<Spanned<ByteSize>>,
    /// Most bytes in banks that are written, stack included, on bare metal.
    #[serde(default)]
    pub ram: Option<Spanned<ByteSize>>,
}
