//! Checkpoints of MLX: rows of integers of 2 to 8 bits, groups of columns, each with a scale and a bias.
//!
//! `quantization` in `config.json` says bits and group size, and further sizes by module. A number is the integer times the scale, plus the
//! bias. Embeddings are quantized too, and stacks of experts: the module `switch_mlp` of a mixture has a stack for each projection.

use etbuild_weights::{Affine, Packing, Tensor, Zeros};

use super::{REALS, WORDS, modules, part, two_sizes, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The key of the configuration.
pub const KEY: &str = "quantization";

/// The bits of integers.
const BITS: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// The module with the stacks of experts, in a mixture.
const STACKS: &str = "switch_mlp";

pub fn add(config: &Config, decoder: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    for module in modules(tensors, "scales") {
        let Sizes { bits, group } = Sizes::of(config, &module, tensors)?;
        let Some(stack) = stack(tensors, &module) else {
            Parts::take(tensors, &module)?.add(tensors, &module, bits, group)?;
            continue;
        };
        let place = module.rsplit_once('.').and_then(|(path, name)| Some((path.strip_suffix(STACKS)?, name)));
        let (Some((mixture, projection)), Some(experts)) = (place, decoder.experts.as_mut()) else {
            return Err(CheckpointError::Stack(module));
        };
        experts.list();
        let list = format!("{mixture}{}", experts.names.list);
        for (expert, parts) in Parts::of_stack(tensors, &module, stack)?.enumerate() {
            parts.add(tensors, &format!("{list}.{expert}.{projection}"), bits, group)?;
        }
    }
    Ok(())
}

/// The shape of the words of a module with a stack, `[experts, rows, words]`.
fn stack(tensors: &Tensors, module: &str) -> Option<[usize; 3]> {
    tensors.get(&format!("{module}.weight"))?.shape[..].try_into().ok()
}

/// The tensors of a matrix.
struct Parts {
    weight: Tensor,
    scales: Tensor,
    biases: Tensor,
}

impl Parts {
    /// Takes the tensors of a module out.
    fn take(tensors: &mut Tensors, module: &str) -> Result<Self, CheckpointError> {
        let [rows, words] = two_sizes(tensors, module, "weight")?;
        let [_, groups] = two_sizes(tensors, module, "scales")?;
        Ok(Self {
            weight: part(tensors, module, "weight", &[rows, words])?,
            scales: part(tensors, module, "scales", &[rows, groups])?,
            biases: part(tensors, module, "biases", &[rows, groups])?,
        })
    }

    /// The tensors of each expert of a stack, which are taken out.
    fn of_stack(
        tensors: &mut Tensors,
        module: &str,
        shape: [usize; 3],
    ) -> Result<impl Iterator<Item = Self> + use<>, CheckpointError> {
        let [count, rows, _] = shape;
        let groups = tensors.get(&format!("{module}.scales")).and_then(|scales| scales.shape.last()).copied();
        let scales = [count, rows, groups.unwrap_or_default()];
        let weight = part(tensors, module, "weight", &shape)?;
        let [scales, biases] = ["scales", "biases"].map(|name| part(tensors, module, name, &scales));
        let (scales, biases) = (scales?, biases?);
        Ok((0..count).map(move |expert| {
            let [weight, scales, biases] = [&weight, &scales, &biases].map(|stack| stack.of_stack(expert));
            Self { weight, scales, biases }
        }))
    }

    /// Adds the matrix of the tensors.
    fn add(self, tensors: &mut Tensors, module: &str, bits: usize, group: usize) -> Result<(), CheckpointError> {
        let ([rows, words], [_, groups]) = (sizes(&self.weight), sizes(&self.scales));
        let columns = groups.saturating_mul(group);
        if columns == 0 || words.checked_mul(32) != columns.checked_mul(bits) {
            let (found, wanted) = (vec![rows, words], vec![rows, columns.saturating_mul(bits) / 32]);
            return Err(CheckpointError::Shape { tensor: format!("{module}.weight"), found, wanted });
        }
        let matrix = Affine {
            name: "MLX",
            integers: typed(self.weight, module, WORDS)?,
            bits,
            packing: Packing::Stream,
            scales: typed(self.scales, module, REALS)?,
            scales_by_row: true,
            zeros: Zeros::Biases(typed(self.biases, module, REALS)?),
            groups: None,
            sizes: [rows, columns, group],
        };
        tensors.add_encoded(format!("{module}.weight"), vec![rows, columns], matrix.encoded())
    }
}

/// The sizes of a matrix.
fn sizes(tensor: &Tensor) -> [usize; 2] {
    tensor.shape[..].try_into().unwrap_or_default()
}

/// The sizes of a module's integers.
struct Sizes {
    bits: usize,
    group: usize,
}

impl Sizes {
    /// The sizes of a module. One with another group size or number of bits has a map under its name in the file.
    fn of(config: &Config, module: &str, tensors: &Tensors) -> Result<Self, CheckpointError> {
        let scales = format!("{module}.scales");
        let in_file = tensors.name_in_file(&scales);
        let own = in_file.strip_suffix(".scales").unwrap_or(module);
        let has_own = config.value(own).is_some_and(serde_json::Value::is_object);
        let own = if has_own { config.optional_map(own)? } else { None };
        Self::read(own.as_ref().unwrap_or(config))
    }

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
    use etbuild_weights::{Encoded, Split};
    use serde_json::{Value, json};

    use super::*;
    use crate::shards::Stored;

    /// Tensors that MLX wrote (`tests/data/make_mlx.py`).
    fn written() -> Tensors {
        let file: Arc<dyn Buffer> = Arc::new(include_bytes!("../../tests/data/mlx.safetensors").to_vec());
        Tensors::open(&BTreeMap::from([("model.safetensors".to_owned(), file)])).unwrap()
    }

    fn sizes() -> Value {
        let own = BITS.map(|bits| (format!("bits{bits}"), json!({"group_size": 32, "bits": bits})));
        let own =
            own.into_iter().chain([("mlp.switch_mlp.gate_proj".to_owned(), json!({"group_size": 32, "bits": 3}))]);
        let sizes = json!({"group_size": 64, "bits": 4, "mode": "affine"});
        Value::Object(sizes.as_object().unwrap().clone().into_iter().chain(own).collect())
    }

    fn read(sizes: &Value) -> Result<Tensors, CheckpointError> {
        let llama =
            br#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 64, "intermediate_size": 64,
            "num_hidden_layers": 1, "num_attention_heads": 2}"#;
        let (mut decoder, mut tensors) = (crate::describe(llama).unwrap(), written());
        for part in ["weight", "scales", "biases"] {
            tensors.discard(&format!("mlp.switch_mlp.gate_proj.{part}"));
        }
        add(&Config::parse(sizes.to_string().as_bytes()).unwrap(), &mut decoder, &mut tensors)?;
        Ok(tensors)
    }

    fn all_of(tensor: &Tensor) -> Vec<f32> {
        tensor.floats(0, tensor.shape.iter().product()).unwrap()
    }

    /// The matrix of a number of bits, and the numbers by MLX.
    fn matrix(bits: usize) -> (Encoded, Vec<f32>) {
        let mut tensors = read(&sizes()).unwrap();
        let Stored::Encoded(matrix) = tensors.take_stored(&format!("bits{bits}.weight"), &[4, 64]).unwrap() else {
            panic!("a matrix of numbers")
        };
        let numbers = all_of(tensors.get(&format!("bits{bits}.numbers")).unwrap());
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
            assert_eq!((grid.group, grid.bounds[0], grid.has_offsets), (32, -(1 << (bits - 1)), true));
            let (mut integers, mut scales, mut offsets) = (vec![0; expected.len()], vec![0.0; 8], vec![0.0; 8]);
            let mut parts = Split { integers: &mut integers, scales: &mut scales, offsets: &mut offsets };
            matrix.form.split(0, &mut parts);
            let [least, most] = grid.bounds;
            assert!(integers.iter().all(|integer| (least..=most).contains(&i64::from(*integer))));
            let number = |(at, integer): (usize, &i8)| f32::from(*integer) * scales[at / 32] + offsets[at / 32];
            assert_near(&integers.iter().enumerate().map(number).collect::<Vec<f32>>(), &expected);
        }
    }

    /// A decoder with experts, and the tensors of MLX under new names.
    fn with_experts(rename: impl Fn(&str) -> String, sizes: &Value) -> Result<(Decoder, Tensors), CheckpointError> {
        let qwen = br#"{"architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 8, "hidden_size": 64, "num_experts": 3,
            "moe_intermediate_size": 4, "num_experts_per_tok": 1, "intermediate_size": 64, "num_hidden_layers": 1,
            "num_attention_heads": 2, "num_key_value_heads": 2}"#;
        let (mut decoder, mut tensors) = (crate::describe(qwen).unwrap(), written().renamed(rename)?);
        add(&Config::parse(sizes.to_string().as_bytes())?, &mut decoder, &mut tensors)?;
        Ok((decoder, tensors))
    }

    #[test]
    fn stacks_of_experts_are_those_of_mlx() {
        let (_, mut tensors) = with_experts(str::to_owned, &sizes()).unwrap();
        let numbers = all_of(tensors.get("mlp.switch_mlp.gate_proj.numbers").unwrap());
        for (expert, expected) in numbers.chunks(4 * 64).enumerate() {
            let name = format!("mlp.experts.{expert}.gate_proj.weight");
            let Stored::Encoded(matrix) = tensors.take_stored(&name, &[4, 64]).unwrap() else { panic!("numbers") };
            let mut found = vec![0.0; expected.len()];
            matrix.form.decode(0, &mut found);
            assert_near(&found, expected);
        }
        assert_eq!(numbers.len(), 3 * 4 * 64);
    }

    #[test]
    fn sizes_of_a_module_have_the_name_of_the_file() {
        let rename = |name: &str| name.replace("bits3", "model.bits3");
        with_experts(rename, &sizes()).unwrap();
    }

    #[test]
    fn other_stacks_are_named() {
        let rename = |name: &str| name.replace("switch_mlp", "heads");
        let Err(error) = with_experts(rename, &sizes()) else { panic!("a stack was read") };
        assert!(error.to_string().contains("`mlp.heads.gate_proj` is a stack"), "{error}");
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
