//! Programs as artifacts: text and constants. A constant that lies unchanged in the model's archive is a slice of the
//! stored archive; another constant is a separate blob.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Buffer, ConstantData, Digest, Graph, LoweredProgram, Program, text};
use etbuild_store::{Blob, BlobRef, KeyBuilder};

use super::slices::{self, ALIGNMENT, Slice};
use super::{ArtifactKind, ArtifactRef, Artifacts, Blocked, Keyed, Products, Staged};
use crate::failure;
use crate::session::World;

/// A blob as the buffer of constants.
pub struct Held(pub Blob);

impl Buffer for Held {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn release(&self, part: Range<usize>) {
        self.0.release(part);
    }
}

/// A whole blob as a constant.
pub fn constant(blob: Blob) -> ConstantData {
    let digest = Digest(blob.reference().digest.0);
    ConstantData::verified(Held(blob), digest)
}

/// The stored bytes that the constants of a program are parts of, mapped.
#[derive(Default)]
pub struct Weights {
    /// By the start address.
    blobs: BTreeMap<usize, (ArtifactKind, Blob)>,
}

impl Weights {
    /// The constants of a program that lie in files of the model.
    pub fn of_archives(archives: impl IntoIterator<Item = Blob>) -> Self {
        let mut weights = Self::default();
        archives.into_iter().for_each(|archive| weights.add(ArtifactKind::Source, archive));
        weights
    }

    /// Adds the constants of another program.
    pub fn extend(&mut self, other: Self) {
        self.blobs.extend(other.blobs);
    }

    /// Adds a stored blob that constants are parts of.
    pub fn add(&mut self, kind: ArtifactKind, blob: Blob) {
        self.blobs.insert(blob.as_ptr().addr(), (kind, blob));
    }

    /// The position of a constant in the stored bytes, if stored.
    fn place(&self, data: &ConstantData) -> Option<Place> {
        let bytes = data.bytes();
        let (_, (kind, blob)) = self.blobs.range(..=bytes.as_ptr().addr()).next_back()?;
        let start = blob.offset_of(bytes).filter(|start| !bytes.is_empty() && start % ALIGNMENT == 0)?;
        match kind {
            ArtifactKind::Source => {
                let slice = Slice { digest: data.digest(), start, length: bytes.len() as u64 };
                Some(Place::InArchive(blob.reference(), slice))
            }
            _ => (blob.reference() == reference(data)).then_some(Place::Alone(blob.reference())),
        }
    }
}

/// Where a constant that the store has lies.
enum Place {
    /// In a separate blob.
    Alone(BlobRef),
    /// In the model's archive.
    InArchive(BlobRef, Slice),
}

/// Stores the printed program and the constants, each once. Constants in `weights` are stored already.
pub fn store(products: &mut Products<'_>, printed: &str, program: &Program, weights: &Weights) {
    products.put(ArtifactKind::Program, printed.as_bytes());
    let mut constants: BTreeMap<Digest, &ConstantData> = BTreeMap::new();
    for graph in program.methods.values() {
        graph.for_each_data(&mut |data| {
            constants.insert(data.digest(), data);
        });
    }
    let (mut new, mut archives) = (Vec::new(), BTreeMap::<BlobRef, Vec<Slice>>::new());
    for data in constants.into_values() {
        match weights.place(data) {
            Some(Place::Alone(blob)) => products.adopt(ArtifactKind::Constant, blob),
            Some(Place::InArchive(archive, slice)) => archives.entry(archive).or_default().push(slice),
            None => new.push((reference(data), data.bytes())),
        }
    }
    products.put_named(ArtifactKind::Constant, &new);
    for (archive, slices) in archives {
        if !products.has(&archive) {
            products.adopt(ArtifactKind::Source, archive);
        }
        products.put(ArtifactKind::Slices, slices::print(&slices).as_bytes());
    }
}

/// The blob that would hold a constant.
fn reference(data: &ConstantData) -> BlobRef {
    BlobRef { digest: etbuild_store::Digest(data.digest().0), size: data.bytes().len() as u64 }
}

/// A program in the store, as the input of an action.
#[derive(Clone, Debug)]
pub struct StoredProgram {
    staged: Arc<Staged>,
    text: BlobRef,
}

impl StoredProgram {
    /// The program that a stage stored.
    pub fn of(staged: Arc<Staged>) -> Result<Self, Blocked> {
        let text = staged.blob(ArtifactKind::Program)?;
        Ok(Self { staged, text })
    }

    /// The digest of the text, which names every constant by digest.
    pub const fn digest(&self) -> etbuild_store::Digest {
        self.text.digest
    }

    /// Reads the program with `parse`, as [`load`] does.
    pub fn load<T, E: std::fmt::Display>(
        &self,
        world: &World,
        parse: impl FnOnce(&str, &mut dyn FnMut(Digest) -> Option<ConstantData>) -> Result<T, E>,
    ) -> Result<(T, Weights), Vec<Diagnostic>> {
        load(world, &self.staged, parse)
    }

    /// Reads a lowered program.
    pub fn lowered(&self, world: &World) -> Result<(LoweredProgram, Weights), Vec<Diagnostic>> {
        let ((_, program), weights) = self.load(world, text::parse)?;
        Ok((LoweredProgram::verify(program).map_err(failure::violations)?, weights))
    }
}

impl Keyed for StoredProgram {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            staged: _, // The text names the constants among the artifacts by digest.
            text,
        } = self;
        key.input("program", text.digest)
    }
}

/// The method of a program with one method.
pub fn only_method(program: &LoweredProgram) -> Result<&Graph, Vec<Diagnostic>> {
    let graph = program.program().methods.values().next();
    graph.ok_or_else(|| failure::internal("a program has no method"))
}

/// The methods of a program, as the input of an action.
#[derive(Clone, Debug)]
pub struct StoredMethods {
    /// The stored programs: each of one method, with the method's name in the recipe, or of several methods.
    programs: Vec<(Option<String>, StoredProgram)>,
}

impl StoredMethods {
    /// A program of each method, by the method's name in the recipe.
    pub fn apart(methods: impl IntoIterator<Item = (String, StoredProgram)>) -> Self {
        Self { programs: methods.into_iter().map(|(method, program)| (Some(method), program)).collect() }
    }

    /// One program of all methods.
    pub fn together(program: StoredProgram) -> Self {
        Self { programs: vec![(None, program)] }
    }

    /// Reads the methods as one program.
    pub fn load(&self, world: &World) -> Result<(Program, Weights), Vec<Diagnostic>> {
        let (mut joined, mut weights) = (Program::default(), Weights::default());
        for (method, program) in &self.programs {
            let ((_, program), stored) = program.load(world, text::parse)?;
            weights.extend(stored);
            let Some(method) = method else {
                joined.methods.extend(program.methods);
                continue;
            };
            let graph = program.methods.into_values().next();
            let graph = graph.ok_or_else(|| failure::internal("an archive has no method"))?;
            joined.methods.insert(method.clone(), graph);
        }
        Ok((joined, weights))
    }
}

impl Keyed for StoredMethods {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { programs } = self;
        programs.iter().fold(key, |key, (method, program)| program.key(key.option("method", method.as_deref())))
    }
}

/// Reads a stored program with `parse`, which takes the text and finds constants by digest.
pub fn load<T, E: std::fmt::Display>(
    world: &World,
    staged: &Staged,
    parse: impl FnOnce(&str, &mut dyn FnMut(Digest) -> Option<ConstantData>) -> Result<T, E>,
) -> Result<(T, Weights), Vec<Diagnostic>> {
    let program = staged.artifacts.get(ArtifactKind::Program).ok_or_else(|| unreadable(&"there is none"))?;
    let bytes = world.open_blob(&program.blob());
    let text = std::str::from_utf8(&bytes).map_err(|error| unreadable(&error))?;
    let (mut weights, slices) = (Weights::default(), archived(world, &staged.artifacts)?);
    let constants = staged.artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Constant);
    let blobs: BTreeMap<[u8; 32], BlobRef> = constants.map(|artifact| (artifact.digest.0, artifact.blob())).collect();
    let mut find = |digest: Digest| {
        if let Some((archive, Slice { start, length, .. })) = slices.get(&digest) {
            weights.add(ArtifactKind::Source, archive.clone());
            let (start, length) = (usize::try_from(*start).ok()?, usize::try_from(*length).ok()?);
            return ConstantData::verified_part(Held(archive.clone()), start, length, digest);
        }
        let blob = world.open_weights(blobs.get(&digest.0)?);
        weights.add(ArtifactKind::Constant, blob.clone());
        Some(constant(blob))
    };
    let parsed = parse(text, &mut find).map_err(|error| unreadable(&error))?;
    Ok((parsed, weights))
}

/// The constants that are slices of an archive, by digest. Each list of slices stands behind the archive of the slices.
fn archived(world: &World, artifacts: &Artifacts) -> Result<BTreeMap<Digest, (Blob, Slice)>, Vec<Diagnostic>> {
    let of_kind = |kind| artifacts.iter().filter(move |artifact| artifact.kind == kind).map(ArtifactRef::blob);
    let mut found = BTreeMap::new();
    for (archive, list) in of_kind(ArtifactKind::Source).zip(of_kind(ArtifactKind::Slices)) {
        let (archive, list) = (world.open_weights(&archive), world.open_blob(&list));
        let slices = slices::parse(&list).ok_or_else(|| unreadable(&"its list of slices is malformed"))?;
        found.extend(slices.into_iter().map(|slice| (slice.digest, (archive.clone(), slice))));
    }
    Ok(found)
}

/// A stored program does not read back, which only a bug can cause.
fn unreadable(reason: &dyn std::fmt::Display) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, format!("a stored program cannot be read: {reason}"))]
}
