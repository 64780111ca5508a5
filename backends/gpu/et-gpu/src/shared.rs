//! The device of this process, with the pipelines, the weights and the states that all delegates share.

use std::sync::{Arc, Mutex, PoisonError};

use et_core::Tensor;

use crate::blob::Object;
use crate::driver::device::Device;
use crate::driver::pipeline::{Pipeline, Shader};
use crate::pool::Pool;
use crate::problem::Outcome;
use crate::resident::{Resident, ResidentKey, lost};
use crate::stamp::is_stamped;
use crate::weights::{Weights, WeightsKey};

static SHARED: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// A device with the pipelines, the weights and the states of all delegates.
pub struct Shared {
    /// The device.
    pub device: Arc<Device>,
    pipelines: Pool<Shader, Pipeline>,
    weights: Pool<WeightsKey, Weights>,
    states: Pool<ResidentKey, Resident>,
}

impl Shared {
    /// The device of this process, opened on first use; another device after a loss.
    pub fn get() -> Outcome<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = shared.as_ref().filter(|shared| !shared.device.is_lost()) {
            return Ok(Arc::clone(shared));
        }
        let device = Arc::new(Device::open()?);
        let (pipelines, weights, states) = (Pool::default(), Pool::default(), Pool::default());
        let opened = Arc::new(Self { device, pipelines, weights, states });
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

    /// The copy of the state of a tensor, live or new.
    pub fn resident(&self, object: &Object, tensor: &Tensor<'_>) -> Outcome<Arc<Resident>> {
        self.states.get_or_make(ResidentKey::of(tensor), || Resident::create(&self.device, object))
    }

    /// Copies the contents of a tensor from the device to the tensor, unless the contents are there.
    ///
    /// # Errors
    /// [`et_core::Error::InvalidState`] for contents on a device that was lost; errors of the driver.
    pub fn store(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        if !is_stamped(tensor) {
            return Ok(());
        }
        self.states.get(&ResidentKey::of(tensor)).ok_or_else(lost)?.store(tensor)
    }
}

/// The live pipelines and the live weights of the device of this process.
#[cfg(any(test, feature = "faults"))]
pub fn live_objects() -> (usize, usize) {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.as_ref().map_or((0, 0), |shared| (shared.pipelines.live(), shared.weights.live()))
}

/// The live states on the device of this process.
#[cfg(any(test, feature = "faults"))]
pub fn live_states() -> usize {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.as_ref().map_or(0, |shared| shared.states.live())
}
