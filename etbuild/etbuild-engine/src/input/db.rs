//! The salsa database: inputs, and the access of queries to inputs.
#![allow(missing_docs, reason = "the macros of salsa write functions without documentation")]

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use etbuild_checkpoint::{Method, Options};
use etbuild_diagnostic::Diagnostic;
use etbuild_import::CustomSchema;
use etbuild_recipe::FixedValue;
use etbuild_store::Digest;

use super::{adapter_files, checkpoint_files, file_digest};
use crate::session::World;

/// A small file whose text queries read: a recipe or a target.
#[salsa::input(debug)]
pub struct TextFile {
    /// The path in the user's form.
    #[returns(deref)]
    pub path: PathBuf,
    /// The text, or the error of reading.
    #[returns(clone)]
    pub text: Result<Arc<str>, Diagnostic>,
}

/// A file of any size that queries know by the digest: a model, calibration or verification data.
#[salsa::input(debug)]
pub struct DataFile {
    /// The path in the user's form.
    #[returns(deref)]
    pub path: PathBuf,
    /// The digest of the bytes, or the error of reading.
    #[returns(clone)]
    pub digest: Result<Digest, io::ErrorKind>,
}

/// A checkpoint of a language model: a folder, or a GGUF file.
#[salsa::input(debug)]
pub struct CheckpointFolder {
    /// The path in the user's form.
    #[returns(deref)]
    pub path: PathBuf,
    /// The files of the model by name, or the error that makes the folder no model.
    #[returns(clone)]
    pub files: Result<Arc<BTreeMap<String, DataFile>>, Arc<[Diagnostic]>>,
    /// The files that describe texts, by name: the configuration, the tokenizer.
    #[returns(clone)]
    pub texts: Arc<BTreeMap<String, DataFile>>,
    /// The adapter over the checkpoint.
    #[returns(clone)]
    pub adapter: Option<AdapterFolder>,
    /// The options of the program.
    #[returns(clone)]
    pub options: Options,
}

/// A folder with an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterFolder {
    /// The path in the user's form.
    pub path: PathBuf,
    /// The files of the adapter by name, or the error that makes the folder no adapter.
    pub files: Result<Arc<BTreeMap<String, DataFile>>, Arc<[Diagnostic]>>,
}

/// A model that a Python function makes.
#[salsa::input(debug)]
pub struct PythonModel {
    /// The function with the arguments.
    #[returns(ref)]
    pub call: PythonCall,
}

/// A Python function with the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PythonCall {
    /// The file of the definition.
    pub script: PathBuf,
    /// The name.
    pub function: String,
    /// The arguments by name.
    pub arguments: BTreeMap<String, FixedValue>,
    /// The interpreter, where the recipe names an interpreter: a path, or a name to look up.
    pub interpreter: Option<PathBuf>,
    /// Files that the function reads, beside the files that Python is seen to open.
    pub files: Vec<PathBuf>,
}

/// The source of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelSource {
    /// A `.pt2` archive with this single method.
    Archive(Archive),
    /// A checkpoint, whose program has this method.
    Checkpoint(CheckpointFolder, Method),
}

/// A `.pt2` archive.
#[salsa::input(debug)]
pub struct Archive {
    /// Where the archive is.
    #[returns(copy)]
    pub origin: ArchiveOrigin,
    /// The schemas of the custom operators that the archive may call.
    #[returns(clone)]
    pub operators: Arc<[CustomSchema]>,
}

/// Where a `.pt2` archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchiveOrigin {
    /// An archive file.
    File(DataFile),
    /// An archive that a Python function makes.
    Python(PythonModel),
}

impl ModelSource {
    /// The Python function that makes the archive, if any.
    pub fn python(self, db: &dyn Db) -> Option<PythonModel> {
        match self {
            Self::Archive(archive) => match archive.origin(db) {
                ArchiveOrigin::Python(python) => Some(python),
                ArchiveOrigin::File(_) => None,
            },
            Self::Checkpoint(..) => None,
        }
    }
}

/// The services of the database for queries.
#[salsa::db]
pub trait Db: salsa::Database {
    /// The machine, the store and the observer.
    fn world(&self) -> &World;

    /// The input that stands for a text file; read at the first call.
    fn text_file(&self, path: &Path) -> TextFile;

    /// The input that stands for a data file; hashed at the first call.
    fn data_file(&self, path: &Path) -> DataFile;

    /// The same for a model, which an import is about to read.
    fn model_file(&self, path: &Path) -> DataFile;

    /// The input for a checkpoint, with an adapter or without; the files are found at the first call.
    fn checkpoint(&self, path: &Path, adapter: Option<&Path>, options: Options) -> CheckpointFolder;

    /// The input for an archive that may call custom operators.
    fn archive(&self, origin: ArchiveOrigin, operators: &[CustomSchema]) -> Archive;

    /// The input that stands for a model that Python makes.
    fn python_model(&self, call: PythonCall) -> PythonModel;
}

/// The database of one session. Clones share everything and may be used on other threads.
#[salsa::db]
#[derive(Clone)]
pub struct EngineDatabase {
    storage: salsa::Storage<Self>,
    world: Arc<World>,
    inputs: Arc<Inputs>,
}

#[derive(Default)]
struct Inputs {
    texts: Mutex<BTreeMap<PathBuf, TextFile>>,
    data: Mutex<BTreeMap<PathBuf, DataFile>>,
    checkpoints: Mutex<Vec<(CheckpointKey, CheckpointFolder)>>,
    archives: Mutex<Vec<(ArchiveOrigin, Archive)>>,
    /// Never iterated, so that the hash order does not matter.
    models: Mutex<HashMap<PythonCall, PythonModel>>,
}

/// The identity of a checkpoint: the folder, the folder of the adapter, and the options.
type CheckpointKey = (PathBuf, Option<PathBuf>, Options);

impl EngineDatabase {
    /// An empty database over `world`.
    pub fn new(world: Arc<World>) -> Self {
        Self { storage: salsa::Storage::default(), world, inputs: Arc::default() }
    }

    /// The inputs for files of a folder.
    fn files(
        &self,
        folder: &Path,
        names: Result<Vec<String>, Vec<Diagnostic>>,
    ) -> Result<Arc<BTreeMap<String, DataFile>>, Arc<[Diagnostic]>> {
        let input = |name: String| (name.clone(), self.model_file(&folder.join(name)));
        names.map(|names| Arc::new(names.into_iter().map(input).collect())).map_err(Into::into)
    }

    /// The input for `path`, made with the digest by `take` at the first call.
    fn input(&self, path: &Path, take: impl FnOnce(&World, &Path) -> io::Result<Digest>) -> DataFile {
        let mut data = self.inputs.data.lock().unwrap_or_else(PoisonError::into_inner);
        *data.entry(path.to_owned()).or_insert_with(|| {
            let digest = take(&self.world, path).map_err(|error| error.kind());
            DataFile::new(self, path.to_owned(), digest)
        })
    }
}

#[salsa::db]
impl salsa::Database for EngineDatabase {}

#[salsa::db]
impl Db for EngineDatabase {
    fn world(&self) -> &World {
        &self.world
    }

    fn text_file(&self, path: &Path) -> TextFile {
        let mut texts = self.inputs.texts.lock().unwrap_or_else(PoisonError::into_inner);
        *texts.entry(path.to_owned()).or_insert_with(|| {
            let text = etbuild_yaml::read_text(self.world.system(), path);
            TextFile::new(self, path.to_owned(), text)
        })
    }

    fn data_file(&self, path: &Path) -> DataFile {
        self.input(path, file_digest::of)
    }

    fn model_file(&self, path: &Path) -> DataFile {
        self.input(path, file_digest::of_model)
    }

    fn checkpoint(&self, path: &Path, adapter: Option<&Path>, options: Options) -> CheckpointFolder {
        let options = checkpoint_files::options(self.world.system(), path, options);
        let key: CheckpointKey = (path.to_owned(), adapter.map(Path::to_owned), options.clone());
        let mut checkpoints = self.inputs.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, folder)) = checkpoints.iter().find(|(known, _)| *known == key) {
            return *folder;
        }
        let place = checkpoint_files::folder(path);
        let files = self.files(&place, checkpoint_files::find(self.world.system(), path));
        let texts = checkpoint_files::texts(self.world.system(), path).into_iter();
        let texts = Arc::new(texts.map(|name| (name.clone(), self.data_file(&place.join(name)))).collect());
        let adapter = adapter.map(|path| {
            let files = self.files(path, adapter_files::find(self.world.system(), path));
            AdapterFolder { path: path.to_owned(), files }
        });
        let folder = CheckpointFolder::new(self, path.to_owned(), files, texts, adapter, options);
        checkpoints.push((key, folder));
        folder
    }

    fn archive(&self, origin: ArchiveOrigin, operators: &[CustomSchema]) -> Archive {
        let mut archives = self.inputs.archives.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Archive| *known.operators(self) == *operators;
        if let Some((_, archive)) = archives.iter().find(|(of, known)| *of == origin && is_same(known)) {
            return *archive;
        }
        let archive = Archive::new(self, origin, operators.into());
        archives.push((origin, archive));
        archive
    }

    fn python_model(&self, call: PythonCall) -> PythonModel {
        let mut models = self.inputs.models.lock().unwrap_or_else(PoisonError::into_inner);
        *models.entry(call.clone()).or_insert_with(|| PythonModel::new(self, call))
    }
}
