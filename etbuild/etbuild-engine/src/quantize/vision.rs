//! The quantization of an encoder of pictures or sound beside a language model.

use etbuild_checkpoint::{self as checkpoint, Method};
use etbuild_quantize::{Layer, Options, Scheme};

use crate::input::{Db, ModelSource};

/// The beginnings of the modules of encoders of pictures and sound.
const MODULES: [&str; 2] = ["vision.", "hearing."];

/// The options for a method of a model. Such an encoder has int8 weights and computes in float, whatever the scheme of the language
/// model: outliers of its activations are far apart, and the output is computed once. Exceptions whose names begin with
/// `vision.` or `hearing.` are about the encoder, and other exceptions about the language model.
pub fn of_method(db: &dyn Db, model: ModelSource, options: Options) -> Options {
    let ModelSource::Checkpoint(folder, method) = model else { return options };
    let checkpoint::Options { vision, sound, .. } = folder.options(db);
    if !vision && sound.is_none() {
        return options;
    }
    let is_encoder = matches!(method, Method::VisionEncoder | Method::AudioEncoder);
    let is_about = |layer: &Layer| {
        let name = layer.name.as_deref().unwrap_or_default();
        // The method for image tokens reads no table of tokens.
        let is_table = name.contains("embed") || layer.operator.as_deref().is_some_and(|name| name.contains("embed"));
        let is_within = MODULES.iter().any(|module| name.starts_with(module));
        is_within == is_encoder && !(matches!(method, Method::Image | Method::Audio) && is_table)
    };
    let layers = options.layers.into_iter().filter(is_about).collect();
    let scheme = match options.scheme {
        // Also stored integers are multiplied by float.
        Scheme::Stored if is_encoder => Scheme::Float,
        scheme if is_encoder && scheme != Scheme::Float => Scheme::Int8Weights,
        scheme => scheme,
    };
    let group_size = options.group_size.filter(|_| !is_encoder);
    Options { scheme, group_size, layers, ..options }
}
