//! A recording as an ETDump, which ExecuTorch's Inspector reads, with the results of instructions in a debug buffer.
//!
//! Names follow ExecuTorch's runtime: `Method::execute` is a whole execution, `native_call_<operator>` a kernel, `DELEGATE_CALL` the
//! call of a delegate. An instruction of a delegate has an identifier of its value and kind; its metadata is a JSON object with value,
//! operator, module and line of Python.

use et_format::write::{DumpContent, DumpEvent, DumpRun, DumpTensor, event_dump};
use et_module::Array;
use et_module::recording::{Recording, Run};
use etbuild_inspect::PlannedCall;

use super::labels::labels;
use super::profile::{MethodProfile, Names, Profile};

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
    let whole = DumpEvent {
        name: "Method::execute".to_owned(),
        content: DumpContent::Time(run.begin, run.end),
        ..DumpEvent::default()
    };
    let mut events = vec![whole];
    for label in labels(run, profile, calls) {
        let described = DumpEvent {
            name: label.name.clone(),
            chain: label.event.at.chain,
            instruction: Some(label.event.at.instruction),
            delegate: label.delegate.clone(),
            metadata: label.metadata(),
            content: DumpContent::Time(label.event.begin, label.event.end),
        };
        let tensors = label.results().into_iter().map(|array| put(&array, buffer));
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

/// Appends a tensor to the debug buffer. The buffer aligns each tensor for any type.
fn put(array: &Array, buffer: &mut Vec<u8>) -> DumpTensor {
    const ALIGNMENT: usize = 16;
    buffer.resize(buffer.len().next_multiple_of(ALIGNMENT), 0);
    let offset = buffer.len() as u64;
    buffer.extend_from_slice(&array.bytes);
    let sizes = array.shape.iter().map(|size| *size as i64).collect();
    DumpTensor { scalar_type: array.scalar_type, sizes, offset }
}
