//! The experts of a mixture: one instruction for all experts, with weights of every form, any number of rows and threads. Each output row
//! is the row of a linear layer with the weights of its expert.

mod part;

use std::fmt::Write;

use et_cpu::Instruction;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::LoweredProgram;
use part::{TOLD, bytes, candidate, numbers, this_machine};

const EXPERTS: usize = 5;
const CHOSEN: usize = 2;
const INNER: usize = 64;
/// The last panel is not full.
const COLUMNS: usize = 100;

/// Writes the weights of an expert as IR.
type Weights = fn(usize) -> String;

/// How rows are quantized at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rounding {
    /// They stay `float32`.
    None,
    /// With qparams for each row.
    Rows,
    /// With a scale for each half of a row.
    Halves,
}

/// A layer: `[tokens, 1 or CHOSEN, INNER]` by the chosen ones of five matrices.
#[derive(Clone, Copy, Debug)]
struct Layer {
    weights: Weights,
    /// How the rows are quantized at run time.
    rounding: Rounding,
    tokens: usize,
    /// Input rows of a token.
    vectors: usize,
    has_biases: bool,
    /// The blocks of a column that have an offset each, if any.
    blocks: Option<usize>,
}

/// Weights of an expert differ from those of the others by their scale.
fn float(expert: usize) -> String {
    let most = (expert + 1) as f64 / 5.0;
    format!("  constant %w{expert}: float32[{COLUMNS}, {INNER}] = \"w{expert}\" ramp({:?}, {most:?})\n", -most)
}

/// Numbers that bf16 holds.
fn bf16(expert: usize) -> String {
    let number = (expert as f64 - 2.5) / 8.0;
    format!("  constant %w{expert}: float32[{COLUMNS}, {INNER}] = \"w{expert}\" splat({number:?})\n")
}

fn int8(expert: usize) -> String {
    integers(expert, [-128, 127], INNER)
}

fn int4(expert: usize) -> String {
    integers(expert, [-8, 7], 32)
}

fn int8_in_blocks(expert: usize) -> String {
    integers(expert, [-128, 127], 16)
}

/// Six bits.
fn int6(expert: usize) -> String {
    integers(expert, [-32, 31], 16)
}

fn integers(expert: usize, [least, most]: [i32; 2], group: usize) -> String {
    let scale = (expert + 1) as f64 / 64.0;
    format!(
        "  constant %i{expert}: int8[{COLUMNS}, {INNER}] = \"i{expert}\" ramp({least}, {most})
  constant %s{expert}: float32[{COLUMNS}, {}] = \"s{expert}\" splat({scale:?})
  %w{expert}: float32[{COLUMNS}, {INNER}] = torchao.dequantize_affine.default(%i{expert}, [1, {group}], %s{expert}, none, int8, {least}, {most}, float32)
",
        INNER / group
    )
}

impl Layer {
    /// The program: the experts, then a linear layer with the weights of each.
    fn program(&self) -> LoweredProgram {
        let (Self { tokens, .. }, rows) = (self, format!("{}, {}", self.tokens, self.vectors));
        let mut text = format!(
            "etbuild-ir 1 lowered\nmethod forward\n  input %x: float32[{rows}, {INNER}]\n  input %chosen: int64[{tokens}, {CHOSEN}]\n"
        );
        let bias = |expert: usize| if self.has_biases { format!("%b{expert}") } else { "none".to_owned() };
        // The constants of a program precede its nodes.
        let parts: Vec<String> = (0..EXPERTS).map(self.weights).collect();
        let (constants, nodes): (Vec<&str>, Vec<&str>) =
            parts.iter().flat_map(|part| part.lines()).partition(|line| line.starts_with("  constant"));
        let _ = write!(
            text,
            "{}\n  constant %b: float32[{EXPERTS}, {COLUMNS}] = \"b\" ramp(-1.0, 1.0)\n",
            constants.join("\n")
        );
        text.push_str(&self.offsets());
        for expert in 0..EXPERTS {
            let [least, most] = [expert, expert + 1].map(|row| (row * COLUMNS) as f64);
            let at = |row: f64| row / ((EXPERTS * COLUMNS - 1) as f64) * 2.0 - 1.0;
            let _ = writeln!(
                text,
                "  constant %b{expert}: float32[{COLUMNS}] = \"b{expert}\" ramp({:?}, {:?})",
                at(least),
                at(most - 1.0)
            );
        }
        for node in nodes {
            let _ = writeln!(text, "{node}");
        }
        let input = if self.rounding != Rounding::None {
            let (mapping, block, least, scales) = match self.rounding {
                Rounding::Halves => ("SYMMETRIC", INNER / 2, -127, format!("{rows}, 2")),
                Rounding::None | Rounding::Rows => ("ASYMMETRIC", INNER, -128, rows.clone()),
            };
            let block = format!("[1, 1, {block}]");
            let _ = write!(
                text,
                "  (%scale: float32[{scales}], %zero: int8[{scales}]) = torchao.choose_qparams_affine.default(%x, \"{mapping}\", {block}, int8, {least}, 127, none, none, int8, false)
  %q: int8[{rows}, {INNER}] = torchao.quantize_affine.default(%x, {block}, %scale, %zero, int8, {least}, 127)
  %r: float32[{rows}, {INNER}] = torchao.dequantize_affine.default(%q, {block}, %scale, %zero, int8, {least}, 127, float32)
"
            );
            "%r"
        } else {
            "%x"
        };
        let list: Vec<String> = (0..EXPERTS).map(|expert| format!("%w{expert}")).collect();
        let biases = if self.has_biases { "%b" } else { "none" };
        let offsets = if self.blocks.is_some() { "%o" } else { "none" };
        let _ = writeln!(
            text,
            "  %out: float32[{tokens}, {CHOSEN}, {COLUMNS}] = etbuild.expert_linear.default({input}, %chosen, values[{}], {biases}, {offsets})",
            list.join(", ")
        );
        for expert in 0..EXPERTS {
            text.push_str(&self.linear(expert, input, &bias(expert)));
        }
        let outputs: Vec<String> = (0..EXPERTS).map(|expert| format!("%l{expert}")).collect();
        let _ = writeln!(text, "  return %out, {}", outputs.join(", "));
        LoweredProgram::verify(etbuild_golden::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
    }

    /// The offsets of all experts, and those of each.
    fn offsets(&self) -> String {
        let Some(blocks) = self.blocks else { return String::new() };
        let last = (EXPERTS * blocks * COLUMNS - 1) as f64;
        let constant = |name: &str, layers: usize, first: usize| {
            let [first, count] = [first, layers].map(|layer| layer * blocks * COLUMNS);
            let [least, most] = [first, first + count - 1].map(|at| at as f64 / last * 8.0 - 4.0);
            format!(
                "  constant %{name}: float32[{layers}, {blocks}, {COLUMNS}] = \"{name}\" ramp({least:?}, {most:?})\n"
            )
        };
        let each = (0..EXPERTS).map(|expert| constant(&format!("o{expert}"), 1, expert));
        std::iter::once(constant("o", EXPERTS, 0)).chain(each).collect()
    }

    /// The linear layer of an expert, `%l` with its number; with offsets as a sum.
    fn linear(&self, expert: usize, input: &str, bias: &str) -> String {
        let Self { tokens, vectors, blocks, .. } = *self;
        let output = format!("float32[{tokens}, {vectors}, {COLUMNS}]");
        let Some(blocks) = blocks else {
            return format!("  %l{expert}: {output} = aten.linear.default({input}, %w{expert}, {bias})\n");
        };
        let (rows, group) = (tokens * vectors, INNER / blocks);
        format!(
            "  %p{expert}: {output} = aten.linear.default({input}, %w{expert}, {bias})
  %v{expert}: float32[1, {rows}, {blocks}, {group}] = aten.view_copy.default({input}, [1, {rows}, {blocks}, {group}])
  %m{expert}: float32[1, {rows}, {blocks}] = aten.mean.dim(%v{expert}, [-1], false, none)
  %f{expert}: float32[1, {rows}, {COLUMNS}] = aten.bmm.default(%m{expert}, %o{expert})
  %t{expert}: {output} = aten.view_copy.default(%f{expert}, [{tokens}, {vectors}, {COLUMNS}])
  %l{expert}: {output} = aten.add.Tensor(%p{expert}, %t{expert}, 1)
"
        )
    }

    /// Compares the experts with the linear layers, on several numbers of threads.
    fn check(&self) {
        let chosen: Vec<i64> =
            (0..self.tokens * CHOSEN).map(|row| ((row * 7 + row / 3) % (EXPERTS - 1)) as i64).collect();
        let inputs = [
            bytes(&numbers(self.tokens * self.vectors * INNER, 3)),
            chosen.iter().flat_map(|expert| expert.to_le_bytes()).collect(),
        ];
        let target = this_machine();
        let computed = |threads: usize| {
            let candidate = candidate(&target, threads);
            let compiled = compile(self.program(), &candidate).unwrap();
            let outputs = run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap();
            outputs.into_iter().map(|output| output.bytes).collect::<Vec<_>>()
        };
        let alone = computed(1);
        assert!(alone == computed(3), "{self:?}");
        let floats =
            |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>();
        let [experts, linear @ ..] = &alone.iter().map(|bytes| floats(bytes)).collect::<Vec<_>>()[..] else { panic!() };
        for (row, expert) in chosen.iter().enumerate() {
            let from = if self.vectors == 1 { row / CHOSEN } else { row };
            let [made, wanted] = [(experts, row), (&linear[*expert as usize], from)]
                .map(|(rows, row)| &rows[row * COLUMNS..(row + 1) * COLUMNS]);
            // Sums of few rows and of many are in another order.
            let scale = wanted.iter().fold(0.1_f32, |most, one| most.max(one.abs()));
            for (made, wanted) in made.iter().zip(wanted) {
                assert!((made - wanted).abs() <= 1e-5 * scale, "{self:?} row {row}: {made} and {wanted}");
            }
        }
        assert!(experts.iter().any(|one| one.abs() > 0.01));
    }
}

#[test]
fn every_row_is_that_of_a_linear_layer_with_the_weights_of_its_expert() {
    let integers: [Weights; 3] = [int8, int4, int8_in_blocks];
    let roundings = [Rounding::None, Rounding::Rows, Rounding::Halves];
    let forms = integers.into_iter().flat_map(|weights| roundings.map(|rounding| (weights, rounding)));
    let floats: [Weights; 2] = [float, bf16];
    for (weights, rounding) in floats.map(|weights| (weights, Rounding::None)).into_iter().chain(forms) {
        for (tokens, vectors, has_biases) in [(1, 1, false), (1, CHOSEN, true), (6, 1, true), (150, CHOSEN, false)] {
            Layer { weights, rounding, tokens, vectors, has_biases, blocks: None }.check();
        }
    }
}

#[test]
fn offsets_of_blocks_are_those_of_linear_layers() {
    let forms: [(Weights, usize); 3] = [(int4, 32), (int6, 16), (int8_in_blocks, 16)];
    for (weights, group) in forms {
        for (tokens, vectors, has_biases) in [(1, 1, false), (1, CHOSEN, true), (6, 1, true), (150, CHOSEN, false)] {
            for rounding in [Rounding::None, Rounding::Rows, Rounding::Halves] {
                Layer { weights, rounding, tokens, vectors, has_biases, blocks: Some(INNER / group) }.check();
            }
        }
    }
}

#[test]
fn a_mixture_is_one_instruction_for_all_experts() {
    let layer =
        Layer { weights: int4, rounding: Rounding::Halves, tokens: 1, vectors: 1, has_biases: false, blocks: None };
    TOLD.with_borrow_mut(Vec::clear);
    layer.check();
    let told = TOLD.with_borrow(|told| told.iter().filter(|one| matches!(one, Instruction::ExpertGemm(_))).count());
    assert_eq!(told, 2, "one in each of two runs");
}

#[test]
fn a_number_that_no_expert_has_is_an_error() {
    let target = this_machine();
    let candidate = candidate(&target, 1);
    let layer =
        Layer { weights: float, rounding: Rounding::None, tokens: 1, vectors: 1, has_biases: false, blocks: None };
    let compiled = compile(layer.program(), &candidate).unwrap();
    for wrong in [-1, EXPERTS as i64, i64::MAX] {
        let chosen = [0, wrong].iter().flat_map(|expert| expert.to_le_bytes()).collect();
        assert!(
            run(&mut load(&compiled.file, &candidate).unwrap(), &[bytes(&[0.5; INNER]), chosen]).is_err(),
            "{wrong}"
        );
    }
}
