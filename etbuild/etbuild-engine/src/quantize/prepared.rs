//! Programs before partitioning: lowered, quantized, and with streams as inputs. Calibration reads recordings, so inputs become streams
//! behind quantization.

use std::collections::BTreeMap;

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::{Dialect, Lowered, text};
use etbuild_pass::FrontEnd;
use etbuild_store::KeyBuilder;

use super::query::{QuantizeOptions, quantized};
use super::vision::of_method;
use crate::action::program::{self, StoredProgram};
use crate::action::{self, Action, Blocked, Keyed, Products, StageResult};
use crate::input::{Db, ModelSource};
use crate::lower::{self, LowerOptions, front_ends_value, lowered};
use crate::pipeline::Stage;

/// The lowered program, quantized where the options ask for quantization, and with streams as inputs where the options state streams.
pub fn lowered_or_quantized(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
) -> StageResult {
    let has_streams = lower.front_ends.values().any(FrontEnd::is_stream);
    if has_streams { streamed(db, model, lower, quantize) } else { of_recordings(db, model, lower, quantize) }
}

/// The program whose inputs are recordings.
fn of_recordings(
    db: &dyn Db,
    model: ModelSource,
    lower: LowerOptions,
    quantize: Option<QuantizeOptions>,
) -> StageResult {
    match quantize {
        Some(quantize) => {
            let options = of_method(db, model, quantize.options);
            quantized(db, model, lower, QuantizeOptions { options, ..quantize })
        }
        None => lowered(db, model, lower),
    }
}

/// The program with streams as inputs.
#[salsa::tracked(returns(clone))]
fn streamed(db: &dyn Db, model: ModelSource, lower: LowerOptions, quantize: Option<QuantizeOptions>) -> StageResult {
    let front_ends = lower.front_ends.clone();
    let staged = of_recordings(db, model, lower, quantize).map_err(|blocked: Blocked| blocked.downstream())?;
    action::run(db, &Streams { program: StoredProgram::of(staged)?, front_ends })
}

/// Inputs that become streams.
struct Streams {
    program: StoredProgram,
    front_ends: BTreeMap<String, FrontEnd>,
}

impl Keyed for Streams {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, front_ends } = self;
        program.key(key).option("inputs", front_ends_value(front_ends))
    }
}

impl Action for Streams {
    const STAGE: Stage = Stage::Lower;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, weights) = self.program.lowered(db.world())?;
        let program = etbuild_pass::with_streams(program, &self.front_ends).map_err(lower::front_end_failure)?;
        let program = program.into_program();
        program::store(products, &text::print(Lowered::NAME, &program), &program, &weights);
        Ok(())
    }
}
