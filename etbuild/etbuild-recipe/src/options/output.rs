//! `output:` and `link:`.

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

/// What the binary of a hosted target is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Device crates, compiled with the kernels, dtypes and instructions of the program: the smallest binary.
    Selective,
    /// A prebuilt runtime with all kernels: nothing is compiled.
    Prebuilt,
}
