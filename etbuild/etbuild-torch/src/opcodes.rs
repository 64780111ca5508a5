//! The operations of pickles up to protocol 4 that a dictionary of tensors needs.
//!
//! Specification: the module `pickletools` of Python.

use crate::TorchError;
use crate::globals::{E4M3, Global};
use crate::machine::{Id, Instance, Machine, Object, Step, Storage, View};

/// An operation.
type Operation = fn(&mut Machine<'_>) -> Step;

/// The end of a pickle.
const STOP: u8 = b'.';

/// The operations by their bytes.
const OPERATIONS: [(u8, Operation); 38] = [
    (0x80, |machine| machine.take(1).map(drop)),
    (0x95, |machine| machine.take(8).map(drop)),
    (b'(', |machine| machine.mark()),
    (b'N', |machine| machine.push(Object::Other)),
    (0x88, |machine| machine.push(Object::Other)),
    (0x89, |machine| machine.push(Object::Other)),
    (b'G', |machine| machine.take(8).and_then(|_| machine.push(Object::Other))),
    (b'K', |machine| whole_of::<1>(machine)),
    (b'M', |machine| whole_of::<2>(machine)),
    (b'J', |machine| machine.array().and_then(|bytes| machine.push(Object::Whole(i32::from_le_bytes(bytes).into())))),
    (0x8a, long),
    (b'U', |machine| text_of::<1>(machine)),
    (b'T', |machine| text_of::<4>(machine)),
    (b'X', |machine| text_of::<4>(machine)),
    (0x8c, |machine| text_of::<1>(machine)),
    (0x8d, |machine| text_of::<8>(machine)),
    (b')', |machine| machine.push(Object::Sequence(Vec::new()))),
    (b']', |machine| machine.push(Object::Sequence(Vec::new()))),
    (b'}', |machine| machine.push(Object::Dictionary(Vec::new()))),
    (0x85, |machine| tuple::<1>(machine)),
    (0x86, |machine| tuple::<2>(machine)),
    (0x87, |machine| tuple::<3>(machine)),
    (b't', |machine| machine.pop_marked().and_then(|items| machine.push(Object::Sequence(items)))),
    (b'a', |machine| machine.pop().and_then(|item| append(machine, &[item]))),
    (b'e', |machine| machine.pop_marked().and_then(|items| append(machine, &items))),
    (b's', set_one),
    (b'u', |machine| machine.pop_marked().and_then(|items| set(machine, &items))),
    (b'q', |machine| number::<1>(machine).and_then(|number| machine.note(number))),
    (b'r', |machine| number::<4>(machine).and_then(|number| machine.note(number))),
    (0x94, |machine| machine.note_next()),
    (b'h', |machine| number::<1>(machine).and_then(|number| machine.recall(number))),
    (b'j', |machine| number::<4>(machine).and_then(|number| machine.recall(number))),
    (b'c', global),
    (0x93, stacked_global),
    (b'Q', storage),
    (b'R', reduce),
    (0x81, object),
    (b'b', build),
];

/// Runs a machine to the end of the pickle; the object that is left.
///
/// # Errors
/// Operations and globals that are not known; malformed pickles.
pub fn run(machine: &mut Machine<'_>) -> Step<Id> {
    loop {
        let byte = machine.operation()?;
        if byte == STOP {
            return machine.pop();
        }
        let operation = OPERATIONS.iter().find(|(known, _)| *known == byte);
        let (_, operation) = operation.ok_or(machine.unknown())?;
        operation(machine)?;
    }
}

/// The next bytes as a number without a sign.
fn number<const N: usize>(machine: &mut Machine<'_>) -> Step<u32> {
    let bytes = machine.array::<N>()?;
    let number =
        bytes.iter().rev().try_fold(0_u32, |number, byte| number.checked_mul(256)?.checked_add((*byte).into()));
    number.ok_or(machine.mistake("a number is too large"))
}

fn whole_of<const N: usize>(machine: &mut Machine<'_>) -> Step {
    let number = number::<N>(machine)?;
    machine.push(Object::Whole(number.into()))
}

fn text_of<const N: usize>(machine: &mut Machine<'_>) -> Step {
    let length = number::<N>(machine)? as usize;
    let text = machine.text(length)?;
    machine.push(Object::Text(text))
}

/// A number of up to eight bytes, whose last bit is the sign.
fn long(machine: &mut Machine<'_>) -> Step {
    let length = number::<1>(machine)? as usize;
    let bytes = machine.take(length)?;
    if length > size_of::<i64>() {
        return Err(machine.mistake("a number is too large"));
    }
    let is_negative = bytes.last().is_some_and(|last| *last >= 0x80);
    let mut whole = [if is_negative { u8::MAX } else { 0 }; size_of::<i64>()];
    whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    machine.push(Object::Whole(i64::from_le_bytes(whole)))
}

fn tuple<const N: usize>(machine: &mut Machine<'_>) -> Step {
    let mut items = (0..N).map(|_| machine.pop()).collect::<Step<Vec<Id>>>()?;
    items.reverse();
    machine.push(Object::Sequence(items))
}

fn append(machine: &mut Machine<'_>, items: &[Id]) -> Step {
    let (list, mistake) = (machine.top()?, machine.mistake("no list takes the items"));
    let Object::Sequence(list) = machine.object_mut(list)? else { return Err(mistake) };
    list.extend(items);
    Ok(())
}

fn set_one(machine: &mut Machine<'_>) -> Step {
    let value = machine.pop()?;
    let key = machine.pop()?;
    set(machine, &[key, value])
}

fn set(machine: &mut Machine<'_>, items: &[Id]) -> Step {
    let (dictionary, mistake) = (machine.top()?, machine.mistake("no dictionary takes the items"));
    let Object::Dictionary(entries) = machine.object_mut(dictionary)? else { return Err(mistake) };
    entries.extend(items.as_chunks().0.iter().map(|[key, value]| (*key, *value)));
    Ok(())
}

fn global(machine: &mut Machine<'_>) -> Step {
    let (module, name) = (machine.line()?, machine.line()?);
    machine.global(module, name)
}

fn stacked_global(machine: &mut Machine<'_>) -> Step {
    let (name, module) = (machine.pop()?, machine.pop()?);
    match (machine.object(module), machine.object(name)) {
        (Object::Text(module), Object::Text(name)) => {
            let (module, name) = (*module, *name);
            machine.global(module, name)
        }
        _ => Err(machine.mistake("a global has no name")),
    }
}

/// A persistent object: the tuple `("storage", type, member, device, number of elements)`.
fn storage(machine: &mut Machine<'_>) -> Step {
    let named = machine.pop()?;
    let found = storage_of(machine, named).ok_or(machine.mistake("a persistent object is no storage"))?;
    machine.push(Object::Storage(found))
}

fn storage_of<'p>(machine: &Machine<'p>, named: Id) -> Option<Storage<'p>> {
    let &[word, kind, key, _device, count] = machine.sequence(named)? else { return None };
    let count = usize::try_from(machine.whole(count)?).ok()?;
    match (machine.object(word), machine.object(kind), machine.object(key)) {
        (Object::Text("storage"), Object::Global(Global::Storage(scalar_type)), Object::Text(key)) => {
            Some(Storage { scalar_type: *scalar_type, key, count })
        }
        _ => None,
    }
}

/// A call of a known global.
fn reduce(machine: &mut Machine<'_>) -> Step {
    let (arguments, called) = (machine.pop()?, machine.pop()?);
    let made = match machine.object(called) {
        Object::Global(Global::Dictionary) if machine.sequence(arguments).is_some_and(<[Id]>::is_empty) => {
            Some(Object::Dictionary(Vec::new()))
        }
        Object::Global(Global::Tensor) => view(machine, arguments).map(Object::Tensor),
        Object::Global(Global::TensorOfType) => view_of_type(machine, arguments).map(Object::Tensor),
        Object::Global(Global::Parameter) => parameter(machine, arguments),
        Object::Global(Global::Instance) => instance(machine, arguments).map(Object::Instance),
        Object::Global(Global::Unread) | Object::Class(_) => Some(Object::Unread),
        _ => None,
    };
    let made = made.ok_or(machine.mistake("a call has other arguments than `torch.save` writes"))?;
    machine.push(made)
}

/// `_rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks)`, and behind it a dictionary of the bits `neg` and `conj` of a
/// tensor that has one.
fn view<'p>(machine: &Machine<'p>, arguments: Id) -> Option<View<'p>> {
    let [storage, offset, sizes, strides, more @ ..] = machine.sequence(arguments)? else { return None };
    view_of(machine, [*storage, *offset, *sizes, *strides], more)
}

fn view_of<'p>(machine: &Machine<'p>, [storage, offset, sizes, strides]: [Id; 4], more: &[Id]) -> Option<View<'p>> {
    let Object::Storage(storage) = machine.object(storage) else { return None };
    let sizes = machine.wholes(sizes)?.into_iter().map(usize::try_from).collect::<Result<Vec<usize>, _>>().ok()?;
    let strides = machine.wholes(strides)?;
    let offset = machine.whole(offset)?;
    let has_bits = |bits: &Id| !matches!(machine.object(*bits), Object::Dictionary(bits) if bits.is_empty());
    let is_lazy = more.get(2..).is_some_and(|bits| bits.iter().any(has_bits));
    (sizes.len() == strides.len()).then_some(View { storage: *storage, offset, sizes, strides, is_lazy })
}

/// `_rebuild_tensor_v3(storage, offset, sizes, strides, requires_grad, hooks, type)`, of bytes that are numbers of 8 bits.
fn view_of_type<'p>(machine: &Machine<'p>, arguments: Id) -> Option<View<'p>> {
    let [.., of_elements] = machine.sequence(arguments)? else { return None };
    let is_known = *machine.object(*of_elements) == Object::Global(Global::Type(E4M3));
    let [storage, offset, sizes, strides, _grad, _hooks, _type] = *machine.sequence(arguments)? else { return None };
    view_of(machine, [storage, offset, sizes, strides], &[]).filter(|_| is_known)
}

/// `_rebuild_parameter(tensor, requires_grad, hooks)`.
fn parameter<'p>(machine: &Machine<'p>, arguments: Id) -> Option<Object<'p>> {
    let [tensor, ..] = machine.sequence(arguments)? else { return None };
    let is_tensor = |object: &&Object<'p>| matches!(object, Object::Tensor(_) | Object::Instance(_));
    Some(machine.object(*tensor)).filter(is_tensor).cloned()
}

/// `_rebuild_from_type_v2(_rebuild_wrapper_subclass, class, (class, type, sizes, ..), attributes)`.
fn instance<'p>(machine: &Machine<'p>, arguments: Id) -> Option<Instance<'p>> {
    let &[made, class, of_made, attributes] = machine.sequence(arguments)? else { return None };
    let [_class, _type, sizes, ..] = machine.sequence(of_made)? else { return None };
    let sizes = machine.wholes(*sizes)?;
    match (machine.object(made), machine.object(class), machine.object(attributes)) {
        (Object::Global(Global::Wrapper), Object::Class(class), Object::Dictionary(_)) => {
            Some(Instance { class, sizes, attributes })
        }
        _ => None,
    }
}

/// An object of a class of torchao, with the arguments of `__new__`.
fn object(machine: &mut Machine<'_>) -> Step {
    let (_arguments, class) = (machine.pop()?, machine.pop()?);
    match machine.object(class) {
        Object::Class(_) => machine.push(Object::Unread),
        _ => Err(machine.mistake("an object is of no class of torchao")),
    }
}

/// `BUILD` gives an object attributes. The attributes of a dictionary, such as the versions of modules, and of objects beside tensors are left out;
/// any other object must have none.
fn build(machine: &mut Machine<'_>) -> Result<(), TorchError> {
    machine.pop()?;
    match machine.object(machine.top()?) {
        Object::Dictionary(_) | Object::Unread => Ok(()),
        _ => Err(machine.mistake("an object has attributes")),
    }
}
