//! `output:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The files of a hosted binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// The program file is beside the binary: binaries can share the file, and another program needs no link.
    #[default]
    Files,
    /// The program file is in the binary, a single file; weights are used in place.
    Single,
}
