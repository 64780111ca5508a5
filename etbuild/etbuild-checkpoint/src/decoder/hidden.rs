//! What passes from layer to layer.

use etbuild_ir::ValueId;

use super::parts::Parts;

/// The hidden states between layers.
#[derive(Clone, Copy)]
pub struct Hidden {
    /// The hidden state of each token, `[1, count, width]`; where a token has several streams, `[count, streams, width]`.
    pub state: ValueId,
    /// The embeddings of each token for all layers, `[1, count, layers, width]`, where there are such.
    pub inputs: Option<ValueId>,
}

impl Hidden {
    /// The hidden states of one token.
    pub fn at(self, parts: &mut Parts<'_, '_>, token: ValueId) -> Self {
        let dimension = usize::from(parts.sketch.size(self.state, 0) == 1);
        let state = parts.sketch.select(self.state, dimension, token);
        Self { state, inputs: self.inputs.map(|inputs| parts.sketch.row(inputs, token)) }
    }
}
