//! Shared code of the end-to-end tests: the real command in a temporary folder, with an empty cache, or with a cache
//! that a deploy of the digits recipe has filled.

pub mod android;
pub mod archive;
pub mod chromium;
pub mod files;
pub mod http;
pub mod logits;
pub mod programs;
pub mod proxy;
pub mod python;
pub mod schema;
pub mod schemas;
pub mod signals;
pub mod talks;
pub mod tensors;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use etbuild_store::Digest;
use serde_json::Value;
use tempfile::TempDir;

/// The command under test.
pub const ETBUILD: &str = env!("CARGO_BIN_EXE_etbuild");

/// The recipe that every target of this repository runs.
pub const RECIPE: &str = "recipes/digits.yaml";

/// The model of the recipe.
pub const MODEL: &str = "examples/digits/digits.pt2";

/// The targets that a machine without boards verifies.
pub const EMULATED: [&str; 3] = ["linux-x86_64", "linux-aarch64", "mps2-an505"];

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The outcome of a command.
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap_or_else(|| panic!("{:?}", output.status));
        Self { status, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Demands this exit status.
    #[track_caller]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as a JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in:\n{}", self.stdout))
    }
}

/// A folder of a test's own with a cache and room for results. The command runs in `root`.
pub struct Place {
    folder: TempDir,
    pub root: PathBuf,
}

impl Place {
    /// With an empty cache.
    pub fn cold() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cache")).unwrap();
        Self { folder, root: repository() }
    }

    /// With an empty cache, and compilers that have compiled the device crates before: a link takes seconds.
    pub fn cold_with_compiled_crates() -> Self {
        let place = Self::cold();
        let scratch = place.cache().join("v1/scratch");
        fs::create_dir(scratch.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(warm_cache().join("v1/scratch"), scratch).unwrap();
        place
    }

    /// A place whose cache has the artifacts of a deploy of [`RECIPE`].
    pub fn warm() -> Self {
        let place = Self::cold_with_compiled_crates();
        for part in ["CACHEDIR.TAG", "v1/cas", "v1/ac", "v1/history", "v1/memo"] {
            files::copy(&warm_cache().join(part), &place.cache().join(part));
        }
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn cache(&self) -> PathBuf {
        self.path().join("cache")
    }

    pub fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    /// A file in the place, written.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The command with these arguments, not yet started.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(ETBUILD);
        command.args(arguments).current_dir(&self.root);
        self.surround(&mut command);
        command
    }

    /// Gives a command the place's cache and output folder.
    pub fn surround(&self, command: &mut Command) {
        command.arg("--out").arg(self.out()).env("ETBUILD_CACHE_DIR", self.cache()).env_remove("NO_COLOR");
    }

    /// Runs the command with words separated by blanks.
    pub fn run(&self, words: &str) -> Ran {
        Ran::of(&mut self.command(words.split_whitespace()))
    }

    /// Runs the command, expects success and returns the JSON result.
    #[track_caller]
    pub fn json(&self, words: &str) -> Value {
        self.run(&format!("{words} --output json")).expect(0).json()
    }
}

/// The cache after a deploy of [`RECIPE`] for all targets. All test processes of a build share this cache.
pub fn warm_cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(fill_warm_cache)
}

/// The results of that deploy.
pub fn warm_out() -> PathBuf {
    warm_cache().parent().unwrap().join("out")
}

fn fill_warm_cache() -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warm");
    fs::create_dir_all(&parent).unwrap();
    let lock = File::create(parent.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = parent.join(Digest::of(&fs::read(ETBUILD).unwrap()).to_string());
    files::remove_all_but(&parent, &[&folder, &parent.join("lock")]);
    let mut command = Command::new(ETBUILD);
    command.args(["deploy", RECIPE, "--out"]).arg(folder.join("out")).current_dir(repository());
    Ran::of(command.env("ETBUILD_CACHE_DIR", folder.join("cache"))).expect(0);
    folder.join("cache")
}

/// The stages of a unit of a result or a plan that were run, or would have to be.
pub fn not_cached(value: &Value, target: &str) -> Vec<String> {
    stages(value, target, |row| row["cached"] != true && row["state"] != "cached")
}

/// The names of a unit's stages for which `wanted` holds.
pub fn stages(value: &Value, target: &str, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let rows = unit(value, target)["stages"].as_array().unwrap().iter();
    rows.filter(|row| wanted(row)).map(|row| row["stage"].as_str().unwrap().to_owned()).collect()
}

/// The unit of a result or a plan for a target.
pub fn unit<'a>(value: &'a Value, target: &str) -> &'a Value {
    let units = value["units"].as_array().unwrap().iter();
    units.into_iter().find(|unit| unit["target"] == target).unwrap_or_else(|| panic!("no {target} in {value}"))
}
