//! Files of Python's package are read, ours are read back, and damaged ones are refused.

use et_core::ScalarType;
use et_module::Array;
use et_module::Named;
use et_module::safetensors::{Error, SafeTensors, write};

const PYTHON: &[u8] = include_bytes!("data/made_by_python.safetensors");

#[test]
fn pythons_file_is_read() {
    let file = SafeTensors::parse(PYTHON).unwrap();
    let names: Vec<&str> = file.tensors.keys().map(String::as_str).collect();
    assert_eq!(names, ["flags", "h\u{e9} \"quoted\"", "none", "scalar", "x"]);
    assert_eq!(file.metadata["format"], "np");
    let x = &file.tensors["x"];
    assert_eq!((x.scalar_type, x.shape.as_slice()), (ScalarType::Float, &[2, 2, 3][..]));
    assert_eq!(x.bytes[44..], 11_f32.to_le_bytes());
    assert_eq!(file.tensors["flags"].bytes, [1, 0, 1]);
    assert_eq!(file.tensors["scalar"].bytes, (-7_i64).to_le_bytes());
    assert_eq!(file.tensors["none"].shape, [0, 4]);
    assert_eq!(file.tensors["h\u{e9} \"quoted\""].scalar_type, ScalarType::Half);
}

#[test]
fn files_of_mlx_have_null_for_no_text_and_words_without_a_sign() {
    let header = br#"{"__metadata__":null,"a":{"data_offsets":[0,4],"dtype":"U32","shape":[1]}} "#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header, &[1, 0, 0, 0x80]].concat();
    let file = SafeTensors::parse(&file).unwrap();
    assert!(file.metadata.is_empty());
    assert_eq!((file.tensors["a"].scalar_type, file.tensors["a"].bytes), (ScalarType::Int, &[1, 0, 0, 0x80][..]));
}

fn written(arrays: &Named<Array>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(arrays, &mut bytes).unwrap();
    bytes
}

fn pythons_arrays() -> Named<Array> {
    let own = |view: &et_module::TensorView<'_>| Array {
        scalar_type: view.scalar_type,
        shape: view.shape.clone(),
        bytes: view.bytes.to_vec(),
    };
    SafeTensors::parse(PYTHON).unwrap().tensors.iter().map(|(name, view)| (name.clone(), own(view))).collect()
}

#[test]
fn what_is_written_is_read_back() {
    let arrays = pythons_arrays();
    let bytes = written(&arrays);
    let file = SafeTensors::parse(&bytes).unwrap();
    for (name, array) in &arrays {
        assert_eq!(file.tensors[name], array.view());
    }
    assert_eq!(file.tensors.len(), arrays.len());
}

#[test]
fn golden_bytes() {
    let arrays = Named::from([
        ("b".into(), Array::zeros(ScalarType::Byte, &[1])),
        ("a\n".into(), Array::zeros(ScalarType::Short, &[])),
    ]);
    let header = concat!(
        r#"{"a\u000a":{"dtype":"I16","shape":[],"data_offsets":[0,2]},"#,
        r#""b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}"#
    );
    let padded = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    let mut expected = (padded.len() as u64).to_le_bytes().to_vec();
    expected.extend_from_slice(padded.as_bytes());
    expected.extend_from_slice(&[0; 3]);
    assert_eq!(written(&arrays), expected);
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[test]
fn headers_that_lie_are_refused() {
    let tensor =
        |shape: &str, offsets: &str| format!(r#"{{"a":{{"dtype":"U8","shape":{shape},"data_offsets":{offsets}}}}}"#);
    let refused = [
        tensor("[4]", "[0,3]"),
        tensor("[3]", "[0,3]"),
        tensor("[5]", "[0,5]"),
        tensor("[3]", "[1,4]"),
        tensor("[4]", "[4,0]"),
        tensor("[4294967296,4294967296]", "[0,4]"),
        tensor("[4]", "[0]"),
        tensor("[4]", "[0,4,4]"),
        r#"{"a":{"dtype":"U8","shape":[4]}}"#.into(),
        r#"{"a":{"dtype":"C64","shape":[4],"data_offsets":[0,4]}}"#.into(),
        r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":1}}"#.into(),
        r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}} x"#.into(),
        r#"{"a":[0,4]}"#.into(),
        "[]".into(),
        "{".repeat(100_000),
        String::new(),
    ];
    for header in refused {
        assert!(SafeTensors::parse(&file(&header, &[0; 4])).is_err(), "{header:.100}");
    }
    assert!(SafeTensors::parse(&file(&tensor("[4]", "[0,4]"), &[0; 4])).is_ok());
}

#[test]
fn a_name_that_occurs_twice_is_refused() {
    let entry = |start: usize| format!(r#""a":{{"dtype":"U8","shape":[1],"data_offsets":[{start},{}]}}"#, start + 1);
    let header = format!("{{{},{}}}", entry(0), entry(1));
    assert_eq!(SafeTensors::parse(&file(&header, &[0; 2])).err(), Some(Error::Duplicate("a".into())));
}

#[test]
fn no_changed_byte_makes_the_reader_panic() {
    let mut bytes = PYTHON.to_vec();
    for position in 0..bytes.len() {
        for change in [0x01, 0x20, 0x80, 0xff] {
            bytes[position] ^= change;
            let _ = SafeTensors::parse(&bytes);
            bytes[position] ^= change;
        }
        assert!(SafeTensors::parse(&bytes[..position]).is_err());
    }
}
