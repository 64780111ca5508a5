//! How long each layer takes, measured on this machine.

use std::path::Path;
use std::sync::Arc;

use et_module::recording::{Keep, Recorder};
use et_module::{DataFiles, Engines, Error, FileBytes, Kernels, Module};
use etbuild_inspect::UnitAnatomy;
use serde::Serialize;

use crate::engines::{ENGINES, kernel};
use crate::trace::{Names, Profile};

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
    for method in anatomy.calls.keys() {
        match of_method(folder, anatomy, method) {
            Ok(layers) => latency.layers.extend(layers),
            Err(error) => latency.problem = Some(error.to_string()),
        }
    }
    latency
}

fn of_method(folder: &Path, anatomy: &UnitAnatomy, method: &str) -> Result<Vec<LayerTime>, Error> {
    let file = |ending: &str| folder.join(format!("{}.{ending}", anatomy.recipe));
    let data = Some(file("ptd")).filter(|path| path.exists());
    let data = DataFiles::open(&data.into_iter().collect::<Vec<_>>())?;
    let recorder = Arc::new(Recorder::new(Keep::Times));
    let engines = Engines::new(ENGINES, 1).observed_by(recorder.clone());
    let bytes = FileBytes::open(&file("pte"))?;
    let mut module = Module::load_method(bytes, data, method, Kernels::Lookup(&kernel), &engines)?;
    module.set_zeros()?;
    (0..EXECUTIONS).try_for_each(|_| module.execute())?;
    let names = Names::of_deploy(anatomy);
    let profile = Profile::of(&recorder.take(), &names);
    let rows = profile.methods.into_iter().flat_map(|method| method.rows);
    let layer = |row: crate::trace::Row| LayerTime {
        method: method.to_owned(),
        value: row.value,
        operator: row.operator,
        milliseconds: row.least,
    };
    Ok(rows.map(layer).collect())
}
