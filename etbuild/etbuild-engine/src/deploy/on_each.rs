//! Several devices at once: each runs the unit's binary, and the outputs of each are judged.

use std::fmt::Display;
use std::thread;

use etbuild_diagnostic::{Code, Diagnostic};

use super::verdict::judged;
use super::{DeviceReport, UnitReport, Verification};
use crate::action::Blocked;
use crate::input::Db;
use crate::pipeline::Stage;
use crate::session::{Transient, interrupt};
use crate::unit::Unit;

/// What a device gave.
pub struct Given {
    /// What was done there, a sentence.
    pub note: String,
    /// The outputs for the verification inputs, as safetensors; `None` where none were asked for.
    pub outputs: Option<Vec<u8>>,
}

/// Runs a unit on all devices side by side. The unit's verification is that of the device with the greatest error.
///
/// # Errors
/// The failures of all devices. The files that were built are written all the same.
pub fn on_each<D: Display + Sync>(
    db: &dyn Db,
    unit: &Unit,
    devices: &[D],
    report: &mut UnitReport,
    run: impl Fn(&D) -> Result<Given, Diagnostic> + Sync,
) -> Result<(), Blocked> {
    let given: Vec<Result<Given, Diagnostic>> = thread::scope(|scope| {
        let running: Vec<_> = devices.iter().map(|device| scope.spawn(|| run(device))).collect();
        running.into_iter().map(|running| running.join().unwrap_or_else(|_| Err(panicked()))).collect()
    });
    let mut failures = Vec::new();
    for (device, given) in devices.iter().zip(given) {
        let mut own = UnitReport::new(unit.name(), unit.target.name());
        let outcome = given.map_err(away).and_then(|given| {
            report.notes.push(given.note);
            given.outputs.map_or(Ok(()), |outputs| judged(db, unit, &outputs, &mut own))
        });
        if let Err(blocked) = outcome {
            failures.extend(blocked.diagnostics(|diagnostic| named(device, devices.len(), diagnostic)));
        }
        if is_worse(&own.verification, &report.verification) {
            report.verification = own.verification.clone();
        }
        report.devices.push(DeviceReport { device: device.to_string(), verification: own.verification });
    }
    if failures.is_empty() { Ok(()) } else { Err(Blocked::failed(Stage::Verify, failures)) }
}

fn is_worse(verification: &Verification, than: &Verification) -> bool {
    match (verification, than) {
        (Verification::Done(one), Verification::Done(other)) => one.max_error > other.max_error,
        (Verification::Done(_), _) => true,
        _ => false,
    }
}

/// Among several devices a failure says on which one.
fn named(device: &impl Display, count: usize, diagnostic: &Diagnostic) -> Diagnostic {
    let name = format!("on device `{device}`");
    match count > 1 && !diagnostic.message.contains(&format!("`{device}`")) {
        true => diagnostic.clone().note(name),
        false => diagnostic.clone(),
    }
}

/// A failure of a device; an interrupted command is none.
pub fn away(diagnostic: Diagnostic) -> Blocked {
    match diagnostic.code {
        Code::Interrupted => interrupt(Transient::Interrupted),
        _ => Blocked::failed(Stage::Verify, [diagnostic]),
    }
}

/// A folder here for the files of devices.
pub fn folder_here() -> Result<tempfile::TempDir, Blocked> {
    tempfile::tempdir().map_err(|error| away(no_folder(&error)))
}

/// The folder for the files of devices cannot be used.
pub fn no_folder(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("there is no temporary folder for the device's files: {error}"))
}

fn panicked() -> Diagnostic {
    Diagnostic::error(Code::Internal, "the thread of a device ended early")
}
