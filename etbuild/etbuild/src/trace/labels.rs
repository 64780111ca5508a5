//! The events of an execution under the names that ExecuTorch's tools know them by.

use std::collections::BTreeMap;

use et_module::Array;
use et_module::recording::{Event, Run};
use etbuild_engine::partition::StoredValue;
use etbuild_inspect::PlannedCall;
use serde_json::json;

use super::profile::{MethodProfile, Row, key};
use super::values::gathered;

/// The name of the call of a delegate.
pub const DELEGATE_CALL: &str = "DELEGATE_CALL";

/// An event with its names.
pub struct Label<'p> {
    /// The event.
    pub event: &'p Event,
    /// The row of the profile; a call of a delegate with instructions has none.
    pub row: Option<&'p Row>,
    /// The instruction of the method.
    pub call: Option<&'p PlannedCall>,
    /// The name; empty for an instruction of a delegate.
    pub name: String,
    /// The identifier of an instruction of a delegate: the value in memory, which is the result of the last operator that was fused,
    /// and the kind; else empty.
    pub delegate: String,
}

/// The events of a run that have a name.
pub fn labels<'p>(run: &'p Run, profile: &'p MethodProfile, calls: &'p [PlannedCall]) -> Vec<Label<'p>> {
    let rows = profile.by_key();
    // The Inspector keeps one event of a name: further instructions of a value and kind have their number.
    let mut first: BTreeMap<(u32, u32, String), Option<u32>> = BTreeMap::new();
    let label = |event: &'p Event| {
        let (chain, instruction, step) = key(event);
        let row = rows.get(&(chain, instruction, step)).copied();
        let is_call = rows.contains_key(&(chain, instruction, Some(0)));
        let name = match row {
            Some(row) if step.is_none() && row.partition.is_some() => DELEGATE_CALL.to_owned(),
            Some(row) if step.is_none() => format!("native_call_{}", local_name(&row.operator)),
            None if is_call => DELEGATE_CALL.to_owned(),
            Some(_) => String::new(),
            None => return None,
        };
        let mut label = Label { event, row, call: calls.get(instruction as usize), name, delegate: String::new() };
        label.delegate = label.identifier();
        if *first.entry((chain, instruction, label.delegate.clone())).or_insert(step) != step {
            label.delegate += &format!("#{}", step.unwrap_or(0));
        }
        Some(label)
    };
    run.events.iter().filter_map(label).collect()
}

impl Label<'_> {
    fn identifier(&self) -> String {
        let Some(row) = self.inside() else { return String::new() };
        let value = self.stored().map_or(&row.value, |stored| &stored.value);
        match value.as_str() {
            "" => format!("{}:{}", row.step.unwrap_or(0), row.operator),
            value => format!("{value}:{}", row.operator),
        }
    }

    /// The row of an instruction of a delegate.
    fn inside(&self) -> Option<&Row> {
        self.row.filter(|_| self.event.step.is_some())
    }

    /// What the compilation says about an instruction of a delegate, as JSON; else empty.
    pub fn metadata(&self) -> Vec<u8> {
        let Some(Row { value, operator, module, line, backend, .. }) = self.inside() else { return Vec::new() };
        let facts = json!({ "value": value, "operator": operator, "module": module, "line": line, "backend": backend });
        facts.to_string().into_bytes()
    }

    /// The last value that an instruction of a delegate leaves in memory.
    pub fn stored(&self) -> Option<&StoredValue> {
        self.call?.stored.get(self.event.step.as_ref()?.0 as usize)?.last()
    }

    /// The results: of a kernel all, of a backend's instruction the last value in memory.
    pub fn results(&self) -> Vec<Array> {
        if self.event.step.is_none() {
            return self.event.results.clone();
        }
        let tensor = self.stored().and_then(|stored| gathered(stored, self.event));
        let array = tensor.map(|tensor| Array {
            scalar_type: tensor.scalar_type,
            shape: tensor.sizes.iter().map(|size| *size as usize).collect(),
            bytes: tensor.bytes,
        });
        array.into_iter().collect()
    }
}

/// `aten::add.out` is `add.out`.
fn local_name(operator: &str) -> &str {
    operator.rsplit("::").next().unwrap_or(operator)
}
