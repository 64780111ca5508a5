//! Records the command buffers of a loaded.

use core::ops::Range;
use std::sync::Arc;

use et_core::{Error, Tensor};

use crate::blob::Role;
use crate::descriptor::Descriptor;
use crate::loaded::Loaded;
use crate::problem::Outcome;
use crate::schedule::{Before, schedule};
use crate::state::State;
use crate::step::Step;
use crate::vulkan::commands::{Barrier, Commands, Recorder};
use crate::vulkan::descriptors::{Bindings, Descriptors};
use crate::vulkan::image::Image;
use crate::vulkan::resource::Resource;
use crate::weights::{Weights, WeightsKey};

/// The command buffers, weights and states of a session, present since the first execution.
pub struct Prepared {
    /// The command buffers in order, with their dispatches.
    pub commands: Vec<(Range<usize>, Commands)>,
    _descriptors: Descriptors,
    /// The weights on the device.
    pub weights: Vec<Arc<Weights>>,
    /// The weights.
    pub keys: Vec<WeightsKey>,
    /// The states.
    pub states: Vec<State>,
    /// Whether each dispatch has a command buffer.
    pub apart: bool,
}

/// An object with its tensor.
pub type Held<'a> = (usize, Tensor<'a>);

/// Loads the weights, places the states and records one command buffer, or a command buffer for each dispatch if `apart`.
pub fn prepare(loaded: &Loaded, held: [&[Held<'_>]; 2], keys: Vec<WeightsKey>, apart: bool) -> Outcome<Prepared> {
    let device = &loaded.shared.device;
    let load = |(index, tensor): &Held<'_>| loaded.shared.weights(loaded.object(*index)?, tensor);
    let place = |(index, tensor): &Held<'_>| State::create(device, loaded.object(*index)?, tensor);
    let weights: Vec<_> = held[0].iter().map(load).collect::<Outcome<_>>()?;
    let states: Vec<_> = held[1].iter().map(place).collect::<Outcome<_>>()?;
    let numbers = held.into_iter().flatten().map(|(index, _)| *index);
    let resources = weights.iter().map(|weights| weights.resource()).chain(states.iter().map(State::resource));
    let of_tensors: Vec<(usize, &Resource)> = numbers.zip(resources).collect();
    let bindings: Vec<_> =
        loaded.steps.iter().map(|step| bindings(loaded, &of_tensors, step)).collect::<Outcome<_>>()?;
    let count = loaded.steps.len();
    let ranges: Vec<_> = match apart {
        true => (0..count).map(|index| index..index + 1).collect(),
        false => core::iter::once(0..count).collect(),
    };
    if count == 0 {
        return Err(Error::InvalidProgram.into());
    }
    let descriptors = Descriptors::create(device, &bindings)?;
    let before = schedule(&loaded.steps, loaded.objects.len(), &loaded.placed.sharing);
    let record = |range: Range<usize>| {
        let commands =
            Commands::record(device, |recorder| record(loaded, &descriptors, &before, range.clone(), recorder))?;
        Ok((range, commands))
    };
    let commands = ranges.into_iter().map(record).collect::<Outcome<_>>()?;
    Ok(Prepared { commands, _descriptors: descriptors, weights, keys, states, apart })
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

/// Records dispatches with the barriers before and after.
fn record(
    loaded: &Loaded,
    descriptors: &Descriptors,
    before: &[Before],
    range: Range<usize>,
    recorder: &Recorder<'_>,
) -> Outcome<()> {
    let steps = loaded.steps.iter().zip(before).enumerate();
    for (index, (step, before)) in steps.filter(|(index, _)| range.contains(index)) {
        let renewed = before.renewed.iter().filter_map(|object| loaded.resource(*object)?.image());
        let mut renewed: Vec<_> = renewed.collect();
        if index == 0 {
            renewed.extend(unshared_images(loaded));
        }
        if index == range.start {
            recorder.barrier(Barrier::Start, &renewed);
        } else if before.barrier || !renewed.is_empty() {
            recorder.barrier(Barrier::Kernels, &renewed);
        }
        let set = descriptors.set(index).ok_or(Error::Internal)?;
        recorder.dispatch(loaded.pipeline(step)?, set, step.workgroups);
    }
    recorder.barrier(Barrier::End, &[]);
    Ok(())
}

/// The scratch images with memory of their own: they need a layout once for each execution.
fn unshared_images(loaded: &Loaded) -> impl Iterator<Item = &Image> {
    let scratch = loaded.objects.iter().enumerate().filter(|(_, object)| object.role == Role::Scratch);
    let unshared = scratch.filter(|(index, _)| loaded.placed.sharing.others(*index).is_empty());
    unshared.filter_map(|(index, _)| loaded.resource(index)?.image())
}
