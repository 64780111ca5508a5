//! Files that `torch.save` wrote (`data/make.py`), and damaged copies.

use std::fs;
use std::path::Path;

use et_core::ScalarType;
use etbuild_torch::{Class, Elements, Remedy, Tensor, read};

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// The tensor of a name, with the bytes.
fn tensor(file: &[u8], name: &str) -> (Tensor, Vec<u8>) {
    let tensor = read(file).unwrap().tensors.into_iter().find(|tensor| tensor.name == name).unwrap();
    let length = tensor.shape.iter().product::<usize>() * tensor.scalar_type.size();
    let bytes = match &tensor.elements {
        Elements::InPlace(start) => file[*start..start + length].to_vec(),
        Elements::Gathered(bytes) => bytes.clone(),
    };
    (tensor, bytes)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn tensors_have_their_names_types_and_shapes() {
    let found = read(&file("tensors.bin")).unwrap().tensors;
    let found: Vec<_> =
        found.iter().map(|tensor| (tensor.name.as_str(), tensor.scalar_type, &tensor.shape[..])).collect();
    let expected: [(&str, ScalarType, &[usize]); 10] = [
        ("float32", ScalarType::Float, &[3, 4]),
        ("transposed", ScalarType::Float, &[4, 3]),
        ("part", ScalarType::Float, &[4]),
        ("shared", ScalarType::Float, &[3, 4]),
        ("float16", ScalarType::Half, &[2]),
        ("bfloat16", ScalarType::BFloat16, &[2, 1]),
        ("int64", ScalarType::Long, &[]),
        ("uint8", ScalarType::Byte, &[2]),
        ("bool", ScalarType::Bool, &[2]),
        ("none", ScalarType::Float, &[0, 4]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn elements_are_those_that_were_saved() {
    let file = file("tensors.bin");
    let bytes = |name| tensor(&file, name).1;
    assert_eq!(floats(&bytes("float32")), (0_u8..12).map(f32::from).collect::<Vec<f32>>());
    assert_eq!(floats(&bytes("transposed")), [0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0]);
    assert_eq!(floats(&bytes("part")), [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(bytes("float16"), [0, 0x38, 0, 0xc0]);
    assert_eq!(bytes("bfloat16"), [0xc0, 0x3f, 0x40, 0xc0]);
    assert_eq!(bytes("int64"), (-7_i64).to_le_bytes());
    assert_eq!((bytes("uint8"), bytes("bool")), (vec![1, 255], vec![1, 0]));
}

#[test]
fn tensors_that_share_a_storage_lie_in_the_same_bytes() {
    let file = file("tensors.bin");
    let elements = |name| tensor(&file, name).0.elements;
    assert_eq!(elements("float32"), elements("shared"));
    let (Elements::InPlace(whole), Elements::InPlace(part)) = (elements("float32"), elements("part")) else {
        panic!("elements are copied")
    };
    assert_eq!(part, whole + 16);
}

#[test]
fn newer_protocols_are_read() {
    let file = file("protocol4.bin");
    assert_eq!(floats(&tensor(&file, "float32").1)[11], 11.0);
}

#[test]
fn a_class_is_refused_by_name() {
    let error = read(&file("model.bin")).unwrap_err();
    assert!(error.to_string().contains("`torch.nn.modules.linear.Linear`"), "{error}");
    assert_eq!(error.remedy(), Remedy::Executed);
}

#[test]
fn other_containers_are_told_apart() {
    assert_eq!(read(&file("legacy.bin")).unwrap_err().remedy(), Remedy::Tensors);
    let mut compressed = file("protocol4.bin");
    // The method of compression in the central directory, which lists `data.pkl` first.
    let directory = compressed.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    compressed[directory + 10] = 8;
    assert_eq!(read(&compressed).unwrap_err().remedy(), Remedy::Tensors);
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    assert_eq!(read(pointer).unwrap_err().remedy(), Remedy::Copy);
}

/// Where `part` begins in a file.
fn place(file: &[u8], part: &[u8]) -> usize {
    file.windows(part.len()).position(|bytes| bytes == part).unwrap()
}

/// The file with the byte behind `part` replaced, without checksums: those of zip are not read.
fn changed(name: &str, part: &[u8], value: u8) -> Vec<u8> {
    let mut file = file(name);
    let place = place(&file, part) + part.len();
    file[place] = value;
    file
}

#[test]
fn a_function_is_refused_and_not_called() {
    let mut hostile = file("tensors.bin");
    let place = place(&hostile, b"ccollections\nOrderedDict\n");
    hostile[place..place + 25].copy_from_slice(b"cbuiltins\nexec__________\n");
    let error = read(&hostile).unwrap_err();
    assert!(error.to_string().contains("`builtins.exec__________`"), "{error}");
    assert_eq!(error.remedy(), Remedy::Refused);
}

#[test]
fn elements_outside_their_storage_are_refused() {
    // The first tensor: the number of elements `K\x0c`, and the sizes `K\x03K\x04`.
    for value in [13, 200] {
        let error = read(&changed("protocol4.bin", b"cpu\x94K", value)).unwrap_err();
        assert!(error.to_string().contains("outside its storage"), "{error}");
    }
    let error = read(&changed("protocol4.bin", b"K\x00K\x03K", 5)).unwrap_err();
    assert!(error.to_string().contains("outside its storage"), "{error}");
}

#[test]
fn damaged_files_are_an_error_or_other_tensors() {
    for name in ["tensors.bin", "protocol4.bin", "model.bin", "legacy.bin", "torchao-0.14.bin", "torchao-0.18.bin"] {
        let file = file(name);
        for length in 0..file.len() {
            read(&file[..length]).unwrap_err();
        }
        let pickle = file.windows(8).position(|bytes| bytes == b"data.pkl").unwrap_or(0);
        for at in pickle..file.len().min(pickle + 1200) {
            for value in [0, 1, b'(', b'.', b'R', b'h', b'q', b't', b'u', 0x7f, 0x94, 0xff] {
                let mut damaged = file.clone();
                damaged[at] = value;
                drop(read(&damaged));
            }
        }
    }
}

#[test]
fn a_dictionary_in_itself_ends() {
    // Items of a dictionary: a text, and the dictionary from the memo.
    let mut file = file("protocol4.bin");
    let place = place(&file, b"\x80\x04");
    let pickle = b"\x80\x04}\x94\x8c\x01ah\x00s.";
    file[place..place + pickle.len()].copy_from_slice(pickle);
    let error = read(&file).unwrap_err();
    assert!(error.to_string().contains("`a` is no tensor"), "{error}");
}

#[test]
fn a_tensor_with_a_negation_that_is_due_is_refused() {
    let error = read(&file("negated.bin")).unwrap_err();
    assert!(error.to_string().contains("`negated` is stored without the negation"), "{error}");
    assert_eq!(error.remedy(), Remedy::Tensors);
}

#[test]
fn tensors_in_a_dictionary_below_can_be_written_alone() {
    let error = read(&file("nested.bin")).unwrap_err();
    assert!(error.to_string().contains("`state_dict` is no tensor"), "{error}");
    assert_eq!(error.remedy(), Remedy::Tensors);
}

#[test]
fn tensors_of_classes_are_parts_with_names() {
    let contents = read(&file("torchao-0.18.bin")).unwrap();
    let part = |tensor: &Tensor| (tensor.name.clone(), tensor.scalar_type, tensor.shape.clone());
    let expected = [
        ("0._weight_qdata", ScalarType::Char, [8, 32]),
        ("0._weight_scale", ScalarType::Float, [8, 1]),
        ("0._weight_zero_point", ScalarType::Char, [8, 1]),
        ("1._weight_qdata", ScalarType::Char, [8, 32]),
        ("1._weight_scale", ScalarType::Float, [8, 2]),
        ("1._weight_zero_point", ScalarType::Char, [8, 2]),
        ("2._weight_qdata", ScalarType::Byte, [8, 32]),
        ("2._weight_scale", ScalarType::Float, [8, 1]),
    ];
    let expected = expected.map(|(name, scalar_type, shape)| (name.to_owned(), scalar_type, shape.to_vec()));
    assert_eq!(contents.tensors.iter().map(part).collect::<Vec<_>>(), expected);
    let class = |tensor: &str, name: &str, integers: Option<&str>| {
        let (tensor, name, integers) = (tensor.to_owned(), name.to_owned(), integers.map(str::to_owned));
        Class { tensor, name, shape: vec![8, 32], integers }
    };
    let expected = [
        class("0.weight", "Int8Tensor", None),
        class("1.weight", "IntxUnpackedToInt8Tensor", Some("int4")),
        class("2.weight", "Float8Tensor", None),
    ];
    assert_eq!(contents.classes, expected);
}

#[test]
fn classes_within_classes_are_those_of_the_parts() {
    let contents = read(&file("torchao-0.14.bin")).unwrap();
    let classes: Vec<_> = contents.classes.iter().map(|class| (&class.name[..], class.integers.as_deref())).collect();
    let expected = [("PlainAQTTensorImpl", None), ("PlainAQTTensorImpl", Some("int4")), ("Float8AQTTensorImpl", None)];
    assert_eq!(classes, expected);
    let names: Vec<&str> = contents.tensors.iter().map(|tensor| &tensor.name[..]).collect();
    let expected = [
        "0._weight_int_data",
        "0._weight_scale",
        "1._weight_int_data",
        "1._weight_scale",
        "1._weight_zero_point",
        "2._weight_float8_data",
        "2._weight_scale",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_class_outside_torchao_is_refused_by_name() {
    let mut hostile = file("torchao-0.18.bin");
    let name = b"ctorchao.quantization\nInt8Tensor\n";
    let place = place(&hostile, name);
    hostile[place..place + 8].copy_from_slice(b"ctorches");
    let error = read(&hostile).unwrap_err();
    assert!(error.to_string().contains("`torches.quantization.Int8Tensor`"), "{error}");
}

#[test]
fn numbers_of_another_type_of_8_bits_are_refused() {
    let mut other = file("torchao-0.18.bin");
    let place = place(&other, b"float8_e4m3fn");
    other[place..place + 13].copy_from_slice(b"float8_e5m2xx");
    assert!(read(&other).unwrap_err().to_string().contains("float8_e5m2xx"));
}
