//! Edits of an archive: arbitrary edits of the JSON, and edits that keep the structure of programs and so reach
//! deeper code.

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use serde_json::{Value, json};

use crate::archive::{Archive, MODEL, SPARE, WEIGHTS};
use crate::change::Change;

/// An edit. Indices wrap around.
#[derive(Arbitrary, Debug)]
pub enum Edit {
    /// Edits the node of the JSON with this number.
    Anywhere { place: u16, change: Change },
    /// Replaces a call of the program by a call of another archive.
    Call { call: u8, archive: u8, like: u8 },
    /// Changes a size in the type of a value.
    Size { value: u8, dim: u8, size: i32 },
    /// Turns an input of the program into a weight, so that constant folding computes its readers.
    Constant { input: u8 },
}

impl Edit {
    /// Applies the edit. An edit of an absent part has no effect.
    pub fn apply(&self, documents: &mut Value, archives: &[Archive]) {
        let _nothing_to_change = match self {
            Self::Anywhere { place, change } => Some(change.apply(documents, *place)),
            Self::Call { call, archive, like } => {
                pick(archives, *archive).and_then(|archive| replace_call(documents, *call, &archive.documents, *like))
            }
            Self::Size { value, dim, size } => resize(documents, *value, *dim, *size),
            Self::Constant { input } => fix(documents, *input),
        };
    }
}

fn pick<T>(items: &[T], number: u8) -> Option<&T> {
    items.get(usize::from(number) % items.len().max(1))
}

fn pick_mut<T>(items: &mut [T], number: u8) -> Option<&mut T> {
    let len = items.len().max(1);
    items.get_mut(usize::from(number) % len)
}

/// Gives a call the operator and the arguments of another archive's call. Tensors stay.
fn replace_call(documents: &mut Value, call: u8, others: &Value, like: u8) -> Option<()> {
    let calls = others.get(MODEL)?.pointer("/graph_module/graph/nodes")?.as_array()?;
    let other = pick(calls, like)?;
    let calls = documents.get_mut(MODEL)?.pointer_mut("/graph_module/graph/nodes")?.as_array_mut()?;
    let call = pick_mut(calls, call)?.as_object_mut()?;
    let mut own = Vec::new();
    tensors(call.get_mut("inputs")?, &mut |name| own.push(name.clone()));
    let mut names = own.iter().cycle();
    let mut inputs = other.get("inputs")?.clone();
    tensors(&mut inputs, &mut |name| *name = names.next().unwrap_or(name).clone());
    call.insert("inputs".to_owned(), inputs);
    call.insert("target".to_owned(), other.get("target")?.clone());
    Some(())
}

/// Visits the name of every tensor in arguments: an object whose only entry is `name`.
fn tensors(arguments: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    match arguments {
        Value::Array(items) => items.iter_mut().for_each(|item| tensors(item, visit)),
        Value::Object(entries) if entries.len() == 1 && entries.contains_key("name") => {
            entries.values_mut().for_each(visit);
        }
        Value::Object(entries) => entries.values_mut().for_each(|entry| tensors(entry, visit)),
        _ => {}
    }
}

fn resize(documents: &mut Value, value: u8, dim: u8, size: i32) -> Option<()> {
    let values = documents.get_mut(MODEL)?.pointer_mut("/graph_module/graph/tensor_values")?.as_object_mut()?;
    let mut values: Vec<&mut Value> = values.values_mut().collect();
    let sizes = pick_mut(&mut values, value)?.get_mut("sizes")?.as_array_mut()?;
    *pick_mut(sizes, dim)? = json!({ "as_int": size });
    Some(())
}

fn fix(documents: &mut Value, input: u8) -> Option<()> {
    let module = documents.get_mut(MODEL)?.get_mut("graph_module")?;
    let spec = pick_mut(module.pointer_mut("/signature/input_specs")?.as_array_mut()?, input)?;
    let mut name = None;
    tensors(spec, &mut |found| name = found.as_str().map(str::to_owned));
    let name = name?;
    *spec = json!({ "parameter": { "arg": { "name": name }, "parameter_name": name } });
    let meta = module.pointer("/graph/tensor_values")?.get(&name)?.clone();
    let weights = documents.get_mut(WEIGHTS)?.get_mut("config")?.as_object_mut()?;
    weights.insert(name, json!({ "path_name": SPARE, "use_pickle": false, "tensor_meta": meta }));
    Some(())
}
