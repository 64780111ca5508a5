//! The quantization of a vision encoder beside a language model.

use etbuild_checkpoint::Method;
use etbuild_quantize::{Layer, Options, Scheme};

use crate::input::{Db, ModelSource};

/// The beginning of the modules of a vision encoder.
const MODULES: &str = "vision.";

/// The options for a method of a model. A vision encoder has int8 weights and computes in float, whatever the scheme of the language
/// model: outliers of its activations are far apart, and the embeddings of a picture are computed once. Exceptions whose names begin with
/// `vision.` are about the vision encoder, and other exceptions about the language model.
pub fn of_method(db: &dyn Db, model: ModelSource, options: Options) -> Options {
    let ModelSource::Checkpoint(folder, method) = model else { return options };
    if !folder.options(db).vision {
        return options;
    }
    let is_encoder = method == Method::VisionEncoder;
    let is_about = |layer: &Layer| {
        let name = layer.name.as_deref().unwrap_or_default();
        // The method for image tokens reads no table of tokens.
        let is_table = name.contains("embed") || layer.operator.as_deref().is_some_and(|name| name.contains("embed"));
        name.starts_with(MODULES) == is_encoder && !(method == Method::Image && is_table)
    };
    let layers = options.layers.into_iter().filter(is_about).collect();
    let scheme = if is_encoder && options.scheme != Scheme::Float { Scheme::Int8Weights } else { options.scheme };
    let group_size = options.group_size.filter(|_| !is_encoder);
    Options { scheme, group_size, layers, ..options }
}
