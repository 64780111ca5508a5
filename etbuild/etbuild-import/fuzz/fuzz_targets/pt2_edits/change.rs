//! Edits of a JSON tree.

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use serde_json::Value;

/// The largest tree that is copied into: copies of copies would grow without bound.
const LARGEST: usize = 20_000;

/// An edit of a node.
#[derive(Arbitrary, Debug)]
pub enum Change {
    /// A small number.
    Number(i8),
    /// A power of two, or a neighbour of a power of two, of either sign: values where arithmetic overflows.
    Power { exponent: u8, off: i8, negative: bool },
    /// Any fraction.
    Fraction(f64),
    /// Replaces a number by this number, at every place with the same number.
    NumberEverywhere(i8),
    /// Replaces a text or number by the text or number of another place, at every place with the same value.
    Everywhere(u16),
    /// A copy of the node at another place.
    Copy(u16),
    /// Swaps the node with the node at another place.
    Swap(u16),
    /// Removes the node.
    Remove,
    /// Repeats the node within a list.
    Repeat,
    /// Reverses a list.
    Reverse,
    /// Renames the key of an object with a single entry: another alternative of a union.
    Rename(u16),
    /// `null`.
    Null,
    /// Negates a boolean; `true` for any value but a boolean.
    Flip,
}

impl Change {
    /// Edits the node with this number in depth-first order.
    pub fn apply(&self, tree: &mut Value, place: u16) {
        let total = count(tree);
        let place = usize::from(place) % total;
        let at = |tree: &Value, place: u16| nth(tree, usize::from(place) % total).cloned().unwrap_or_default();
        match self {
            Self::Number(number) => set(tree, place, Value::from(*number)),
            Self::Power { exponent, off, negative } => set(tree, place, power(*exponent, *off, *negative)),
            Self::Fraction(number) => set(tree, place, Value::from(*number)),
            Self::NumberEverywhere(number) => everywhere(tree, place, &Value::from(*number)),
            Self::Everywhere(from) => everywhere(tree, place, &at(tree, *from)),
            Self::Copy(from) if total < LARGEST => set(tree, place, at(tree, *from)),
            Self::Swap(with) => swap(tree, place, usize::from(*with) % total),
            Self::Remove => shrink(tree, place),
            Self::Repeat if total < LARGEST => repeat(tree, place),
            Self::Copy(_) | Self::Repeat => {}
            Self::Reverse => with(tree, place, |node| node.as_array_mut().into_iter().for_each(|list| list.reverse())),
            Self::Rename(from) => rename(tree, place, at(tree, *from)),
            Self::Null => set(tree, place, Value::Null),
            Self::Flip => with(tree, place, |node| *node = Value::Bool(node != &Value::Bool(true))),
        }
    }
}

fn power(exponent: u8, off: i8, negative: bool) -> Value {
    let number = (1_i128 << (exponent % 65)) + i128::from(off % 2);
    let number = if negative { -number } else { number };
    i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from)).unwrap_or_default()
}

/// The number of nodes of the tree.
fn count(tree: &Value) -> usize {
    1 + children(tree).map(count).sum::<usize>()
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    let (list, object) = (node.as_array(), node.as_object());
    list.into_iter().flatten().chain(object.into_iter().flat_map(|object| object.values()))
}

fn children_mut(node: &mut Value) -> Box<dyn Iterator<Item = &mut Value> + '_> {
    match node {
        Value::Array(list) => Box::new(list.iter_mut()),
        Value::Object(object) => Box::new(object.values_mut()),
        _ => Box::new(std::iter::empty()),
    }
}

fn nth(tree: &Value, mut place: usize) -> Option<&Value> {
    if place == 0 {
        return Some(tree);
    }
    place -= 1;
    for child in children(tree) {
        let inside = count(child);
        if place < inside {
            return nth(child, place);
        }
        place -= inside;
    }
    None
}

fn nth_mut(tree: &mut Value, mut place: usize) -> Option<&mut Value> {
    if place == 0 {
        return Some(tree);
    }
    place -= 1;
    for child in children_mut(tree) {
        let inside = count(child);
        if place < inside {
            return nth_mut(child, place);
        }
        place -= inside;
    }
    None
}

/// Applies a function to a node.
fn with(tree: &mut Value, place: usize, change: impl FnOnce(&mut Value)) {
    nth_mut(tree, place).map(change);
}

fn set(tree: &mut Value, place: usize, value: Value) {
    with(tree, place, |node| *node = value);
}

fn swap(tree: &mut Value, one: usize, other: usize) {
    let (Some(first), Some(second)) = (nth(tree, one).cloned(), nth(tree, other).cloned()) else { return };
    let (early, late) = if one < other { ((one, second), (other, first)) } else { ((other, first), (one, second)) };
    // The later place first: the earlier place may contain the later.
    set(tree, late.0, late.1);
    set(tree, early.0, early.1);
}

/// Removes the last element of a list or the first entry of an object; the rest becomes `null`.
fn shrink(tree: &mut Value, place: usize) {
    with(tree, place, |node| match node {
        Value::Array(list) => drop(list.pop()),
        Value::Object(object) => {
            let first = object.keys().next().cloned();
            first.into_iter().for_each(|key| drop(object.remove(&key)));
        }
        other => *other = Value::Null,
    });
}

fn repeat(tree: &mut Value, place: usize) {
    with(tree, place, |node| {
        let list = node.as_array_mut();
        list.into_iter().for_each(|list| list.extend(list.first().cloned()));
    });
}

/// Gives the only entry of an object the key of another object, or a text as key.
fn rename(tree: &mut Value, place: usize, from: Value) {
    let key = from.as_object().and_then(|object| object.keys().next().cloned());
    let Some(key) = key.or_else(|| from.as_str().map(str::to_owned)) else { return };
    with(tree, place, |node| {
        let object = node.as_object_mut().filter(|object| object.len() == 1);
        let entry = object.and_then(|object| std::mem::take(object).into_iter().next());
        if let Some((_, value)) = entry {
            *node = Value::Object([(key, value)].into_iter().collect());
        }
    });
}

/// Replaces every occurrence of a text or number.
fn everywhere(tree: &mut Value, place: usize, to: &Value) {
    let scalar = |value: &Value| value.is_string() || value.is_number();
    let from = nth(tree, place).filter(|value| scalar(value)).cloned();
    if let Some(from) = from.filter(|_| scalar(to)) {
        replace(tree, &from, to);
    }
}

fn replace(node: &mut Value, from: &Value, to: &Value) {
    if node == from {
        *node = to.clone();
    }
    children_mut(node).for_each(|child| replace(child, from, to));
}
