//! Measuring the firmware of boards, as `bench` asks: what keeps a board from it, and a processor that did not count.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_target::{Console, Kind, Run};

use super::UnitReport;
use crate::action::Blocked;
use crate::pipeline::Stage;
use crate::session::World;
use crate::unit::Unit;
use crate::verify;

/// The first unit that cannot be measured, of those that ask for it. Beside firmware, the units of systems are built and verified as always.
pub fn mistake(world: &World, units: &[Unit]) -> Option<Diagnostic> {
    let asked = || units.iter().filter(|unit| unit.link.bench.is_some());
    let first = asked().next()?;
    if asked().all(|unit| unit.target.kind() == Kind::Hosted) {
        let message = format!("`bench` measures firmware, and `{}` is a system with processes", first.target.name());
        let help = format!("run the binary: `{} --bench --iters 10`", first.target.binary_name(first.name()));
        return Some(Diagnostic::error(Code::Usage, message).help(help));
    }
    units.iter().filter(|unit| is_asked(unit)).find_map(|unit| unmeasurable(world, unit))
}

/// Whether a unit is firmware that is to be measured.
pub fn is_asked(unit: &Unit) -> bool {
    unit.link.bench.is_some() && unit.target.kind() == Kind::BareMetal
}

/// Why firmware cannot be measured.
fn unmeasurable(world: &World, unit: &Unit) -> Option<Diagnostic> {
    let name = unit.target.name();
    let (message, help) = if unit.link.verify.is_none() {
        let message = format!("`bench` executes the verification cases, and `{}` has none", unit.name());
        (message, "write `verify: { inputs: ... }`".to_owned())
    } else if verify::board(world, &unit.target).is_some() {
        return None;
    } else {
        match unit.target.run() {
            Run::Emulator(emulator) if emulator.timer.is_some() => return None,
            Run::Emulator(emulator) => (
                format!("`{}` does not count the instructions of `{name}`", emulator.program),
                "state the rate of the counter, `timer:` beside the emulator: docs/targets.md#run".to_owned(),
            ),
            Run::Device(_) => {
                let device = if matches!(unit.target.console(), Console::Uart(_)) { "serial:PORT" } else { "probe" };
                (format!("`{name}` is measured on a board, and none is named"), format!("write `--device {device}`"))
            }
            _ => (
                format!("`{name}` has neither an emulator nor a way to flash a board, so nothing is measured"),
                "measure a target of the same processor that has an emulator: docs/targets.md".to_owned(),
            ),
        }
    };
    Some(Diagnostic::error(Code::Usage, message).help(help))
}

/// Whether the executions were counted that a unit asks for.
///
/// # Errors
/// Firmware that reports fewer, or a processor whose counter stood still.
pub fn counted(unit: &Unit, report: &UnitReport) -> Result<(), Blocked> {
    let (Some(executions), Some(cost)) = (unit.link.bench.filter(|_| is_asked(unit)), &report.cost) else {
        return Ok(());
    };
    let failed = |message: String, help: &str| {
        Err(Blocked::failed(Stage::Verify, [Diagnostic::error(Code::RunFailed, message).help(help)]))
    };
    if cost.bench.is_empty() || cost.bench.iter().any(|case| case.executions != executions as usize) {
        let message = format!("{} did not report {executions} executions of each case", unit.instance());
        return failed(message, "flash the firmware again: the board runs other firmware, or its report lost lines");
    }
    if cost.bench.iter().any(|case| case.instructions.is_none() && case.cycles.is_none()) {
        let message = format!("the counter of `{}` did not count an execution", unit.target.name());
        let help = "the processor has no such counter, or the execution took more than its 32 bits: state `counter:` of a RISC-V processor, or measure a target of the same processor that has an emulator";
        return failed(message, help);
    }
    Ok(())
}
