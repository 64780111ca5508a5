//! Records the command buffers of a loaded.

use core::ops::Range;
use std::sync::Arc;

use et_core::{Error, Tensor};

use crate::blob::Role;
use crate::descriptor::Descriptor;
use crate::driver::commands::{Barrier, Commands, Recorder};
use crate::driver::descriptors::{Bindings, Descriptors};
use crate::driver::image::Image;
use crate::driver::resource::Resource;
use crate::driver::timestamps::Timestamps;
use crate::loaded::Loaded;
use crate::problem::Outcome;
use crate::schedule::{Before, schedule};
use crate::state::State;
use crate::step::Step;
use crate::weights::{Weights, WeightsKey};

/// The command buffers, weights and states of a session, present since the first execution.
pub struct Prepared<'a> {
    /// The command buffers in order, with their dispatches.
    pub commands: Vec<(Range<usize>, Commands)>,
    _descriptors: Descriptors,
    /// The weights on the device.
    pub weights: Vec<Arc<Weights>>,
    /// The weights.
    pub keys: Vec<WeightsKey>,
    /// The states.
    pub states: Vec<State<'a>>,
    /// Whether each dispatch is observed.
    pub observed: bool,
    /// The times of the dispatches of an observed command buffer; without times, each dispatch has a command buffer.
    pub timestamps: Option<Timestamps>,
}

/// An object with its tensor.
pub type Held<'a> = (usize, Tensor<'a>);

/// Loads the weights, places the states and records one command buffer, with timestamps if `observed`; where the queue has no
/// timestamps, a command buffer for each dispatch.
pub fn prepare<'a>(
    loaded: &Loaded,
    held: [&[Held<'a>]; 2],
    keys: Vec<WeightsKey>,
    observed: bool,
) -> Outcome<Prepared<'a>> {
    let device = &loaded.shared.device;
    let load = |(index, tensor): &Held<'_>| loaded.shared.weights(loaded.object(*index)?, tensor);
    let place = |(index, tensor): &Held<'a>| {
        let object = loaded.object(*index)?;
        let keeps = loaded.kept.contains(&(object.argument as usize));
        State::create(&loaded.shared, object, tensor, keeps)
    };
    let weights: Vec<_> = held[0].iter().map(load).collect::<Outcome<_>>()?;
    let states: Vec<_> = held[1].iter().map(place).collect::<Outcome<_>>()?;
    let numbers = held.into_iter().flatten().map(|(index, _)| *index);
    let resources = weights.iter().map(|weights| weights.resource()).chain(states.iter().map(State::resource));
    let of_tensors: Vec<(usize, &Resource)> = numbers.zip(resources).collect();
    let bindings: Vec<_> =
        loaded.steps.iter().map(|step| bindings(loaded, &of_tensors, step)).collect::<Outcome<_>>()?;
    let count = loaded.steps.len();
    if count == 0 {
        return Err(Error::InvalidProgram.into());
    }
    let timestamps = if observed { Timestamps::create(device, count)? } else { None };
    let ranges: Vec<_> = match observed && timestamps.is_none() {
        true => (0..count).map(|index| index..index + 1).collect(),
        false => core::iter::once(0..count).collect(),
    };
    let descriptors = Descriptors::create(device, &bindings)?;
    let before = schedule(&loaded.steps, loaded.objects.len(), &loaded.placed.sharing);
    let recorded = Recorded { loaded, descriptors: &descriptors, before: &before, timestamps: timestamps.as_ref() };
    let record = |range: Range<usize>| {
        Ok((range.clone(), Commands::record(device, |recorder| recorded.record(range, recorder))?))
    };
    let commands = ranges.into_iter().map(record).collect::<Outcome<_>>()?;
    Ok(Prepared { commands, _descriptors: descriptors, weights, keys, states, observed, timestamps })
}

fn bindings<'r>(loaded: &'r Loaded, of_tensors: &[(usize, &'r Resource)], step: &Step) -> Outcome<Bindings<'r>> {
    let object = |(index, writes): &(usize, bool)| {
        let of_tensor = of_tensors.iter().find(|(other, _)| other == index).map(|(_, resource)| *resource);
        let resource = of_tensor.or_else(|| loaded.resource(*index)).ok_or(Error::Internal)?;
        Ok((Descriptor::of(loaded.object(*index)?.kind, *writes), resource))
    };
    let objects = step.bindings.iter().map(object).collect::<Outcome<_>>()?;
    Ok(Bindings { pipeline: loaded.pipeline(step)?, objects })
}

/// What dispatches are recorded from.
struct Recorded<'r> {
    loaded: &'r Loaded,
    descriptors: &'r Descriptors,
    before: &'r [Before],
    timestamps: Option<&'r Timestamps>,
}

impl Recorded<'_> {
    /// Records dispatches with the barriers before and after, and the timestamps.
    fn record(&self, range: Range<usize>, recorder: &Recorder<'_>) -> Outcome<()> {
        let steps = self.loaded.steps.iter().zip(self.before).enumerate();
        for (index, (step, before)) in steps.filter(|(index, _)| range.contains(index)) {
            self.record_barrier(index, index == range.start, before, recorder);
            if let Some(timestamps) = self.timestamps.filter(|_| index == range.start) {
                recorder.start(timestamps);
            }
            let set = self.descriptors.set(index).ok_or(Error::Internal)?;
            recorder.dispatch(self.loaded.pipeline(step)?, set, step.workgroups);
            if let Some(timestamps) = self.timestamps {
                recorder.stamp(timestamps, index as u32 + 1);
            }
        }
        recorder.barrier(Barrier::End, &[]);
        Ok(())
    }

    /// Records the barrier before a dispatch, if any.
    fn record_barrier(&self, index: usize, is_first: bool, before: &Before, recorder: &Recorder<'_>) {
        let renewed = before.renewed.iter().filter_map(|object| self.loaded.resource(*object)?.image());
        let mut renewed: Vec<_> = renewed.collect();
        if index == 0 {
            renewed.extend(unshared_images(self.loaded));
        }
        if is_first {
            recorder.barrier(Barrier::Start, &renewed);
        } else if before.barrier || !renewed.is_empty() {
            recorder.barrier(Barrier::Kernels, &renewed);
        }
    }
}

/// The scratch images with memory of their own: they need a layout once for each execution.
fn unshared_images(loaded: &Loaded) -> impl Iterator<Item = &Image> {
    let scratch = loaded.objects.iter().enumerate().filter(|(_, object)| object.role == Role::Scratch);
    let unshared = scratch.filter(|(index, _)| loaded.placed.sharing.others(*index).is_empty());
    unshared.filter_map(|(index, _)| loaded.resource(index)?.image())
}
