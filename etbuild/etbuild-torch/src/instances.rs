//! Tensors of torchao's classes: their parts, under the names that torchao gives parts in files of safetensors.

use crate::globals::Global;
use crate::machine::{Instance, Machine, Object, View};

/// A tensor of a class of torchao.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The key in the dictionary.
    pub tensor: String,
    /// The name of the class.
    pub name: String,
    /// The shape.
    pub shape: Vec<i64>,
    /// The type of the integers, such as `int4`, where the tensor states one.
    pub integers: Option<String>,
}

/// The attribute with the type of integers.
const INTEGERS: &str = "target_dtype";
/// The attributes with the least and the greatest integer.
const BOUNDS: [&str; 2] = ["quant_min", "quant_max"];
/// The attributes of classes of older versions of torchao whose tensors are made of another tensor: weights beside a rule for activations, and integers of
/// which a class of the layout has the parts.
const WITHIN: [&str; 2] = ["original_weight_tensor", "tensor_impl"];

/// A part of a tensor, with its name.
type Part<'m, 'p> = (String, &'m View<'p>);

/// The class of a tensor, or of the tensor within, and the parts.
///
/// # Errors
/// The mistake, as the end of a sentence.
pub fn read<'m, 'p>(
    machine: &'m Machine<'p>,
    name: &str,
    instance: &'m Instance<'p>,
) -> Result<(Class, Vec<Part<'m, 'p>>), &'static str> {
    let (module, ending) = name.rsplit_once('.').ok_or("is of a class, and of no module")?;
    let (mut within, mut integers) = (instance, None);
    for attribute in [None, Some(WITHIN[0]), Some(WITHIN[1])] {
        let found = attribute.and_then(|attribute| inner(machine, within, attribute));
        within = found.unwrap_or(within);
        integers = integers.or_else(|| integers_of(machine, within));
    }
    let mut parts = Vec::new();
    for (attribute, object) in attributes(machine, within) {
        match object {
            Object::Tensor(view) => parts.push((format!("{module}._{ending}_{attribute}"), view)),
            Object::Instance(_) => return Err("is of a class whose parts are of classes"),
            _ => {}
        }
    }
    let (tensor, shape) = (name.to_owned(), instance.sizes.clone());
    Ok((Class { tensor, name: within.class.to_owned(), shape, integers }, parts))
}

/// The attributes of a tensor of a class by name.
fn attributes<'m, 'p>(
    machine: &'m Machine<'p>,
    instance: &Instance<'p>,
) -> impl Iterator<Item = (&'p str, &'m Object<'p>)> {
    let entries = match machine.object(instance.attributes) {
        Object::Dictionary(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|(key, value)| match machine.object(*key) {
        Object::Text(name) => Some((*name, machine.object(*value))),
        _ => None,
    })
}

/// The attribute of a name.
fn attribute<'m, 'p>(machine: &'m Machine<'p>, instance: &Instance<'p>, name: &str) -> Option<&'m Object<'p>> {
    attributes(machine, instance).find(|(attribute, _)| *attribute == name).map(|(_, object)| object)
}

/// The tensor of a class that an attribute of this name is.
fn inner<'m, 'p>(machine: &'m Machine<'p>, instance: &Instance<'p>, name: &str) -> Option<&'m Instance<'p>> {
    match attribute(machine, instance, name)? {
        Object::Instance(inner) => Some(inner),
        _ => None,
    }
}

/// The type of the integers: that which is stated, or the smallest with the bounds that are.
fn integers_of(machine: &Machine<'_>, instance: &Instance<'_>) -> Option<String> {
    if let Some(Object::Global(Global::Type(name))) = attribute(machine, instance, INTEGERS) {
        return Some((*name).to_owned());
    }
    let [least, most] = BOUNDS.map(|name| match attribute(machine, instance, name) {
        Some(Object::Whole(bound)) => Some(*bound),
        _ => None,
    });
    let (least, most) = (least?, most?);
    // An integer takes a bit for the sign, beside those of the magnitude.
    let bits = [least, most].map(|bound| i64::BITS + 1 - (bound ^ (bound >> (i64::BITS - 1))).leading_zeros());
    Some(format!("int{}", bits[0].max(bits[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An instance of attributes with the bounds.
    fn integers(least: u8, most: i8) -> Option<String> {
        let pickle = [
            &b"(ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_wrapper_subclass\nctorchao\nA\n(NN)t}("
                [..],
            b"U\x09quant_minJ",
            &(-i32::from(least)).to_le_bytes(),
            b"U\x09quant_maxJ",
            &i32::from(most).to_le_bytes(),
            b"utR.",
        ]
        .concat();
        let mut machine = Machine::new(&pickle);
        let made = crate::opcodes::run(&mut machine).unwrap();
        let Object::Instance(instance) = machine.object(made) else { panic!("no instance") };
        integers_of(&machine, instance)
    }

    #[test]
    fn bounds_are_those_of_the_smallest_type() {
        for (least, most, expected) in
            [(8, 7, "int4"), (0, 15, "int5"), (128, 127, "int8"), (127, 127, "int8"), (2, 1, "int2"), (9, 7, "int5")]
        {
            assert_eq!(integers(least, most).as_deref(), Some(expected));
        }
    }
}
