//! A recording as an ETDump, which ExecuTorch's Inspector reads, with the results of instructions in a debug buffer.
//!
//! Names follow ExecuTorch's runtime: `Method::execute` is a whole execution, `native_call_<operator>` a kernel, `DELEGATE_CALL` the
//! call of a delegate. An instruction of a delegate has an identifier of its value and kind; its metadata is a JSON object with value,
//! operator, module and line of Python.

use std::collections::BTreeMap;

use et_format::write::{DumpContent, DumpEvent, DumpRun, DumpTensor, event_dump};
use et_module::Array;
use et_module::recording::{Event, Recording, Run};
use etbuild_engine::partition::StoredValue;
use etbuild_inspect::PlannedCall;
use serde_json::json;

use super::profile::{MethodProfile, Names, Profile, Row, key};
use super::values::gathered;

/// An ETDump, and the debug buffer; the buffer is empty where no results were kept.
pub fn etdump(recording: &Recording, profile: &Profile, names: &Names<'_>) -> (Vec<u8>, Vec<u8>) {
    let mut buffer = Vec::new();
    let several = recording.runs.len() > 1;
    let mut runs = Vec::new();
    for (number, run) in (0..).zip(&recording.runs) {
        let Some(facts) = recording.methods.get(run.method) else { continue };
        let Some(profile) = profile.methods.iter().find(|method| method.method == facts.name) else { continue };
        let calls = names.calls(&facts.name);
        let keeps = run.events.iter().any(|event| !event.results.is_empty() || !event.memory.is_empty());
        // Executions on different inputs have different results, and the Inspector accepts these for different cases only.
        let case = (keeps && several).then_some(number);
        runs.push(DumpRun { name: facts.name.clone(), case, events: events(run, profile, calls, &mut buffer) });
    }
    (event_dump(&runs), buffer)
}

fn events(run: &Run, profile: &MethodProfile, calls: &[PlannedCall], buffer: &mut Vec<u8>) -> Vec<DumpEvent> {
    let rows = profile.by_key();
    let whole = DumpEvent {
        name: "Method::execute".to_owned(),
        content: DumpContent::Time(run.begin, run.end),
        ..DumpEvent::default()
    };
    let mut events = vec![whole];
    // The Inspector keeps one event of a name: further instructions of a value and kind have their number.
    let mut first: BTreeMap<(u32, u32, String), Option<u32>> = BTreeMap::new();
    for event in &run.events {
        let (chain, instruction, step) = key(event);
        let row = rows.get(&(chain, instruction, step)).copied();
        let is_call = rows.contains_key(&(chain, instruction, Some(0)));
        let name = match row {
            Some(row) if step.is_none() && row.partition.is_some() => "DELEGATE_CALL".to_owned(),
            Some(row) if step.is_none() => format!("native_call_{}", local_name(&row.operator)),
            None if is_call => "DELEGATE_CALL".to_owned(),
            Some(_) => String::new(),
            None => continue,
        };
        let call = calls.get(instruction as usize);
        let described = row.filter(|_| step.is_some()).map(|row| Described { row, stored: stored(event, call) });
        let mut delegate = described.as_ref().map(Described::identifier).unwrap_or_default();
        if *first.entry((chain, instruction, delegate.clone())).or_insert(step) != step {
            delegate += &format!("#{}", step.unwrap_or(0));
        }
        let described = DumpEvent {
            name,
            chain,
            instruction: Some(instruction),
            delegate,
            metadata: described.as_ref().map(Described::metadata).unwrap_or_default(),
            content: DumpContent::Time(event.begin, event.end),
        };
        let tensors = results(event, call).into_iter().map(|array| put(&array, buffer));
        let debug = tensors.map(|tensor| DumpEvent {
            metadata: Vec::new(),
            content: DumpContent::Tensor(tensor),
            ..described.clone()
        });
        let debug: Vec<DumpEvent> = debug.collect();
        events.push(described);
        events.extend(debug);
    }
    events
}

/// `aten::add.out` is `add.out`.
fn local_name(operator: &str) -> &str {
    operator.rsplit("::").next().unwrap_or(operator)
}

/// An instruction of a delegate, with the last value that the instruction leaves in memory.
struct Described<'p> {
    row: &'p Row,
    stored: Option<&'p StoredValue>,
}

impl Described<'_> {
    /// The value and the kind. The value is the one in memory: the result of the last operator that was fused.
    fn identifier(&self) -> String {
        let value = self.stored.map_or(&self.row.value, |stored| &stored.value);
        match value.as_str() {
            "" => format!("{}:{}", self.row.step.unwrap_or(0), self.row.operator),
            value => format!("{value}:{}", self.row.operator),
        }
    }

    fn metadata(&self) -> Vec<u8> {
        let Row { value, operator, module, line, backend, .. } = self.row;
        let facts = json!({ "value": value, "operator": operator, "module": module, "line": line, "backend": backend });
        facts.to_string().into_bytes()
    }
}

/// The last value that an instruction of a delegate leaves in memory.
fn stored<'p>(event: &Event, call: Option<&'p PlannedCall>) -> Option<&'p StoredValue> {
    call?.stored.get(event.step.as_ref()?.0 as usize)?.last()
}

/// The results of an event: of a kernel all, of a backend's instruction the last value in memory.
fn results(event: &Event, call: Option<&PlannedCall>) -> Vec<Array> {
    if event.step.is_none() {
        return event.results.clone();
    }
    let tensor = stored(event, call).and_then(|stored| gathered(stored, event));
    let array = tensor.map(|tensor| Array {
        scalar_type: tensor.scalar_type,
        shape: tensor.sizes.iter().map(|size| *size as usize).collect(),
        bytes: tensor.bytes,
    });
    array.into_iter().collect()
}

/// Appends a tensor to the debug buffer. The buffer aligns each tensor for any type.
fn put(array: &Array, buffer: &mut Vec<u8>) -> DumpTensor {
    const ALIGNMENT: usize = 16;
    buffer.resize(buffer.len().next_multiple_of(ALIGNMENT), 0);
    let offset = buffer.len() as u64;
    buffer.extend_from_slice(&array.bytes);
    let sizes = array.shape.iter().map(|size| *size as i64).collect();
    DumpTensor { scalar_type: array.scalar_type, sizes, offset }
}
