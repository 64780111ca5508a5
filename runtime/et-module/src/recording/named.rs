//! The events of an execution under the names that ExecuTorch's tools know them by: `native_call_<operator>` is a kernel,
//! `DELEGATE_CALL` the call of a delegate. An instruction of a delegate has an identifier instead of a name.

use std::collections::BTreeMap;

use super::recorded::{Event, MethodFacts, Run};

/// The name of the call of a delegate.
pub const DELEGATE_CALL: &str = "DELEGATE_CALL";

/// An event with its names.
pub struct Named<'r> {
    /// The event.
    pub event: &'r Event,
    /// The name; empty for an instruction of a delegate.
    pub name: String,
    /// The identifier of an instruction of a delegate: the value in memory, or the number of the instruction, and the kind; else empty.
    pub delegate: String,
}

/// The events of a run that have a name. `value` is the value that an instruction of a delegate leaves in memory, where that is known.
pub fn named<'r, 'v>(
    run: &'r Run,
    facts: &MethodFacts,
    value: impl Fn(&'r Event) -> Option<&'v str>,
) -> Vec<Named<'r>> {
    // The Inspector keeps one event of a name: further instructions of a value and kind have their number.
    let mut first: BTreeMap<(u32, u32, String), u32> = BTreeMap::new();
    let named = |event: &'r Event| {
        let (chain, instruction) = (event.at.chain, event.at.instruction);
        let callee = facts.callees.get(&(chain, instruction)).filter(|callee| !callee.is_empty())?;
        let Some((step, kind)) = &event.step else {
            return Some(Named { event, name: name(callee), delegate: String::new() });
        };
        let mut delegate = match value(event).filter(|value| !value.is_empty()) {
            Some(value) => format!("{value}:{kind}"),
            None => format!("{step}:{kind}"),
        };
        if first.entry((chain, instruction, delegate.clone())).or_insert(*step) != step {
            delegate += &format!("#{step}");
        }
        Some(Named { event, name: String::new(), delegate })
    };
    run.events.iter().filter_map(named).collect()
}

/// The name of an instruction of the method. `aten::add.out` is `add.out`; the identifiers of delegates have no namespace.
fn name(callee: &str) -> String {
    match callee.rsplit_once("::") {
        Some((_, operator)) => format!("native_call_{operator}"),
        None => DELEGATE_CALL.to_owned(),
    }
}
