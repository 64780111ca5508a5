//! The quantization of a recipe, in the form of the stage.

use etbuild_checkpoint::{Cache, Kept, Options as Checkpoint};
use etbuild_quantize::{Embedding, Layer, Observer, Options, Scheme};
use etbuild_recipe::{self as recipe, Quantize, Recipe};
use etbuild_weights::Rotation;

use crate::input::{CheckpointFolder, Db};
use crate::quantize::{MeasureOptions, Method, PIECE, QuantizeOptions};

/// The default percentage of elements to keep.
const PERCENTILE: f64 = 99.99;

/// The options of the stage; `None` for a recipe without quantization.
pub fn quantize_options(db: &dyn Db, recipe: &Recipe) -> Option<QuantizeOptions> {
    let quantize = recipe.quantize.as_ref()?;
    let options = Options {
        scheme: scheme(quantize.scheme.value),
        observer: observer(quantize),
        group_size: quantize.group_size.as_ref().and_then(|size| usize::try_from(size.value).ok()),
        embedding: quantize.embedding.as_ref().map(|embedding| match embedding.value {
            recipe::Embedding::Weight4 => Embedding::Weight4,
            recipe::Embedding::Weight8 => Embedding::Weight8,
        }),
        layers: quantize.layers.iter().map(layer).chain(of_adapter(recipe)).collect(),
    };
    let calibrate = quantize.calibrate.as_ref().map(|file| db.data_file(&file.path));
    let method = match quantize.method {
        recipe::Method::Nearest => Method::Nearest,
        recipe::Method::Gptq => Method::Gptq,
    };
    let reader = (method == Method::Gptq || options.has_static_ranges()).then(|| reader(db, recipe)).flatten();
    Some(QuantizeOptions { options, calibrate, method, reader })
}

/// The options that measuring the loss reads.
pub fn measure_options(db: &dyn Db, recipe: &Recipe) -> MeasureOptions {
    let accuracy = recipe.quantize.as_ref().and_then(|quantize| quantize.accuracy.as_ref());
    let labelled = accuracy.map(|accuracy| (db.data_file(&accuracy.data.path), accuracy.labels.clone()));
    MeasureOptions { labelled }
}

/// The checkpoint of a recipe for calibration text; `None` for other models.
fn reader(db: &dyn Db, recipe: &Recipe) -> Option<CheckpointFolder> {
    let recipe::Model::Checkpoint(folder) = &recipe.model else { return None };
    let options = Checkpoint {
        context: Some(PIECE),
        prefill: vec![PIECE],
        speculate: Some(PIECE),
        batch: None,
        image_tokens: None,
        cache: Cache::Float32,
        rotation: rotation(recipe),
        keeps: Kept::Nothing,
        encoder: None,
        embeds: false,
        vision: false,
        sound: None,
        source: false,
        words: false,
        every: true,
    };
    // Without an adapter: the integers of the model are the same under any.
    Some(db.checkpoint(&folder.path, None, options))
}

/// How a checkpoint is rotated.
pub fn rotation(recipe: &Recipe) -> Option<Rotation> {
    let rotate = recipe.quantize.as_ref()?.rotate.as_ref()?;
    Some(match rotate.value {
        recipe::Rotation::Hadamard => Rotation::Hadamard,
    })
}

/// Which stored groups of integers stay: all without quantization; with a scheme, those of up to its bits. A method that
/// chooses integers, and a rotation, need numbers.
pub fn keeps(recipe: &Recipe) -> Kept {
    let Some(quantize) = &recipe.quantize else { return Kept::All };
    if quantize.method == recipe::Method::Gptq || quantize.rotate.is_some() {
        return Kept::Nothing;
    }
    let of = |scheme: recipe::Scheme| match scheme {
        recipe::Scheme::Int4Weights | recipe::Scheme::Dynamic8Weight4 => Kept::Int4,
        recipe::Scheme::Float | recipe::Scheme::Stored => Kept::All,
        recipe::Scheme::DynamicInt8 | recipe::Scheme::Int8Weights => Kept::All,
        recipe::Scheme::Int8 | recipe::Scheme::Int16x8 | recipe::Scheme::Int8x4 => Kept::Nothing,
        recipe::Scheme::W8A8 | recipe::Scheme::W8A16 | recipe::Scheme::W4A16 => Kept::Nothing,
    };
    let kept = of(quantize.scheme.value);
    // A layer with another scheme is quantized from numbers.
    let differs = |layer: &recipe::LayerScheme| of(layer.scheme.value) != kept;
    if quantize.layers.iter().any(differs) { Kept::Nothing } else { kept }
}

/// Whether a scheme or a method needs calibration data.
pub fn needs_data(quantize: &Quantize) -> bool {
    let of_layers = quantize.layers.iter().map(|layer| layer.scheme.value);
    let measures = quantize.min_sqnr.is_some() && quantize.accuracy.is_none();
    of_layers.chain([quantize.scheme.value]).any(|scheme| self::scheme(scheme).is_static())
        || measures
        || quantize.method == recipe::Method::Gptq
}

fn layer(layer: &recipe::LayerScheme) -> Layer {
    let text = |text: &etbuild_yaml::Spanned<String>| text.value.clone();
    Layer {
        name: layer.name.as_ref().map(text),
        operator: layer.operator.as_ref().map(text),
        scheme: scheme(layer.scheme.value),
    }
}

/// The two linear operators of each layer under an adapter stay float: the operators are small, and another adapter
/// has other weights.
fn of_adapter(recipe: &Recipe) -> impl Iterator<Item = Layer> {
    let names = recipe.adapter.iter().flat_map(|_| ["*.lora_A", "*.lora_B"]);
    names.map(|name| Layer { name: Some(name.to_owned()), operator: None, scheme: Scheme::Float })
}

fn observer(quantize: &Quantize) -> Observer {
    match quantize.observer {
        recipe::Observer::MinMax => Observer::MinMax,
        recipe::Observer::Mse => Observer::MeanSquare,
        recipe::Observer::Percentile => {
            let kept = quantize.percentile.as_ref().map_or(PERCENTILE, |percentile| percentile.value.value());
            Observer::Percentile { kept_per_million: (kept * 10_000.0).round() as u32 }
        }
    }
}

const fn scheme(scheme: recipe::Scheme) -> Scheme {
    match scheme {
        recipe::Scheme::Float => Scheme::Float,
        recipe::Scheme::Stored => Scheme::Stored,
        recipe::Scheme::Int8 => Scheme::Int8,
        recipe::Scheme::DynamicInt8 => Scheme::DynamicInt8,
        recipe::Scheme::Int8Weights => Scheme::Int8Weights,
        recipe::Scheme::Int4Weights => Scheme::Int4Weights,
        recipe::Scheme::Dynamic8Weight4 => Scheme::Dynamic8Weight4,
        recipe::Scheme::W8A8 => Scheme::W8A8,
        recipe::Scheme::W8A16 => Scheme::W8A16,
        recipe::Scheme::W4A16 => Scheme::W4A16,
        recipe::Scheme::Int16x8 => Scheme::Int16x8,
        recipe::Scheme::Int8x4 => Scheme::Int8x4,
    }
}
