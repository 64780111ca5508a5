//! A loaded blob with command buffers.

use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use core::ops::Range;
use core::time::Duration;
use std::collections::BTreeSet;

use et_core::{Access, Args, Error, Tensor};
use et_runtime::Workers;

use crate::blob::Role;
use crate::driver::timestamps::Timestamps;
use crate::loaded::Loaded;
use crate::objects::Mapped;
use crate::problem::{Outcome, Problem};
use crate::record::{Held, Prepared, prepare};
use crate::state::{InPlace, State};
use crate::weights::WeightsKey;

/// A blob on the device of this process. Inputs, weights, states and outputs are tensors that live for `'a`.
pub struct Session<'a> {
    prepared: RefCell<Option<Prepared<'a>>>,
    loaded: Loaded,
    in_place: InPlace,
    // Invariant, so that tensors of a shorter life are refused.
    tensors: PhantomData<Cell<&'a [u8]>>,
}

/// A dispatch that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The number of the dispatch in the blob.
    pub dispatch: usize,
    /// The number of the kernel in the blob, or of the alternative that the device executes.
    pub kernel: usize,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// The time by the clock of the device; `None` where the device has no clock, so that the dispatch ended just now.
    pub duration: Option<Duration>,
}

/// The times of the dispatches of a command buffer.
struct Times<'t> {
    /// A time for each dispatch.
    stamps: Option<&'t Timestamps>,
    /// The time of the whole command buffer, which has a single dispatch where there are no stamps.
    whole: Option<Duration>,
}

/// What is called with each dispatch.
pub type Observe<'o> = &'o dyn Fn(&Ended);

impl<'a> Session<'a> {
    /// Checks a blob, compiles the kernels on `workers` and allocates memory.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for a malformed blob, [`Error::NotSupported`] where the device lacks something, and errors of
    /// the driver.
    pub fn load(bytes: &[u8], workers: &dyn Workers) -> Outcome<Self> {
        let loaded = Loaded::load(bytes, workers)?;
        let (prepared, in_place) = (RefCell::new(None), InPlace::of(&loaded.objects, loaded.arguments, loaded.outputs));
        Ok(Self { prepared, loaded, in_place, tensors: PhantomData })
    }

    /// The session that keeps the states of these arguments on a device with memory of its own between executions. Nobody but such
    /// sessions of the process accesses the tensors then, except through [`Self::store_state`].
    #[must_use]
    pub fn keeping(mut self, arguments: BTreeSet<usize>) -> Self {
        self.loaded.kept = arguments;
        self
    }

    /// Copies a state to its tensor, where the contents are on the device. The next execution reads the tensor again.
    ///
    /// # Errors
    /// [`Error::InvalidState`] for contents on a device that was lost; errors of the driver.
    pub fn store_state(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        self.loaded.shared.store(tensor)
    }

    /// Executes the blob on tensors. An observer hears of the dispatches after the execution, with times of the device; where the
    /// device has no clock, dispatches are executed one by one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tensors of other sizes, [`Error::AccessFailed`] for a state that must not be written,
    /// [`Error::InvalidState`] for an output without an object in other memory than that of a state, and for a state on another
    /// device that was lost, [`Error::DelegateInvalidHandle`] after a loss of the device.
    pub fn execute(&self, arguments: &Args<'a, '_>, observe: Option<Observe<'_>>) -> Outcome<()> {
        if arguments.len() < self.loaded.arguments {
            return Err(Error::InvalidArgument.into());
        }
        let mut prepared = self.prepared.try_borrow_mut().map_err(|_| Error::InvalidState)?;
        let prepared = self.prepare(&mut prepared, arguments, observe.is_some())?;
        self.write_inputs(arguments)?;
        prepared.states.iter().try_for_each(|state| state.fill(&self.loaded.shared))?;
        for (steps, commands) in &mut prepared.commands {
            commands.run()?;
            if let Some(observe) = observe {
                let times = Times { stamps: prepared.timestamps.as_ref(), whole: commands.duration() };
                self.report(steps.clone(), &times, observe)?;
            }
        }
        prepared.states.iter().try_for_each(State::store)?;
        self.read_outputs(arguments)
    }

    /// The command buffers for the weights and the states of a call: those of the last call, or new ones.
    fn prepare<'p>(
        &self,
        prepared: &'p mut Option<Prepared<'a>>,
        arguments: &Args<'a, '_>,
        observed: bool,
    ) -> Outcome<&'p mut Prepared<'a>> {
        let (weights, states) = (self.held(arguments, Role::Weights)?, self.held(arguments, Role::State)?);
        self.check_states(arguments, &states)?;
        let keys = weights.iter().map(|(index, tensor)| Ok(WeightsKey::of(self.loaded.object(*index)?, tensor)));
        let keys: Vec<_> = keys.collect::<Outcome<_>>()?;
        let in_place =
            |ready: &Prepared<'_>| ready.states.iter().zip(&states).all(|(state, (_, tensor))| state.is_of(tensor));
        let is_ready = |ready: &Prepared<'_>| ready.keys == keys && ready.observed == observed && in_place(ready);
        if !prepared.as_ref().is_some_and(is_ready) {
            // The same weights and the same states stay on the device meanwhile.
            let _kept = prepared.take().map(|old| {
                let states = in_place(&old).then_some(old.states);
                ((old.keys == keys).then_some(old.weights), states)
            });
            *prepared = Some(prepare(&self.loaded, [&weights, &states], keys, observed)?);
        }
        prepared.as_mut().ok_or_else(|| Error::Internal.into())
    }

    /// Tells an observer of executed dispatches.
    fn report(&self, range: Range<usize>, times: &Times<'_>, observe: Observe<'_>) -> Outcome<()> {
        let durations = times.stamps.map(Timestamps::durations).transpose()?;
        let steps = self.loaded.steps.iter().enumerate().filter(|(index, _)| range.contains(index));
        for (dispatch, step) in steps {
            let duration = durations.as_ref().and_then(|durations| durations.get(dispatch).copied()).or(times.whole);
            observe(&Ended { dispatch, kernel: step.kernel, workgroups: step.workgroups, duration });
        }
        Ok(())
    }

    /// The objects of a role with their tensors.
    fn held(&self, arguments: &Args<'a, '_>, role: Role) -> Outcome<Vec<Held<'a>>> {
        let objects = self.loaded.objects.iter().enumerate().filter(|(_, object)| object.role == role);
        objects.map(|(index, object)| Ok((index, self.tensor(arguments, index, object.argument as usize)?))).collect()
    }

    /// Checks that states are writable, and that outputs without an object are in the memory of states.
    fn check_states(&self, arguments: &Args<'a, '_>, states: &[Held<'a>]) -> Outcome<()> {
        if states.iter().any(|(_, tensor)| tensor.access() == Access::Constant) {
            return Err(Problem::new(Error::AccessFailed, "a state of the GPU program is a constant"));
        }
        for argument in self.in_place.arguments() {
            let output = arguments.tensor(argument)?;
            let is_of = |tensor: &Tensor<'_>| (tensor.data(), tensor.nbytes()) == (output.data(), output.nbytes());
            if !states.iter().any(|(_, tensor)| is_of(tensor)) {
                let sentence = format!("argument {argument} of the GPU program is not in the memory of a state");
                return Err(Problem::new(Error::InvalidState, sentence));
            }
        }
        Ok(())
    }

    /// The tensor of an object, which has the object's size.
    fn tensor(&self, arguments: &Args<'a, '_>, index: usize, argument: usize) -> Outcome<Tensor<'a>> {
        let (tensor, object) = (arguments.tensor(argument)?, self.loaded.object(index)?);
        let bytes = tensor.nbytes() as u64;
        if bytes > object.size || object.size - bytes > 3 {
            let sentence =
                format!("argument {argument} of the GPU program has {bytes} bytes instead of {}", object.size);
            return Err(Problem::new(Error::InvalidArgument, sentence));
        }
        Ok(tensor)
    }

    fn write_inputs(&self, arguments: &Args<'a, '_>) -> Outcome<()> {
        let Mapped { memory: Some(memory), entries } = &self.loaded.placed.inputs else { return Ok(()) };
        for (index, argument, offset) in entries {
            let tensor = self.tensor(arguments, *index, *argument)?;
            // A program may read a state that another session of the program has on the device.
            self.loaded.shared.store(&tensor)?;
            memory.write(*offset, &tensor, 0..tensor.nbytes())?;
        }
        memory.flush()
    }

    fn read_outputs(&self, arguments: &Args<'a, '_>) -> Outcome<()> {
        let Mapped { memory: Some(memory), entries } = &self.loaded.placed.outputs else { return Ok(()) };
        memory.invalidate()?;
        for (index, argument, offset) in entries {
            let tensor = self.tensor(arguments, *index, *argument)?;
            memory.read(*offset, &tensor, 0..tensor.nbytes())?;
        }
        Ok(())
    }
}

// A session with an own drop lives no longer than `'a`, the life of weights and states that the device may have imported.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Command buffers and descriptor sets end before the objects that they name.
        *self.prepared.get_mut() = None;
    }
}
