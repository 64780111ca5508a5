//! Vision encoders: a tower of layers over the patches of a tile, and a projector to the width of the decoder.

use crate::{Activation, Patches};

/// The module of the tower. Checkpoints have several names for the module.
pub const TOWER: &str = "vision.tower";
/// The module of the projector.
pub const PROJECTOR: &str = "vision.projector";

/// The names of modules in checkpoints, and the names here.
const MODULES: &[(&str, &str)] = &[
    ("model.visual.merger.", "vision.projector."),
    ("model.visual.deepstack_merger_list.", "vision.projector.deepstack."),
    ("model.visual.", "vision.tower."),
    ("visual.merger.", "vision.projector."),
    ("visual.", "vision.tower."),
    ("language_model.lm_head.", "lm_head."),
    ("language_model.model.", "model."),
    ("model.language_model.", "model."),
    ("model.text_model.", "model."),
    ("model.vision_model.", "vision.tower."),
    ("model.vision_tower.vision_model.", "vision.tower."),
    ("model.vision_tower.", "vision.tower."),
    ("model.embed_vision.", "vision.projector."),
    ("vision_tower.vision_model.", "vision.tower."),
    ("vision_tower.", "vision.tower."),
    ("model.connector.", "vision.projector."),
    ("model.multi_modal_projector.", "vision.projector."),
    ("multi_modal_projector.", "vision.projector."),
];

/// The name here of a tensor in a checkpoint.
pub fn canonical(name: &str) -> String {
    super::renamed(MODULES, name)
}

/// A vision encoder (LLaVA, Liu et al. 2023).
#[derive(Clone, Debug, PartialEq)]
pub struct Vision {
    /// The encoder.
    pub encoder: VisionEncoder,
    /// The image token in the vocabulary.
    pub token: u32,
    /// The layers in which the image tokens of a tile attend to each other in both directions.
    pub mutual: Mutual,
}

/// The layers of a decoder in which the tokens of a piece attend to each other in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutual {
    /// None.
    Nowhere,
    /// All (Gemma 3).
    Everywhere,
    /// Those with an attention window (Gemma 4).
    InWindows,
}

impl Mutual {
    /// Whether the tokens do so in a layer with this attention window.
    pub const fn is_in(self, window: Option<usize>) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::InWindows => window.is_some(),
        }
    }
}

/// What makes image tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum VisionEncoder {
    /// A tower over tiles of one size, and a projector.
    Tiles(Tower, Projector),
    /// A tower over the patches of a picture of any size.
    Patches(Patches),
}

/// Layers of attention and feed-forward networks over the patches of a tile: each patch attends to all patches (ViT, Dosovitskiy et al.
/// 2020).
#[derive(Clone, Debug, PartialEq)]
pub struct Tower {
    /// The side of a tile in pixels.
    pub side: usize,
    /// The side of a patch in pixels.
    pub patch: usize,
    /// The elements of a patch between layers.
    pub width: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The layers that are computed.
    pub layers: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The epsilon of LayerNorm.
    pub epsilon: f64,
    /// Whether a token for the whole tile comes first and LayerNorm ahead of the layers, and patches have no bias (CLIP).
    pub is_clip: bool,
    /// Whether LayerNorm is behind the layers.
    pub has_norm_behind: bool,
    /// Whether the first token is left out behind the layers.
    pub drops_first: bool,
}

impl Tower {
    /// The patches of a side.
    pub const fn patches(&self) -> usize {
        self.side / self.patch
    }

    /// The tokens between layers: the patches, and perhaps the token for the whole tile.
    pub fn positions(&self) -> usize {
        self.patches() * self.patches() + usize::from(self.is_clip)
    }

    /// The tokens behind the layers.
    pub fn tokens(&self) -> usize {
        self.positions() - usize::from(self.drops_first)
    }
}

/// How tokens of the tower become image tokens of the decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projector {
    /// The patches of a square of this side become one token, then a linear layer (pixel shuffle, Idefics3).
    Shuffle {
        /// The side of the square in patches.
        factor: usize,
    },
    /// Two linear layers (LLaVA 1.5).
    Network {
        /// The activation between.
        activation: Activation,
        /// Whether the layers have biases.
        has_biases: bool,
    },
    /// The means of squares of patches, RMSNorm, a matrix (Gemma 3).
    Pool {
        /// The image tokens of a side.
        side: usize,
        /// Whether the weights of RMSNorm are less by 1 in the checkpoint.
        less_one: bool,
    },
}

impl Tower {
    /// The image tokens of a tile.
    pub fn image_tokens(&self, projector: Projector) -> usize {
        match projector {
            Projector::Shuffle { factor } => self.tokens() / (factor * factor),
            Projector::Network { .. } => self.tokens(),
            Projector::Pool { side, .. } => side * side,
        }
    }
}

impl Vision {
    /// The image tokens of a tile; `None` where pictures have several sizes.
    pub fn tile(&self) -> Option<usize> {
        match &self.encoder {
            VisionEncoder::Tiles(tower, projector) => Some(tower.image_tokens(*projector)),
            VisionEncoder::Patches(_) => None,
        }
    }

    /// The most image tokens of a call of the decoder, of pictures with at most `most` image tokens, if a picture takes one call.
    pub fn call(&self, most: u32) -> Option<usize> {
        let of_mutual = (self.mutual != Mutual::Nowhere).then_some(most as usize);
        self.tile().or(of_mutual)
    }

    /// The image tokens of a picture without a request, where pictures have several sizes and the model has a number of its own.
    pub fn usual(&self) -> Option<u32> {
        match &self.encoder {
            VisionEncoder::Tiles(..) => None,
            VisionEncoder::Patches(tower) => tower.usual,
        }
    }

    /// The numbers of an image token for a decoder of this width: the embedding, and what the first layers add.
    pub fn token_width(&self, width: usize) -> usize {
        match &self.encoder {
            VisionEncoder::Tiles(..) => width,
            VisionEncoder::Patches(tower) => width * (1 + tower.deep.len()),
        }
    }

    /// Whether the program needs no tensor of this name: parts behind the last layer that is computed.
    pub fn is_unused(&self, name: &str) -> bool {
        let VisionEncoder::Tiles(tower, _) = &self.encoder else { return false };
        let Some(rest) = name.strip_prefix(TOWER).and_then(|rest| rest.strip_prefix('.')) else { return false };
        let layer = rest.strip_prefix("encoder.layers.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        rest.starts_with("head.")
            || rest.ends_with("position_ids")
            || (!tower.has_norm_behind && rest.starts_with("post_layernorm."))
            || layer.is_some_and(|layer| layer >= tower.layers)
    }
}
