//! Quantized checkpoints whose tensors do not fit: errors that name the tensor or the key, and no panic.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_checkpoint::{Checkpoint, Kept, Model, Multiplied, import_checkpoint, stored_forms, stores_integers};
use etbuild_ir::Buffer;
use etbuild_weights::InMemory;

/// A tensor: name, type, bytes of an element, and shape.
type Tensor = (&'static str, &'static str, usize, Vec<usize>);

/// A file of tensors, whose header has texts of this map of JSON too.
fn shard(tensors: &[Tensor], texts: &str) -> Vec<u8> {
    let (mut entries, mut start) = (vec![format!("\"__metadata__\":{texts}")], 0);
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
    model_with(quantization, tensors, "{}")
}

/// The same whose file has texts in its header.
fn model_with(quantization: &str, tensors: &[Tensor], texts: &str) -> Model {
    let config = format!(
        r#"{{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 32, "intermediate_size": 32,
            "num_hidden_layers": 1, "num_attention_heads": 2, "quantization_config": {quantization}}}"#
    );
    let shards = BTreeMap::from([("model.safetensors".to_owned(), Arc::new(shard(tensors, texts)) as Arc<dyn Buffer>)]);
    Model::Folder { config: Arc::new(config.into_bytes()), more: BTreeMap::new(), shards }
}

/// The errors of a model with one quantized module.
fn errors(quantization: &str, tensors: &[Tensor]) -> String {
    errors_of(model(quantization, tensors))
}

fn errors_of(model: Model) -> String {
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

const TORCHAO: &str = r#"{"quant_method": "torchao", "quant_type": {"default": {"_type": "IntxWeightOnlyConfig"}}}"#;

/// A header's text about the tensor of the module: class, and what the class states.
fn class(name: &str, data: &str) -> String {
    let text = format!(r#"{{"_type": "{name}", "_data": {data}, "_tensor_data_names": ["qdata", "scale"]}}"#);
    format!(r#"{{"{MODULE}.weight": {text:?}, "tensor_names": "[]", "format": "pt"}}"#)
}

/// The parts of torchao's tensors: the integers, the scales, and the zero points.
const PARTS: [&str; 3] = [
    "model.layers.0.self_attn.q_proj._weight_qdata",
    "model.layers.0.self_attn.q_proj._weight_scale",
    "model.layers.0.self_attn.q_proj._weight_zero_point",
];

/// The same of older classes.
const OLDER: [&str; 3] = ["model.layers.0.self_attn.q_proj._weight_int_data", PARTS[1], PARTS[2]];

#[test]
fn what_is_not_known_of_torchao_is_named() {
    let parts = [(PARTS[0], "I8", 1, vec![32, 32]), (PARTS[1], "F32", 4, vec![32, 1])];
    let said = |header: &str, parts: &[Tensor]| errors_of(model_with(TORCHAO, parts, header));
    let of_class = said(&class("MXTensor", "{}"), &parts);
    assert!(
        of_class.contains(MODULE) && of_class.contains("`MXTensor`") && of_class.contains("Int8Tensor"),
        "{of_class}"
    );
    let scaled = [&parts[..], &[("model.layers.0.self_attn.q_proj._weight_act_pre_scale", "F32", 4, vec![1])]].concat();
    assert!(said(&class("Int8Tensor", "{}"), &scaled).contains("`Int8Tensor` with `act_pre_scale`, which"));
    let of_numbers =
        [(OLDER[0], "I8", 1, vec![32, 32]), (OLDER[1], "F32", 4, vec![32]), (OLDER[2], "F32", 4, vec![32])];
    assert!(said(&class("PlainAQTTensorImpl", "{}"), &of_numbers).contains("with numbers as zero points"));
    for integers in ["int9", "int0", "uint4"] {
        let data = format!(r#"{{"target_dtype": {{"_type": "torch.dtype", "_data": "{integers}"}}}}"#);
        let said = said(&class("IntxUnpackedToInt8Tensor", &data), &parts);
        assert!(said.contains(integers) && said.contains("not supported"), "{said}");
    }
    assert!(said("{}", &parts).contains("does not state the class"));
    let floats = r#"{"quant_method": "torchao", "quant_type": {"default": {"_type": "Float8WeightOnlyConfig",
        "_data": {"weight_dtype": {"_type": "torch.dtype", "_data": "float8_e5m2"}}}}}"#;
    assert!(errors(floats, &[]).contains("float8_e4m3fn"));
}

#[test]
fn parts_of_torchao_that_do_not_fit_are_named() {
    let int8 = |shape: &[usize]| (PARTS[0], "I8", 1, shape.to_vec());
    let scales = |shape: &[usize]| (PARTS[1], "F32", 4, shape.to_vec());
    let zeros = |shape: &[usize]| (PARTS[2], "I8", 1, shape.to_vec());
    let cases: [(&str, &[Tensor], &str); 9] = [
        ("Int8Tensor", &[int8(&[32, 32])], "_weight_scale` is missing"),
        ("Int8Tensor", &[scales(&[32, 1])], "_weight_qdata` is missing"),
        ("Int8Tensor", &[int8(&[2, 32, 32]), scales(&[2, 32, 1])], "is a stack"),
        ("Int8Tensor", &[int8(&[32, 32]), scales(&[32, 5])], "shape [32, 5]"),
        ("Int8Tensor", &[int8(&[32, 32]), scales(&[32, 1]), zeros(&[32, 2])], "shape [32, 2]"),
        ("Int4Tensor", &[int8(&[32, 16]), scales(&[1, 32])], "_weight_zero_point` is missing"),
        ("Int4Tensor", &[int8(&[32, 16]), scales(&[5, 32]), zeros(&[5, 32])], "shape [32, 16]"),
        ("Float8Tensor", &[int8(&[32, 32]), scales(&[32, 1])], "elements of type int8"),
        ("Int4TilePackedTo4dTensor", &[int8(&[32, 32]), scales(&[1, 32, 2])], "_weight_scale_and_zero` is missing"),
    ];
    for (name, parts, words) in cases {
        let said = errors_of(model_with(TORCHAO, parts, &class(name, "{}")));
        assert!(said.contains(words), "{name}, {words}: {said}");
    }
}

#[test]
fn odd_shapes_of_torchao_are_errors() {
    let both = "model.layers.0.self_attn.q_proj._weight_scale_and_zero";
    let names = [
        "PlainAQTTensorImpl",
        "Float8Tensor",
        "Int4Tensor",
        "Int8Tensor",
        "IntxUnpackedToInt8Tensor",
        "Int4TilePackedTo4dTensor",
    ];
    let shapes: [&[usize]; 9] = [
        &[0, 1 << 60, 32, 1 << 60],
        &[0, 32],
        &[4, 0],
        &[4],
        &[],
        &[1, 1, 1],
        &[1, 1, 32, 0],
        &[0, 1, 32, 4],
        &[1, 1, 32, 4],
    ];
    let data = ["{}", "[]", r#"{"shape": [0, 0]}"#, r#"{"shape": [99999999999, 3]}"#, r#"{"target_dtype": 7}"#];
    for (name, data) in names.into_iter().flat_map(|name| data.map(|data| (name, data))) {
        for (shape, other) in shapes.into_iter().flat_map(|shape| shapes.map(|other| (shape, other))) {
            let kind = if name == "Int4TilePackedTo4dTensor" { ("I32", 4) } else { ("U8", 1) };
            let parts = [
                (PARTS[0], kind.0, kind.1, shape.to_vec()),
                (PARTS[1], "F32", 4, other.to_vec()),
                (PARTS[2], "F32", 4, other.to_vec()),
                (OLDER[0], "I8", 1, shape.to_vec()),
                (both, "BF16", 2, [other, &[2]].concat()),
            ];
            let said = errors_of(model_with(TORCHAO, &parts, &class(name, data)));
            assert!(!said.is_empty(), "{name} {shape:?} {other:?} {data}");
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
        (r#"{"quant_method": "torchao", "quant_type": {"default": {"_type": "IntxWeightOnlyConfig"}}}"#, true),
        (
            r#"{"quant_method": "torchao", "quant_type": {"default": {"_type": "Float8WeightOnlyConfig", "_data": {}}}}"#,
            false,
        ),
        (
            r#"{"quant_method": "torchao", "quant_type": {"default": {"_type": "FqnToConfig", "_data": {"a":
            {"_type": "Float8WeightOnlyConfig"}, "b": {"_type": "Int8WeightOnlyConfig"}}}}}"#,
            true,
        ),
        (r#"{"quant_method": "torchao", "quant_type": "int4_weight_only"}"#, true),
        (r#"{"quant_method": "torchao", "quant_type": "float8_weight_only"}"#, false),
        (r#"{"quant_method": "torchao"}"#, false),
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
