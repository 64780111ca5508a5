//! Checkpoints of MLX: rows of integers of 2 to 8 bits, groups of columns, each with a scale and a bias.
//!
//! `quantization` in `config.json` says bits and group size, and further sizes by module. A number is the integer times the scale, plus the
//! bias. Embeddings are quantized too.

use super::affine::{Affine, Packing, REALS, WORDS, Zeros, typed};
use super::{modules, part, two_sizes};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The key of the configuration.
pub const KEY: &str = "quantization";

/// The bits of integers.
const BITS: [usize; 6] = [2, 3, 4, 5, 6, 8];

pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    for module in modules(tensors, "scales") {
        // A module with another group size or number of bits has a map under its name.
        let own = config.value(&module).is_some_and(serde_json::Value::is_object);
        let own = if own { config.optional_map(&module)? } else { None };
        let Sizes { bits, group } = Sizes::read(own.as_ref().unwrap_or(config))?;
        let [rows, words] = two_sizes(tensors, &module, "weight")?;
        let [_, groups] = two_sizes(tensors, &module, "scales")?;
        let columns = groups.saturating_mul(group);
        if columns == 0 || words.checked_mul(32) != columns.checked_mul(bits) {
            let (found, wanted) = (vec![rows, words], vec![rows, columns.saturating_mul(bits) / 32]);
            return Err(CheckpointError::Shape { tensor: format!("{module}.weight"), found, wanted });
        }
        let integers = typed(part(tensors, &module, "weight", &[rows, words])?, &module, WORDS)?;
        let scales = typed(part(tensors, &module, "scales", &[rows, groups])?, &module, REALS)?;
        let biases = typed(part(tensors, &module, "biases", &[rows, groups])?, &module, REALS)?;
        let matrix = Affine {
            name: "MLX",
            integers,
            bits,
            packing: Packing::Stream,
            scales,
            scales_by_row: true,
            zeros: Zeros::Biases(biases),
            groups: None,
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())?;
    }
    Ok(())
}

/// The sizes of a module's integers.
struct Sizes {
    bits: usize,
    group: usize,
}

impl Sizes {
    fn read(config: &Config) -> Result<Self, CheckpointError> {
        if config.optional_text("mode")?.is_some_and(|mode| mode != "affine") {
            return Err(config.unsupported("mode", "`affine`"));
        }
        let bits = config.optional_size("bits")?.filter(|bits| BITS.contains(bits));
        let bits = bits.ok_or_else(|| config.unsupported("bits", BITS.map(|bits| format!("`{bits}`")).join(", ")))?;
        let group = config.optional_size("group_size")?.ok_or_else(|| config.mistake("group_size", "is missing"))?;
        Ok(Self { bits, group })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use etbuild_ir::Buffer;
    use serde_json::{Value, json};

    use super::*;
    use crate::encoded::{Encoded, Split};
    use crate::reals;
    use crate::shards::Stored;

    /// Tensors that MLX wrote (`tests/data/make_mlx.py`).
    fn written() -> Tensors {
        let file: Arc<dyn Buffer> = Arc::new(include_bytes!("../../tests/data/mlx.safetensors").to_vec());
        Tensors::open(&BTreeMap::from([("model.safetensors".to_owned(), file)])).unwrap()
    }

    fn sizes() -> Value {
        let own = BITS.map(|bits| (format!("bits{bits}"), json!({"group_size": 32, "bits": bits})));
        let sizes = json!({"group_size": 64, "bits": 4, "mode": "affine"});
        Value::Object(sizes.as_object().unwrap().clone().into_iter().chain(own).collect())
    }

    fn read(sizes: &Value) -> Result<Tensors, CheckpointError> {
        let llama =
            br#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 64, "intermediate_size": 64,
            "num_hidden_layers": 1, "num_attention_heads": 2}"#;
        let (mut decoder, mut tensors) = (crate::describe(llama).unwrap(), written());
        add(&Config::parse(sizes.to_string().as_bytes()).unwrap(), &mut decoder, &mut tensors)?;
        Ok(tensors)
    }

    /// The matrix of a number of bits, and the numbers by MLX.
    fn matrix(bits: usize) -> (Encoded, Vec<f32>) {
        let mut tensors = read(&sizes()).unwrap();
        let Stored::Encoded(matrix) = tensors.take_stored(&format!("bits{bits}.weight"), &[4, 64]).unwrap() else {
            panic!("a matrix of numbers")
        };
        let numbers = tensors.get(&format!("bits{bits}.numbers")).unwrap().clone();
        let numbers = numbers.pieces().flat_map(|piece| reals::read(numbers.scalar_type, piece)).collect();
        (matrix, numbers)
    }

    fn assert_near(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        let most = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f32::max);
        assert!(most < 1e-6, "{most}");
    }

    #[test]
    fn numbers_of_all_sizes_are_those_of_mlx() {
        for bits in BITS {
            let (matrix, expected) = matrix(bits);
            let mut numbers = vec![0.0; expected.len()];
            matrix.form.decode(0, &mut numbers);
            assert_near(&numbers, &expected);
        }
    }

    #[test]
    fn integers_scales_and_offsets_make_the_numbers() {
        for bits in BITS {
            let (matrix, expected) = matrix(bits);
            let grid = matrix.form.grid().unwrap();
            assert_eq!((grid.group, grid.bounds[0], grid.has_offsets), (32, if bits <= 4 { -8 } else { -128 }, true));
            let (mut integers, mut scales, mut offsets) = (vec![0; expected.len()], vec![0.0; 8], vec![0.0; 8]);
            let mut parts = Split { integers: &mut integers, scales: &mut scales, offsets: &mut offsets };
            matrix.form.split(0, &mut parts);
            let [least, most] = grid.bounds;
            assert!(integers.iter().all(|integer| (least..=most).contains(&i64::from(*integer))));
            let number = |(at, integer): (usize, &i8)| f32::from(*integer) * scales[at / 32] + offsets[at / 32];
            assert_near(&integers.iter().enumerate().map(number).collect::<Vec<f32>>(), &expected);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        for (key, value, part) in [
            ("bits3", json!({"group_size": 32, "bits": 7}), "`7`"),
            ("bits3", json!({"group_size": 32, "bits": 3, "mode": "mxfp4"}), "`\"mxfp4\"`"),
            ("bits3", json!({"group_size": 64, "bits": 3}), "bits3.weight"),
            ("bits8", json!({"bits": 8}), "group_size"),
        ] {
            let mut sizes = sizes();
            sizes[key] = value;
            let Err(error) = read(&sizes) else { panic!("{part}") };
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
