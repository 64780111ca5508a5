//! The emitter: planned programs become program files (`.pte`) for ExecuTorch's runtime and for ours.
//!
//! Every node becomes a call of the operator's out-variant, as the schema of the kernel catalogue declares it. Views
//! that need no copy become no instruction. Constants go to a segment or to a data file. The producer stamp is named
//! data.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod constant_method;
mod constants;
mod container;
mod control;
mod delegates;
mod emitted;
mod external;
mod kernels;
mod method;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use et_format::write::{self, ExecutionPlan, NamedData};
use et_format::{INPUTS_KEY, LEAST_KEY};
use etbuild_ir::{DelegateCall, Graph, PlannedProgram, ValueId};

pub use constant_method::{ConstantMethod, ConstantOutputs, ConstantScalar};
pub use emitted::{EmitError, EmitOptions, Emitted, KernelUse, MethodInfo};

use constants::Constants;
use delegates::Delegates;
use kernels::Kernels;
use method::MethodEmitter;

/// The key of the named data that holds the producer stamp.
pub const PRODUCER_KEY: &str = "etbuild.producer";

/// Writes the program file to `out`; constants are streamed from mapped memory. Equal programs and options give equal
/// bytes.
///
/// # Errors
/// A failed write, an operator outside the kernel catalogue, an unknown backend, a missing label or memory plan.
pub fn emit(program: &PlannedProgram, options: &EmitOptions, out: &mut dyn Write) -> Result<Emitted, EmitError> {
    let facts = input_facts(program);
    let (file, emitted) = lower(program, options, &facts, &mut Constants::default())?;
    write::write_program(&file, out)?;
    Ok(emitted)
}

/// The outputs for constants outside of the program file.
pub struct DataFiles<'w> {
    /// The data file of the model. The bytes do not depend on the adapter.
    pub model: &'w mut dyn Write,
    /// The data file of an adapter, if the program has an adapter.
    pub adapter: Option<&'w mut dyn Write>,
}

/// Like [`emit`], with constants in data files under their names in the model. First values of state stay in the
/// program file.
pub fn emit_with_data(
    program: &PlannedProgram,
    options: &EmitOptions,
    out: &mut dyn Write,
    data: DataFiles<'_>,
) -> Result<Emitted, EmitError> {
    let facts = input_facts(program);
    let mut constants = Constants::external();
    let (file, emitted) = lower(program, options, &facts, &mut constants)?;
    write::write_program(&file, out)?;
    let external = constants.take_external();
    write::write_data(&external.of_model(), data.model)?;
    if let Some(adapter) = data.adapter {
        write::write_data(&external.of_adapter(), adapter)?;
    }
    Ok(emitted)
}

/// The named data about the inputs of each method: the names, and the smallest sizes where a size is dynamic.
fn input_facts(program: &PlannedProgram) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for (method, graph) in &program.program().program().methods {
        let lines = |line: &dyn Fn(&ValueId) -> String| graph.inputs.iter().map(|id| line(id) + "\n").collect();
        facts.insert(format!("{INPUTS_KEY}{method}"), lines(&|id| graph.value(*id).name.clone()));
        if graph.inputs.iter().any(|id| is_dynamic(graph, *id)) {
            facts.insert(format!("{LEAST_KEY}{method}"), lines(&|id| least_sizes(graph, *id)));
        }
    }
    facts
}

fn is_dynamic(graph: &Graph, id: ValueId) -> bool {
    graph.number(id).is_none() && graph.spec(id).is_dynamic()
}

/// The smallest sizes of a dynamic tensor, separated by commas; nothing for other values.
fn least_sizes(graph: &Graph, id: ValueId) -> String {
    let least = if is_dynamic(graph, id) { graph.spec(id).least.as_slice() } else { &[] };
    least.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The program file as plain data.
fn lower<'a>(
    program: &'a PlannedProgram,
    options: &'a EmitOptions,
    input_facts: &'a BTreeMap<String, String>,
    constants: &mut Constants<'a>,
) -> Result<(write::Program<'a>, Emitted), EmitError> {
    let mut kernels = Kernels::default();
    if needs_own_runtime(program) {
        constants.imply_zeros();
    }
    let (mut execution_plans, mut methods) = (Vec::new(), Vec::new());
    for (name, graph) in &program.program().program().methods {
        let plan = program.plans().get(name).ok_or_else(|| EmitError::Unplanned(name.clone()))?;
        let mut called = Kernels::default();
        let emitter = MethodEmitter::new(graph, plan, constants, &mut called, Delegates::new(&options.delegates));
        let execution_plan = emitter.emit(name)?;
        let called = called.into_uses();
        kernels.add_all(&called);
        methods.push(MethodInfo::new(graph, plan, &execution_plan, called));
        execution_plans.push(execution_plan);
    }
    execution_plans.extend(constant_methods(&execution_plans, options)?);
    let named_data = named_data(options, input_facts);
    let (constants, initial_values) = constants.take_bytes();
    let file = write::Program { execution_plans, constants, initial_values, named_data };
    Ok((file, Emitted { kernels: kernels.into_uses(), methods }))
}

/// Whether the program needs our runtime: operators outside of ExecuTorch, or delegates.
fn needs_own_runtime(program: &PlannedProgram) -> bool {
    let mut nodes = program.program().program().methods.values().flat_map(|graph| &graph.nodes);
    nodes.any(|node| node.operator.namespace() == "etbuild" || DelegateCall::of(node).is_some())
}

/// The methods with fixed values.
///
/// # Errors
/// A name that another method has.
fn constant_methods<'a>(
    others: &[ExecutionPlan<'a>],
    options: &EmitOptions,
) -> Result<Vec<ExecutionPlan<'a>>, EmitError> {
    let mut names: BTreeSet<&str> = others.iter().map(|plan| plan.name.as_str()).collect();
    let plans = options.constant_methods.iter().map(|method| match names.insert(&method.name) {
        true => Ok(method.execution_plan()),
        false => Err(EmitError::MethodTwice(method.name.clone())),
    });
    plans.collect()
}

fn named_data<'a>(options: &'a EmitOptions, input_facts: &'a BTreeMap<String, String>) -> Vec<NamedData<'a>> {
    let stamp = NamedData { key: PRODUCER_KEY.to_owned(), data: options.producer.as_bytes(), alignment: 1 };
    let inputs =
        input_facts.iter().map(|(key, text)| NamedData { key: key.clone(), data: text.as_bytes(), alignment: 1 });
    let given = options.named_data.iter();
    let given = given.map(|(key, data)| NamedData { key: key.clone(), data, alignment: 1 });
    std::iter::once(stamp).chain(inputs).chain(given).collect()
}

#[cfg(test)]
mod tests {
    use et_core::{Dtypes, ScalarType};
    use et_format::write::{EValue, Instruction};
    use etbuild_ir::ConstantData;
    use etbuild_ir::text::parse_plan;

    use super::*;

    /// Equal constants, a view, repeated integers, and an operator with two outputs.
    const PROGRAM: &str = "etbuild-ir 1 planned
method forward
  input %x: float32[1, 1, 4, 4]
  constant %w: float32[1] = \"layer.weight\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  constant %v: float32[1] = \"layer.bias\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  %sum: float32[1, 1, 4, 4] = aten.add.Tensor(%x, %w, 1)
  (%p: float32[1, 1, 2, 2], %i: int64[1, 1, 2, 2]) = \
aten.max_pool2d_with_indices.default(%sum, [2, 2], [2, 2], [0, 0], [1, 1], false)
  %flat: float32[1, 4] = aten.view_copy.default(%p, [1, 4])
  %out: float32[1, 4] = aten.add.Tensor(%flat, %v, 1)
  return %out
plan forward
  arena ram 256 16
  place %x 1 0
  place %sum 1 64
  place %p 1 128
  place %i 1 144
  place %flat 1 128
  place %out 1 192
";

    /// The digest of four zero bytes.
    const ZEROS: &str = "ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd";

    fn planned() -> PlannedProgram {
        parse_plan(PROGRAM, &mut |_| Some(ConstantData::new(vec![0_u8; 4]))).unwrap()
    }

    fn options() -> EmitOptions {
        EmitOptions { producer: "etbuild 0".to_owned(), ..EmitOptions::default() }
    }

    #[test]
    fn calls_have_all_arguments_then_outputs_then_results() {
        let (planned, options) = (planned(), options());
        let names = BTreeMap::new();
        let (file, _) = lower(&planned, &options, &names, &mut Constants::default()).unwrap();
        let plan = &file.execution_plans[0];
        let call = |operator, arguments: &[i32]| Instruction::KernelCall { operator, arguments: arguments.to_vec() };
        // Values: x, w, 1, sum; 2, [2, 2], 0, [0, 0], [1, 1], false, p, i, [p, i]; flat, v, out.
        let calls =
            [call(0, &[0, 1, 2, 3, 3]), call(1, &[3, 5, 5, 7, 8, 9, 10, 11, 12]), call(0, &[13, 14, 2, 15, 15])];
        assert_eq!(plan.chains[0].instructions, calls);
        assert_eq!(plan.values[5], EValue::IntList(vec![4, 4]));
        assert_eq!(plan.values[8], EValue::IntList(vec![2, 2]));
        assert_eq!(plan.values[12], EValue::TensorList(vec![10, 11]));
        assert_eq!((&plan.inputs[..], &plan.outputs[..]), (&[0][..], &[15][..]));
    }

    #[test]
    fn out_lists_are_passed_and_returned_and_in_place_operands_are_returned() {
        let text = "etbuild-ir 1 planned
method forward
  input %x: float32[3]
  input %y: float32[3]
  (%a: float32[2], %b: float32[1]) = aten.split_copy.Tensor(%x, 2, 0)
  %z: float32[3] = aten.copy_.default(%y, %x, false)
  update %y %z
  return %a, %b, %z
plan forward
  arena ram 96 16
  place %x 1 0
  place %y 1 16
  place %a 1 32
  place %b 1 48
  place %z 1 16
";
        let (planned, options) = (parse_plan(text, &mut |_| None).unwrap(), options());
        let names = BTreeMap::new();
        let (file, _) = lower(&planned, &options, &names, &mut Constants::default()).unwrap();
        let plan = &file.execution_plans[0];
        let call = |operator, arguments: &[i32]| Instruction::KernelCall { operator, arguments: arguments.to_vec() };
        // Values: x, y; 2, 0, a, b, [a, b]; false.
        assert_eq!(plan.chains[0].instructions, [call(0, &[0, 2, 3, 6, 6]), call(1, &[1, 0, 7, 1])]);
        assert_eq!(plan.values[6], EValue::TensorList(vec![4, 5]));
        assert_eq!(plan.outputs, [4, 5, 1]);
    }

    #[test]
    fn a_view_is_a_tensor_at_the_place_of_the_source() {
        let (planned, options) = (planned(), options());
        let names = BTreeMap::new();
        let (file, _) = lower(&planned, &options, &names, &mut Constants::default()).unwrap();
        let [EValue::Tensor(pooled), EValue::Tensor(flat)] =
            [10, 13].map(|index| &file.execution_plans[0].values[index])
        else {
            panic!("two tensors");
        };
        assert_eq!((pooled.allocation, &flat.sizes[..]), (flat.allocation, &[1, 4][..]));
    }

    #[test]
    fn equal_constants_are_stored_once() {
        let (planned, options) = (planned(), options());
        let names = BTreeMap::new();
        let (file, _) = lower(&planned, &options, &names, &mut Constants::default()).unwrap();
        assert_eq!(file.constants, [&[0_u8; 4][..]]);
    }

    #[test]
    fn initial_zeros_of_state_are_stored_only_for_executorchs_runtime() {
        let text = |operator: &str, place: usize| {
            format!(
                "etbuild-ir 1 planned
method forward
  input %start: int64[1]
  input %rows: float32[1, 1, 1, 1]
  state %a: float32[1, 1, 1, 1] = \"a\" b3:{ZEROS}
  state %b: float32[1, 1, 1, 1] = \"b\" b3:{ZEROS}
  %c: float32[1, 1, 1, 1] = {operator}
  update %a %c
  return %b
plan forward
  arena ram 80 16
  place %start 1 0
  place %rows 1 16
  place %a 1 32
  place %b 1 48
  place %c 1 {place}
"
            )
        };
        let state = |operator: &str, place: usize| {
            let planned = parse_plan(&text(operator, place), &mut |_| Some(ConstantData::new(vec![0_u8; 4]))).unwrap();
            let (options, names) = (options(), BTreeMap::new());
            let (file, _) = lower(&planned, &options, &names, &mut Constants::default()).unwrap();
            let tensors = file.execution_plans[0].values.iter().filter_map(|value| match value {
                EValue::Tensor(tensor) => Some(tensor),
                _ => None,
            });
            let state = tensors.filter(|tensor| tensor.data_buffer > 0 || tensor.extra.is_some());
            let named = state.map(|tensor| (tensor.data_buffer, tensor.extra.is_some())).collect::<Vec<_>>();
            (named, file.initial_values.len())
        };
        assert_eq!(state("aten.clone.default(%rows, none)", 64), (vec![(1, false), (1, false)], 1));
        let own = "etbuild.write_cache.default(%a, %rows, %start, %start)";
        assert_eq!(state(own, 32), (vec![(0, true), (0, true)], 0));
    }

    #[test]
    fn kernels_are_listed_with_the_dtypes_that_select_code() {
        let emitted = emit(&planned(), &options(), &mut Vec::new()).unwrap();
        let floats = Dtypes::of(&[ScalarType::Float]);
        let uses = [
            KernelUse { operator: "aten::add.out".to_owned(), dtypes: floats },
            KernelUse { operator: "aten::max_pool2d_with_indices.out".to_owned(), dtypes: floats },
        ];
        assert_eq!(emitted.kernels, uses);
        let info = &emitted.methods[0];
        assert_eq!((&info.inputs[..], info.outputs, info.instructions), (&["x".to_owned()][..], 1, 3));
    }

    #[test]
    fn named_data_goes_into_the_file() {
        let named_data = BTreeMap::from([("etbuild.tokenizer".to_owned(), b"{}".to_vec())]);
        let mut bytes = Vec::new();
        emit(&planned(), &EmitOptions { named_data, ..options() }, &mut bytes).unwrap();
        let file = et_format::ProgramFile::parse(&bytes).unwrap();
        assert_eq!(file.named_data("etbuild.tokenizer"), Ok(&b"{}"[..]));
    }

    #[test]
    fn the_file_holds_the_producer_and_the_names_of_inputs() {
        let mut bytes = Vec::new();
        emit(&planned(), &options(), &mut bytes).unwrap();
        let file = et_format::ProgramFile::parse(&bytes).unwrap();
        assert_eq!(file.named_data(PRODUCER_KEY), Ok(&b"etbuild 0"[..]));
        assert_eq!(file.named_data("etbuild.inputs.forward"), Ok(&b"x\n"[..]));
    }
}
