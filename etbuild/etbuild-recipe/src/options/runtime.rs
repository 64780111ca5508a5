//! `runtime:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The runtime that loads the program file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// Layers that have a kernel, such as attention and LSTM, stay in one piece.
    #[default]
    Etbuild,
    /// ExecuTorch's own runtime loads the file too: only operators that its libraries have are used.
    Executorch,
}
