//! `output:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The files of a hosted binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// The program file is beside the binary: several binaries can share it, and another program needs no new link.
    #[default]
    Files,
    /// The program file is in the binary, and weights are used in place: one file to copy.
    Single,
}
