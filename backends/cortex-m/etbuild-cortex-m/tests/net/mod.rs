//! Quantized networks with random weights, as the quantizer writes them.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]

mod networks;

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::Candidate;
use etbuild_cortex_m::BACKEND;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};

pub use networks::{keyword_spotting, odd_sizes, recurrent, residual, separable};

pub static ENGINES: &[Engine] =
    &[Engine { id: et_cortex_m::ID, make: |host| Box::new(et_cortex_m::delegate(host.workers)), problem: || None }];

/// The rows of kernels but for the one of any processor.
pub const ROWS: [&str; 3] = ["dsp", "thumb2", "mve"];

/// A board with the kernels of a row.
pub fn board(row: &str) -> TargetFacts {
    TargetFacts { architecture: "thumb".to_owned(), features: vec![row.to_owned()], ..TargetFacts::default() }
}

/// The backend on a target.
pub fn candidate(target: &TargetFacts) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads: 1, tolerance: 0.0 }
}

/// Pseudo-random numbers.
pub struct Random(pub u32);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    /// A number between -1 and 1.
    pub fn real(&mut self) -> f32 {
        self.next() as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }
}

/// A quantized network under construction.
pub struct Net {
    pub graph: Graph,
    pub random: Random,
    /// Whether the weights of dense layers are int4.
    pub int4: bool,
}

/// The integers of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// int8 activations and weights.
    Int8,
    /// int8 activations, int4 weights.
    Int4,
    /// int16 activations, int8 weights.
    Int16,
}

/// A quantized value with its qparams.
#[derive(Clone, Copy)]
pub struct Quantized {
    pub id: ValueId,
    pub scale: f64,
    pub zero: i64,
    pub integers: Integers,
}

/// The smallest and the greatest integer, and the type.
pub type Integers = (i64, i64, ScalarType);

pub const INT8: Integers = (-128, 127, ScalarType::Char);
pub const INT16: Integers = (-32_767, 32_767, ScalarType::Short);

impl Net {
    pub fn new(seed: u32) -> Self {
        Self { graph: Graph::default(), random: Random(seed), int4: false }
    }

    pub fn input(&mut self, sizes: &[i32]) -> ValueId {
        let id = self.graph.add_value("x", TensorSpec::contiguous(ScalarType::Float, sizes), ValueKind::Input);
        self.graph.inputs.push(id);
        id
    }

    pub fn constant(&mut self, scalar_type: ScalarType, sizes: &[i32], bytes: Vec<u8>) -> ValueId {
        let name = format!("constant_{}", self.graph.values.len());
        let kind = ValueKind::Constant { qualified_name: name.clone(), data: ConstantData::new(bytes) };
        self.graph.add_value(&name, TensorSpec::contiguous(scalar_type, sizes), kind)
    }

    pub fn node(&mut self, operator: &str, sizes: &[i32], arguments: Vec<Argument>) -> ValueId {
        self.typed(operator, ScalarType::Float, sizes, arguments)
    }

    pub fn typed(
        &mut self,
        operator: &str,
        scalar_type: ScalarType,
        sizes: &[i32],
        arguments: Vec<Argument>,
    ) -> ValueId {
        let name = format!("value_{}", self.graph.values.len());
        let output = self.graph.add_value(&name, TensorSpec::contiguous(scalar_type, sizes), ValueKind::Computed);
        let operator = OperatorName::parse(operator).unwrap();
        self.graph.nodes.push(Node { operator, arguments, outputs: vec![output] });
        output
    }

    pub fn sizes(&self, id: ValueId) -> Vec<i32> {
        self.graph.spec(id).sizes.clone()
    }

    pub fn quantize(&mut self, id: ValueId, scale: f64, zero: i64) -> Quantized {
        self.quantize_to(INT8, id, scale, zero)
    }

    /// Quantizes to int16 with the range that int8 has.
    pub fn quantize16(&mut self, id: ValueId, scale: f64, zero: i64) -> Quantized {
        let most = (127 - zero).max(zero + 128);
        self.quantize_to(INT16, id, scale * most as f64 / 32_767.0, 0)
    }

    /// Quantizes to the integers of another value, with a range of int8.
    pub fn quantize_like(&mut self, like: Quantized, id: ValueId, scale: f64, zero: i64) -> Quantized {
        if like.integers == INT16 { self.quantize16(id, scale, zero) } else { self.quantize(id, scale, zero) }
    }

    pub fn quantize_to(&mut self, integers: Integers, id: ValueId, scale: f64, zero: i64) -> Quantized {
        let (least, most, scalar_type) = integers;
        let ends = [Argument::Int(least), Argument::Int(most), Argument::Type(scalar_type)];
        let arguments = [Argument::Value(id), Argument::Float(scale), Argument::Int(zero)];
        let arguments = arguments.into_iter().chain(ends).collect();
        let sizes = self.sizes(id);
        let id = self.typed("quantized_decomposed.quantize_per_tensor.default", scalar_type, &sizes, arguments);
        Quantized { id, scale, zero, integers }
    }

    pub fn dequantize(&mut self, of: Quantized) -> ValueId {
        let (least, most, scalar_type) = of.integers;
        let ends = [Argument::Int(least), Argument::Int(most), Argument::Type(scalar_type), Argument::None];
        let arguments = [Argument::Value(of.id), Argument::Float(of.scale), Argument::Int(of.zero)];
        let sizes = self.sizes(of.id);
        let arguments = arguments.into_iter().chain(ends).collect();
        self.node("quantized_decomposed.dequantize_per_tensor.default", &sizes, arguments)
    }

    /// int8 or int4 weights with a scale for each output channel, dequantized, and a bias.
    pub fn weights(&mut self, sizes: &[i32], int4: bool) -> [Argument; 2] {
        let (least, most) = if int4 { (-8, 7) } else { (-127, 127) };
        let count: i32 = sizes.iter().product();
        let bytes = (0..count).map(|_| (self.random.below((most - least + 1) as u32) as i32 + least) as u8).collect();
        let integers = self.constant(ScalarType::Char, sizes, bytes);
        let channels = sizes[0];
        let inner = (count / channels) as f32;
        let scales =
            (0..channels).flat_map(|_| ((1.5 + self.random.real()) / ((most + 1) as f32 * inner.sqrt())).to_le_bytes());
        let scales = scales.collect();
        let scales = self.constant(ScalarType::Float, &[channels], scales);
        let zeros = self.constant(ScalarType::Long, &[channels], vec![0; 8 * channels as usize]);
        let bias = (0..channels).flat_map(|_| (0.3 * self.random.real()).to_le_bytes()).collect();
        let bias = self.constant(ScalarType::Float, &[channels], bias);
        let values = [integers, scales, zeros].map(Argument::Value).into_iter();
        let ends = [
            Argument::Int(0),
            Argument::Int(least.into()),
            Argument::Int(most.into()),
            Argument::Type(ScalarType::Char),
        ];
        let arguments = values.chain(ends).chain([Argument::None]).collect();
        let real = self.node("quantized_decomposed.dequantize_per_channel.default", sizes, arguments);
        [Argument::Value(real), Argument::Value(bias)]
    }

    pub fn convolution(&mut self, input: Quantized, channels: i32, shape: Shape) -> ValueId {
        let sizes = self.sizes(input.id);
        let inner = sizes[1] / shape.groups as i32;
        let [weights, bias] = self.weights(
            &[channels, inner, shape.kernel[0], shape.kernel[1]],
            self.int4 && shape.groups < i64::from(sizes[1]),
        );
        let size = |axis: usize| {
            let span = shape.dilation * (shape.kernel[axis] - 1) + 1;
            (sizes[2 + axis] + 2 * shape.pad[axis] as i32 - span) / shape.stride as i32 + 1
        };
        let output = [sizes[0], channels, size(0), size(1)];
        let real = self.dequantize(input);
        let arguments = vec![
            Argument::Value(real),
            weights,
            bias,
            Argument::Ints(vec![shape.stride; 2]),
            Argument::Ints(shape.pad.to_vec()),
            Argument::Ints(vec![i64::from(shape.dilation); 2]),
            Argument::Bool(false),
            Argument::Ints(vec![0, 0]),
            Argument::Int(shape.groups),
        ];
        self.node("aten.convolution.default", &output, arguments)
    }

    pub fn unary(&mut self, operator: &str, id: ValueId) -> ValueId {
        let sizes = self.sizes(id);
        self.node(operator, &sizes, vec![Argument::Value(id)])
    }

    pub fn linear(&mut self, input: Quantized, columns: i32) -> ValueId {
        let mut sizes = self.sizes(input.id);
        let [weights, bias] = self.weights(&[columns, *sizes.last().unwrap()], self.int4);
        *sizes.last_mut().unwrap() = columns;
        let real = self.dequantize(input);
        self.node("aten.linear.default", &sizes, vec![Argument::Value(real), weights, bias])
    }

    /// A recurrent layer `[batches, time, features]` that begins with states of 0; its result.
    pub fn recurrent(&mut self, input: Quantized, cell: Cell, hidden: i32, bidirectional: bool) -> ValueId {
        let sizes = self.sizes(input.id);
        let (directions, gates) = (if bidirectional { 2 } else { 1 }, if cell == Cell::Lstm { 4 } else { 3 });
        let mut parameters = Vec::new();
        for _ in 0..directions {
            let [input, input_bias] = self.weights(&[gates * hidden, sizes[2]], false);
            let [hidden, hidden_bias] = self.weights(&[gates * hidden, hidden], false);
            parameters.extend([input, hidden, input_bias, hidden_bias].into_iter().filter_map(|one| match one {
                Argument::Value(id) => Some(Some(id)),
                _ => None,
            }));
        }
        let of_states = [directions, sizes[0], hidden];
        let count: i32 = of_states.iter().product();
        let states = if cell == Cell::Lstm { 2 } else { 1 };
        let zeros: Vec<_> = (0..states)
            .map(|_| Some(self.constant(ScalarType::Float, &of_states, vec![0; 4 * count as usize])))
            .collect();
        let real = self.dequantize(input);
        let first = if cell == Cell::Lstm { Argument::Values(zeros) } else { Argument::Value(zeros[0].unwrap()) };
        let arguments = vec![
            Argument::Value(real),
            first,
            Argument::Values(parameters),
            Argument::Bool(true),
            Argument::Int(1),
            Argument::Float(0.0),
            Argument::Bool(false),
            Argument::Bool(bidirectional),
            Argument::Bool(true),
        ];
        let result = TensorSpec::contiguous(ScalarType::Float, [sizes[0], sizes[1], directions * hidden]);
        let state = TensorSpec::contiguous(ScalarType::Float, of_states);
        let specs = std::iter::once(result).chain(std::iter::repeat_n(state, states));
        let names = ["result", "hidden", "cell"].into_iter();
        let outputs: Vec<_> =
            names.zip(specs).map(|(name, spec)| self.graph.add_value(name, spec, ValueKind::Computed)).collect();
        let operator = if cell == Cell::Lstm { "aten.lstm.input" } else { "aten.gru.input" };
        let operator = OperatorName::parse(operator).unwrap();
        self.graph.nodes.push(Node { operator, arguments, outputs: outputs.clone() });
        outputs[0]
    }

    pub fn program(mut self, outputs: &[ValueId]) -> LoweredProgram {
        self.graph.outputs.extend(outputs);
        LoweredProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), self.graph)]) }).unwrap()
    }
}

/// The cells of recurrent layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    Lstm,
    Gru,
}

#[derive(Clone, Copy)]
pub struct Shape {
    pub kernel: [i32; 2],
    pub stride: i64,
    pub pad: [i64; 2],
    pub dilation: i32,
    pub groups: i64,
}

pub const PLAIN: Shape = Shape { kernel: [1, 1], stride: 1, pad: [0, 0], dilation: 1, groups: 1 };

/// Numbers between -1 and 1 for every input.
pub fn random_inputs(program: &LoweredProgram, seed: u32) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let graph = &program.program().methods["forward"];
    let sizes = graph.inputs.iter().map(|id| graph.spec(*id).numel());
    sizes.map(|count| (0..count).flat_map(|_| random.real().to_le_bytes()).collect()).collect()
}

impl Net {
    /// A convolution with a ReLU.
    pub fn activated(&mut self, input: Quantized, channels: i32, shape: Shape) -> Quantized {
        let output = self.convolution(input, channels, shape);
        let output = self.unary("aten.relu.default", output);
        self.quantize_like(input, output, 0.012, -128)
    }

    /// The first quantized value of a network.
    pub fn quantized_input(&mut self, form: Form, id: ValueId) -> Quantized {
        if form == Form::Int16 { self.quantize16(id, 1.0 / 120.0, 3) } else { self.quantize(id, 1.0 / 120.0, 3) }
    }
}
