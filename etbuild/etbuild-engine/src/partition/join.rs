//! The partitions of all methods become one blob of a backend, or a few: each is an action of its own, so that a change of one compiles
//! one.

use etbuild_backend::{Backend, Refusal};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{ConstantData, Dialect, Lowered, LoweredProgram, text};
use etbuild_partition::Group;
use etbuild_store::{BlobRef, Digest, KeyBuilder};

use super::PartitionOptions;
use super::query::{Backends, Reads, keep_nothing_of_a_failed_machine};
use crate::action::program::{self, StoredMethods, Weights, constant};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;

/// The program of all methods, with the joined partitions of backends.
pub fn joined(db: &dyn Db, methods: StoredMethods, options: &PartitionOptions) -> StageResult {
    let mut contexts = Vec::new();
    for backend in options.backends(db.world())?.into_iter().filter(|backend| backend.joins()) {
        let backends = Backends::of_one(options, backend, Reads::Join);
        for parts in grouped(db, methods.clone(), options, backend)? {
            let compiled = action::run(db, &Compile { parts: parts.clone(), backends: backends.clone() })?;
            let blob = compiled.blob(ArtifactKind::Constant)?;
            contexts.push(Context { backend: backend.name(), parts, blob });
        }
    }
    action::run(db, &Join { methods, contexts })
}

/// The groups of partitions of a backend that are compiled together.
fn grouped(
    db: &dyn Db,
    methods: StoredMethods,
    options: &PartitionOptions,
    backend: &'static dyn Backend,
) -> Result<Vec<Vec<BlobRef>>, Blocked> {
    let staged = action::run(db, &Divide { methods, backends: Backends::of_one(options, backend, Reads::Lower) })?;
    let found =
        serde_json::from_slice::<Vec<Vec<([u8; 32], u64)>>>(&db.world().open_blob(&staged.blob(ArtifactKind::Groups)?));
    let groups = found.map_err(|error| Blocked::internal(Stage::Delegate, &error.to_string()))?;
    let blob = |(digest, size)| BlobRef { digest: Digest(digest), size };
    Ok(groups.into_iter().map(|group| group.into_iter().map(blob).collect()).collect())
}

/// Dividing the partitions of a backend into groups.
struct Divide {
    methods: StoredMethods,
    backends: Backends,
}

impl Keyed for Divide {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { methods, backends } = self;
        backends.key(methods.key(key.option("divides", true)))
    }
}

impl Action for Divide {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, _) = self.methods.load(db.world())?;
        let mut groups: Vec<Group> = Vec::new();
        for backend in &self.backends.list {
            let found = etbuild_partition::groups(&program, *backend, &self.backends.target);
            groups.extend(found.map_err(|refusal| refused(backend.name(), &refusal))?);
        }
        let named = |part: &ConstantData| (part.digest().0, part.bytes().len() as u64);
        let groups: Vec<Vec<_>> = groups.iter().map(|group| group.iter().map(named).collect()).collect();
        products.put(ArtifactKind::Groups, &failure::json(&groups)?);
        groups.iter().flatten().for_each(|(digest, size)| {
            products.adopt(ArtifactKind::Constant, BlobRef { digest: Digest(*digest), size: *size });
        });
        Ok(())
    }
}

/// Compiling a group of partitions.
struct Compile {
    parts: Vec<BlobRef>,
    backends: Backends,
}

impl Keyed for Compile {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { parts, backends } = self;
        let key = key.option("compiles", true);
        backends.key(parts.iter().fold(key, |key, part| key.input("part", part.digest)))
    }
}

impl Action for Compile {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let parts: Vec<_> = self.parts.iter().map(|part| db.world().open_weights(part)).collect();
        let bytes: Vec<&[u8]> = parts.iter().map(|part| &part[..]).collect();
        for backend in &self.backends.list {
            let made =
                backend.join(&bytes, &self.backends.target).map_err(|refusal| refused(backend.name(), &refusal))?;
            products.put(ArtifactKind::Constant, &made);
        }
        Ok(())
    }
}

/// The diagnostic of a refusal. Because of the machine, it ends the stage: the next run may get another result.
fn refused(backend: &str, refusal: &Refusal) -> Vec<Diagnostic> {
    keep_nothing_of_a_failed_machine(backend, refusal);
    let message = format!("backend `{backend}` cannot compile the program: {refusal}");
    vec![Diagnostic::error(Code::CompilerRefused, message)]
}

/// A group of partitions with its compiled blob.
struct Context {
    backend: &'static str,
    parts: Vec<BlobRef>,
    blob: BlobRef,
}

/// Joining partitions.
struct Join {
    methods: StoredMethods,
    contexts: Vec<Context>,
}

impl Keyed for Join {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { methods, contexts } = self;
        contexts.iter().fold(methods.key(key.option("joins", true)), |key, context| {
            let Context { backend, parts, blob } = context;
            let key = key.option("engine", *backend).input("context", blob.digest);
            parts.iter().fold(key, |key, part| key.input("part", part.digest))
        })
    }
}

impl Action for Join {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (mut program, mut weights) = self.methods.load(db.world())?;
        let stored = |blob: &BlobRef, weights: &mut Weights| {
            let blob = db.world().open_weights(blob);
            weights.add(ArtifactKind::Constant, blob.clone());
            constant(blob)
        };
        for Context { backend, parts, blob } in &self.contexts {
            let Some(engine) = db.world().engine(backend) else { continue };
            let parts: Group = parts.iter().map(|part| stored(part, &mut weights)).collect();
            let joined = [(parts, stored(blob, &mut weights))];
            etbuild_partition::join(&mut program, engine, &joined).map_err(|refusal| refused(backend, &refusal))?;
        }
        let joined = LoweredProgram::verify(program).map_err(failure::violations)?.into_program();
        program::store(products, &text::print(Lowered::NAME, &joined), &joined, &weights);
        Ok(())
    }
}
