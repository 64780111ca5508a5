//! Two machines with a shared remote cache; a remote cache with wrong data, a lost remote cache, a silent remote cache.
//! Needs `buildbox-casd`; without it a test fails, unless `ETBUILD_SKIP_PYTHON=1` skips the test.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use crate::casd::Casd;
use crate::support::proxy::Proxy;
use crate::support::{MODEL, Place, RECIPE, Ran, files, stages};

const INPUTS: &str = "examples/digits/test.safetensors";
const TARGET: &str = "linux-x86_64";

/// A run for which no compiler is needed: the model is imported, lowered, planned and emitted.
fn run_words(place: &Place, url: &str) -> String {
    format!("run {MODEL} --inputs {INPUTS} --outputs {} --remote {url}", outputs(place).display())
}

fn outputs(place: &Place) -> PathBuf {
    place.path().join("outputs.safetensors")
}

/// The outputs of a run on a machine that has never heard of a remote cache.
fn expected() -> Vec<u8> {
    let place = Place::cold();
    place.run(&format!("run {MODEL} --inputs {INPUTS} --outputs {}", outputs(&place).display())).expect(0);
    fs::read(outputs(&place)).unwrap()
}

/// The stages that a command ran, without fetched stages.
fn ran(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines().filter(|line| line.contains(" s  ") && !line.ends_with("fetched"));
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

fn warnings(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("warning: the remote cache")).collect()
}

/// A server filled by a deploy, and the results of that deploy.
fn filled() -> Option<(Casd, Place)> {
    let casd = Casd::start()?;
    let place = Place::cold_with_compiled_crates();
    let result = place.json(&format!("deploy {RECIPE} --target {TARGET} --remote {}", casd.url()));
    assert_eq!(stages(&result, TARGET, |row| row["fetched"] == true), [""; 0]);
    Some((casd, place))
}

#[test]
fn a_machine_with_an_empty_cache_runs_no_stage_and_gets_the_same_bytes() {
    let Some((casd, first)) = filled() else { return };
    let second = Place::cold();
    let words = format!("deploy {RECIPE} --target {TARGET} --remote {}", casd.url());
    let plan = second.json(&words.replace("deploy", "plan"));
    assert_eq!(stages(&plan, TARGET, |row| row["state"] != "remote"), [""; 0], "{plan}");
    let result = second.json(&words);
    let all = stages(&result, TARGET, |_| true);
    assert!(all.len() >= 7, "{all:?}");
    assert_eq!(stages(&result, TARGET, |row| row["cached"] != true && row["fetched"] != true), [""; 0], "{result}");
    assert_eq!(files::tree(&second.out()), files::tree(&first.out()));
    let again = second.json(&format!("deploy {RECIPE} --target {TARGET} --remote {}", casd.url()));
    assert_eq!(stages(&again, TARGET, |row| row["cached"] != true && row["fetched"] != true), [""; 0]);
    assert!(!stages(&again, TARGET, |row| row["cached"] == true).is_empty(), "what is all here is recorded here");
    assert_eq!(second.json("cache verify")["ok"], true);
}

/// How many bytes pass when a machine with an empty cache runs beside this server.
fn conversation(casd: &Casd) -> usize {
    let (proxy, place) = (Proxy::to(&casd.address(), usize::MAX), Place::cold());
    place.run(&run_words(&place, &proxy.url())).expect(0);
    proxy.passed()
}

/// A deploy on another machine, whose connection breaks after a number of bytes.
fn cut(casd: &Casd, bytes: usize) -> Ran {
    let (proxy, place) = (Proxy::to(&casd.address(), bytes), Place::cold());
    let ran = place.run(&run_words(&place, &proxy.url())).expect(0);
    assert_eq!(fs::read(outputs(&place)).unwrap(), expected());
    assert_eq!(place.json("cache verify")["ok"], true);
    ran
}

#[test]
fn a_server_lost_during_a_build_costs_one_warning() {
    let Some(casd) = Casd::start() else { return };
    let sent = conversation(&casd);
    let fetched = conversation(&casd);
    for tenths in [1, 3, 5, 7, 9] {
        let talk = cut(&casd, fetched * tenths / 10).stderr;
        assert_eq!(warnings(&talk).len(), 1, "{tenths}/10 of what is fetched: {talk}");
        let Some(empty) = Casd::start() else { return };
        let talk = cut(&empty, sent * tenths / 10).stderr;
        assert_eq!(warnings(&talk).len(), 1, "{tenths}/10 of what is sent: {talk}");
        let later = Place::cold();
        let talk = later.run(&run_words(&later, &empty.url())).expect(0).stderr;
        assert_eq!(warnings(&talk), [""; 0], "what is there is whole: {talk}");
    }
}

#[test]
fn an_unreachable_or_silent_server_costs_one_warning() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("grpc://{} --remote-timeout 1", listener.local_addr().unwrap());
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let absent = format!("grpc://{gone}");
    for url in [silent, absent] {
        let place = Place::cold();
        let ran = place.run(&run_words(&place, &url)).expect(0);
        assert_eq!(warnings(&ran.stderr).len(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("continuing without the remote cache"), "{}", ran.stderr);
        assert_eq!(fs::read(outputs(&place)).unwrap(), expected());
    }
}

#[test]
fn a_lost_required_server_is_status_7() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::cold();
    for words in [run_words(&place, ""), format!("deploy {RECIPE} --target {TARGET} --remote ")] {
        let ran = place.run(&format!("{words}grpc://{gone} --remote-mode required")).expect(7);
        assert!(ran.stderr.contains("error[ETB0607]"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("continuing without"), "{}", ran.stderr);
        assert!(!place.out().exists());
    }
}

#[test]
fn a_server_whose_storage_is_damaged_does_no_harm() {
    let Some((casd, first)) = filled() else { return };
    for (number, file) in casd.blobs().iter().enumerate() {
        let mut bytes = fs::read(file).unwrap();
        if let Some(count) = bytes.len().checked_sub(1) {
            bytes[number % (count + 1)] ^= 1 << (number % 8);
        }
        fs::remove_file(file).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let second = Place::cold_with_compiled_crates();
    let words = format!("deploy {RECIPE} --target {TARGET} --remote {}", casd.url());
    let ran = second.run(&words).expect(0);
    assert_eq!(warnings(&ran.stderr).len(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("a wrong digest for blob"), "{}", ran.stderr);
    assert_eq!(files::tree(&second.out()), files::tree(&first.out()));
    assert_eq!(second.json("cache verify")["ok"], true);
}

#[test]
fn damage_of_a_large_artifact_is_detected_at_first_use() {
    let Some((casd, first)) = filled() else { return };
    let binary = fs::metadata(first.out().join("digits").join(TARGET).join("digits")).unwrap().len();
    for file in casd.blobs().iter().filter(|file| fs::metadata(file).unwrap().len() == binary) {
        let mut bytes = fs::read(file).unwrap();
        bytes[1000] ^= 1;
        fs::remove_file(file).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let second = Place::cold_with_compiled_crates();
    let words = format!("deploy {RECIPE} --target {TARGET} --remote {}", casd.url());
    let talk = second.run(&words).expect(0).stderr;
    assert_eq!((ran(&talk), warnings(&talk).len()), (vec!["link"], 1), "{talk}");
    assert_eq!(files::tree(&second.out()), files::tree(&first.out()));
}

#[test]
fn a_run_goes_on_where_artifacts_between_its_stages_are_damaged() {
    let Some(casd) = Casd::start() else { return };
    let first = Place::cold();
    first.run(&run_words(&first, &casd.url())).expect(0);
    for file in casd.blobs() {
        let mut bytes = fs::read(&file).unwrap();
        // Without the program file, the last stage runs and reads the other artifacts, which are fetched late.
        if bytes.get(4..8) == Some(b"ET12") {
            fs::remove_file(&file).unwrap();
        } else if bytes.len() > 16 << 10 {
            bytes[1000] ^= 1;
            fs::write(&file, bytes).unwrap();
        }
    }
    let second = Place::cold();
    let talk = second.run(&run_words(&second, &casd.url())).expect(0).stderr;
    assert!(talk.contains("a wrong digest for blob") && warnings(&talk).len() == 1, "{talk}");
    assert_eq!(fs::read(outputs(&second)).unwrap(), expected());
}

#[test]
fn a_server_without_the_blobs_of_its_results_is_filled_again() {
    let Some(casd) = Casd::start() else { return };
    let places = [Place::cold(), Place::cold(), Place::cold()];
    let talks = places.each_ref().map(|place| {
        let talk = place.run(&run_words(place, &casd.url())).expect(0).stderr;
        if std::ptr::eq(place, &places[0]) {
            casd.blobs().iter().for_each(|blob| fs::remove_file(blob).unwrap());
        }
        talk
    });
    let counts = talks.each_ref().map(|talk| (ran(talk).len(), warnings(talk).len()));
    assert_eq!(counts, [(counts[0].0, 0), (counts[0].0, 0), (0, 0)], "{talks:?}");
    assert!(counts[0].0 >= 4);
}

#[test]
fn read_mode_downloads_and_uploads_nothing() {
    let Some(casd) = Casd::start() else { return };
    let before = (casd.blobs(), casd.results());
    let place = Place::cold();
    place.run(&format!("{} --remote-mode read", run_words(&place, &casd.url()))).expect(0);
    assert_eq!((casd.blobs(), casd.results()), before);
    let main = Place::cold();
    main.run(&run_words(&main, &casd.url())).expect(0);
    let reader = Place::cold();
    let talk = reader.run(&format!("{} --remote-mode read", run_words(&reader, &casd.url()))).expect(0).stderr;
    assert_eq!(ran(&talk), [""; 0]);
}

#[test]
fn the_environment_names_the_server_and_offline_means_none() {
    let Some(casd) = Casd::start() else { return };
    let words = |place: &Place| format!("run {MODEL} --inputs {INPUTS} --outputs {}", outputs(place).display());
    let with = |place: &Place, more: &str| {
        let words = format!("{} {more}", words(place));
        let mut command = place.command(words.split_whitespace());
        Ran::of(command.env("ETBUILD_REMOTE", casd.url())).expect(0).stderr
    };
    let [offline, one, other] = [Place::cold(), Place::cold(), Place::cold()];
    let before = casd.blobs();
    with(&offline, "--offline");
    assert_eq!(casd.blobs(), before);
    with(&one, "");
    assert_eq!(ran(&with(&other, "")), [""; 0]);
}

#[test]
fn an_invalid_remote_url_is_a_usage_error() {
    let place = Place::cold();
    for wrong in
        ["--remote ftp://host", "--remote grpc://host:1 --remote-header =", "--remote-key key --remote grpc://h:1"]
    {
        place.run(&format!("deploy {RECIPE} {wrong}")).expect(2);
    }
}
