//! What files say about tensors of torchao's classes, which are stored in parts.

use serde_json::Value;

/// The class of a tensor, and what parts do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name.
    pub name: String,
    /// The type of the integers, such as `int4`, where a byte has more bits.
    pub integers: Option<String>,
    /// The rows and the columns, where parts have more.
    pub shape: Option<[usize; 2]>,
}

impl Class {
    /// The class that the header of a file states; `None` for a plain tensor, and for a text about something else.
    pub fn of_header(text: &str) -> Option<Self> {
        let stated: Value = serde_json::from_str(text).ok()?;
        let name = stated.get("_type")?.as_str().filter(|name| *name != "Tensor")?.to_owned();
        let data = stated.get("_data")?;
        let integers = data.get("target_dtype").and_then(|of| of.get("_data")?.as_str()).map(str::to_owned);
        let size = |size: &Value| size.as_u64().and_then(|size| usize::try_from(size).ok());
        let shape: Option<Vec<usize>> = data.get("shape").and_then(|of| of.as_array()?.iter().map(size).collect());
        Some(Self { name, integers, shape: shape.and_then(|shape| shape.try_into().ok()) })
    }

    /// The class of a tensor in a file of `torch.save`.
    pub fn of_pickle(stated: &etbuild_torch::Class) -> Self {
        let sizes: Result<Vec<usize>, _> = stated.shape.iter().map(|size| usize::try_from(*size)).collect();
        let shape = sizes.ok().and_then(|sizes| sizes.try_into().ok());
        Self { name: stated.name.clone(), integers: stated.integers.clone(), shape }
    }
}
