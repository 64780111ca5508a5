//! A recording as an ETDump, which ExecuTorch's Inspector reads, with the results of instructions in a debug buffer.

use et_format::write::{DumpContent, DumpEvent, DumpRun, DumpTensor, event_dump};

use super::named::{Named, named};
use super::recorded::{MethodFacts, Recording, Run};
use crate::Array;

/// An ETDump, and the debug buffer, which is empty where no results were kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EtDump {
    /// The ETDump.
    pub dump: Vec<u8>,
    /// The debug buffer.
    pub buffer: Vec<u8>,
}

/// An event with what is written of it.
pub struct Described<'r> {
    /// The event and its names.
    pub named: Named<'r>,
    /// What a delegate says about the instruction; else empty.
    pub metadata: Vec<u8>,
    /// The results.
    pub results: Vec<Array>,
}

/// The events of a run as far as the recording itself describes them: the results are those of kernels.
pub fn as_recorded<'r>(run: &'r Run, facts: &MethodFacts) -> Vec<Described<'r>> {
    let described = |named: Named<'r>| Described { metadata: Vec::new(), results: named.event.results.clone(), named };
    named(run, facts, |_| None).into_iter().map(described).collect()
}

/// The ETDump of a recording. `describe` describes the events of a run; a run without description is left out.
pub fn etdump<'r>(
    recording: &'r Recording,
    describe: impl Fn(&'r Run, &'r MethodFacts) -> Option<Vec<Described<'r>>>,
) -> EtDump {
    let mut buffer = Vec::new();
    let several = recording.runs.len() > 1;
    let mut runs = Vec::new();
    for (number, run) in (0..).zip(&recording.runs) {
        let Some(facts) = recording.methods.get(run.method) else { continue };
        let Some(described) = describe(run, facts) else { continue };
        let keeps = run.events.iter().any(|event| !event.results.is_empty() || !event.memory.is_empty());
        // Executions on different inputs have different results, and the Inspector accepts these for different cases only.
        let case = (keeps && several).then_some(number);
        runs.push(DumpRun { name: facts.name.clone(), case, events: events(run, described, &mut buffer) });
    }
    EtDump { dump: event_dump(&runs), buffer }
}

fn events(run: &Run, described: Vec<Described<'_>>, buffer: &mut Vec<u8>) -> Vec<DumpEvent> {
    let whole = DumpEvent {
        name: "Method::execute".to_owned(),
        content: DumpContent::Time(run.begin, run.end),
        ..DumpEvent::default()
    };
    let mut events = vec![whole];
    for Described { named: Named { event, name, delegate }, metadata, results } in described {
        let timed = DumpEvent {
            name,
            chain: event.at.chain,
            instruction: Some(event.at.instruction),
            delegate,
            metadata,
            content: DumpContent::Time(event.begin, event.end),
        };
        let tensors = results.iter().map(|array| DumpEvent {
            metadata: Vec::new(),
            content: DumpContent::Tensor(put(array, buffer)),
            ..timed.clone()
        });
        let tensors: Vec<DumpEvent> = tensors.collect();
        events.push(timed);
        events.extend(tensors);
    }
    events
}

/// Appends a tensor to the debug buffer.
fn put(array: &Array, buffer: &mut Vec<u8>) -> DumpTensor {
    buffer.resize(buffer.len().next_multiple_of(super::TENSOR_ALIGNMENT), 0);
    let offset = buffer.len() as u64;
    buffer.extend_from_slice(&array.bytes);
    let sizes = array.shape.iter().map(|size| *size as i64).collect();
    DumpTensor { scalar_type: array.scalar_type, sizes, offset }
}
