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
    /// The embedding of each image token and what the first layers add, side by side, `[1, count, (1 + layers) width]`, where layers add
    /// something.
    pub features: Option<ValueId>,
}

impl Hidden {
    /// The hidden states of one token.
    pub fn at(self, parts: &mut Parts<'_, '_>, token: ValueId) -> Self {
        let dimension = usize::from(parts.sketch.size(self.state, 0) == 1);
        let state = parts.sketch.select(self.state, dimension, token);
        let [inputs, features] =
            [self.inputs, self.features].map(|values| values.map(|values| parts.sketch.row(values, token)));
        Self { state, inputs, features }
    }

    /// The hidden states of image tokens, ahead of the first layer.
    pub fn of_features(parts: &mut Parts<'_, '_>, features: ValueId, width: usize) -> Self {
        if parts.sketch.size(features, 2) == width {
            return Self { state: features, inputs: None, features: None };
        }
        let state = parts.sketch.slice(features, 2, 0, width);
        Self { state, inputs: None, features: Some(features) }
    }

    /// The hidden states behind a layer, with what the layer adds to image tokens.
    pub fn with_features(self, parts: &mut Parts<'_, '_>, layer: usize) -> Self {
        let width = parts.sketch.size(self.state, 2);
        let has_some = |features: &ValueId| parts.sketch.size(*features, 2) >= (layer + 2) * width;
        let Some(features) = self.features.filter(has_some) else { return self };
        let added = parts.sketch.slice(features, 2, (layer + 1) * width, (layer + 2) * width);
        Self { state: parts.sketch.add(self.state, added), ..self }
    }
}
