//! Quantized checkpoints whose tensors do not fit: errors that name the tensor or the key, and no panic.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_checkpoint::{Checkpoint, Kept, Model, Multiplied, import_checkpoint, stored_forms, stores_integers};
use etbuild_ir::Buffer;
use etbuild_weights::InMemory;

/// A tensor: name, type, bytes of an element, and shape.
type Tensor = (&'static str, &'static str, usize, Vec<usize>);

fn shard(tensors: &[Tensor]) -> Vec<u8> {
    let (mut entries, mut start) = (Vec::new(), 0);
    for (name, dtype, size, shape) in tensors {
        let end = start + shape.iter().product::<usize>() * size;
        entries
            .push(format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"));
        start = end;
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend((0..start).map(|index| (index * 7919 % 251) as u8));
    bytes
}

/// A model with one quantized module.
fn model(quantization: &str, tensors: &[Tensor]) -> Model {
    let config = format!(
        r#"{{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 32, "intermediate_size": 32,
            "num_hidden_layers": 1, "num_attention_heads": 2, "quantization_config": {quantization}}}"#
    );
    let shards = BTreeMap::from([("model.safetensors".to_owned(), Arc::new(shard(tensors)) as Arc<dyn Buffer>)]);
    Model::Folder { config: Arc::new(config.into_bytes()), more: BTreeMap::new(), shards }
}

/// The errors of a model with one quantized module.
fn errors(quantization: &str, tensors: &[Tensor]) -> String {
    let model = model(quantization, tensors);
    let errors = import_checkpoint(&Checkpoint { model, adapter: None }, &support::small(), &InMemory).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const MODULE: &str = "model.layers.0.self_attn.q_proj";

#[test]
fn an_unknown_method_is_refused_with_the_known_ones() {
    let said = errors(r#"{"quant_method": "quip"}"#, &[]);
    assert!(said.contains("quantization_config.quant_method") && said.contains("`awq`"), "{said}");
    let said = errors(r#"{"quant_method": "gptq", "bits": 3}"#, &[]);
    assert!(said.contains("quantization_config.bits") && said.contains("`4`, `8`"), "{said}");
    let said = errors(r#"{"quant_method": "awq", "bits": 4, "version": "gemv"}"#, &[]);
    assert!(said.contains("quantization_config.version"), "{said}");
    let said = errors(r#"{"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}"#, &[]);
    assert!(said.contains("quantization_config.format"), "{said}");
    let said = errors(r#"{"quant_method": "fp8", "weight_block_size": [0, 128]}"#, &[]);
    assert!(said.contains("weight_block_size"), "{said}");
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let word = |name, shape: &[usize]| (name, "I32", 4, shape.to_vec());
    let half = |name, shape: &[usize]| (name, "F16", 2, shape.to_vec());
    const GPTQ: &str = r#"{"quant_method": "gptq", "bits": 4}"#;
    let weights = word("model.layers.0.self_attn.q_proj.qweight", &[4, 32]);
    let zeros = word("model.layers.0.self_attn.q_proj.qzeros", &[1, 4]);
    let scales = half("model.layers.0.self_attn.q_proj.scales", &[1, 32]);
    let cases: [(&[Tensor], &str); 5] = [
        (std::slice::from_ref(&weights), "scales` is missing"),
        (&[weights.clone(), scales.clone()], "qzeros` is missing"),
        (&[weights.clone(), half("model.layers.0.self_attn.q_proj.scales", &[5, 32])], "scales"),
        (&[weights.clone(), zeros.clone(), half("model.layers.0.self_attn.q_proj.scales", &[1, 31])], "scales"),
        (&[(MODULE, "I32", 4, vec![1]), weights.clone(), zeros, scales], "model.embed_tokens.weight` is missing"),
    ];
    for (tensors, words) in cases {
        let said = errors(GPTQ, tensors);
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn empty_and_odd_shapes_are_errors() {
    for shape in [vec![0, 32], vec![4, 0], vec![4], vec![1, 1, 1]] {
        let tensors = [
            ("model.layers.0.self_attn.q_proj.qweight", "I32", 4, shape.clone()),
            ("model.layers.0.self_attn.q_proj.qzeros", "I32", 4, shape.clone()),
            ("model.layers.0.self_attn.q_proj.scales", "F16", 2, shape.clone()),
        ];
        for method in [r#"{"quant_method": "gptq", "bits": 4}"#, r#"{"quant_method": "awq", "bits": 4}"#] {
            assert!(!errors(method, &tensors).is_empty(), "{shape:?}");
        }
        let tensors = [
            ("model.layers.0.self_attn.q_proj.weight", "F8_E4M3", 1, shape.clone()),
            ("model.layers.0.self_attn.q_proj.weight_scale", "F32", 4, shape.clone()),
            ("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", 1, shape.clone()),
        ];
        for method in ["fp8", "mxfp4", "bitsandbytes"] {
            assert!(!errors(&format!(r#"{{"quant_method": "{method}"}}"#), &tensors).is_empty(), "{shape:?}");
        }
    }
}

#[test]
fn a_description_that_is_no_json_is_malformed() {
    let state = ("model.layers.0.self_attn.q_proj.weight.quant_state.bitsandbytes__nf4", "U8", 1, vec![9]);
    let said = errors(r#"{"quant_method": "bitsandbytes"}"#, &[state]);
    assert!(said.contains("quant_state"), "{said}");
}

#[test]
fn configurations_say_whether_weights_are_integers() {
    let says = |key: &str, value: &str| stores_integers(format!(r#"{{"{key}": {value}}}"#).as_bytes());
    for (value, are_integers) in [
        (r#"{"quant_method": "gptq"}"#, true),
        (r#"{"quant_method": "awq"}"#, true),
        (r#"{"quant_method": "mxfp4"}"#, true),
        (r#"{"quant_method": "fp8"}"#, false),
        (r#"{"quant_method": "bitsandbytes", "load_in_8bit": true}"#, true),
        (r#"{"quant_method": "bitsandbytes", "load_in_4bit": true}"#, false),
        (r#"{"quant_method": "compressed-tensors", "format": "pack-quantized"}"#, true),
        (r#"{"quant_method": "compressed-tensors", "format": "float-quantized"}"#, false),
        (r#"{"quant_method": "unknown"}"#, false),
        ("7", false),
    ] {
        assert_eq!(says("quantization_config", value), are_integers, "{value}");
    }
    assert!(says("quantization", r#"{"bits": 4, "group_size": 64}"#) && !says("hidden_size", "8"));
}

#[test]
fn what_decoded_matrices_cost_is_said() {
    let tensors = [
        ("model.layers.0.self_attn.q_proj.weight", "F8_E4M3", 1, vec![600, 500]),
        ("model.layers.0.self_attn.q_proj.weight_scale", "F32", 4, vec![1]),
    ];
    let model = model(r#"{"quant_method": "fp8"}"#, &tensors);
    let says = |keeps, multiplied| stored_forms(&model, keeps, multiplied).unwrap().unwrap();
    let said = says(Kept::All, Multiplied::Float);
    assert!(said.starts_with("stored matrices become float32, 2 MB, unless `--quantize int8-weights`"), "{said}");
    assert!(said.contains(": 1 of FP8"), "{said}");
    assert!(says(Kept::Int4, Multiplied::Scheme).contains("which the recipe quantizes: 1 of FP8"));
}
