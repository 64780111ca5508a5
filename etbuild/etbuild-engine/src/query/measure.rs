//! Measuring the loss of quantization.

use std::sync::Arc;

use et_core::ScalarType;
use et_module::safetensors::{SafeTensors, TensorView};
use et_ops::call::OwnedTensor;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Graph, LoweredProgram};
use etbuild_quantize::{QuantizeError, Tensors, right_answers};

use super::lower::LowerOptions;
use super::quantize::{failed, no_data, quantized, read_lowered};
use super::{QuantizeOptions, lowered};
use crate::db::{DataFile, Db, ModelSource};
use crate::losses::{Answers, LayerLoss, Losses};
use crate::stage::{self, Blocked, Stage, StageResult, Staged};
use crate::{ArtifactKind, failure, unchanged};

/// The inputs of the measurement besides both programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeasureOptions {
    /// Labelled data, and the name of the labels; without labels, no answers are counted.
    pub labelled: Option<(DataFile, String)>,
}

/// The loss of quantization at every node of a method, the largest first, and the number of lost right answers. Reads no
/// threshold: judging is not measuring. A run of the portable kernels for each sample and program.
#[salsa::tracked(returns(clone))]
pub fn measured(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: QuantizeOptions,
    measure: MeasureOptions,
) -> StageResult {
    let data = quantize.calibrate.or(measure.labelled.as_ref().map(|(file, _)| *file));
    let float = lowered(db, model, lower.clone()).map_err(|blocked: Blocked| blocked.downstream())?;
    let quantized = quantized(db, model, lower, quantize).map_err(|blocked: Blocked| blocked.downstream())?;
    // Mistakes in the options are reported before missing files.
    let data = data.ok_or_else(|| Blocked::failed(Stage::Measure, [no_data()]))?;
    let mut key = Stage::Measure
        .key()
        .input("program", float.blob(ArtifactKind::Program)?.digest)
        .input("quantized program", quantized.blob(ArtifactKind::Program)?.digest)
        .input("samples", digest(db, data)?);
    if let Some((file, labels)) = &measure.labelled {
        key = key.input("labelled data", digest(db, *file)?).option("quantize.accuracy.labels", labels.as_str());
    }
    stage::run(db.world(), Stage::Measure, key.finish(), |products| {
        let programs = Programs { float: read(db, &float)?, quantized: read(db, &quantized)? };
        let layers = programs.layers(&samples(db, data)?)?;
        let answers =
            measure.labelled.as_ref().map(|(file, labels)| programs.answers(db, *file, labels)).transpose()?;
        products.put(ArtifactKind::Losses, &failure::json(&Losses { layers, answers })?);
        Ok(())
    })
}

/// The losses that [`measured`] stored.
pub fn losses(db: &dyn Db, staged: &Staged) -> Result<Losses, Blocked> {
    let bytes = db.world().open_blob(&staged.blob(ArtifactKind::Losses)?);
    serde_json::from_slice(&bytes).map_err(|error| Blocked::internal(Stage::Measure, &error.to_string()))
}

/// The program of a method before and after quantization.
pub struct Programs {
    /// Before.
    pub float: LoweredProgram,
    /// After.
    pub quantized: LoweredProgram,
}

impl Programs {
    fn layers(&self, samples: &Tensors) -> Result<Vec<LayerLoss>, Vec<Diagnostic>> {
        let compared = |(float, quantized)| etbuild_quantize::compare(float, quantized, samples).map_err(failed);
        let each: Vec<_> = self.pairs().map(compared).collect::<Result<_, _>>()?;
        Ok(each.into_iter().flatten().map(LayerLoss::from).collect())
    }

    fn answers(&self, db: &dyn Db, file: DataFile, labels: &str) -> Result<Answers, Vec<Diagnostic>> {
        let (tensors, labels) = labelled(db, file, labels)?;
        let right = |graph: &Graph| right_answers(graph, &tensors, &labels).map_err(unlabelled);
        let (float, quantized) = self.pairs().next().ok_or_else(|| failure::internal("a program has no method"))?;
        Ok(Answers { cases: labels.len(), before: right(float)?, after: right(quantized)? })
    }

    fn pairs(&self) -> impl Iterator<Item = (&Graph, &Graph)> {
        self.float.program().methods.values().zip(self.quantized.program().methods.values())
    }
}

/// A lowered program from the store.
pub fn read(db: &dyn Db, staged: &Arc<Staged>) -> Result<LoweredProgram, Vec<Diagnostic>> {
    read_lowered(db, staged).map(|(program, _)| program)
}

/// The tensors of a safetensors file.
pub fn samples(db: &dyn Db, file: DataFile) -> Result<Tensors, Vec<Diagnostic>> {
    let bytes = unchanged::read(db, file)?;
    let malformed = |error| {
        let message = format!("the data `{}` is malformed: {error}", file.path(db).display());
        vec![Diagnostic::error(Code::CalibrationMismatch, message)]
    };
    let file = SafeTensors::parse(&bytes).map_err(malformed)?;
    Ok(file.tensors.into_iter().filter_map(|(name, view)| Some((name, owned(&view)?))).collect())
}

/// `None` where a size is no size of a model's tensor.
fn owned(view: &TensorView<'_>) -> Option<OwnedTensor> {
    let sizes = view.shape.iter().map(|size| i32::try_from(*size).ok()).collect::<Option<_>>()?;
    Some(OwnedTensor { scalar_type: view.scalar_type, sizes, bytes: view.bytes.to_vec() })
}

/// The tensors of labelled data, and the labels.
pub fn labelled(db: &dyn Db, file: DataFile, name: &str) -> Result<(Tensors, Vec<i64>), Vec<Diagnostic>> {
    let tensors = samples(db, file)?;
    let mistake = |message: String, help: String| vec![Diagnostic::error(Code::LabelsMismatch, message).help(help)];
    let labels = tensors.get(name).ok_or_else(|| {
        let names: Vec<&str> = tensors.keys().map(String::as_str).collect();
        mistake(format!("the labelled data has no tensor `{name}`"), format!("it has {}", names.join(", ")))
    })?;
    let labels = whole_numbers(labels).ok_or_else(|| {
        let message = format!("the labels `{name}` are {}, not whole numbers", labels.scalar_type.name());
        mistake(message, "write the position of the right class of each case, as `int64`".to_owned())
    })?;
    Ok((tensors, labels))
}

fn whole_numbers(tensor: &OwnedTensor) -> Option<Vec<i64>> {
    let bytes = &tensor.bytes;
    Some(match tensor.scalar_type {
        ScalarType::Byte => bytes.iter().map(|label| i64::from(*label)).collect(),
        ScalarType::Int => bytes.as_chunks().0.iter().map(|label| i64::from(i32::from_le_bytes(*label))).collect(),
        ScalarType::Long => bytes.as_chunks().0.iter().map(|label| i64::from_le_bytes(*label)).collect(),
        _ => return None,
    })
}

/// Mistakes in labels are reported at the labels.
pub fn unlabelled(error: QuantizeError) -> Vec<Diagnostic> {
    match error {
        QuantizeError::OtherLabels { .. } | QuantizeError::NoAnswer => {
            let diagnostic = Diagnostic::error(Code::LabelsMismatch, error.to_string());
            vec![
                diagnostic
                    .help("`top1` takes a label for each case, and a first output with a row of classes for each"),
            ]
        }
        other => failed(other),
    }
}

fn digest(db: &dyn Db, file: DataFile) -> Result<etbuild_store::Digest, Blocked> {
    let path = file.path(db);
    let unreadable = |error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        Blocked::failed(Stage::Measure, [Diagnostic::error(Code::FileUnreadable, message)])
    };
    file.digest(db).map_err(unreadable)
}
