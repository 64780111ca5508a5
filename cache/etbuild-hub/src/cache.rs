//! The cache of the hub's own tools.

use std::path::{Component, Path, PathBuf};

use etbuild_checkpoint::{ADAPTER_SHARD, CONFIG, PICKLED_ADAPTER, WEIGHTS, WeightFiles, part_names};
use etbuild_system::{System, host};

use crate::reference::is_commit;
use crate::{HubError, Reference};

/// The folder of a repository in the cache.
pub(crate) struct Cache {
    /// `models--OWNER--NAME`.
    pub folder: PathBuf,
    /// Where the hub's tools lock files of the repository.
    #[cfg_attr(not(feature = "download"), expect(dead_code, reason = "only downloads lock files"))]
    pub locks: PathBuf,
}

impl Cache {
    /// The folder that the environment says.
    pub(crate) fn of(system: &dyn System, reference: &Reference) -> Result<Self, HubError> {
        let root = root(system).ok_or(HubError::NoFolder)?;
        let name = format!("models--{}", reference.repository.replace('/', "--"));
        Ok(Self { folder: root.join(&name), locks: root.join(".locks").join(name) })
    }

    /// The snapshot of a commit.
    pub(crate) fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    /// The file or folder of a reference, if complete.
    pub(crate) fn complete(&self, system: &dyn System, reference: &Reference) -> Option<PathBuf> {
        let snapshot = self.snapshot(&self.commit(system, reference)?);
        let is_whole = match &reference.file {
            Some(file) => has_parts(system, &snapshot.join(file)),
            None => has_weights(system, &snapshot),
        };
        is_whole.then(|| reference.file.as_ref().map_or(snapshot.clone(), |file| snapshot.join(file)))
    }

    /// The commit of the revision, as far as the cache knows.
    fn commit(&self, system: &dyn System, reference: &Reference) -> Option<String> {
        let revision = reference.revision();
        if is_commit(revision) {
            return Some(revision.to_owned());
        }
        let text = String::from_utf8(system.read(&self.folder.join("refs").join(revision)).ok()?).ok()?;
        Some(text.trim().to_owned()).filter(|commit| is_commit(commit))
    }
}

/// The folder of the hub's cache.
fn root(system: &dyn System) -> Option<PathBuf> {
    variable(system, "HF_HUB_CACHE").map(PathBuf::from).or_else(|| Some(home(system)?.join("hub")))
}

/// The folder of the hub's tools.
pub(crate) fn home(system: &dyn System) -> Option<PathBuf> {
    let own = variable(system, "HF_HOME").map(PathBuf::from);
    own.or_else(|| Some(host::caches(system)?.join("huggingface")))
}

/// The value of an environment variable that is not blank.
pub(crate) fn variable(system: &dyn System, name: &str) -> Option<String> {
    system.variable(name).filter(|value| !value.trim().is_empty())
}

/// Whether a snapshot has the weights of a model or of an adapter, whole. Weights are downloaded last.
fn has_weights(system: &dyn System, snapshot: &Path) -> bool {
    let has = |name: &str| system.stamp(&snapshot.join(name)).is_ok();
    let is_whole = |files: &WeightFiles| match system.read(&snapshot.join(files.index)) {
        // The import describes a damaged index.
        Ok(index) => has(CONFIG) && files.shards(&index).unwrap_or_default().iter().all(|shard| has(shard)),
        Err(_) => has(files.single),
    };
    WEIGHTS.iter().any(is_whole) || has(ADAPTER_SHARD) || has(PICKLED_ADAPTER)
}

/// Whether all parts of a file are there, of `NAME-00001-of-00003.gguf` three.
fn has_parts(system: &dyn System, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    part_names(&name).iter().all(|part| system.stamp(&file.with_file_name(part)).is_ok())
}

/// A file in a cache of the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The file by repository, without a commit.
    pub reference: Reference,
    /// The commit.
    pub commit: String,
}

/// The hub's name of the file at `path`, if the path is in a cache of the hub.
pub fn cached(path: &Path) -> Option<Cached> {
    let names: Vec<&str> = path
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => Some(""),
        })
        .collect::<Option<_>>()?;
    let at = names.windows(2).position(|pair| pair[0].starts_with("models--") && pair[1] == "snapshots")?;
    let (commit, file) = names.get(at + 2..)?.split_first()?;
    let repository = names[at].strip_prefix("models--")?.replace("--", "/");
    let file = (!file.is_empty()).then(|| file.join("/"));
    is_commit(commit)
        .then(|| Cached { reference: Reference { repository, file, revision: None }, commit: (*commit).to_owned() })
}

#[cfg(test)]
mod tests {
    use etbuild_system::MemorySystem;

    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    const SNAPSHOT: &str = "/h/.cache/huggingface/hub/models--a--b/snapshots/0123456789abcdef0123456789abcdef01234567";

    fn found(files: &[&str], reference: &str) -> Option<PathBuf> {
        let paths: Vec<String> = files.iter().map(|file| format!("{SNAPSHOT}/{file}")).collect();
        let index =
            r#"{"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors", "z": "model-1.safetensors"}}"#;
        let content = |path: &str| if path.ends_with("index.json") { index } else { "" };
        let mut all: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), content(path))).collect();
        all.push(("/h/.cache/huggingface/hub/models--a--b/refs/main", COMMIT));
        let system = MemorySystem::with_files(all).with_variable("HOME", "/h");
        let reference = Reference::parse(reference).unwrap().unwrap();
        Cache::of(&system, &reference).unwrap().complete(&system, &reference)
    }

    #[test]
    fn a_model_is_there_with_all_its_weights() {
        let folder = Some(PathBuf::from(SNAPSHOT));
        assert_eq!(found(&["config.json", "model.safetensors"], "hf:a/b"), folder);
        assert_eq!(found(&["config.json", "model.safetensors"], &format!("hf:a/b@{COMMIT}")), folder);
        assert_eq!(found(&["config.json"], "hf:a/b"), None);
        assert_eq!(found(&["config.json", "model.safetensors"], "hf:a/b@other"), None);
        let parts = ["config.json", "model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"];
        assert_eq!(found(&parts, "hf:a/b"), folder);
        assert_eq!(found(&parts[..3], "hf:a/b"), None);
    }

    #[test]
    fn a_file_is_there_with_all_its_parts() {
        let parts = ["q/m-00001-of-00002.gguf", "q/m-00002-of-00002.gguf"];
        let reference = "hf:a/b/q/m-00001-of-00002.gguf";
        assert_eq!(found(&parts, reference), Some(Path::new(SNAPSHOT).join(parts[0])));
        assert_eq!(found(&parts[..1], reference), None);
    }

    #[test]
    fn a_path_of_the_cache_is_told_as_the_hub_does() {
        let found = cached(&Path::new(SNAPSHOT).join("config.json")).unwrap();
        assert_eq!((found.reference.to_string(), found.commit.as_str()), ("hf:a/b/config.json".to_owned(), COMMIT));
        assert_eq!(cached(Path::new("/models/a/config.json")), None);
        assert_eq!(cached(Path::new("models--a--b/snapshots/main/config.json")), None);
    }
}
