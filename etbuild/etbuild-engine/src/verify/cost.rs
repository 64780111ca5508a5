//! What an inference costs on a board.

use etbuild_target::{Run, Target};
use etbuild_yaml::Frequency;
use serde::{Deserialize, Serialize};

/// The nanoseconds of a second, each an instruction.
const NANOSECONDS: u128 = 1_000_000_000;

/// What the firmware measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// The most ticks of the processor's counter that an inference took; 0 where that is not known.
    pub ticks: u32,
    /// The most bytes of the stack that were in use.
    pub stack: u32,
}

/// The cost of inferences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The most bytes of the stack that were in use, by the inferences or by the report.
    pub stack: u32,
    /// Instructions, of the inference that took most; the processor's counter rounds them. `None` where the target does not tell how
    /// fast the counter is.
    pub instructions: Option<u64>,
    /// An estimate of the time on the board, in milliseconds, at the clock of the target: of the cycles, or of a cycle for each instruction,
    /// although real processors wait for memory and execute some instructions side by side. `None` without a clock.
    pub estimated_milliseconds: Option<f64>,
    /// The processor's cycles, of the inference that took most, where a board counted them.
    pub cycles: Option<u64>,
}

impl Cost {
    /// The cost on a target, in an emulator that executes an instruction in a nanosecond.
    pub fn of(target: &Target, effort: Effort) -> Self {
        let timer = match target.run() {
            Run::Emulator(emulator) => emulator.timer.filter(|_| effort.ticks > 0),
            Run::None | Run::Native | Run::Model | Run::Device(_) | Run::Adb | Run::Ssh(_) => None,
        };
        let count = |timer: Frequency| (u128::from(effort.ticks) * NANOSECONDS / u128::from(timer.0)) as u64;
        let instructions = timer.map(count);
        let estimated_milliseconds = instructions.and_then(|instructions| milliseconds(target, instructions));
        Self { stack: effort.stack, instructions, estimated_milliseconds, cycles: None }
    }

    /// The cost on a board, whose processor counted cycles.
    pub fn on_board(target: &Target, effort: Effort) -> Self {
        let cycles = Some(u64::from(effort.ticks)).filter(|count| *count > 0);
        let estimated_milliseconds = cycles.and_then(|cycles| milliseconds(target, cycles));
        Self { stack: effort.stack, instructions: None, estimated_milliseconds, cycles }
    }
}

/// The milliseconds of cycles at the clock of the target; `None` without a clock.
fn milliseconds(target: &Target, cycles: u64) -> Option<f64> {
    Some(cycles as f64 * 1000.0 / target.clock()?.0 as f64)
}

#[cfg(test)]
mod tests {
    use etbuild_target::Catalogue;

    use super::*;

    #[test]
    fn ticks_become_instructions_and_an_estimate_of_time() {
        let catalogue = Catalogue::shipped().unwrap();
        let cost = |name, ticks| Cost::of(catalogue.get(name).unwrap(), Effort { ticks, stack: 9 });
        let board = cost("mps2-an505", 200);
        assert_eq!((board.instructions, board.estimated_milliseconds, board.stack), (Some(10_000), Some(0.5), 9));
        assert_eq!(cost("riscv-virt", 10_000).instructions, Some(10_000));
        assert_eq!((cost("mps2-an505", 0).instructions, cost("pico2", 200).instructions), (None, None));
    }
}
