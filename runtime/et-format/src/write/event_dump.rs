//! Writes ETDump files: the events of executions, in the format of ExecuTorch's developer tools (`etdump_schema_flatcc.fbs`).

use et_core::ScalarType;

use super::builder::{Builder, Field, Offset};

/// The identifier of an ETDump.
const IDENTIFIER: &str = "ED00";

/// The number of a tensor among the types of values.
const TENSOR: u8 = 5;

/// The events of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DumpRun {
    /// The name of the method.
    pub name: String,
    /// The number of the case, where executions have different inputs.
    pub case: Option<u32>,
    /// The events.
    pub events: Vec<DumpEvent>,
}

/// An event: an instruction of the method, or of a delegate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DumpEvent {
    /// The name of the event; empty for an instruction of a delegate, which has an identifier instead.
    pub name: String,
    /// The chain.
    pub chain: u32,
    /// The instruction of the method; `None` for the execution of the whole method.
    pub instruction: Option<u32>,
    /// The identifier of an instruction of a delegate; empty for the method's own.
    pub delegate: String,
    /// What a delegate says about the instruction.
    pub metadata: Vec<u8>,
    /// The content.
    pub content: DumpContent,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum DumpContent {
    /// Begin and end, in nanoseconds.
    Time(u64, u64),
    /// A result of the instruction.
    Tensor(DumpTensor),
}

impl Default for DumpContent {
    fn default() -> Self {
        Self::Time(0, 0)
    }
}

/// A tensor in the debug buffer, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct DumpTensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The shape.
    pub sizes: Vec<i64>,
    /// The place of the first byte in the debug buffer.
    pub offset: u64,
}

/// The bytes of an ETDump with these executions.
pub fn event_dump(runs: &[DumpRun]) -> Vec<u8> {
    let mut builder = Builder::default();
    let runs = builder.list(runs, run);
    let root = builder.table(&[Field::Absent, Field::Offset(runs)]);
    builder.finish_sized(root, IDENTIFIER)
}

fn run(builder: &mut Builder, run: &DumpRun) -> Offset {
    let (name, events) = (builder.string(&run.name), builder.list(&run.events, event));
    builder.table(&[Field::Offset(name), Field::Id(run.case), Field::Absent, Field::Offset(events)])
}

fn event(builder: &mut Builder, event: &DumpEvent) -> Offset {
    let text = |builder: &mut Builder, text: &str| Field::optional((!text.is_empty()).then(|| builder.string(text)));
    let (name, delegate) = (text(builder, &event.name), text(builder, &event.delegate));
    match &event.content {
        DumpContent::Time(begin, end) => {
            let metadata = Some(&event.metadata).filter(|metadata| !metadata.is_empty());
            let metadata = Field::optional(metadata.map(|metadata| builder.bytes(metadata)));
            let profile = builder.table(&[
                name,
                Field::U32(event.chain),
                Field::Id(event.instruction),
                Field::Absent,
                delegate,
                metadata,
                Field::U64(*begin),
                Field::U64(*end),
            ]);
            builder.table(&[Field::Offset(profile)])
        }
        DumpContent::Tensor(tensor) => {
            let entry = value(builder, tensor);
            let debug = builder.table(&[
                Field::U64(u64::from(event.chain)),
                Field::Id(event.instruction),
                Field::Offset(entry),
                Field::Absent,
                delegate,
                name,
            ]);
            builder.table(&[Field::Absent, Field::Absent, Field::Offset(debug)])
        }
    }
}

/// A tensor as a value.
fn value(builder: &mut Builder, tensor: &DumpTensor) -> Offset {
    let mut strides = vec![1_i64; tensor.sizes.len()];
    for dim in (1..strides.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(tensor.sizes[dim].max(1));
    }
    let (sizes, strides) = (builder.vector(&tensor.sizes), builder.vector(&strides));
    let fields =
        [Field::U8(tensor.scalar_type as u8), Field::Offset(sizes), Field::Offset(strides), Field::U64(tensor.offset)];
    let tensor = builder.table(&fields);
    builder.table(&[Field::U8(TENSOR), Field::Offset(tensor)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_a_size_and_an_identifier_and_equal_bytes_for_equal_runs() {
        let event = DumpEvent { name: "native_call_add.out".to_owned(), instruction: Some(0), ..DumpEvent::default() };
        let runs = vec![DumpRun { name: "forward".to_owned(), case: None, events: vec![event] }];
        let bytes = event_dump(&runs);
        assert_eq!(u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize, bytes.len() - 4);
        assert_eq!(&bytes[8..12], IDENTIFIER.as_bytes());
        assert_eq!(bytes, event_dump(&runs));
    }
}
