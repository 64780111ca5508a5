//! A program file as text: every field that the reader has a view for.

use std::fmt::Write;

use et_core::Result;
use et_format::{Chain, EValue, ExecutionPlan, FrameList, Instruction, Kind, List, ProgramFile, Tensor, View};

/// Reads every field of a file; returns the error of the first malformed field.
pub fn describe(bytes: &[u8]) -> Result<String> {
    let file = ProgramFile::parse(bytes)?;
    let program = file.program();
    let mut text = format!("version {}\n", program.version()?);
    for plan in program.execution_plans()?.iter() {
        text += &describe_plan(&file, plan?)?;
    }
    for index in 0..program.constant_segment()?.map_or(Ok(0), |parts| parts.offsets().map(|list| list.len()))? {
        writeln!(text, "constant {index}: {:?}", file.constant(index, 0)?).unwrap();
    }
    for buffer in program.constant_buffers()?.iter() {
        writeln!(text, "buffer {:?}", buffer?.storage()?).unwrap();
    }
    for data in program.backend_delegate_data()?.iter() {
        writeln!(text, "inline {:?}", data?.data()?).unwrap();
    }
    for parts in program.mutable_data_segments()?.iter() {
        let parts = parts?;
        let offsets: Vec<i64> = parts.offsets()?.iter().collect();
        writeln!(text, "initial values in {} at {offsets:?}", parts.segment_index()?).unwrap();
    }
    for data in program.named_data()?.iter() {
        let data = data?;
        writeln!(text, "named {}: {:?}", data.key()?, file.segment(data.segment_index()?)?).unwrap();
    }
    for index in 0..program.segments()?.len() {
        writeln!(text, "segment {:?}", file.segment(index as u32)?).unwrap();
    }
    Ok(text)
}

fn describe_plan(file: &ProgramFile<'_>, plan: ExecutionPlan<'_>) -> Result<String> {
    let mut text = format!("method {}\n", plan.name()?);
    if let Some(container) = plan.container_metadata()? {
        writeln!(text, "container {} {}", container.inputs()?, container.outputs()?).unwrap();
    }
    for (index, value) in plan.values()?.iter().enumerate() {
        writeln!(text, "  %{index} = {}", describe_value(file, value?)?).unwrap();
    }
    let (inputs, outputs): (Vec<i32>, Vec<i32>) = (plan.inputs()?.iter().collect(), plan.outputs()?.iter().collect());
    writeln!(text, "  inputs {inputs:?} outputs {outputs:?}").unwrap();
    for operator in plan.operators()?.iter() {
        let operator = operator?;
        writeln!(text, "  operator {}.{}", operator.name()?, operator.overload()?).unwrap();
    }
    for delegate in plan.delegates()?.iter() {
        let delegate = delegate?;
        let blob = file.delegate_blob(delegate)?;
        writeln!(text, "  delegate {} {:?} {blob:?}", delegate.id()?, delegate.processed()?).unwrap();
        for spec in delegate.compile_specs()?.iter() {
            let spec = spec?;
            writeln!(text, "    {}={:?}", spec.key()?, spec.value()?).unwrap();
        }
    }
    for chain in plan.chains()?.iter() {
        text += &describe_chain(chain?)?;
    }
    for device in plan.arena_devices()?.iter() {
        let device = device?;
        writeln!(text, "  device {} {} {}", device.arena()?, device.device_type()?, device.device_index()?).unwrap();
    }
    let sizes: Vec<i64> = plan.arena_sizes()?.iter().collect();
    writeln!(text, "  arenas {sizes:?}").unwrap();
    Ok(text)
}

fn describe_chain(chain: Chain<'_>) -> Result<String> {
    let (inputs, outputs): (Vec<i32>, Vec<i32>) = (chain.inputs()?.iter().collect(), chain.outputs()?.iter().collect());
    let mut text = format!("  chain {inputs:?} {outputs:?} {}\n", count_frames(chain.stacktrace()?)?);
    for index in 0..chain.instruction_count()? {
        let line = match chain.instruction(index)? {
            Instruction::KernelCall { operator, arguments } => {
                format!("kernel {operator} {:?}", arguments.iter().collect::<Vec<_>>())
            }
            Instruction::DelegateCall { delegate, arguments } => {
                format!("delegate {delegate} {:?}", arguments.iter().collect::<Vec<_>>())
            }
            Instruction::MoveCall { from, to } => format!("move {from} to {to}"),
            Instruction::JumpFalseCall { condition, destination } => format!("unless {condition} jump {destination}"),
            Instruction::FreeCall { value } => format!("free {value}"),
        };
        writeln!(text, "    {line}").unwrap();
    }
    Ok(text)
}

fn count_frames<'a>(lists: List<'a, FrameList<'a>>) -> Result<usize> {
    lists.iter().map(|list| list?.items().map(|frames| frames.len())).sum()
}

fn describe_value(file: &ProgramFile<'_>, value: EValue<'_>) -> Result<String> {
    Ok(match value.kind()? {
        Kind::Null => "null".into(),
        Kind::Int => format!("int {}", value.int()?),
        Kind::Bool => format!("bool {}", value.bool()?),
        Kind::Double => format!("double {}", value.double()?),
        Kind::Tensor => describe_tensor(file, Tensor::of(value.content()?))?,
        Kind::String => format!("string {:?}", value.string()?),
        Kind::IntList => format!("ints {:?}", value.int_list()?.iter().collect::<Vec<_>>()),
        Kind::DoubleList => format!("doubles {:?}", value.double_list()?.iter().collect::<Vec<_>>()),
        Kind::BoolList => format!("bools {:?}", value.bool_list()?),
        Kind::TensorList => format!("tensors {:?}", value.tensor_list()?.iter().collect::<Vec<_>>()),
        Kind::OptionalTensorList => format!("optional tensors {:?}", value.tensor_list()?.iter().collect::<Vec<_>>()),
    })
}

fn describe_tensor(file: &ProgramFile<'_>, tensor: Tensor<'_>) -> Result<String> {
    let sizes: Vec<i32> = tensor.sizes()?.iter().collect();
    let mut text = format!("{}{sizes:?} order {:?}", tensor.scalar_type()?.name(), tensor.dim_order()?);
    let (dynamism, layout) = (tensor.shape_dynamism()?, tensor.layout()?);
    write!(text, " {dynamism:?} offset {} layout {layout}", tensor.storage_offset()?).unwrap();
    let numel = sizes.iter().fold(1_usize, |numel, size| numel.wrapping_mul(*size as usize));
    let bytes = numel.wrapping_mul(tensor.scalar_type()?.size());
    match (tensor.data_buffer_index()?, tensor.allocation()?) {
        (0, None) => {}
        (0, Some(place)) => write!(text, " at {place:?}").unwrap(),
        (index, None) => write!(text, " = {:?}", file.constant(index, bytes)?).unwrap(),
        (index, Some(place)) => write!(text, " at {place:?} = {:?}", file.initial_value(index, bytes)?).unwrap(),
    }
    if let Some(extra) = tensor.extra()? {
        let device = (extra.device_type()?, extra.device_index()?);
        write!(text, " named {} {:?} on {device:?}", extra.fully_qualified_name()?, extra.location()?).unwrap();
    }
    Ok(text)
}
