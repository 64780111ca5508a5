//! A model file becomes an ATen program.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_import::ImportError;
use etbuild_ir::{Aten, Dialect, text};
use etbuild_store::{Blob, BlobRef, Digest};

use super::exported;
use crate::ArtifactKind;
use crate::db::{Archive, DataFile, Db, ModelSource};
use crate::failure;
use crate::model_file;
use crate::program_artifact::{self, Held, Weights};
use crate::query::checkpoint;
use crate::stage::{self, Blocked, Stage, StageResult, interrupt};
use crate::unchanged;

/// The program of a method as captured or described. Reads only the model: all targets share the program.
pub fn imported(db: &dyn Db, model: ModelSource) -> StageResult {
    match model {
        ModelSource::Archive(archive) => archived(db, archive),
        ModelSource::Checkpoint(folder, method) => checkpoint::imported(db, folder, method),
    }
}

/// The program that a `.pt2` archive holds.
#[salsa::tracked(returns(clone))]
fn archived(db: &dyn Db, model: Archive) -> StageResult {
    let source = match model {
        Archive::File(file) => Source::File(file, digest(db, file)?),
        Archive::Python(python) => {
            let exported = exported(db, python).map_err(|blocked: Blocked| blocked.downstream())?;
            Source::Stored(exported.blob(ArtifactKind::Source)?)
        }
    };
    let key = Stage::Import.key().input("model", source.digest()).finish();
    stage::run(db.world(), Stage::Import, key, |products| {
        let archive = source.archive(db);
        products.adopt(ArtifactKind::Source, archive.reference());
        let bytes = Arc::new(Held(archive.clone()));
        let imported = etbuild_import::import_pt2(bytes).map_err(|errors| place(import_source(db, model), &errors))?;
        let printed = text::print(Aten::NAME, imported.program());
        program_artifact::store(products, &printed, imported.program(), &Weights::of_archives([archive]));
        Ok(())
    })
}

/// Where the archive is.
enum Source {
    File(DataFile, Digest),
    Stored(BlobRef),
}

impl Source {
    fn digest(&self) -> Digest {
        match self {
            Self::File(_, digest) => *digest,
            Self::Stored(blob) => blob.digest,
        }
    }

    fn archive(&self, db: &dyn Db) -> Blob {
        match self {
            Self::File(file, digest) => archive(db, *file, *digest),
            Self::Stored(blob) => db.world().open_weights(blob),
        }
    }
}

/// The file that the user knows the model by.
fn import_source(db: &dyn Db, model: Archive) -> &Path {
    match model {
        Archive::File(file) => file.path(db),
        Archive::Python(python) => &python.call(db).script,
    }
}

fn digest(db: &dyn Db, model: DataFile) -> Result<Digest, Blocked> {
    model.digest(db).map_err(|error| Blocked::failed(Stage::Import, [unreadable(db, model, error)]))
}

/// A model's file in the store, so that an edit during the import cannot reach a result under the old key.
pub fn archive(db: &dyn Db, model: DataFile, expected: Digest) -> Blob {
    if let Some(archive) = db.world().held(expected) {
        return archive;
    }
    let archive = model_file::keep(db.world(), model.path(db)).unwrap_or_else(|error| interrupt(error));
    unchanged::check(model.path(db), Some(expected), archive.reference().digest);
    db.world().hold(&archive);
    archive
}

pub fn unreadable(db: &dyn Db, model: DataFile, error: std::io::ErrorKind) -> Diagnostic {
    let message = format!("the model `{}` cannot be read: {error}", model.path(db).display());
    Diagnostic::error(Code::ModelUnreadable, message)
}

/// An error of an archive has no line, but a file.
fn place(model: &Path, errors: &[ImportError]) -> Vec<Diagnostic> {
    let span = Span::file(model.display().to_string());
    errors.iter().map(|error| failure::import(error).at(span.clone())).collect()
}
