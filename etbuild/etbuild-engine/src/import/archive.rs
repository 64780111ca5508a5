//! A `.pt2` archive becomes an ATen program.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_import::{CustomSchema, ImportError};
use etbuild_ir::{Aten, Dialect, text};
use etbuild_store::{Blob, BlobRef, Digest, KeyBuilder};

use super::file::unreadable;
use crate::action::program::{self, Held, Weights};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::export::exported;
use crate::input::{Archive, ArchiveOrigin, DataFile, Db, mapped_file};
use crate::pipeline::Stage;

/// The program that a `.pt2` archive holds.
#[salsa::tracked(returns(clone))]
pub fn archived(db: &dyn Db, model: Archive) -> StageResult {
    let operators = model.operators(db);
    let source = match model.origin(db) {
        ArchiveOrigin::File(file) => Source::File(file, digest(db, file)?),
        ArchiveOrigin::Python(python) => {
            let exported = exported(db, python).map_err(|blocked: Blocked| blocked.downstream())?;
            Source::Stored(exported.blob(ArtifactKind::Source)?)
        }
    };
    action::run(db, &Import { model, operators, source })
}

/// Importing an archive.
struct Import {
    model: Archive,
    /// The schemas of custom operators.
    operators: Arc<[CustomSchema]>,
    source: Source,
}

/// Where the archive is.
enum Source {
    File(DataFile, Digest),
    Stored(BlobRef),
}

impl Keyed for Import {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            model: _, // Errors name the model.
            operators,
            source,
        } = self;
        let key = operators.iter().fold(key, |key, schema| {
            let key = key.option("operators", schema.line()).fact("operator has a kernel", schema.has_kernel());
            schema.lowering().iter().fold(key, |key, line| key.option("operators", line.as_str()))
        });
        match source {
            Source::File(_, digest) | Source::Stored(BlobRef { digest, size: _ }) => key.input("model", *digest),
        }
    }
}

impl Action for Import {
    const STAGE: Stage = Stage::Import;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let archive = self.source.archive(db);
        products.adopt(ArtifactKind::Source, archive.reference());
        let bytes = Arc::new(Held(archive.clone()));
        let imported = etbuild_import::import_pt2_with(bytes, &self.operators.iter().cloned().collect());
        let imported = imported.map_err(|errors| place(import_source(db, self.model), &errors))?;
        let printed = text::print(Aten::NAME, imported.program());
        program::store(products, &printed, imported.program(), &Weights::of_archives([archive]));
        Ok(())
    }
}

impl Source {
    fn archive(&self, db: &dyn Db) -> Blob {
        match self {
            Self::File(file, digest) => mapped_file::mapped(db, *file, *digest),
            Self::Stored(blob) => db.world().open_weights(blob),
        }
    }
}

/// The file that the user knows the model by.
fn import_source(db: &dyn Db, model: Archive) -> &Path {
    match model.origin(db) {
        ArchiveOrigin::File(file) => file.path(db),
        ArchiveOrigin::Python(python) => &python.call(db).script,
    }
}

fn digest(db: &dyn Db, model: DataFile) -> Result<Digest, Blocked> {
    model.digest(db).map_err(|error| Blocked::failed(Stage::Import, [unreadable(db, model, error)]))
}

/// An error of an archive has no line, but a file.
fn place(model: &Path, errors: &[ImportError]) -> Vec<Diagnostic> {
    let span = Span::file(model.display().to_string());
    errors.iter().map(|error| super::failure::import(error).at(span.clone())).collect()
}
