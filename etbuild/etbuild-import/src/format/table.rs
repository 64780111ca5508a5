//! The formats, in the order in which they are tried.

use super::{Glance, advice, protobuf};

/// What is known about a format.
struct Row {
    format: Format,
    /// The format with its article, as in "an ONNX model".
    name: &'static str,
    /// How a model in the format gets into etbuild.
    advice: &'static str,
    matches: fn(&Glance<'_>) -> bool,
}

/// Makes the enum and the table from one list.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident $name:literal $advice:ident $matches:expr;)*) => {
        /// The format of a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $(#[doc = $name] $format,)*
        }

        static TABLE: &[Row] = &[$(Row {
            format: Format::$format,
            name: $name,
            advice: advice::$advice,
            matches: $matches,
        },)*];
    };
}

formats! {
    ExportedProgram "an archive of `torch.export.save`" EXPORT |file| file.has_member(|name| name == "archive_format");
    TorchScript "a TorchScript archive" EXPORT |file| file.has_member(|name| name == "constants.pkl" || name == "bytecode.pkl");
    TorchSave "a pickle of `torch.save`, with weights or a module in it" WEIGHTS |file| file.has_member(|name| name == "data.pkl");
    KerasArchive "a Keras model" KERAS |file| file.has_member(|name| name == "model.weights.h5");
    CoreMlPackage "a Core ML package" EXPORT |file| file.has_member(|name| name.ends_with(".mlmodel"));
    Npz "an archive of NumPy arrays" TENSORS |file| file.has_member(|name| name.ends_with(".npy"));
    Zip "a zip archive of another kind" PACKED |file| file.is_zip();
    OldTorchSave "a pickle of `torch.save`, with weights or a module in it" WEIGHTS |file| file.starts(OLD_TORCH);
    Pickle "a Python pickle" WEIGHTS |file| file.starts(b"\x80\x02") || file.starts(b"\x80\x03") || file.starts(b"\x80\x04") || file.starts(b"\x80\x05");
    TfLite "a TensorFlow Lite model" EXPORT |file| file.has_at(4, b"TFL3");
    Program "an ExecuTorch program file" PROGRAM |file| file.has_at(4, b"ET12");
    BundledProgram "an ExecuTorch bundled program" PROGRAM |file| file.has_at(4, b"BP08");
    Data "an ExecuTorch data file" DATA |file| file.has_at(4, b"FT01");
    Gguf "a GGUF model of llama.cpp" GGUF |file| file.starts(b"GGUF");
    Ggml "a GGML model of llama.cpp" GGML |file| file.starts(b"lmgg") || file.starts(b"fmgg") || file.starts(b"tjgg");
    Hdf5 "an HDF5 file, as Keras writes its models" KERAS |file| file.starts(b"\x89HDF\r\n\x1a\n");
    Safetensors "a safetensors file: weights without the model's code" SAFETENSORS |file| file.has_at(8, b"{\"");
    Npy "a NumPy array" TENSORS |file| file.starts(b"\x93NUMPY");
    Png "a PNG picture" MEDIA |file| file.starts(b"\x89PNG\r\n\x1a\n");
    Jpeg "a JPEG picture" MEDIA |file| file.starts(b"\xff\xd8\xff");
    Wav "a WAV sound" MEDIA |file| file.starts(b"RIFF") && file.has_at(8, b"WAVE");
    Gif "a GIF picture" PICTURE |file| file.starts(b"GIF8");
    Bmp "a BMP picture" PICTURE |file| file.starts(b"BM") && file.has_at(6, b"\0\0\0\0");
    WebP "a WebP picture" PICTURE |file| file.starts(b"RIFF") && file.has_at(8, b"WEBP");
    Tiff "a TIFF picture" PICTURE |file| file.starts(b"II*\0") || file.starts(b"MM\0*");
    Heif "a HEIF or AVIF picture" PICTURE |file| [&b"ftyphei"[..], b"ftypmif", b"ftypavi"].iter().any(|mark| file.has_at(4, mark));
    Mp3 "an MP3 sound" SOUND |file| file.starts(b"ID3") || file.starts(b"\xff\xfb");
    Flac "a FLAC sound" SOUND |file| file.starts(b"fLaC");
    Ogg "an Ogg sound" SOUND |file| file.starts(b"OggS");
    Gzip "a gzip archive" PACKED |file| file.starts(b"\x1f\x8b");
    Zstandard "a Zstandard archive" PACKED |file| file.starts(b"\x28\xb5\x2f\xfd");
    Tar "a tar archive" PACKED |file| file.has_at(257, b"ustar");
    Elf "an executable" BINARY |file| file.starts(b"\x7fELF");
    LfsPointer "a pointer of Git LFS" LFS |file| file.starts(b"version https://git-lfs");
    Html "a web page" HTML |file| is_html(file);
    Json "a JSON file" JSON |file| file.starts(b"{\"") || file.starts(b"{\n  \"") || file.starts(b"{\n\t\"");
    Onnx "an ONNX model" ONNX protobuf::is_onnx;
    SavedModel "a SavedModel of TensorFlow" KERAS protobuf::is_saved_model;
    CoreMl "a Core ML model" EXPORT protobuf::is_core_ml;
}

/// The start of the format of `torch.save` before torch 1.6: a pickled magic number (`torch/serialization.py`).
const OLD_TORCH: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

fn is_html(file: &Glance<'_>) -> bool {
    let start = file.text().map(|text| text.trim_start().to_ascii_lowercase());
    start.is_some_and(|start| start.starts_with("<!doctype html") || start.starts_with("<html"))
}

impl Format {
    /// The format of a file; `None` where nothing tells.
    pub fn of(glance: &Glance<'_>) -> Option<Self> {
        TABLE.iter().find(|row| (row.matches)(glance)).map(|row| row.format)
    }

    /// The format with its article, as in "an ONNX model".
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// How a model in this format gets into etbuild.
    pub fn advice(self) -> &'static str {
        self.row().advice
    }

    fn row(self) -> &'static Row {
        // The enum and the table are made from the same list.
        &TABLE[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(file: &[u8]) -> Option<Format> {
        Format::of(&Glance::of(file))
    }

    #[test]
    fn every_format_finds_its_own_row() {
        assert!(TABLE.iter().all(|row| std::ptr::eq(row.format.row(), row)));
    }

    #[test]
    fn formats_without_a_magic_number_are_told_apart() {
        assert_eq!(format(b"\x08\x08\x12\x07pytorch\x1a\x052.1.0"), Some(Format::Onnx));
        assert_eq!(format(b"\x08\x0a\x3a\xff\xff\x03"), Some(Format::Onnx));
        assert_eq!(format(b"\x08\x04\x12\x10\x0a\x0e\x0a\x05image\x1a\x05"), Some(Format::CoreMl));
        assert_eq!(format(b"\x08\x01\x12\xf0\x01\x0a\x20"), Some(Format::SavedModel));
        assert_eq!(format(b"etbuild: 1\nname: a\n"), None);
        assert_eq!(format(b""), None);
    }

    #[test]
    fn a_cut_or_odd_file_has_no_format() {
        for file in
            [&b"PK"[..], b"\x08", b"\x08\x08\x12", b"\x08\x08\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"GGU"]
        {
            assert_eq!(format(file), None, "{file:?}");
        }
    }
}
