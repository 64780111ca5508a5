//! A binary on a device: brought, run on the verification inputs, and judged.

use std::path::Path;

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{BlobRef, Digest};

use super::UnitReport;
use super::on_each::{Given, away, folder_here, no_folder, on_each};
use crate::action::{ArtifactKind, Blocked, Staged};
use crate::device::{Command, DeviceFile, DeviceFolder, Shell};
use crate::emit::data_files;
use crate::input::{Db, hashed_file};
use crate::link::{Maker, read_interface};
use crate::pipeline::Stage;
use crate::session::World;
use crate::unit::Unit;

/// The names of the files for a run.
const INPUTS: &str = "inputs.safetensors";
const OUTPUTS: &str = "outputs.safetensors";

/// Brings what each device lacks, and runs and judges the binary where the recipe names verification data. Nothing of that is cached: a
/// device may be another one than before.
pub fn on_device(
    db: &dyn Db,
    unit: &Unit,
    maker: &Maker,
    devices: &[Shell],
    report: &mut UnitReport,
) -> Result<(), Blocked> {
    let (emitted, linked) = (unit.emitted(db)?, unit.linked(db, maker)?);
    let here = folder_here()?;
    let mut files = binary_files(db.world(), unit, here.path(), (&emitted, &linked))?;
    files.extend(inputs(db, unit, here.path())?);
    let words = [unit.name(), "--inputs", INPUTS, "--outputs", OUTPUTS].map(str::to_owned);
    let command = match &unit.recipe.verify {
        Some(options) => Some(Command {
            words: words.to_vec(),
            variables: variables(db, &emitted)?,
            results: vec![OUTPUTS.to_owned()],
            timeout: Some(options.timeout.0),
            shows: false,
        }),
        None => None,
    };
    let (system, instance) = (db.world().system(), unit.instance());
    on_each(db, unit, devices, report, |device| {
        run(&DeviceFolder::new(system, device, &instance), device, &files, command.as_ref())
    })
}

/// Brings files to a folder of a device, and runs a command there.
fn run(
    folder: &DeviceFolder<'_>,
    device: &Shell,
    files: &[DeviceFile],
    command: Option<&Command>,
) -> Result<Given, Diagnostic> {
    let brought = folder.push(files)?.len();
    let note = format!("{brought} of {} files brought to `{}` on device `{device}`", files.len(), folder.path());
    let Some(command) = command else { return Ok(Given { note, outputs: None }) };
    let outcome = folder.run(command)?;
    if !outcome.success() {
        return Err(folder.failed(&outcome));
    }
    Ok(Given { note, outputs: Some(folder.pull(OUTPUTS)?) })
}

/// The binary, the program file and the data files, in a folder here.
fn binary_files(
    world: &World,
    unit: &Unit,
    here: &Path,
    (emitted, linked): (&Staged, &Staged),
) -> Result<Vec<DeviceFile>, Blocked> {
    let name = unit.name();
    let file = |name: String, blob: BlobRef, executable: bool| {
        let source = here.join(&name);
        world.materialise(&blob, &source, executable);
        DeviceFile { name, source, digest: blob.digest.to_string(), size: blob.size, executable }
    };
    let mut files = vec![
        file(name.to_owned(), linked.blob(ArtifactKind::Binary)?, true),
        file(format!("{name}.pte"), emitted.blob(ArtifactKind::ProgramFile)?, false),
    ];
    files.extend(data_files(emitted).into_iter().map(|(ending, blob)| file(format!("{name}.{ending}"), blob, false)));
    Ok(files)
}

/// The verification inputs, in a folder here.
fn inputs(db: &dyn Db, unit: &Unit, here: &Path) -> Result<Option<DeviceFile>, Blocked> {
    let Some(files) = &unit.link.verify else { return Ok(None) };
    let bytes = hashed_file::read(db, files.inputs).map_err(|found| Blocked::failed(Stage::Verify, found))?;
    let source = here.join(INPUTS);
    let written = db.world().system().write(&source, &bytes, false);
    written.map_err(|error| away(no_folder(&error)))?;
    let digest = Digest::of(&bytes).to_string();
    Ok(Some(DeviceFile { name: INPUTS.to_owned(), source, digest, size: bytes.len() as u64, executable: false }))
}

/// The environment in which the program's delegates find the libraries of the device.
fn variables(db: &dyn Db, emitted: &Staged) -> Result<Vec<(String, String)>, Blocked> {
    let interface = read_interface(db, emitted)?;
    let variables = interface.backends(db.world().engines()).flat_map(|backend| backend.device_variables());
    Ok(variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}
