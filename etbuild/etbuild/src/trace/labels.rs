//! The events of an execution under the names that ExecuTorch's tools know them by.

use et_module::Array;
use et_module::recording::{Event, MethodFacts, Named, Run, named};
use etbuild_engine::partition::StoredValue;
use etbuild_inspect::PlannedCall;
use serde_json::json;

use super::profile::{MethodProfile, Row, key};
use super::values::gathered;

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
pub fn labels<'p>(
    run: &'p Run,
    facts: &MethodFacts,
    profile: &'p MethodProfile,
    calls: &'p [PlannedCall],
) -> Vec<Label<'p>> {
    let rows = profile.by_key();
    let row = |event: &Event| rows.get(&key(event)).copied();
    let call = |event: &Event| calls.get(event.at.instruction as usize);
    let value = |event: &Event| {
        let stored = stored(call(event), event).map(|stored| stored.value.as_str());
        stored.or_else(|| Some(row(event)?.value.as_str()))
    };
    let label = |Named { event, name, delegate }| Label { event, row: row(event), call: call(event), name, delegate };
    named(run, facts, value).into_iter().map(label).collect()
}

/// The last value that an instruction of a delegate leaves in memory.
fn stored<'p>(call: Option<&'p PlannedCall>, event: &Event) -> Option<&'p StoredValue> {
    call?.stored.get(event.step.as_ref()?.0 as usize)?.last()
}

impl Label<'_> {
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
        stored(self.call, self.event)
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
