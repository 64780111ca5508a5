//! Samples of inputs, and labels.

use et_core::ScalarType;
use et_module::TensorView;
use et_module::safetensors::SafeTensors;
use et_ops::call::OwnedTensor;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_quantize::Tensors;

use crate::action::Blocked;
use crate::input::{DataFile, Db, HashedFile};
use crate::pipeline::Stage;

/// The tensors of a safetensors file.
pub fn samples(db: &dyn Db, file: HashedFile) -> Result<Tensors, Vec<Diagnostic>> {
    let bytes = file.read(db)?;
    let malformed = |error| {
        let message = format!("the data `{}` is malformed: {error}", file.path(db).display());
        vec![Diagnostic::error(Code::CalibrationMismatch, message)]
    };
    let file = SafeTensors::parse(&bytes).map_err(malformed)?;
    Ok(file.tensors.into_iter().filter_map(|(name, view)| Some((name, owned(&view)?))).collect())
}

/// A copy of a tensor; `None` where a size is no size of a model's tensor.
pub fn owned(view: &TensorView<'_>) -> Option<OwnedTensor> {
    let sizes = view.shape.iter().map(|size| i32::try_from(*size).ok()).collect::<Option<_>>()?;
    Some(OwnedTensor { scalar_type: view.scalar_type, sizes, bytes: view.bytes.to_vec() })
}

/// The tensors of labelled data, and the labels.
pub fn labelled(db: &dyn Db, file: HashedFile, name: &str) -> Result<(Tensors, Vec<i64>), Vec<Diagnostic>> {
    let tensors = samples(db, file)?;
    let mistake = |message: String, help: String| vec![Diagnostic::error(Code::LabelsMismatch, message).help(help)];
    let labels = tensors.get(name).ok_or_else(|| {
        let names: Vec<&str> = tensors.keys().map(String::as_str).collect();
        mistake(format!("the labelled data has no tensor `{name}`"), format!("it has {}", names.join(", ")))
    })?;
    let labels = whole_numbers(labels).ok_or_else(|| {
        let message = format!("the labels `{name}` are {}, not whole numbers", labels.scalar_type.name());
        mistake(message, "write the position of the right class of each case, as `int64`".to_owned())
    })?;
    Ok((tensors, labels))
}

fn whole_numbers(tensor: &OwnedTensor) -> Option<Vec<i64>> {
    let bytes = &tensor.bytes;
    Some(match tensor.scalar_type {
        ScalarType::Byte => bytes.iter().map(|label| i64::from(*label)).collect(),
        ScalarType::Int => bytes.as_chunks().0.iter().map(|label| i64::from(i32::from_le_bytes(*label))).collect(),
        ScalarType::Long => bytes.as_chunks().0.iter().map(|label| i64::from_le_bytes(*label)).collect(),
        _ => return None,
    })
}

/// The file as the input of an action of this stage.
pub fn hashed(db: &dyn Db, file: DataFile) -> Result<HashedFile, Blocked> {
    let unreadable = |error| {
        let message = format!("`{}` cannot be read: {error}", file.path(db).display());
        Blocked::failed(Stage::Measure, [Diagnostic::error(Code::FileUnreadable, message)])
    };
    HashedFile::of(db, file).map_err(unreadable)
}
