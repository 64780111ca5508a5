//! Concurrent commands in a shared cache, killed at random, with concurrent garbage collection. `ETBUILD_TEST_KILLS` is
//! the number of kills, 30 by default.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::support::{ETBUILD, MODEL, Place, RECIPE, Ran, files, warm_out};

const ON: &str = "linux-x86_64";
const INPUTS: &str = "examples/digits/test.safetensors";

/// The least number of kills of running processes.
fn wanted() -> usize {
    std::env::var("ETBUILD_TEST_KILLS").map_or(30, |count| count.parse().unwrap())
}

/// Numbers of no pattern that matters here (a linear congruential generator, Knuth's constants).
struct Scrambled(u64);

impl Scrambled {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A cache in use: a deploy whose results stay in `kept`, and temporary results.
struct Soak {
    place: Place,
    expected: Vec<u8>,
}

impl Soak {
    fn new() -> Self {
        let place = Place::warm();
        let kept = place.path().join("kept");
        let mut command = Command::new(ETBUILD);
        command.args(["deploy", RECIPE, "--target", ON, "--out"]).arg(kept).current_dir(&place.root);
        Ran::of(command.env("ETBUILD_CACHE_DIR", place.cache())).expect(0);
        let soak = Self { place, expected: Vec::new() };
        Ran::of(&mut soak.compile("first")).expect(0);
        Self { expected: fs::read(soak.outputs("first")).unwrap(), ..soak }
    }

    /// A deploy whose results stay. Garbage collection keeps the blobs of existing results.
    fn deploy(&self) -> Command {
        self.place.command(["deploy", RECIPE, "--target", ON])
    }

    /// Compiles a model to a program file, whose blobs may be collected, and runs the file.
    fn compile(&self, name: &str) -> Command {
        let words = ["run", MODEL, "--set", "memory.planner=naive", "--inputs", INPUTS, "--outputs"].map(OsStr::new);
        self.place.command(words.into_iter().chain([self.outputs(name).as_os_str()]))
    }

    fn outputs(&self, name: &str) -> PathBuf {
        self.place.path().join(name).with_extension("safetensors")
    }

    fn collect(&self) -> Command {
        self.place.command(["cache", "gc", "--max-size", "100 KiB"])
    }

    /// Starts five commands, kills two commands and expects three correct results. Returns the number of kills.
    fn round(&self, random: &mut Scrambled) -> usize {
        files::paths(&self.place.cache().join("v1/cas")).iter().for_each(|blob| age(blob));
        fs::remove_dir_all(self.place.out()).ok();
        let commands = [self.deploy(), self.deploy(), self.compile("one"), self.compile("other"), self.collect()];
        let mut running: Vec<Option<Child>> = commands.into_iter().map(|command| Some(start(command))).collect();
        let killed = (0..2).filter(|_| {
            thread::sleep(Duration::from_micros(random.below(40_000)));
            let chosen = usize::try_from(random.below(5)).unwrap();
            running[chosen].take().is_some_and(kill)
        });
        let killed = killed.count();
        for child in running.into_iter().flatten() {
            expect_success(&child.wait_with_output().unwrap());
        }
        killed
    }

    /// Repeats the killed commands and compares the results.
    fn expect_right(&self) {
        Ran::of(&mut self.deploy()).expect(0);
        let mut results = files::tree(&self.place.out());
        results.retain(|path, _| !path.file_name().unwrap().to_str().unwrap().starts_with('.'));
        let folder = PathBuf::from("digits").join(ON);
        results =
            results.into_iter().map(|(path, bytes)| (path.strip_prefix(&folder).unwrap().into(), bytes)).collect();
        assert!(results == files::tree(&warm_out().join(&folder)));
        Ran::of(&mut self.compile("again")).expect(0);
        assert!(fs::read(self.outputs("again")).unwrap() == self.expected);
    }

    /// Bytes in the cache, without compiler caches.
    fn size(&self) -> u64 {
        let cache = self.place.cache().join("v1");
        let folders = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
        let ours = folders.filter(|folder| !folder.ends_with("scratch"));
        ours.flat_map(|folder| files::paths(&folder)).map(|path| fs::metadata(path).unwrap().len()).sum()
    }
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills a process; `false` if the process has ended.
fn kill(mut child: Child) -> bool {
    let runs = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    runs
}

fn expect_success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Sets a blob's last use to a day ago.
fn age(blob: &Path) {
    let time = SystemTime::now() - Duration::from_secs(24 * 3600);
    File::open(blob).unwrap().set_modified(time).unwrap();
}

#[test]
#[expect(clippy::print_stdout, reason = "figures for who asks for many kills")]
fn killed_concurrent_commands_and_collections_need_no_repair() {
    let soak = Soak::new();
    let before = soak.size();
    let (mut random, mut killed, mut rounds) = (Scrambled(1), 0, 0);
    while killed < wanted() {
        killed += soak.round(&mut random);
        rounds += 1;
        soak.expect_right();
        if rounds % 20 == 0 {
            assert_eq!(soak.place.json("cache verify")["ok"], true, "round {rounds}");
        }
    }
    assert_eq!(soak.place.json("cache verify")["ok"], true);
    let statistics = soak.place.json("cache stat");
    assert_eq!((&statistics["temporary"], &statistics["quarantined"]), (&0.into(), &0.into()), "{statistics}");
    let after = soak.size();
    println!("{killed} kills in {rounds} rounds; {before} bytes in the cache before, {after} after");
    assert!(after < 2 * before, "the cache grew from {before} to {after} bytes");
}
