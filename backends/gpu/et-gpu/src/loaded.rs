//! A blob on a device: objects, dispatches and pipelines.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use et_core::Error;
use et_runtime::Workers;

use crate::blob::Object;
use crate::driver::pipeline::{Pipeline, Shader};
use crate::driver::resource::Resource;
use crate::kernels::Module;
use crate::objects::Objects;
use crate::plan::Plan;
use crate::problem::Outcome;
use crate::programs::choose;
use crate::shared::Shared;
use crate::step::Step;

/// A checked blob with compiled kernels and memory.
pub struct Loaded {
    /// The device.
    pub shared: Arc<Shared>,
    /// Arguments of the delegate call.
    pub arguments: usize,
    /// The outputs among the arguments: the last ones.
    pub outputs: usize,
    /// The objects.
    pub objects: Vec<Object>,
    /// The dispatches in order.
    pub steps: Vec<Step>,
    /// The pipelines of the kernels that the device executes.
    pub pipelines: Vec<Arc<Pipeline>>,
    /// The objects on the device.
    pub placed: Objects,
    /// The arguments whose states stay on the device between executions.
    pub kept: BTreeSet<usize>,
}

impl Loaded {
    /// Checks a blob, compiles the kernels on `workers` and allocates memory.
    pub fn load(bytes: &[u8], workers: &dyn Workers) -> Outcome<Self> {
        let shared = Shared::get()?;
        let Plan { arguments, outputs, objects, modules, steps } = choose(bytes, shared.device.limits())?;
        let shader = |module: Module| {
            let Module { words, descriptors, subgroup, workgroup } = module;
            Shader { words, descriptors, subgroup, workgroup }
        };
        let shaders: Vec<_> = modules.into_iter().map(shader).collect();
        let pipelines = compile(&shared, &shaders, workers)?;
        let placed = Objects::create(&shared.device, &objects)?;
        Ok(Self { shared, arguments, outputs, objects, steps, pipelines, placed, kept: BTreeSet::new() })
    }

    /// The object with a number.
    pub fn object(&self, index: usize) -> Outcome<&Object> {
        self.objects.get(index).ok_or_else(|| Error::Internal.into())
    }

    /// The object on the device; `None` for weights and states.
    pub fn resource(&self, index: usize) -> Option<&Resource> {
        self.placed.resources.get(index)?.as_ref()
    }

    /// The pipeline of a dispatch.
    pub fn pipeline(&self, step: &Step) -> Outcome<&Pipeline> {
        self.pipelines.get(step.module).map(AsRef::as_ref).ok_or_else(|| Error::Internal.into())
    }
}

/// The pipelines of shaders, compiled on all threads.
fn compile(shared: &Shared, shaders: &[Shader], workers: &dyn Workers) -> Outcome<Vec<Arc<Pipeline>>> {
    let made: Vec<Mutex<Option<_>>> = shaders.iter().map(|_| Mutex::new(None)).collect();
    workers.run(shaders.len(), &|index| {
        if let Some((shader, slot)) = shaders.get(index).zip(made.get(index)) {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.pipeline(shader));
        }
    });
    let take = |slot: Mutex<Option<Outcome<_>>>| {
        let made = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.unwrap_or_else(|| Err(Error::Internal.into()))
    };
    let made: Outcome<Vec<(Arc<Pipeline>, bool)>> = made.into_iter().map(take).collect();
    let made = made?;
    if made.iter().any(|(_, is_new)| *is_new) {
        shared.device.finish_pipelines()?;
    }
    Ok(made.into_iter().map(|(pipeline, _)| pipeline).collect())
}
