//! The Edge program's weights and activations become integers.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, text};
use etbuild_quantize::{Embedding, Observer, Options, QuantizeError, Scheme};
use etbuild_store::Value;

use super::lower::LowerOptions;
use super::measure::samples;
use super::{PlanOptions, lower_options, lowered};
use crate::db::{DataFile, Db, ModelSource};
use crate::kept_weights::KeptWeights;
use crate::program_artifact::{self, Weights};
use crate::stage::{self, Blocked, Stage, StageResult, Staged};
use crate::unit::Archives;
use crate::widen::widen;
use crate::{ArtifactKind, failure};

/// What quantization reads beside the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantizeOptions {
    /// What is quantized, and how.
    pub options: Options,
    /// The calibration data.
    pub calibrate: Option<DataFile>,
}

/// The program of a method before engines get parts of it: lowered, and quantized where the recipe asks for that.
pub fn prepared(
    db: &dyn Db,
    archives: &Archives,
    (method, archive): (&str, ModelSource),
    options: &PlanOptions,
) -> StageResult {
    let lower = lower_options(db, archives, method, options)?;
    lowered_or_quantized(db, archive, lower, options.quantize.clone())
}

/// The lowered program, quantized where there are options for it.
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
    let lowered = lowered(db, model, lower).map_err(|blocked: Blocked| blocked.downstream())?;
    let mut key = Stage::Quantize.key().input("program", lowered.blob(ArtifactKind::Program)?.digest);
    if let Some(calibrate) = quantize.calibrate {
        let digest = calibrate.digest(db).map_err(|error| Blocked::failed(Stage::Quantize, [unreadable(error)]))?;
        key = key.input("calibration data", digest);
    }
    let key = key
        .option("quantize.scheme", scheme(quantize.options.scheme))
        .option("quantize.observer", observer(quantize.options.observer).as_str())
        .option("quantize.group_size", quantize.options.group_size.map(|size| size as u64))
        .option("quantize.embedding", quantize.options.embedding.map(embedding))
        .option("quantize.layers", layers(&quantize.options))
        .finish();
    stage::run(db.world(), Stage::Quantize, key, |products| {
        let (program, mut weights) = read_lowered(db, &lowered)?;
        let samples = quantize.calibrate.map(|file| samples(db, file)).transpose()?;
        let keeper = KeptWeights::new(db.world());
        let quantized = etbuild_quantize::quantize(program, &quantize.options, samples.as_ref(), &keeper);
        let mut quantized = quantized.map_err(failed)?.into_program();
        weights.extend(keeper.into_weights());
        widen(db.world(), &mut quantized, &mut weights);
        program_artifact::store(products, &text::print(Lowered::NAME, &quantized), &quantized, &weights);
        Ok(())
    })
}

/// A lowered program from the store, and its weights.
pub fn read_lowered(db: &dyn Db, staged: &Arc<Staged>) -> Result<(LoweredProgram, Weights), Vec<Diagnostic>> {
    let ((_, program), weights) = program_artifact::load(db.world(), staged, text::parse)?;
    Ok((LoweredProgram::verify(program).map_err(failure::violations)?, weights))
}

/// What keeps a program from being quantized or measured.
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
    let message = "ranges of activations are taken from calibration data, and the recipe names none";
    Diagnostic::error(Code::CalibrationMissing, message)
        .help("write `calibrate: FILE.safetensors` with example inputs, or a scheme that needs none: `dynamic-int8`")
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

fn layers(options: &Options) -> Value {
    let layer = |layer: &etbuild_quantize::Layer| {
        Value::List(vec![
            layer.name.as_deref().map(str::to_owned).into(),
            layer.operator.as_deref().map(str::to_owned).into(),
            scheme(layer.scheme).into(),
        ])
    };
    Value::List(options.layers.iter().map(layer).collect())
}
