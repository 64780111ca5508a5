//! The inputs of `etbuild run`: tensors, scalars, and the order of their names.

use std::path::{Path, PathBuf};

use et_module::{
    Constant, MediaFormat, Module, Named, TensorFileError, TensorView, read_media, read_tensors, safetensors,
};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_engine::{Format, file_format};
use etbuild_system::System;
use serde_json::Value;

use super::program::failed;
use crate::arguments;
use crate::feature::{Feature, READ_MEDIA};

/// The files that inputs are read from.
pub struct Inputs {
    tensors: Vec<u8>,
    /// Where the tensors came from, for messages.
    path: PathBuf,
    /// Inputs that are not tensors, by name.
    pub scalars: Named<Constant>,
    /// The names in the method's order, where a file says.
    order: Option<Vec<String>>,
}

impl Inputs {
    /// Reads the files that the arguments name, and the files beside the model.
    pub fn read(system: &dyn System, arguments: &arguments::Run) -> Result<Self, Vec<Diagnostic>> {
        let path = arguments.inputs.clone().unwrap_or_default();
        let tensors = match &arguments.inputs {
            Some(file) => read_file(system, file).map_err(|diagnostic| vec![diagnostic.at(place(file))])?,
            None => no_tensors(),
        };
        let scalars = match &arguments.scalars {
            Some(file) => {
                Some((file.clone(), system.read(file).map_err(|error| vec![unreadable(file, &error)])?.to_vec()))
            }
            None => beside(system, arguments, "inputs.json"),
        };
        let scalars = scalars.map(|(file, text)| read_scalars(&file, &text)).transpose()?.unwrap_or_default();
        let order = if arguments.input_names.is_empty() {
            beside(system, arguments, "case.json").and_then(|(_, text)| read_order(&text))
        } else {
            Some(arguments.input_names.clone())
        };
        Ok(Self { tensors, path, scalars, order })
    }

    /// Refuses values of `--scalars` that no input of the program takes.
    pub fn check_scalars(&self, arguments: &arguments::Run, names: &[String]) -> Result<(), Vec<Diagnostic>> {
        let Some(file) = &arguments.scalars else { return Ok(()) };
        let Some(name) = self.scalars.keys().find(|name| !names.contains(name)) else { return Ok(()) };
        let message = format!("`{name}` is no input of the program, whose inputs are {}", names.join(", "));
        let help = "leave the value out: `torch.export` fixed the arguments that are no tensors, and etbuild's programs compute with these";
        Err(vec![Diagnostic::error(Code::InputsMismatch, message).at(place(file)).help(help)])
    }

    /// Puts the tensor that a picture or a recording becomes, by the preprocessing that the program states, in its place.
    pub fn decode(&mut self, module: &Module) -> Result<(), Vec<Diagnostic>> {
        let Some(format) = MediaFormat::of(&self.tensors) else { return Ok(()) };
        Feature::Media.require(&format!("`{}`, {},", self.path.display(), format.name()))?;
        let read = read_media(&self.path, &self.tensors, format, module, READ_MEDIA);
        let (name, array) = read.map_err(|error| vec![undecoded(&self.path, &error)])?;
        let mut tensors = Vec::new();
        let written = safetensors::write(&Named::from([(name, array)]), &mut tensors);
        written.map_err(|error| vec![unreadable(&self.path, &error)])?;
        self.tensors = tensors;
        Ok(())
    }

    /// The tensors by the names of the inputs, where the program holds the names. A NumPy array is the one input that is a tensor.
    pub fn tensors(&self, stored: Option<&[String]>) -> Result<Named<TensorView<'_>>, Vec<Diagnostic>> {
        let names = stored.or(self.order.as_deref()).map_or_else(|| vec![ONE_INPUT.to_owned()], <[String]>::to_vec);
        let names: Vec<String> = names.into_iter().filter(|name| self.scalars.get(name).is_none()).collect();
        read_tensors(&self.tensors, &names).map_err(|error| vec![malformed(&self.path, &error)])
    }

    /// The names in the method's order, where a file says; otherwise all in the order of the alphabet, without
    /// reference outputs and labels.
    pub fn names(&self, tensors: &Named<TensorView<'_>>) -> Vec<String> {
        if let Some(order) = &self.order {
            return order.clone();
        }
        let is_input = |name: &&String| !name.starts_with("output_") && *name != "labels";
        let mut names: Vec<String> = tensors.keys().filter(is_input).chain(self.scalars.keys()).cloned().collect();
        names.sort();
        names
    }
}

/// The name of the input of a program that holds no names.
const ONE_INPUT: &str = "x";

/// The bytes of a file of tensors.
fn read_file(system: &dyn System, file: &Path) -> Result<Vec<u8>, Diagnostic> {
    let (found, help) = match file_format(system, file) {
        _ if system.is_dir(file) => ("a folder", WRITE),
        Err(diagnostic) => return Err(diagnostic),
        Ok(Some(Format::Safetensors | Format::Npy | Format::Png | Format::Jpeg | Format::Wav) | None) => {
            return system.read(file).map_err(|error| unreadable(file, &error));
        }
        Ok(Some(format)) => (format.name(), help(format)),
    };
    let message =
        format!("`{}` is {found}, and inputs are a safetensors, `.npy`, PNG, JPEG or WAV file", file.display());
    Err(Diagnostic::error(Code::InputsMismatch, message).help(help))
}

/// How a file of another format becomes an input.
fn help(format: Format) -> &'static str {
    match format {
        Format::Bmp | Format::Gif | Format::WebP | Format::Tiff | Format::Heif => "convert the picture to PNG or JPEG",
        Format::Mp3 | Format::Flac | Format::Ogg => "convert the sound to WAV: `ffmpeg -i SOUND sound.wav`",
        Format::Json => "give numbers and texts with `--scalars`, and tensors as safetensors or `.npy`",
        _ => WRITE,
    }
}

/// How a safetensors file is written.
const WRITE: &str = "write a tensor for each input under the input's name, or one array; in Python:\n  \
    safetensors.torch.save_file({\"x\": x}, \"inputs.safetensors\")\n  numpy.save(\"x.npy\", x)";

fn place(file: &Path) -> Span {
    Span::file(file.display().to_string())
}

/// An empty file of tensors.
fn no_tensors() -> Vec<u8> {
    [&2_u64.to_le_bytes()[..], b"{}"].concat()
}

/// A file of this name in the folder of the inputs.
fn beside(system: &dyn System, arguments: &arguments::Run, name: &str) -> Option<(PathBuf, Vec<u8>)> {
    let file = arguments.inputs.as_ref()?.with_file_name(name);
    let text = system.read(&file).ok()?.to_vec();
    Some((file, text))
}

fn read_scalars(file: &Path, text: &[u8]) -> Result<Named<Constant>, Vec<Diagnostic>> {
    let wrong = |problem: String| {
        let diagnostic = Diagnostic::error(Code::InputsMismatch, format!("`{}`: {problem}", file.display()));
        vec![diagnostic.at(place(file)).help(SCALARS)]
    };
    let entries: serde_json::Map<String, Value> =
        serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
    let scalars = entries.into_iter().map(|(name, value)| match scalar(&value) {
        Some(scalar) => Ok((name, scalar)),
        None => Err(wrong(format!("`{name}` must be a number, a text, a boolean or null"))),
    });
    scalars.collect()
}

/// How scalars are written.
const SCALARS: &str = "write a JSON object with a value for each input that is no tensor: `{ \"n\": 3 }`";

fn scalar(value: &Value) -> Option<Constant> {
    match value {
        Value::Null => Some(Constant::None),
        Value::Bool(value) => Some(Constant::Bool(*value)),
        Value::Number(number) => number.as_i64().map(Constant::Int).or_else(|| number.as_f64().map(Constant::Double)),
        Value::String(text) => Some(Constant::Text(text.clone())),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// The names of a conformance case's inputs.
fn read_order(text: &[u8]) -> Option<Vec<String>> {
    let case: Value = serde_json::from_slice(text).ok()?;
    let inputs = case.get("inputs")?.as_array()?;
    inputs.iter().map(|input| Some(input.get("name")?.as_str()?.to_owned())).collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", path.display()))
}

fn malformed(path: &Path, error: &TensorFileError) -> Diagnostic {
    Diagnostic::error(Code::InputsMismatch, format!("`{}`: {error}", path.display())).at(place(path)).help(WRITE)
}

/// A picture or a recording that does not become an input.
fn undecoded(path: &Path, error: &et_module::Error) -> Diagnostic {
    let et_module::Error::Inputs { source, .. } = error else { return failed(path, error) };
    let help = match source {
        TensorFileError::NoSteps { input, format } => {
            let steps = if format.key() == "audio" { AUDIO } else { IMAGE };
            format!(
                "state it in the recipe, or for one run with `--set`:\n  inputs: {{ {input}: {steps} }}\n  --set \"inputs.{input}={steps}\""
            )
        }
        TensorFileError::Media { problem, .. } if problem.contains("fit the input") => {
            "change `resize`, `crop`, `color`, `layout` or `length` in the recipe's `inputs:`".to_owned()
        }
        TensorFileError::Media { .. } => "open the file in another program, and save it again".to_owned(),
        _ => WRITE.to_owned(),
    };
    Diagnostic::error(Code::InputsMismatch, format!("`{}`: {source}", path.display())).at(place(path)).help(help)
}

/// The preprocessing of torchvision's models.
const IMAGE: &str = "{ image: { resize: 256, crop: 224, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } }";

/// The sampling rate of most models of speech.
const AUDIO: &str = "{ audio: { rate: 16000 } }";
