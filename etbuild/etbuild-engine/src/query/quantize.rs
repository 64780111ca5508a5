//! The Edge program's weights and activations become integers.

use std::sync::Arc;

use etbuild_checkpoint::Method as Role;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, text};
use etbuild_quantize::{Data, Embedding, Layer, Moments, Observer, Options, QuantizeError, Scheme};
use etbuild_store::Value;

use super::lower::LowerOptions;
use super::measure::samples as samples_of;
use super::moments::{moments, read_moments};
use super::{PlanOptions, lower_options, lowered};
use crate::db::{CheckpointFolder, DataFile, Db, ModelSource};
use crate::kept_weights::KeptWeights;
use crate::program_artifact::{self, Weights};
use crate::stage::{self, Blocked, Stage, StageResult, Staged};
use crate::unit::Archives;
use crate::widen::widen;
use crate::{ArtifactKind, failure};

/// The inputs of quantization besides the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantizeOptions {
    /// The scheme with the exceptions.
    pub options: Options,
    /// The calibration data.
    pub calibrate: Option<DataFile>,
    /// How weights are rounded.
    pub method: Method,
}

/// How weights are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Each to the nearest integer.
    Nearest,
    /// Each layer with the errors of the layers ahead (GPTQ). A checkpoint is built once more for GPTQ, to read calibration text.
    Gptq(Option<CheckpointFolder>),
}

impl Method {
    /// Whether the calibration data is text for a checkpoint, which has no samples.
    const fn reads_text(self) -> bool {
        matches!(self, Self::Gptq(Some(_)))
    }
}

/// The program of a method before partitioning: lowered, and quantized where the recipe asks for quantization.
pub fn prepared(
    db: &dyn Db,
    archives: &Archives,
    (method, archive): (&str, ModelSource),
    options: &PlanOptions,
) -> StageResult {
    let lower = lower_options(db, archives, method, options)?;
    lowered_or_quantized(db, archive, lower, options.quantize.clone())
}

/// The lowered program, quantized where the options ask for quantization.
pub fn lowered_or_quantized(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
) -> StageResult {
    match quantize {
        Some(quantize) => quantized(db, model, lower, quantize),
        None => lowered(db, model, lower),
    }
}

/// The lowered program, quantized. The key is that program, the options and the calibration data.
#[salsa::tracked(returns(clone))]
pub fn quantized(db: &dyn Db, model: ModelSource, lower: LowerOptions, quantize: QuantizeOptions) -> StageResult {
    let moments = measured_moments(db, model, &lower, &quantize)?;
    let lowered = lowered(db, model, lower).map_err(|blocked: Blocked| blocked.downstream())?;
    let mut key = Stage::Quantize.key().input("program", lowered.blob(ArtifactKind::Program)?.digest);
    if let Some(calibrate) = quantize.calibrate {
        let digest = calibrate.digest(db).map_err(|error| Blocked::failed(Stage::Quantize, [unreadable(error)]))?;
        key = key.input("calibration data", digest);
    }
    if let Some(moments) = &moments {
        key = key.input("moments", moments.blob(ArtifactKind::Moments)?.digest);
    }
    // No `..`: a new option does not compile until the key has it.
    let Options { scheme: of_layers, observer: ranges, group_size, embedding: table, layers: exceptions } =
        &quantize.options;
    let key = key
        .option("quantize.scheme", scheme(*of_layers))
        .option("quantize.observer", observer(*ranges).as_str())
        .option("quantize.group_size", group_size.map(|size| size as u64))
        .option("quantize.embedding", table.map(embedding))
        .option("quantize.layers", layers(exceptions))
        .finish();
    stage::run(db.world(), Stage::Quantize, key, |products| {
        let (program, mut weights) = read_lowered(db, &lowered)?;
        let moments = moments.as_ref().map_or_else(|| Ok(Moments::new()), |staged| read_moments(db, staged))?;
        let samples = quantize.calibrate.filter(|_| !quantize.method.reads_text());
        let samples = samples.map(|file| samples_of(db, file)).transpose()?;
        let data = Data { samples: samples.as_ref(), moments: &moments };
        let keeper = KeptWeights::new(db.world());
        let quantized = etbuild_quantize::quantize(program, &quantize.options, data, &keeper);
        let mut quantized = quantized.map_err(failed)?.into_program();
        weights.extend(keeper.into_weights());
        widen(db.world(), &mut quantized, &mut weights);
        program_artifact::store(products, &text::print(Lowered::NAME, &quantized), &quantized, &weights);
        Ok(())
    })
}

/// The moments that compensate the errors of rounding, where measured.
fn measured_moments(
    db: &dyn Db,
    model: ModelSource,
    lower: &LowerOptions,
    quantize: &QuantizeOptions,
) -> Result<Option<Arc<Staged>>, Blocked> {
    let Method::Gptq(reader) = quantize.method else { return Ok(None) };
    let model = reader.map_or(model, |folder| ModelSource::Checkpoint(folder, Role::Prefill));
    let lower = LowerOptions { keeps_halves: false, ..lower.clone() };
    let data = quantize.calibrate.ok_or_else(|| Blocked::failed(Stage::Quantize, [no_data()]))?;
    moments(db, model, lower, data).map(Some).map_err(|blocked: Blocked| blocked.downstream())
}

/// A lowered program from the store, with the weights.
pub fn read_lowered(db: &dyn Db, staged: &Arc<Staged>) -> Result<(LoweredProgram, Weights), Vec<Diagnostic>> {
    let ((_, program), weights) = program_artifact::load(db.world(), staged, text::parse)?;
    Ok((LoweredProgram::verify(program).map_err(failure::violations)?, weights))
}

/// The failure of quantization or of the measurement.
pub fn failed(error: QuantizeError) -> Vec<Diagnostic> {
    let message = error.to_string();
    let diagnostic = |code| Diagnostic::error(code, message.clone());
    vec![match error {
        QuantizeError::NoSamples { .. } => no_data(),
        QuantizeError::MissingInput { found, .. } => {
            diagnostic(Code::CalibrationMismatch).help(format!("it has {}", found.join(", ")))
        }
        QuantizeError::OtherShape { .. } | QuantizeError::OtherCount { .. } => {
            diagnostic(Code::CalibrationMismatch).help("write one sample after the other along the first dimension")
        }
        QuantizeError::Unmatched { known, .. } => {
            diagnostic(Code::LayerUnmatched).help(format!("there are {}, ...", known.join(", ")))
        }
        QuantizeError::NotStatic(_) => diagnostic(Code::SchemeUnavailable)
            .help("write `scheme: dynamic-int8` or `int8-weights`, which need no ranges"),
        QuantizeError::Invalid(found) => return failure::violations(found),
        QuantizeError::OtherLabels { .. } | QuantizeError::NoAnswer => diagnostic(Code::LabelsMismatch),
        QuantizeError::NotFinite(_) | QuantizeError::Interrupted(_) => diagnostic(Code::SchemeUnavailable),
    }]
}

/// A static scheme without data.
pub fn no_data() -> Diagnostic {
    let message = "calibration data is needed, and the recipe names none";
    Diagnostic::error(Code::CalibrationMissing, message)
        .help("write `calibrate: FILE.safetensors` with example inputs, or choose what needs none: `dynamic-int8`")
}

fn unreadable(error: std::io::ErrorKind) -> Diagnostic {
    Diagnostic::error(Code::FileUnreadable, format!("the calibration data cannot be read: {error}"))
}

const fn scheme(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Float => "float",
        Scheme::Int8 => "int8",
        Scheme::DynamicInt8 => "dynamic-int8",
        Scheme::Int8Weights => "int8-weights",
        Scheme::Int4Weights => "int4-weights",
        Scheme::Dynamic8Weight4 => "8da4w",
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
