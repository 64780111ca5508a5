//! Pictures in the prompts of language models.
//!
//! A program with a vision encoder has the method `vision_encoder`, which makes embeddings of the pixels of a tile, and named data with
//! [`Facts`]: the steps from a picture to tiles, and the text around the image tokens of a tile. A model that reads pictures of any size reads
//! patches ([`Patches`]). [`open`] loads both. A binary has this
//! crate only for a model with a vision encoder. No third-party crate: pictures are decoded by a function of the binary.

mod encoder;
mod facts;
mod patches;
mod table;
mod view;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use et_llm::{Error, OpenedVision};
use et_module::preprocess::ReadTiles;
use et_module::{DataFiles, Engines, FileBytes, Kernels, named_data};

use encoder::Encoder;
pub use facts::{Facts, VISION_KEY};
pub use patches::Patches;
use view::View;

/// Loads the vision encoder of a program file, as an [`et_llm::OpenVision`]; `None` for a program file without one.
///
/// # Errors
/// Malformed facts; a method that cannot be loaded.
pub fn open(
    file: &Rc<FileBytes>,
    data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
    kernels: Kernels<'_>,
    engines: &Engines,
    read: ReadTiles,
) -> Result<Option<OpenedVision>, Error> {
    let Some(bytes) = named_data(file, VISION_KEY) else { return Ok(None) };
    let facts = Facts::parse(bytes)?;
    let encoder = Encoder::load(file, data()?, kernels, engines, &facts)?;
    Ok(Some(OpenedVision {
        viewer: Arc::new(View::new(facts, read)),
        encoder: Rc::new(RefCell::new(encoder)),
        method: "prefill_image",
    }))
}
