//! `runtime:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The runtime that loads the program file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// etbuild's runtime. Composite operators with a kernel, such as attention and LSTM, are not decomposed.
    #[default]
    Etbuild,
    /// ExecuTorch's runtime loads the file too: the program uses only operators of ExecuTorch's libraries.
    Executorch,
}
