//! What an inference costs on a board.

use etbuild_target::{Run, Target};
use serde::{Deserialize, Serialize};

/// The nanoseconds of a second, each an instruction.
const NANOSECONDS: u128 = 1_000_000_000;

/// What the firmware measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// The most ticks of the processor's counter that an inference took; 0 where that is not known.
    pub ticks: u32,
    /// The most bytes of the stack that were in use.
    pub stack: u32,
    /// The ticks of the executions of each case that were measured; empty where none was.
    #[serde(default)]
    pub bench: Vec<Vec<u32>>,
}

/// The cost of inferences.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// What the executions took that were measured, by case; empty where none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bench: Vec<Measured>,
}

/// What the executions of a case took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// How many executions were measured.
    pub executions: usize,
    /// Instructions of an execution, as [`Cost::instructions`] counts them.
    pub instructions: Option<Spread<u64>>,
    /// The processor's cycles of an execution, where a board counted them.
    pub cycles: Option<Spread<u64>>,
    /// An estimate of the time of an execution on the board, as [`Cost::estimated_milliseconds`] is one.
    pub estimated_milliseconds: Option<Spread<f64>>,
}

/// The least, the median and the greatest of one or more measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread<T> {
    /// The least.
    pub least: T,
    /// The one in the middle; of two in the middle, the lesser.
    pub median: T,
    /// The greatest.
    pub greatest: T,
}

impl Spread<u64> {
    /// The spread of the ticks of executions; `None` where the counter missed an execution.
    fn of(ticks: &[u32]) -> Option<Self> {
        let mut sorted = ticks.to_vec();
        sorted.sort_unstable();
        let at = |index: usize| sorted.get(index).copied().map(u64::from);
        let spread = Self { least: at(0)?, median: at((sorted.len() - 1) / 2)?, greatest: at(sorted.len() - 1)? };
        (spread.least > 0).then_some(spread)
    }
}

impl<T> Spread<T> {
    /// The spread of the measurements in another unit, by an ascending function.
    fn map<U>(self, ascending: impl Fn(T) -> U) -> Spread<U> {
        let Self { least, median, greatest } = self;
        Spread { least: ascending(least), median: ascending(median), greatest: ascending(greatest) }
    }
}

impl Cost {
    /// The cost on a target, in an emulator that executes an instruction in a nanosecond.
    pub fn of(target: &Target, effort: &Effort) -> Self {
        let timer = match target.run() {
            Run::Emulator(emulator) => emulator.timer,
            Run::None | Run::Native | Run::Model | Run::Device(_) | Run::Adb | Run::Ssh(_) => None,
        };
        let count = |ticks: u64| Some((u128::from(ticks) * NANOSECONDS / u128::from(timer?.0)) as u64);
        let instructions = count(effort.ticks.into()).filter(|count| *count > 0);
        let measured = |ticks: &Vec<u32>| {
            let spread = Spread::of(ticks).filter(|_| timer.is_some());
            let instructions = spread.map(|spread| spread.map(|ticks| count(ticks).unwrap_or_default()));
            let estimated_milliseconds = instructions.and_then(|spread| Some(spread.map(milliseconds(target)?)));
            Measured { executions: ticks.len(), instructions, cycles: None, estimated_milliseconds }
        };
        Self {
            stack: effort.stack,
            instructions,
            estimated_milliseconds: instructions.and_then(|instructions| Some(milliseconds(target)?(instructions))),
            cycles: None,
            bench: effort.bench.iter().map(measured).collect(),
        }
    }

    /// The cost on a board, whose processor counted cycles.
    pub fn on_board(target: &Target, effort: &Effort) -> Self {
        let cycles = Some(u64::from(effort.ticks)).filter(|count| *count > 0);
        let measured = |ticks: &Vec<u32>| {
            let cycles = Spread::of(ticks);
            let estimated_milliseconds = cycles.and_then(|spread| Some(spread.map(milliseconds(target)?)));
            Measured { executions: ticks.len(), instructions: None, cycles, estimated_milliseconds }
        };
        Self {
            stack: effort.stack,
            instructions: None,
            estimated_milliseconds: cycles.and_then(|cycles| Some(milliseconds(target)?(cycles))),
            cycles,
            bench: effort.bench.iter().map(measured).collect(),
        }
    }
}

/// The milliseconds of cycles at the clock of the target; `None` without a clock.
fn milliseconds(target: &Target) -> Option<impl Fn(u64) -> f64> {
    let hertz = target.clock()?.0 as f64;
    Some(move |cycles: u64| cycles as f64 * 1000.0 / hertz)
}

#[cfg(test)]
mod tests {
    use etbuild_target::Catalogue;

    use super::*;

    #[test]
    fn executions_have_an_order() {
        let catalogue = Catalogue::shipped().unwrap();
        let bench = vec![vec![30, 10, 20, 40], vec![7], vec![3, 0]];
        let effort = Effort { ticks: 40, stack: 9, bench };
        let spread = |least, median, greatest| Some(Spread { least, median, greatest });
        let found = Cost::of(catalogue.get("mps2-an505").unwrap(), &effort).bench;
        assert_eq!(found[0].instructions, spread(500, 1000, 2000));
        assert_eq!(found[0].estimated_milliseconds, Some(Spread { least: 0.025, median: 0.05, greatest: 0.1 }));
        assert_eq!((found[0].executions, found[1].instructions), (4, spread(350, 350, 350)));
        // An execution that was not counted.
        assert_eq!((found[2].executions, found[2].instructions), (2, None));
        let found = Cost::on_board(catalogue.get("nucleo-f411re").unwrap(), &effort).bench;
        assert_eq!((found[0].cycles, found[0].instructions, found[2].cycles), (spread(10, 20, 40), None, None));
        assert!(
            Cost::of(catalogue.get("pico2").unwrap(), &effort).bench.iter().all(|case| case.instructions.is_none())
        );
    }

    #[test]
    fn ticks_become_instructions_and_an_estimate_of_time() {
        let catalogue = Catalogue::shipped().unwrap();
        let cost = |name, ticks| Cost::of(catalogue.get(name).unwrap(), &Effort { ticks, stack: 9, bench: Vec::new() });
        let board = cost("mps2-an505", 200);
        assert_eq!((board.instructions, board.estimated_milliseconds, board.stack), (Some(10_000), Some(0.5), 9));
        assert_eq!(cost("riscv-virt", 10_000).instructions, Some(10_000));
        assert_eq!((cost("mps2-an505", 0).instructions, cost("pico2", 200).instructions), (None, None));
    }
}
