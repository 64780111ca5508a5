//! The tables of a program file, field by field in the order of `schema/program.fbs`.

use super::builder::{Builder, Field, Offset};
use super::layout::{Layout, PartOffsets, Segment};
use super::{
    Allocation, BackendDelegate, Chain, CompileSpec, ContainerMetadata, EValue, ExecutionPlan, ExtraTensorInfo,
    Instruction, Operator, Program, Tensor,
};

/// The finished flatbuffer with its identifier, without extended header.
pub(super) fn build(program: &Program<'_>, layout: &Layout<'_>) -> Vec<u8> {
    let mut builder = Builder::default();
    let root = root(&mut builder, program, layout);
    builder.finish(root, "ET12")
}

fn root(builder: &mut Builder, program: &Program<'_>, layout: &Layout<'_>) -> Offset {
    let fields = [
        Field::Absent, // version 0
        Field::Offset(builder.list(&program.execution_plans, |builder, plan| execution_plan(builder, plan, layout))),
        Field::Offset(builder.tables(&[])), // constant_buffer: constants are in a segment
        Field::Offset(inline_data(builder, program)),
        Field::Offset(builder.list(layout.segments(), segment)),
        Field::Offset(part_offsets(builder, &layout.constants)),
        Field::optional(initial_values(builder, layout)),
        Field::Offset(named_data(builder, program, layout)),
    ];
    builder.table(&fields)
}

/// Segments are not empty, so all empty blobs share an inline entry.
fn inline_data(builder: &mut Builder, program: &Program<'_>) -> Offset {
    let mut delegates = program.execution_plans.iter().flat_map(|plan| &plan.delegates);
    if delegates.all(|delegate| !delegate.blob.is_empty()) {
        return builder.tables(&[]);
    }
    let data = builder.bytes(&[]);
    let entry = builder.table(&[Field::Offset(data)]);
    builder.tables(&[entry])
}

fn segment(builder: &mut Builder, segment: &Segment<'_>) -> Offset {
    builder.table(&[Field::U64(segment.offset), Field::U64(segment.size())])
}

fn part_offsets(builder: &mut Builder, parts: &PartOffsets) -> Offset {
    let offsets = builder.vector(&parts.offsets);
    builder.table(&[Field::U32(parts.segment), Field::Offset(offsets)])
}

fn initial_values(builder: &mut Builder, layout: &Layout<'_>) -> Option<Offset> {
    let parts = part_offsets(builder, layout.initial_values.as_ref()?);
    Some(builder.tables(&[parts]))
}

fn named_data(builder: &mut Builder, program: &Program<'_>, layout: &Layout<'_>) -> Offset {
    let entries = program.named_data.iter().zip(&layout.named_data);
    let tables: Vec<Offset> = entries
        .map(|(entry, segment)| {
            let key = builder.string(&entry.key);
            builder.table(&[Field::Offset(key), Field::U32(*segment)])
        })
        .collect();
    builder.tables(&tables)
}

fn execution_plan(builder: &mut Builder, plan: &ExecutionPlan<'_>, layout: &Layout<'_>) -> Offset {
    let reserved_and_arenas: Vec<i64> = std::iter::once(0).chain(plan.arena_sizes.iter().copied()).collect();
    let fields = [
        Field::Offset(builder.string(&plan.name)),
        Field::Offset(container_metadata(builder, &plan.container)),
        Field::Offset(builder.list(&plan.values, value)),
        Field::Offset(builder.words(&plan.inputs)),
        Field::Offset(builder.words(&plan.outputs)),
        Field::Offset(builder.list(&plan.chains, chain)),
        Field::Offset(builder.list(&plan.operators, operator)),
        Field::Offset(builder.list(&plan.delegates, |builder, delegate| backend_delegate(builder, delegate, layout))),
        Field::Offset(builder.vector(&reserved_and_arenas)),
    ];
    builder.table(&fields)
}

fn container_metadata(builder: &mut Builder, container: &ContainerMetadata) -> Offset {
    let fields = [builder.string(&container.inputs), builder.string(&container.outputs)].map(Field::Offset);
    builder.table(&fields)
}

fn value(builder: &mut Builder, value: &EValue) -> Offset {
    let (kind, content) = match value {
        EValue::Null => (1, builder.table(&[])),
        EValue::Int(number) => (2, builder.table(&[Field::U64(number.cast_unsigned())])),
        EValue::Bool(flag) => (3, builder.table(&[Field::U8(u8::from(*flag))])),
        EValue::Double(number) => (4, builder.table(&[Field::U64(number.to_bits())])),
        EValue::Tensor(tensor) => (5, self::tensor(builder, tensor)),
        EValue::String(text) => (6, of_one(builder, |builder| builder.string(text))),
        EValue::IntList(items) => (7, of_one(builder, |builder| builder.vector(items))),
        EValue::DoubleList(items) => (8, of_one(builder, |builder| builder.vector(items))),
        EValue::BoolList(items) => (9, of_one(builder, |builder| builder.vector(items))),
        EValue::TensorList(items) => (10, of_one(builder, |builder| builder.words(items))),
        EValue::OptionalTensorList(items) => (11, of_one(builder, |builder| builder.words(items))),
    };
    builder.table(&[Field::U8(kind), Field::Offset(content)])
}

/// A table with a single field, which `write` writes.
fn of_one(builder: &mut Builder, write: impl FnOnce(&mut Builder) -> Offset) -> Offset {
    let field = Field::Offset(write(builder));
    builder.table(&[field])
}

fn tensor(builder: &mut Builder, tensor: &Tensor) -> Offset {
    let fields = [
        Field::U8(tensor.scalar_type as u8),
        Field::Absent, // storage_offset 0
        Field::Offset(builder.words(&tensor.sizes)),
        Field::Offset(builder.bytes(&tensor.dim_order)),
        Field::Absent, // requires_grad false
        Field::U32(tensor.data_buffer),
        Field::optional(tensor.allocation.map(|place| allocation(builder, place))),
        Field::Absent, // layout: dense
        Field::U8(u8::from(tensor.dynamic)),
        Field::optional(tensor.extra.as_ref().map(|extra| extra_tensor_info(builder, extra))),
    ];
    builder.table(&fields)
}

fn allocation(builder: &mut Builder, place: Allocation) -> Offset {
    let [low, high] = [place.offset as u32, (place.offset >> 32) as u32];
    builder.table(&[place.memory_id, low, high].map(Field::U32))
}

fn extra_tensor_info(builder: &mut Builder, extra: &ExtraTensorInfo) -> Offset {
    let name = builder.string(&extra.fully_qualified_name);
    builder.table(&[Field::Absent, Field::Offset(name), Field::U8(u8::from(extra.external))])
}

fn chain(builder: &mut Builder, chain: &Chain) -> Offset {
    let fields = [builder.words(&[]), builder.words(&[]), builder.list(&chain.instructions, instruction)];
    builder.table(&fields.map(Field::Offset))
}

fn instruction(builder: &mut Builder, instruction: &Instruction) -> Offset {
    let (kind, content) = match instruction {
        Instruction::KernelCall { operator, arguments } => (1, call(builder, *operator, arguments)),
        Instruction::DelegateCall { delegate, arguments } => (2, call(builder, *delegate, arguments)),
        Instruction::MoveCall { from, to } => (3, numbers(builder, &[*from, *to])),
        Instruction::JumpFalseCall { condition, destination } => (4, numbers(builder, &[*condition, *destination])),
        Instruction::FreeCall { value } => (5, numbers(builder, &[*value])),
    };
    builder.table(&[Field::U8(kind), Field::Offset(content)])
}

fn call(builder: &mut Builder, callee: i32, arguments: &[i32]) -> Offset {
    let arguments = builder.words(arguments);
    builder.table(&[Field::U32(callee.cast_unsigned()), Field::Offset(arguments)])
}

fn numbers(builder: &mut Builder, numbers: &[i32]) -> Offset {
    let fields: Vec<Field> = numbers.iter().map(|number| Field::U32(number.cast_unsigned())).collect();
    builder.table(&fields)
}

fn operator(builder: &mut Builder, operator: &Operator) -> Offset {
    let fields = [builder.string(&operator.name), builder.string(&operator.overload)].map(Field::Offset);
    builder.table(&fields)
}

fn backend_delegate(builder: &mut Builder, delegate: &BackendDelegate<'_>, layout: &Layout<'_>) -> Offset {
    let reference = match layout.blob_segment(delegate.blob) {
        Some(segment) => [Field::U8(1), Field::U32(segment)],
        None => [Field::Absent, Field::Absent], // entry 0 of the inline data
    };
    let fields =
        [builder.string(&delegate.id), builder.table(&reference), builder.list(&delegate.compile_specs, compile_spec)];
    builder.table(&fields.map(Field::Offset))
}

fn compile_spec(builder: &mut Builder, spec: &CompileSpec) -> Offset {
    let fields = [builder.string(&spec.key), builder.bytes(&spec.value)].map(Field::Offset);
    builder.table(&fields)
}
