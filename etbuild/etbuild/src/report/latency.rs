//! How long each layer takes, measured on this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use et_module::{Array, DataFiles, Engines, Error, FileBytes, Kernels, Module};
use etbuild_inspect::{PlannedCall, UnitAnatomy};
use serde::Serialize;

use super::steps::{Step, Steps};
use crate::engines::{ENGINES, kernel};

/// Executions, of which the fastest of each layer counts.
const EXECUTIONS: usize = 3;

/// How long a layer takes.
#[derive(Clone, Debug, Serialize)]
pub struct LayerTime {
    /// The method.
    pub method: String,
    /// The value that the layer computes; empty where that is not known.
    pub value: String,
    /// The operator, or the kind of a backend's instruction.
    pub operator: String,
    /// Milliseconds.
    pub milliseconds: f64,
}

/// The latencies of a program.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Latency {
    /// Every layer in the order of execution.
    pub layers: Vec<LayerTime>,
    /// The reason for missing latencies.
    pub problem: Option<String>,
}

/// Executes the methods of a deployed program on zeros, with the kernels and backends of etbuild on one thread.
pub fn measure(folder: &Path, anatomy: &UnitAnatomy) -> Latency {
    let mut latency = Latency::default();
    for (method, calls) in &anatomy.calls {
        match of_method(folder, anatomy, method, calls) {
            Ok(layers) => latency.layers.extend(layers),
            Err(error) => latency.problem = Some(error.to_string()),
        }
    }
    latency
}

fn of_method(
    folder: &Path,
    anatomy: &UnitAnatomy,
    method: &str,
    calls: &[PlannedCall],
) -> Result<Vec<LayerTime>, Error> {
    let file = |ending: &str| folder.join(format!("{}.{ending}", anatomy.recipe));
    let data = Some(file("ptd")).filter(|path| path.exists());
    let data = DataFiles::open(&data.into_iter().collect::<Vec<_>>())?;
    let steps = Arc::new(Steps::default());
    let noting = Arc::clone(&steps);
    let engines = Engines::new(ENGINES, 1).observed_by(Arc::new(move |instruction| noting.note(instruction)));
    let bytes = FileBytes::open(&file("pte"))?;
    let mut module = Module::load_method(bytes, data, method, Kernels::Lookup(&kernel), &engines)?;
    set_zeros(&mut module)?;
    let mut best: Vec<Lap> = Vec::new();
    for _ in 0..EXECUTIONS {
        let laps = execute(&mut module, &steps)?;
        match best.len() == laps.len() {
            true => best.iter_mut().zip(laps).for_each(|(best, lap)| best.seconds = best.seconds.min(lap.seconds)),
            false => best = laps,
        }
    }
    Ok(named(&module, method, calls, best))
}

fn set_zeros(module: &mut Module) -> Result<(), Error> {
    for index in 0..module.input_names().len() {
        if let Some(wanted) = module.input_type(index)? {
            module.set_input(index, &Array::zeros(wanted.scalar_type, &wanted.shape).view())?;
        }
    }
    Ok(())
}

/// A measured piece of an execution.
struct Lap {
    instruction: u32,
    /// The kind of a delegate's instruction.
    step: Option<String>,
    seconds: f64,
}

fn execute(module: &mut Module, steps: &Steps) -> Result<Vec<Lap>, Error> {
    steps.take();
    let (mut laps, mut last) = (Vec::new(), Instant::now());
    module.execute_telling(|instruction| {
        let (end, taken) = (Instant::now(), steps.take());
        let seconds = |end: Instant, start| end.saturating_duration_since(start).as_secs_f64();
        if taken.is_empty() {
            laps.push(Lap { instruction, step: None, seconds: seconds(end, last) });
        }
        for Step { kind, end, noted } in taken {
            laps.push(Lap { instruction, step: Some(kind), seconds: seconds(end, last) });
            last = noted;
        }
        last = Instant::now();
    })?;
    Ok(laps)
}

/// The layers by their output values. Names are left out where the program has other instructions than nodes.
fn named(module: &Module, method: &str, calls: &[PlannedCall], laps: Vec<Lap>) -> Vec<LayerTime> {
    let steps = |instruction| laps.iter().filter(move |lap| lap.instruction == instruction).count();
    let last = laps.last().map_or(0, |lap| lap.instruction as usize + 1);
    let known = last == calls.len();
    let (mut found, mut position) = (Vec::new(), (0, 0));
    for lap in &laps {
        position = if position.0 == lap.instruction { (position.0, position.1 + 1) } else { (lap.instruction, 1) };
        let call = calls.get(lap.instruction as usize).filter(|_| known);
        let value = call.and_then(|call| match &lap.step {
            None => Some(call.value.clone()),
            Some(_) => {
                let form = call.layers.iter().find(|form| form.len() == steps(lap.instruction))?;
                form.get(position.1 - 1).cloned()
            }
        });
        let operator = lap.step.clone().or_else(|| module.called(lap.instruction)).unwrap_or_default();
        let (value, milliseconds) = (value.unwrap_or_default(), lap.seconds * 1e3);
        found.push(LayerTime { method: method.to_owned(), value, operator, milliseconds });
    }
    found
}
