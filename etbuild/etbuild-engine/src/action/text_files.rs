//! The files about texts of a checkpoint: files of a folder, made of a tokenizer in another form, or made of the metadata of GGUF files.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_checkpoint::{GGUF, gguf_texts, made_texts};
use etbuild_diagnostic::Diagnostic;
use etbuild_ir::Buffer;

use super::program::Held;
use crate::input::{Db, HashedFile, checkpoint, mapped_file};

/// The contents by name.
///
/// # Errors
/// Files that cannot be read; malformed tokenizers and GGUF.
pub fn text_files(
    db: &dyn Db,
    files: &BTreeMap<String, HashedFile>,
) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
    let (of_gguf, plain): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name.ends_with(GGUF));
    let read = |(name, file): (&String, &HashedFile)| Ok((name.clone(), file.read(db)?));
    let mut contents = plain.into_iter().map(read).collect::<Result<BTreeMap<_, _>, Vec<Diagnostic>>>()?;
    let made = made_texts(&contents).map_err(|error| vec![checkpoint(&error)])?;
    contents.extend(made);
    if !of_gguf.is_empty() {
        let mapped = of_gguf.into_iter().map(|(name, file)| {
            let file: Arc<dyn Buffer> = Arc::new(Held(mapped_file::mapped(db, file.input(), file.digest)));
            (name.clone(), file)
        });
        let made = gguf_texts(&mapped.collect());
        contents.extend(made.map_err(|errors| errors.iter().map(checkpoint).collect::<Vec<Diagnostic>>())?);
    }
    Ok(contents)
}
