//! The Edge program's weights and activations become integers.

use etbuild_checkpoint::Method as Role;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, text};
use etbuild_quantize::{Data, Embedding, Layer, Observer, Options, Scheme};
use etbuild_store::{KeyBuilder, Value};

use super::failure::{failed, no_data};
use super::moments::{StoredMoments, moments};
use super::ranges::{StoredRanges, ranges};
use super::samples::samples as samples_of;
use super::weights::KeptWeights;
use crate::action::program::{self, StoredProgram};
use crate::action::{self, Action, Blocked, Keyed, Products, StageResult};
use crate::input::{CheckpointFolder, DataFile, Db, HashedFile, ModelSource};
use crate::lower::{LowerOptions, lowered, widen};
use crate::pipeline::Stage;

/// The inputs of quantization besides the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantizeOptions {
    /// The scheme with the exceptions.
    pub options: Options,
    /// The calibration data.
    pub calibrate: Option<DataFile>,
    /// How weights are rounded.
    pub method: Method,
    /// A checkpoint, built once more to read calibration text.
    pub reader: Option<CheckpointFolder>,
}

/// How weights are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Each to the nearest integer.
    Nearest,
    /// Each layer with the errors of the layers ahead (GPTQ).
    Gptq,
}

impl Keyed for Options {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { scheme: of_layers, observer: ranges, group_size, embedding: table, layers: exceptions } = self;
        key.option("quantize.scheme", scheme(*of_layers))
            .option("quantize.observer", observer(*ranges).as_str())
            .option("quantize.group_size", group_size.map(|size| size as u64))
            .option("quantize.embedding", table.map(embedding))
            .option("quantize.layers", layers(exceptions))
    }
}

/// The lowered program, quantized. The key is that program, the options and the calibration data.
#[salsa::tracked(returns(clone))]
pub fn quantized(db: &dyn Db, model: ModelSource, lower: LowerOptions, quantize: QuantizeOptions) -> StageResult {
    let moments = measured_moments(db, model, &lower, &quantize)?;
    let ranges = measured_ranges(db, &lower, &quantize)?;
    let lowered = lowered(db, model, lower).map_err(|blocked: Blocked| blocked.downstream())?;
    let failed = |error| Blocked::failed(Stage::Quantize, [unreadable(error)]);
    let samples = quantize.calibrate.filter(|_| quantize.reader.is_none());
    let samples = samples.map(|file| HashedFile::of(db, file)).transpose().map_err(failed)?;
    let program = StoredProgram::of(lowered)?;
    action::run(db, &Quantize { program, samples, ranges, moments, options: quantize.options })
}

/// Quantization.
struct Quantize {
    program: StoredProgram,
    samples: Option<HashedFile>,
    ranges: Option<StoredRanges>,
    moments: Option<StoredMoments>,
    options: Options,
}

impl Keyed for Quantize {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, samples, ranges, moments, options } = self;
        let samples = samples.map(|file| file.digest);
        let key = program.key(key).fact("calibration data", samples);
        let key = ranges.iter().fold(key, |key, ranges| ranges.key(key));
        let key = moments.iter().fold(key, |key, moments| moments.key(key));
        options.key(key)
    }
}

impl Action for Quantize {
    const STAGE: Stage = Stage::Quantize;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, mut weights) = self.program.lowered(db.world())?;
        let moments = self.moments.as_ref().map(|stored| stored.read(db)).transpose()?.unwrap_or_default();
        let samples = self.samples.map(|file| samples_of(db, file)).transpose()?;
        let ranges = self.ranges.as_ref().map(|stored| stored.read(db)).transpose()?;
        let data = Data { samples: samples.as_ref(), ranges: ranges.as_ref(), moments: &moments };
        let keeper = KeptWeights::new(db.world());
        let quantized = etbuild_quantize::quantize(program, &self.options, data, &keeper);
        let mut quantized = quantized.map_err(failed)?.into_program();
        weights.extend(keeper.into_weights());
        widen(db.world(), &mut quantized, &mut weights);
        program::store(products, &text::print(Lowered::NAME, &quantized), &quantized, &weights);
        Ok(())
    }
}

/// The moments that compensate the errors of rounding, where measured.
fn measured_moments(
    db: &dyn Db,
    model: ModelSource,
    lower: &LowerOptions,
    quantize: &QuantizeOptions,
) -> Result<Option<StoredMoments>, Blocked> {
    let Method::Gptq = quantize.method else { return Ok(None) };
    let model = quantize.reader.map_or(model, |folder| ModelSource::Checkpoint(folder, Role::Prefill));
    let lower = LowerOptions { keeps_halves: false, ..lower.clone() };
    let data = quantize.calibrate.ok_or_else(|| Blocked::failed(Stage::Quantize, [no_data()]))?;
    let staged = moments(db, model, lower, data).map_err(|blocked: Blocked| blocked.downstream())?;
    StoredMoments::of(&staged).map(Some)
}

/// The qparams of a checkpoint's activations; `None` for a scheme without static qparams.
fn measured_ranges(
    db: &dyn Db,
    lower: &LowerOptions,
    quantize: &QuantizeOptions,
) -> Result<Option<StoredRanges>, Blocked> {
    let options = &quantize.options;
    let (Some(folder), true) = (quantize.reader, options.has_static_ranges()) else { return Ok(None) };
    let lower = LowerOptions { keeps_halves: false, ..lower.clone() };
    let data = quantize.calibrate.ok_or_else(|| Blocked::failed(Stage::Quantize, [no_data()]))?;
    let staged = ranges(db, folder, lower, options.clone(), data).map_err(|blocked: Blocked| blocked.downstream())?;
    StoredRanges::of(&staged).map(Some)
}

fn unreadable(error: std::io::ErrorKind) -> Diagnostic {
    Diagnostic::error(Code::FileUnreadable, format!("the calibration data cannot be read: {error}"))
}

const fn scheme(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Float => "float",
        Scheme::Stored => "stored",
        Scheme::Int8 => "int8",
        Scheme::DynamicInt8 => "dynamic-int8",
        Scheme::Int8Weights => "int8-weights",
        Scheme::Int4Weights => "int4-weights",
        Scheme::Dynamic8Weight4 => "8da4w",
        Scheme::W8A8 => "w8a8",
        Scheme::W8A16 => "w8a16",
        Scheme::W4A16 => "w4a16",
        Scheme::Int16x8 => "int16x8",
        Scheme::Int8x4 => "int8x4",
    }
}

fn observer(observer: Observer) -> String {
    match observer {
        Observer::MinMax => "min-max".to_owned(),
        Observer::MeanSquare => "mse".to_owned(),
        Observer::Percentile { kept_per_million } => format!("percentile {kept_per_million}"),
    }
}

const fn embedding(embedding: Embedding) -> &'static str {
    match embedding {
        Embedding::Weight4 => "4w",
        Embedding::Weight8 => "8w",
    }
}

fn layers(layers: &[Layer]) -> Value {
    let layer = |layer: &Layer| {
        let Layer { name, operator, scheme: of_layer } = layer;
        Value::List(vec![name.clone().into(), operator.clone().into(), scheme(*of_layer).into()])
    };
    Value::List(layers.iter().map(layer).collect())
}
