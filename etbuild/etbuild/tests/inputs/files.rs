//! Files of other tools, as small as their formats allow, and damaged files.

use crate::support::{MODEL, repository};

/// Files that are the same bytes each time, by name.
const FIXED: &[(&str, &[u8])] = &[
    // `ModelProto` of onnx.proto: `ir_version` 8, `producer_name`, `producer_version`, `graph`.
    ("onnx", b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x04\x0a\x02ab"),
    ("onnx without producer", b"\x08\x0a:\x06\x0a\x04main"),
    // A flatbuffer's root offset and its file identifier.
    ("tflite", b"\x1c\0\0\0TFL3\x14\0\x20\0\0\0\0\0"),
    ("program", b"\x20\0\0\0ET12\0\0\0\0\0\0\0\0"),
    ("data file", b"\x20\0\0\0FT01\0\0\0\0\0\0\0\0"),
    ("gguf", b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0"),
    ("hdf5", b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0"),
    // `Model` of Core ML's Model.proto: `specificationVersion` 4 and a `description`.
    ("core ml", b"\x08\x04\x12\x0b\x0a\x09\x0a\x05image\x12\0"),
    // `SavedModel` of saved_model.proto: `saved_model_schema_version` 1 and one of `meta_graphs`.
    ("saved model", b"\x08\x01\x12\x02\x0a\0"),
    // The magic number of torch.save before torch 1.6, and the protocol's version.
    ("old torch", b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03."),
    ("pickle", b"\x80\x04\x95\x05\0\0\0\0\0\0\0}\x94."),
    ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0"),
    ("jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9"),
    ("wav", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0"),
    ("npy", b"\x93NUMPY\x01\0v\0{'descr': '<f4'}"),
    ("bmp", b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0"),
    ("gif", b"GIF89a\x01\0\x01\0"),
    ("webp", b"RIFF\x24\0\0\0WEBPVP8 "),
    ("tiff", b"II*\0\x08\0\0\0"),
    ("avif", b"\0\0\0\x1cftypavif\0\0\0\0"),
    ("mp3", b"ID3\x04\0\0\0\0\0\0"),
    ("flac", b"fLaC\0\0\0\x22"),
    ("ogg", b"OggS\0\x02\0\0\0\0"),
    ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0"),
    ("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0"),
    ("lfs pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"),
    ("web page", b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"),
    ("safetensors with a header of an exbibyte", b"\0\0\0\0\0\0\0\x10{}"),
    ("cut safetensors", b"\x40\0\0\0\0\0\0\0{\"a\""),
    ("bytes", b"\xfe\xfd\xfc\xfb\x00\x01\x02\x03"),
    ("utf-16", b"\xff\xfee\0t\0b\0u\0i\0l\0d\0:\0 \x001\0\n\0"),
    ("latin-1", b"etbuild: 1\nname: caf\xe9\n"),
    ("checkpoint configuration", include_bytes!("../../../../examples/tiny-llama/model/config.json")),
];

/// Zip archives, by name, with the names of their members.
const ARCHIVES: &[(&str, &[&str])] = &[
    ("torch save", &["model/data.pkl", "model/byteorder", "model/data/0", "model/version"]),
    ("torchscript", &["net/data.pkl", "net/code/__torch__/net.py", "net/constants.pkl", "net/version"]),
    ("keras", &["metadata.json", "config.json", "model.weights.h5"]),
    ("npz", &["x.npy", "y.npy"]),
    ("zip", &["readme.txt"]),
];

/// The bytes of a file by its name.
pub fn make(name: &str) -> Vec<u8> {
    let fixed = FIXED.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.to_vec());
    let archive = || ARCHIVES.iter().find(|(known, _)| *known == name).map(|(_, members)| zip(members));
    let array = || name.strip_prefix("array ").map(array);
    let header = || name.strip_prefix("header ").map(headed);
    fixed.or_else(archive).or_else(array).or_else(header).unwrap_or_else(|| match name {
        "two megabytes" => vec![b'#'; 2 << 20],
        "half of digits" => part_of_digits(|length| length / 2),
        "digits but for a byte" => part_of_digits(|length| length - 1),
        _ => tensor(name),
    })
}

/// The first bytes of the digits model.
fn part_of_digits(length: impl Fn(usize) -> usize) -> Vec<u8> {
    let mut bytes = std::fs::read(repository().join(MODEL)).unwrap();
    bytes.truncate(length(bytes.len()));
    bytes
}

/// A NumPy file with this header and the 256 zeros of an image of digits (`numpy/lib/_format_impl.py`).
fn array(header: &str) -> Vec<u8> {
    [&b"\x93NUMPY\x01\0\x76\0"[..], format!("{header:<117}\n").as_bytes(), &[0; 256]].concat()
}

/// A safetensors file with this header and four bytes.
fn headed(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat()
}

/// A safetensors file with one tensor of zeros, from words such as `x F32 1 4`.
fn tensor(words: &str) -> Vec<u8> {
    let [name, dtype, shape @ ..] = &words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
    let shape: Vec<usize> = shape.iter().map(|size| size.parse().unwrap()).collect();
    let bytes = shape.iter().product::<usize>() * if dtype.ends_with("64") { 8 } else { 4 };
    let header = format!("{{\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[0,{bytes}]}}}}");
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &vec![0; bytes]].concat()
}

/// A zip archive with empty members of these names (APPNOTE.TXT 4.3).
fn zip(names: &[&str]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for name in names {
        let place = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        bytes.extend([b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0", &[0; 12][..], &length, &[0; 2], name.as_bytes()].concat());
        directory.extend([b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0", &[0; 12][..], &length, &[0; 12]].concat());
        directory.extend([&place[..], name.as_bytes()].concat());
    }
    let count = u16::try_from(names.len()).unwrap().to_le_bytes();
    let [size, start] = [directory.len(), bytes.len()].map(|length| u32::try_from(length).unwrap().to_le_bytes());
    [&bytes[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &start, &[0; 2]].concat()
}
