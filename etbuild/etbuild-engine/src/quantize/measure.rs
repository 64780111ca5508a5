//! Measuring the loss of quantization.

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::{Graph, LoweredProgram};
use etbuild_quantize::{Tensors, right_answers};
use etbuild_store::KeyBuilder;

use super::QuantizeOptions;
use super::failure::{failed, no_data, unlabelled};
use super::losses::{Answers, LayerLoss, Losses};
use super::query::quantized;
use super::samples::{hashed, labelled, samples};
use crate::action::program::StoredProgram;
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult, Staged};
use crate::failure;
use crate::input::{DataFile, Db, HashedFile, ModelSource};
use crate::lower::{LowerOptions, lowered};
use crate::pipeline::Stage;

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
    let labelled = measure.labelled.map(|(file, labels)| Ok((hashed(db, file)?, labels))).transpose()?;
    let (float, quantized) = (StoredProgram::of(float)?, StoredProgram::of(quantized)?);
    action::run(db, &Measure { float, quantized, samples: hashed(db, data)?, labelled })
}

/// Measuring the loss.
struct Measure {
    float: StoredProgram,
    quantized: StoredProgram,
    samples: HashedFile,
    /// Labelled data, and the name of the labels.
    labelled: Option<(HashedFile, String)>,
}

impl Keyed for Measure {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { float, quantized, samples, labelled } = self;
        let key = float.key(key).input("quantized program", quantized.digest()).input("samples", samples.digest);
        labelled.iter().fold(key, |key, (file, labels)| {
            key.input("labelled data", file.digest).option("quantize.accuracy.labels", labels.as_str())
        })
    }
}

impl Action for Measure {
    const STAGE: Stage = Stage::Measure;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let read = |program: &StoredProgram| program.lowered(db.world()).map(|(program, _)| program);
        let programs = Programs { float: read(&self.float)?, quantized: read(&self.quantized)? };
        let layers = programs.layers(&samples(db, self.samples)?)?;
        let answers = self.labelled.as_ref().map(|(file, labels)| programs.answers(db, *file, labels)).transpose()?;
        products.put(ArtifactKind::Losses, &failure::json(&Losses { layers, answers })?);
        Ok(())
    }
}

/// The losses that [`measured`] stored.
pub fn losses(db: &dyn Db, staged: &Staged) -> Result<Losses, Blocked> {
    staged.json(db.world(), ArtifactKind::Losses)
}

/// The program of a method before and after quantization.
struct Programs {
    float: LoweredProgram,
    quantized: LoweredProgram,
}

impl Programs {
    fn layers(&self, samples: &Tensors) -> Result<Vec<LayerLoss>, Vec<Diagnostic>> {
        let compared = |(float, quantized)| etbuild_quantize::compare(float, quantized, samples).map_err(failed);
        let each: Vec<_> = self.pairs().map(compared).collect::<Result<_, _>>()?;
        Ok(each.into_iter().flatten().map(LayerLoss::from).collect())
    }

    fn answers(&self, db: &dyn Db, file: HashedFile, labels: &str) -> Result<Answers, Vec<Diagnostic>> {
        let (tensors, labels) = labelled(db, file, labels)?;
        let right = |graph: &Graph| right_answers(graph, &tensors, &labels).map_err(unlabelled);
        let (float, quantized) = self.pairs().next().ok_or_else(|| failure::internal("a program has no method"))?;
        Ok(Answers { cases: labels.len(), before: right(float)?, after: right(quantized)? })
    }

    fn pairs(&self) -> impl Iterator<Item = (&Graph, &Graph)> {
        self.float.program().methods.values().zip(self.quantized.program().methods.values())
    }
}
