//! The binary is run on the verification inputs.

use std::io;
use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{Digest, KeyBuilder};

use super::select::read_interface;
use super::{emitted, linked};
use crate::board_report;
use crate::db::{DataFile, Db};
use crate::environment::{Runner, Tools};
use crate::process;
use crate::program_file::data_files;
use crate::stage::{self, Blocked, Stage, StageResult, Staged};
use crate::unchanged;
use crate::unit::Unit;
use crate::{ArtifactKind, failure};

/// The outputs of the unit's binary for the verification inputs. Reads no tolerance: judging is not running.
#[salsa::tracked(returns(clone))]
pub fn verified(db: &dyn Db, unit: Unit, tools: Tools, runner: Runner, inputs: DataFile) -> StageResult {
    let emitted = emitted(db, unit.archives.clone(), unit.plan.clone(), unit.file.clone())
        .map_err(|blocked: Blocked| blocked.downstream())?;
    let linked = linked(db, unit.clone(), tools).map_err(|blocked: Blocked| blocked.downstream())?;
    let digest = inputs.digest(db).map_err(|error| unreadable(db, inputs, error))?;
    let interface = read_interface(db, &emitted)?;
    let key = key(&linked, &emitted, &runner, digest)?;
    stage::run(db.world(), Stage::Verify, key, |products| {
        let method = interface.method().ok_or_else(|| failure::internal("a program has no method"))?;
        let run = process::Run { world: db.world(), unit: &unit, runner: &runner };
        let binary = linked.blob(ArtifactKind::Binary).map_err(|_| failure::internal("a link made no binary"))?;
        let outputs = if unit.target.memory().is_some() {
            let console = run.board(&binary)?;
            board_report::outputs(&console, &method.output_bytes)?
        } else {
            let program = emitted.blob(ArtifactKind::ProgramFile).map_err(|_| failure::internal("no program"))?;
            run.hosted(&binary, &program, &data_files(&emitted), &unchanged::read(db, inputs)?)?
        };
        products.put(ArtifactKind::Outputs, &outputs);
        Ok(())
    })
}

/// The verification data cannot be read.
pub fn unreadable(db: &dyn Db, file: DataFile, error: io::ErrorKind) -> Blocked {
    let message = format!("the verification data `{}` cannot be read: {error}", Path::display(file.path(db)));
    Blocked::failed(Stage::Verify, [Diagnostic::error(Code::FileUnreadable, message)])
}

fn key(linked: &Staged, emitted: &Staged, runner: &Runner, inputs: Digest) -> Result<etbuild_store::Key, Blocked> {
    let mut key: KeyBuilder = Stage::Verify
        .key()
        .input("binary", linked.blob(ArtifactKind::Binary)?.digest)
        .input("program", emitted.blob(ArtifactKind::ProgramFile)?.digest)
        .input("inputs", inputs);
    for (_, data) in data_files(emitted) {
        key = key.input("data", data.digest);
    }
    let key = match runner {
        Runner::Native => key.fact("runner", "native"),
        Runner::Emulator { arguments, digest, .. } => {
            key.fact("arguments", arguments.clone()).tool("emulator", *digest)
        }
        Runner::Drive(_) => key.fact("runner", "board"),
    };
    Ok(key.finish())
}
