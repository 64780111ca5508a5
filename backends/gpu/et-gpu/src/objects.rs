//! The objects of a blob, with their memory.

use std::sync::Arc;

use et_core::Error;

use crate::blob::{Object, Role};
use crate::device_memory::Purpose;
use crate::driver::device::Device;
use crate::driver::memory::{Memory, Use};
use crate::driver::resource::Resource;
use crate::placement::{Item, Place, Wanted, place};
use crate::problem::{Outcome, Problem};
use crate::schedule::Sharing;

/// A mapped allocation of all inputs or of all outputs.
pub struct Mapped {
    /// The allocation; `None` without objects.
    pub memory: Option<Arc<Memory>>,
    /// The number, the argument and the offset of each object.
    pub entries: Vec<(usize, usize, u64)>,
}

/// The objects of a blob but for weights and states, whose memory is that of tensors.
pub struct Objects {
    /// The objects by their numbers; `None` for weights and states.
    pub resources: Vec<Option<Resource>>,
    /// Which scratch objects share memory.
    pub sharing: Sharing,
    /// The inputs.
    pub inputs: Mapped,
    /// The outputs.
    pub outputs: Mapped,
}

/// The classes of scratch, which never share an allocation: drivers keep buffers and images apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Buffers,
    Images,
}

impl Objects {
    /// Creates all objects and places them in memory.
    pub fn create(device: &Arc<Device>, objects: &[Object]) -> Outcome<Self> {
        let is_of_tensor = |object: &Object| matches!(object.role, Role::Weights | Role::State);
        let resource = |object: &Object| (!is_of_tensor(object)).then(|| Resource::create(device, object)).transpose();
        let resources: Outcome<Vec<_>> = objects.iter().map(resource).collect();
        let mut resources = resources?;
        let mut places = vec![None; objects.len()];
        for class in [Class::Buffers, Class::Images] {
            place_scratch(device, objects, &mut resources, class, &mut places)?;
        }
        let inputs = map(device, objects, &mut resources, Role::Input)?;
        let outputs = map(device, objects, &mut resources, Role::Output)?;
        Ok(Self { resources, sharing: Sharing::of(&places), inputs, outputs })
    }
}

type Resources = [Option<Resource>];

/// The numbers and the wanted memory of the objects that fit `accept`, and the common memory types.
fn select(objects: &[Object], resources: &Resources, accept: impl Fn(&Object) -> bool) -> (Vec<(usize, Wanted)>, u32) {
    let all = objects.iter().zip(resources).enumerate();
    let accepted = all.filter(|(_, (object, _))| accept(object));
    let found: Vec<_> =
        accepted.filter_map(|(index, (_, resource))| Some((index, resource.as_ref()?.wanted()))).collect();
    let types = found.iter().fold(u32::MAX, |types, (_, wanted)| types & wanted.types);
    (found, types)
}

fn place_scratch(
    device: &Arc<Device>,
    objects: &[Object],
    resources: &mut Resources,
    class: Class,
    places: &mut [Option<(Class, Place)>],
) -> Outcome<()> {
    let is_image = class == Class::Images;
    let accept = |object: &Object| object.role == Role::Scratch && object.kind.texel().is_some() == is_image;
    let (selected, types) = select(objects, resources, accept);
    let item = |(index, wanted): &(usize, Wanted)| {
        let life = objects.get(*index).map(|object| object.life).unwrap_or_default();
        Item { size: wanted.size, alignment: wanted.alignment.max(1), life }
    };
    let items: Vec<_> = selected.iter().map(item).collect();
    let too_large = || Problem::new(Error::DelegateMemoryAllocationFailed, "a tensor is too large for the GPU");
    let placement = place(&items, device.limits().allocation).ok_or_else(too_large)?;
    let allocate = |size: &u64| Memory::allocate(device, *size, types, Use::Device, Purpose::Scratch);
    let memory: Outcome<Vec<_>> = placement.allocations.iter().map(allocate).collect();
    let memory = memory?;
    for ((index, _), place) in selected.iter().zip(placement.places) {
        let memory = memory.get(place.allocation).ok_or(Error::Internal)?;
        bind(resources, *index, memory, place.offset)?;
        if let Some(slot) = places.get_mut(*index) {
            *slot = Some((class, place));
        }
    }
    Ok(())
}

fn map(device: &Arc<Device>, objects: &[Object], resources: &mut Resources, role: Role) -> Outcome<Mapped> {
    let (selected, types) = select(objects, resources, |object| object.role == role);
    let (mut end, mut entries) = (0_u64, Vec::new());
    for (index, wanted) in &selected {
        let start = end.checked_next_multiple_of(wanted.alignment.max(1)).ok_or(Error::Internal)?;
        end = start.checked_add(wanted.size).ok_or(Error::Internal)?;
        let argument = objects.get(*index).map_or(0, |object| object.argument as usize);
        entries.push((*index, argument, start));
    }
    if entries.is_empty() {
        return Ok(Mapped { memory: None, entries });
    }
    let memory = Memory::allocate(device, end, types, Use::Shared, Purpose::Arguments)?;
    for (index, _, start) in &entries {
        bind(resources, *index, &memory, *start)?;
    }
    Ok(Mapped { memory: Some(memory), entries })
}

fn bind(resources: &mut Resources, index: usize, memory: &Arc<Memory>, offset: u64) -> Outcome<()> {
    let resource = resources.get_mut(index).and_then(Option::as_mut).ok_or(Error::Internal)?;
    resource.bind(memory, offset)
}
