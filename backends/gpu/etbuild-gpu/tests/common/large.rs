//! Programs at sizes that need more than a tile, a lane or a part.

use etbuild_conformance::{Candidate, compile, load, run};
use etbuild_ir::LoweredProgram;

/// A program's statements, which compute `%y`, and the elements of each input as bytes.
pub struct Large {
    statements: String,
    inputs: Vec<Vec<u8>>,
}

impl Large {
    fn new(statements: &str, inputs: Vec<Vec<u8>>) -> Self {
        Self { statements: statements.to_owned(), inputs }
    }

    /// The result on the candidate's GPU; on portable kernels where the target has none.
    ///
    /// # Errors
    /// Every failure of loading and executing.
    pub fn result(&self, candidate: &Candidate<'_>) -> Result<Vec<f32>, String> {
        let text = format!("etbuild-ir 1 lowered\nmethod forward\n{}  return %y\n", self.statements);
        let program = LoweredProgram::verify(etbuild_golden::parse(&text).unwrap()).unwrap();
        let compiled = compile(program, candidate)?;
        let taken = compiled.partitioned.layers.iter().flatten().count();
        assert_eq!(taken == 0, candidate.target.gpus.is_empty(), "{text}");
        let output = run(&mut load(&compiled.file, candidate)?, &self.inputs)?.remove(0);
        Ok(output.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Checks the result on the candidate's GPU against portable kernels, whose target is `portable`.
    pub fn check(&self, candidate: &Candidate<'_>, portable: &Candidate<'_>) {
        let (got, expected) = (self.result(candidate).unwrap(), self.result(portable).unwrap());
        let greatest = expected.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        assert!(greatest > 0.0 && greatest.is_finite(), "{}", self.statements);
        let error = got.iter().zip(&expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f32::max);
        let (gpu, text) = (&candidate.target.gpus, &self.statements);
        assert!(got.len() == expected.len() && error <= 1e-5 * greatest, "{error} of {greatest}, {gpu:?}\n{text}");
    }
}

/// Numbers between -1 and 1 without a pattern in rows or columns.
fn numbers(count: usize, seed: u32) -> Vec<u8> {
    let number = |index: u32| {
        let bits = (index + 1).wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503)).rotate_left(13);
        (bits.wrapping_mul(747_796_405) >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count as u32).flat_map(|index| number(index).to_le_bytes()).collect()
}

fn indices(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A product of partial tiles, which is split.
pub fn product() -> Large {
    Large::new(
        "  input %a: float32[70, 600]\n  input %b: float32[600, 90]\n  %y: float32[70, 90] = aten.mm.default(%a, %b)\n",
        vec![numbers(70 * 600, 1), numbers(600 * 90, 2)],
    )
}

/// A product of few rows, whose lanes share the inner dimension.
pub fn few_rows() -> Large {
    Large::new(
        "  input %a: float32[3, 1028]\n  input %b: float32[70, 1028]\n  %y: float32[3, 70] = \
         aten.linear.default(%a, %b, none)\n",
        vec![numbers(3 * 1028, 3), numbers(70 * 1028, 4)],
    )
}

/// A convolution, which is split by kernel position and channel.
pub fn convolution() -> Large {
    Large::new(
        "  input %x: float32[1, 64, 9, 9]\n  input %w: float32[40, 64, 3, 3]\n  %y: float32[1, 40, 5, 5] = \
         aten.convolution.default(%x, %w, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1)\n",
        vec![numbers(64 * 81, 5), numbers(40 * 64 * 9, 6)],
    )
}

/// A first layer, whose steps go on from position to position.
pub fn first_layer() -> Large {
    Large::new(
        "  input %x: float32[1, 3, 30, 30]\n  input %w: float32[40, 3, 7, 7]\n  %y: float32[1, 40, 15, 15] = \
         aten.convolution.default(%x, %w, none, [2, 2], [3, 3], [1, 1], false, [0, 0], 1)\n",
        vec![numbers(3 * 900, 7), numbers(40 * 3 * 49, 8)],
    )
}

/// A kernel that folds a row and stores it.
pub fn row() -> Large {
    Large::new(
        "  input %x: float32[5, 7, 150]\n  %y: float32[5, 7, 150] = aten._softmax.default(%x, 2, false)\n",
        vec![numbers(5 * 7 * 150, 9)],
    )
}

/// A fold, which lanes share.
pub fn fold() -> Large {
    Large::new(
        "  input %x: float32[2, 3, 40, 50]\n  %y: float32[2, 3] = aten.mean.dim(%x, [2, 3], false, none)\n",
        vec![numbers(2 * 3 * 2000, 10)],
    )
}

/// Attention to a cache of 400 slots, `rows` rows from position `start` on.
pub fn attention(rows: usize, start: i64) -> Large {
    let (slots, heads, depth) = (400, 2, 32);
    Large::new(
        &format!(
            "  input %q: float32[1, {rows}, 4, {depth}]\n  input %k: float32[1, {slots}, {heads}, {depth}]\n  \
             input %v: float32[1, {slots}, {heads}, {depth}]\n  input %s: int64[1]\n  input %l: int64[1]\n  \
             %y: float32[1, {rows}, 4, {depth}] = \
             etbuild.attend_cache.default(%q, %k, %v, %s, %l, 0.25, 0, 0.0, none, none, 0)\n"
        ),
        vec![
            numbers(rows * 4 * depth, 11),
            numbers(slots * heads * depth, 12),
            numbers(slots * heads * depth, 13),
            indices(&[start]),
            indices(&[rows as i64 - 1]),
        ],
    )
}
