//! The plan of firmware's method: values and instructions of the program file as constants of Rust.
//!
//! Each item is an expression of a type of `et_runtime::DecodedPlan`. What an item refers to in the program file is checked and packed here, so
//! that the firmware has no reader, and none of the file's names.

use std::fmt::Display;

use et_core::{DimOrder, Error, Result, TensorLayout};
use et_format::{
    Allocation, Chain, EValue, ExecutionPlan, Instruction, Kind, ProgramFile, ShapeDynamism, Tensor, TensorLocation,
    View,
};
use serde::Serialize;

use crate::LinkError;
use crate::packed::{DATA, Packed};

/// The constants of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanFacts {
    /// The value table.
    pub values: Vec<String>,
    /// The tensors of a dynamic shape.
    pub dynamic: Vec<String>,
    /// The initial values of mutable buffers.
    pub initial: Vec<String>,
    /// The values that are inputs.
    pub inputs: Vec<i32>,
    /// The values that are outputs.
    pub outputs: Vec<i32>,
    /// The blobs of the delegates.
    pub blobs: Vec<String>,
    /// The instructions of all chains.
    pub instructions: Vec<String>,
    /// Whether the elements of all tensors lie in row-major order.
    pub is_row_major: bool,
    /// The parts of the program file that the items refer to: weights, blobs, lists of numbers.
    #[serde(skip)]
    pub data: Vec<u8>,
}

impl PlanFacts {
    /// Decodes a method of a program file.
    ///
    /// # Errors
    /// [`LinkError::Template`] for a program file that firmware cannot execute.
    pub fn of(bytes: &[u8], method: &str) -> std::result::Result<Self, LinkError> {
        Self::decode(bytes, method)
            .map_err(|error| LinkError::Template(format!("firmware cannot execute the program file: {error:?}")))
    }

    fn decode(bytes: &[u8], method: &str) -> Result<Self> {
        let file = ProgramFile::parse(bytes)?;
        let mut plans = file.program().execution_plans()?.iter().flatten();
        let plan = plans.find(|plan| plan.is_named(method) == Ok(true)).ok_or(Error::NotFound)?;
        let facts = Self { is_row_major: true, ..Self::default() };
        Decoder { packed: Packed::default(), file, facts }.decode(plan)
    }
}

struct Decoder<'a> {
    packed: Packed,
    file: ProgramFile<'a>,
    facts: PlanFacts,
}

impl<'a> Decoder<'a> {
    fn decode(mut self, plan: ExecutionPlan<'a>) -> Result<PlanFacts> {
        for value in plan.values()?.iter() {
            let value = self.value(value?)?;
            self.facts.values.push(value);
        }
        self.facts.inputs = plan.inputs()?.iter().collect();
        self.facts.outputs = plan.outputs()?.iter().collect();
        for delegate in plan.delegates()?.iter() {
            let blob = self.span(self.file.delegate_blob(delegate?)?, DATA);
            self.facts.blobs.push(blob);
        }
        for chain in plan.chains()?.iter() {
            self.chain(chain?)?;
        }
        self.facts.data = self.packed.into_bytes();
        Ok(self.facts)
    }

    fn value(&mut self, value: EValue<'a>) -> Result<String> {
        Ok(match value.kind()? {
            Kind::Null => "DecodedValue::None".to_owned(),
            Kind::Int => variant("Int", halves(value.int()?.cast_unsigned())),
            Kind::Bool => variant("Bool", value.bool()?),
            Kind::Double => variant("Double", halves(value.double()?.to_bits())),
            Kind::Tensor => self.tensor(Tensor::of(value.content()?))?,
            Kind::String => self.list("Text", value.string()?.as_bytes(), 1),
            Kind::IntList => self.list("Int", value.int_list()?.bytes(), LONGS),
            Kind::DoubleList => self.list("Double", value.double_list()?.bytes(), LONGS),
            Kind::BoolList => self.list("Bool", value.bool_list()?, 1),
            Kind::TensorList => self.list("Tensor", value.tensor_list()?.bytes(), INDICES),
            Kind::OptionalTensorList => self.list("OptionalTensor", value.tensor_list()?.bytes(), INDICES),
        })
    }

    fn tensor(&mut self, tensor: Tensor<'a>) -> Result<String> {
        let (sizes, dim_order) = (tensor.sizes()?, tensor.dim_order()?);
        let layout = TensorLayout { scalar_type: tensor.scalar_type()?, sizes, dim_order };
        let (memory, elements) = self.memory(tensor, layout.nbytes()?)?;
        self.facts.is_row_major &= DimOrder::new(dim_order)?.is_contiguous();
        let (sizes, rank) = (self.packed.place(sizes.bytes(), INDICES), sizes.len());
        let (dim_order, scalar_type) = (self.packed.place(dim_order, 1), layout.scalar_type);
        let shape_dynamism = tensor.shape_dynamism()?;
        let tensor = format!(
            "DecodedTensor {{ sizes: {sizes}, dim_order: {dim_order}, elements: {elements}, scalar_type: ScalarType::{scalar_type:?}, \
             rank: {rank}, memory: DecodedMemory::{memory} }}"
        );
        Ok(match shape_dynamism {
            ShapeDynamism::Static => variant("Tensor", tensor),
            ShapeDynamism::Bounded => {
                self.facts.dynamic.push(tensor);
                variant("DynamicTensor", self.facts.dynamic.len() - 1)
            }
            ShapeDynamism::Unbounded => return Err(Error::NotSupported),
        })
    }

    /// The memory of the elements, and the offset of the first.
    fn memory(&mut self, tensor: Tensor<'a>, size: usize) -> Result<(String, u64)> {
        let extra = tensor.extra()?;
        if let Some(extra) = extra
            && (extra.location()? == TensorLocation::External || extra.device_type()? != 0)
        {
            return Err(Error::NotSupported);
        }
        if tensor.storage_offset()? != 0 || tensor.layout()? != 0 {
            return Err(Error::NotSupported);
        }
        match (tensor.data_buffer_index()?, tensor.allocation()?) {
            (0, None) => Ok(("Missing".to_owned(), 0)),
            (index, None) => Ok(("File".to_owned(), self.packed.place(self.file.constant(index, size)?, DATA) as u64)),
            (index, Some(place)) => {
                let arena = place.memory_id.checked_sub(1).ok_or(Error::InvalidProgram)?;
                if index > 0 {
                    self.initialize(self.file.initial_value(index, size)?, arena, place);
                }
                Ok((format!("Arena({arena})"), place.offset))
            }
        }
    }

    fn initialize(&mut self, bytes: &[u8], arena: u32, place: Allocation) {
        let (bytes, offset) = (self.span(bytes, DATA), place.offset);
        self.facts.initial.push(format!("InitialValue {{ bytes: {bytes}, arena: {arena}, offset: {offset} }}"));
    }

    /// Adds the instructions of a chain. Jumps lead to instructions of the same chain.
    fn chain(&mut self, chain: Chain<'a>) -> Result<()> {
        let first = self.facts.instructions.len();
        for index in 0..chain.instruction_count()? {
            let text = match chain.instruction(index)? {
                Instruction::KernelCall { operator, arguments } => {
                    format!("Kernel({operator}, {})", self.span(arguments.bytes(), INDICES))
                }
                Instruction::DelegateCall { delegate, arguments } => {
                    format!("Delegate({delegate}, {})", self.span(arguments.bytes(), INDICES))
                }
                Instruction::MoveCall { from, to } => format!("Move({from}, {to})"),
                Instruction::JumpFalseCall { condition, destination } => {
                    format!("JumpFalse({condition}, {})", first + destination as usize)
                }
                Instruction::FreeCall { value } => format!("Free({value})"),
            };
            self.facts.instructions.push(format!("DecodedInstruction::{text}"));
        }
        Ok(())
    }

    fn list(&mut self, kind: &str, part: &[u8], alignment: usize) -> String {
        variant("List", format_args!("DecodedList::{kind}, {}", self.span(part, alignment)))
    }

    fn span(&mut self, part: &[u8], alignment: usize) -> String {
        format!("Span {{ start: {}, size: {} }}", self.packed.place(part, alignment), part.len())
    }
}

/// The alignments of lists of numbers.
const INDICES: usize = 4;
const LONGS: usize = 8;

/// The low and the high half of 64 bits.
fn halves(bits: u64) -> String {
    format!("[{:#x}, {:#x}]", bits & u64::from(u32::MAX), bits >> 32)
}

fn variant(name: &str, content: impl Display) -> String {
    format!("DecodedValue::{name}({content})")
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use et_format::write;

    use super::*;

    fn tensor(sizes: &[i32], data_buffer: u32, offset: Option<u64>) -> write::Tensor {
        write::Tensor {
            scalar_type: ScalarType::Float,
            sizes: sizes.to_vec(),
            dim_order: (0..sizes.len() as u8).collect(),
            data_buffer,
            allocation: offset.map(|offset| write::Allocation { memory_id: 1, offset }),
            dynamic: false,
            extra: None,
        }
    }

    /// The program file of a method with these values and chains, a constant and an initial value.
    fn file(values: Vec<write::EValue>, chains: Vec<Vec<write::Instruction>>) -> Vec<u8> {
        let plan = write::ExecutionPlan {
            name: "forward".to_owned(),
            values,
            chains: chains.into_iter().map(|instructions| write::Chain { instructions }).collect(),
            ..write::ExecutionPlan::default()
        };
        let (constants, initial_values): (Vec<&[u8]>, Vec<&[u8]>) = (vec![b"constant"], vec![b"initial!"]);
        let program =
            write::Program { execution_plans: vec![plan], constants, initial_values, ..write::Program::default() };
        let mut bytes = Vec::new();
        write::write_program(&program, &mut bytes).unwrap();
        bytes
    }

    fn facts(values: Vec<write::EValue>) -> PlanFacts {
        PlanFacts::of(&file(values, Vec::new()), "forward").unwrap()
    }

    /// The packed bytes that a text names behind this word.
    fn part<'f>(file: &'f [u8], text: &str, word: &str, len: usize) -> &'f [u8] {
        let digits: String = text.split_once(word).unwrap().1.chars().take_while(char::is_ascii_digit).collect();
        &file[digits.parse().unwrap()..][..len]
    }

    #[test]
    fn offsets_lead_to_what_the_values_say() {
        let tensors = [tensor(&[2], 1, None), tensor(&[2], 1, Some(32))].map(write::EValue::Tensor);
        let file =
            file([tensors.to_vec(), vec![write::EValue::BoolList(vec![true, false, true])]].concat(), Vec::new());
        let facts = PlanFacts::of(&file, "forward").unwrap();
        let [constant, buffer, list] = &facts.values[..] else { panic!("{facts:?}") };
        let file = &facts.data;
        assert_eq!(part(file, constant, "elements: ", 8), b"constant");
        assert_eq!(part(file, constant, " sizes: ", 4), [2, 0, 0, 0]);
        assert!(constant.ends_with("rank: 1, memory: DecodedMemory::File })"), "{constant}");
        assert!(buffer.contains("elements: 32,") && buffer.ends_with("DecodedMemory::Arena(0) })"), "{buffer}");
        assert_eq!(part(file, &facts.initial[0], "start: ", 8), b"initial!");
        assert!(facts.initial[0].ends_with("size: 8 }, arena: 0, offset: 32 }"), "{:?}", facts.initial);
        assert!(list.starts_with("DecodedValue::List(DecodedList::Bool, Span {"), "{list}");
        assert_eq!(part(file, list, "start: ", 3), [1, 0, 1]);
    }

    #[test]
    fn names_stay_behind() {
        let plan =
            file([tensor(&[2], 1, None), tensor(&[2], 0, Some(32))].map(write::EValue::Tensor).to_vec(), Vec::new());
        let is_in = |bytes: &[u8], name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
        let data = PlanFacts::of(&plan, "forward").unwrap().data;
        assert!(is_in(&plan, b"forward") && !is_in(&data, b"forward"));
        // The shape of both tensors and their order, once, and the constant.
        assert_eq!(data, b"constant\x02\0\0\0\0");
    }

    #[test]
    fn numbers_are_halves() {
        let facts = facts(vec![write::EValue::Int(-2), write::EValue::Double(1.5), write::EValue::Null]);
        let wanted = [
            "DecodedValue::Int([0xfffffffe, 0xffffffff])",
            "DecodedValue::Double([0x0, 0x3ff80000])",
            "DecodedValue::None",
        ];
        assert_eq!(facts.values, wanted);
    }

    #[test]
    fn a_jump_leads_to_an_instruction_of_its_chain() {
        let jump = write::Instruction::JumpFalseCall { condition: 0, destination: 1 };
        let file = file(vec![write::EValue::Bool(true)], vec![vec![jump.clone()], vec![jump]]);
        let facts = PlanFacts::of(&file, "forward").unwrap();
        let jumps = [1, 2].map(|destination| format!("DecodedInstruction::JumpFalse(0, {destination})"));
        assert_eq!(facts.instructions, jumps);
    }

    #[test]
    fn promises_are_those_that_all_tensors_keep() {
        let promises = |tensor: write::Tensor| {
            let facts = facts(vec![write::EValue::Tensor(tensor)]);
            (facts.dynamic.is_empty(), facts.is_row_major)
        };
        let tensor = tensor(&[2, 3], 0, Some(0));
        assert_eq!(promises(tensor.clone()), (true, true));
        assert_eq!(promises(write::Tensor { dynamic: true, ..tensor.clone() }), (false, true));
        assert_eq!(promises(write::Tensor { dim_order: vec![1, 0], ..tensor }), (true, false));
    }

    #[test]
    fn a_tensor_of_another_file_is_refused() {
        let extra = write::ExtraTensorInfo { fully_qualified_name: "w".to_owned(), external: true };
        let tensor = write::Tensor { extra: Some(extra), ..tensor(&[2], 0, None) };
        let error = PlanFacts::of(&file(vec![write::EValue::Tensor(tensor)], Vec::new()), "forward").unwrap_err();
        assert_eq!(error.to_string(), "firmware cannot execute the program file: NotSupported");
    }
}
