//! The device of this process, with the pipelines and the weights that all delegates share.

use std::sync::{Arc, Mutex, PoisonError};

use et_core::Tensor;

use crate::blob::Object;
use crate::pool::Pool;
use crate::problem::Outcome;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{Pipeline, Shader};
use crate::weights::{Weights, WeightsKey};

static SHARED: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// A device with the pipelines and the weights of all delegates.
pub struct Shared {
    /// The device.
    pub device: Arc<Device>,
    pipelines: Pool<Shader, Pipeline>,
    weights: Pool<WeightsKey, Weights>,
}

impl Shared {
    /// The device of this process, opened on first use; another device after a loss.
    pub fn get() -> Outcome<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = shared.as_ref().filter(|shared| !shared.device.queue.is_lost()) {
            return Ok(Arc::clone(shared));
        }
        let device = Arc::new(Device::open()?);
        let opened = Arc::new(Self { device, pipelines: Pool::default(), weights: Pool::default() });
        *shared = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The pipeline of a shader, live or new. Returns whether the pipeline is new.
    pub fn pipeline(&self, shader: &Shader) -> Outcome<(Arc<Pipeline>, bool)> {
        if let Some(pipeline) = self.pipelines.get(shader) {
            return Ok((pipeline, false));
        }
        // Threads compile without the lock.
        let pipeline = Arc::new(Pipeline::create(&self.device, shader)?);
        self.pipelines.insert(shader.clone(), &pipeline);
        Ok((pipeline, true))
    }

    /// The weights of a tensor, live or new.
    pub fn weights(&self, object: &Object, tensor: &Tensor<'_>) -> Outcome<Arc<Weights>> {
        self.weights.get_or_make(WeightsKey::of(object, tensor), || Weights::create(&self.device, object, tensor))
    }
}

/// The live pipelines and the live weights of the device of this process.
#[cfg(any(test, feature = "faults"))]
pub fn live_objects() -> (usize, usize) {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.as_ref().map_or((0, 0), |shared| (shared.pipelines.live(), shared.weights.live()))
}
