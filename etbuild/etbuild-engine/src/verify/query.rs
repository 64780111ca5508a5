//! The binary is run on the verification inputs.

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{BlobRef, KeyBuilder};

use super::board_report::{self, ConsoleOutputs};
use super::process::Process;
use super::{Runner, VerifyOptions};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::emit::data_files;
use crate::failure;
use crate::input::{Db, HashedFile};
use crate::link::{BinarySource, Maker, linked, read_interface, verify_data};
use crate::pipeline::Stage;

/// The outputs of the unit's binary for the verification inputs. Reads no tolerance: judging is not running.
#[salsa::tracked(returns(clone))]
pub fn verified(db: &dyn Db, source: BinarySource, maker: Maker, verify: VerifyOptions) -> StageResult {
    let emitted = source.emitted(db).map_err(|blocked: Blocked| blocked.downstream())?;
    let is_modelled = matches!(verify.runner, Runner::Model { .. });
    let is_board = source.link.target.memory().is_some() && !is_modelled;
    let linked = match verify.runner.twin() {
        Some(twin) => linked(db, source.without_library(), Maker::Compiler(twin.clone())),
        None => linked(db, source, maker),
    };
    let linked = linked.map_err(|blocked: Blocked| blocked.downstream())?;
    let inputs = verify.inputs;
    let inputs = HashedFile::of(db, inputs).map_err(|error| verify_data::unreadable(db, inputs, error))?;
    let method = read_interface(db, &emitted)?.method();
    let method = method.ok_or_else(|| Blocked::internal(Stage::Verify, "a program has no method"))?;
    let action = Verify {
        binary: linked.blob(ArtifactKind::Binary)?,
        program: emitted.blob(ArtifactKind::ProgramFile)?,
        data: data_files(&emitted),
        inputs,
        console_outputs: is_board.then(|| ConsoleOutputs::of(method)),
        options: verify,
    };
    action::run(db, &action)
}

/// Running the binary.
struct Verify {
    binary: BlobRef,
    program: BlobRef,
    data: Vec<(&'static str, BlobRef)>,
    inputs: HashedFile,
    /// The outputs of firmware, which reports outputs on the console; `None` for a process.
    console_outputs: Option<ConsoleOutputs>,
    options: VerifyOptions,
}

impl Keyed for Verify {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { binary, program, data, inputs, console_outputs, options } = self;
        let (bytes, types) = console_outputs.clone().map(|ConsoleOutputs { bytes, types }| (bytes, types)).unzip();
        let key = key
            .input("binary", binary.digest)
            .input("program", program.digest)
            .input("inputs", inputs.digest)
            .fact("outputs on the console", bytes)
            .fact("types of outputs on the console", types);
        let key = data.iter().fold(key, |key, (ending, data)| key.fact("file", *ending).input("data", data.digest));
        options.key(key)
    }
}

impl Action for Verify {
    const STAGE: Stage = Stage::Verify;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let process = Process { world: db.world(), options: &self.options };
        let outputs = match &self.console_outputs {
            Some(outputs) => {
                let report = board_report::read(&process.board(&self.binary)?, outputs)?;
                products.put(ArtifactKind::Effort, &failure::json(&report.effort)?);
                report.outputs
            }
            None if matches!(self.options.runner, Runner::Model { .. }) => {
                process.modelled(&self.program, &self.data, &self.inputs.read(db)?)?
            }
            None => process.hosted(&self.binary, &self.program, &self.data, &self.inputs.read(db)?)?,
        };
        products.put(ArtifactKind::Outputs, &outputs);
        Ok(())
    }
}
