//! Remote execution against `buildbox-casd`, whose workers run jobs in sandboxes.

#[path = "support/casd.rs"]
mod casd;

#[path = "support/machine.rs"]
mod machine;

use std::fs;
use std::time::Duration;

use casd::Casd;
use etbuild_remote::{Access, Event, Execution, Job, Options, OptionsError};
use machine::Machine;

/// A job that runs a shell script in the folder `work`, beside an input file.
fn job(script: &str) -> Job {
    let words = ["/bin/sh", "-c", script];
    Job {
        arguments: words.map(str::to_owned).to_vec(),
        variables: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        folder: "work".to_owned(),
        files: [("work/given".to_owned(), b"given".to_vec()), ("beside/it".to_owned(), b"beside".to_vec())].into(),
        outputs: ["made", "deep/made", "absent"].map(str::to_owned).into(),
    }
}

fn machine(casd: &Casd) -> Machine {
    Machine::with_workers(&casd.url(), Execution::default())
}

#[test]
fn a_worker_reads_inputs_and_returns_outputs() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    let script = "cat given ../beside/it > made; printf $WORD > deep/made; printf said; printf talk >&2";
    let mut asked = job(script);
    asked.variables.insert("WORD".to_owned(), "word".to_owned());
    for _ in 0..2 {
        let result = machine.cache.execute(&asked).unwrap_or_else(|| panic!("{:?}", machine.told()));
        assert_eq!((result.status, result.stdout, result.stderr), (0, b"said".to_vec(), b"talk".to_vec()));
        let made = [("deep/made", "word"), ("made", "givenbeside")];
        let made = made.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(result.outputs, made.into());
    }
    assert_eq!(machine.told(), []);
}

#[test]
fn large_files_go_there_and_come_back() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    let mut asked = job("cat given given > made");
    let large = machine::bytes(7_000_001);
    asked.files.insert("work/given".to_owned(), large.clone());
    let result = machine.cache.execute(&asked).unwrap();
    assert_eq!(result.outputs.get("made"), Some(&[large.clone(), large].concat()));
}

#[test]
fn a_failed_process_is_not_a_server_failure() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    let result = machine.cache.execute(&job("echo wrong >&2; exit 3")).unwrap();
    assert_eq!((result.status, result.stderr), (3, b"wrong\n".to_vec()));
    assert!(machine.cache.executes());
    assert_eq!(machine.told(), []);
}

#[test]
fn a_result_with_a_lost_file_is_recomputed() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    let asked = job("cat given given given given > made");
    let first = machine.cache.execute(&asked).unwrap();
    for file in casd.blobs().iter().filter(|file| fs::read(file).unwrap() == first.outputs["made"]) {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(machine.cache.execute(&asked), Some(first));
    assert_eq!(machine.told(), []);
}

#[test]
fn a_result_with_wrong_bytes_is_thrown_away() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    let asked = job("cat given given given > made");
    let first = machine.cache.execute(&asked).unwrap();
    for file in casd.blobs().iter().filter(|file| fs::read(file).unwrap() == first.outputs["made"]) {
        fs::remove_file(file).unwrap();
        fs::write(file, b"givengivenGIVEN").unwrap();
    }
    let told = || machine.told();
    match machine.cache.execute(&asked) {
        // The server may check its blobs and report the loss.
        Some(again) => assert_eq!(again, first),
        None => assert!(matches!(&told()[..], [Event::NotExecuted { .. }]), "{:?}", told()),
    }
}

#[test]
fn a_server_without_workers_is_asked_once_and_still_read() {
    let Some(casd) = Casd::start() else { return };
    let machine = machine(&casd);
    assert!(machine.cache.executes());
    assert_eq!((machine.cache.execute(&job("true")), machine.cache.execute(&job("true"))), (None, None));
    assert!(!machine.cache.executes());
    let [Event::NotExecuted { reason, .. }] = &machine.told()[..] else { panic!("{:?}", machine.told()) };
    assert!(reason.contains("no execution service"), "{reason}");
    let made = machine.make(&machine::action("a"), &[5]);
    let other = Machine::new(&casd.url(), Access::Read);
    assert_eq!(other.cache.find(&machine::action("a")).unwrap().unwrap().outputs, made);
}

#[test]
fn a_server_lost_during_a_job_is_reported_once() {
    let Some(mut casd) = Casd::start_with_workers(&[]) else { return };
    let machine = machine(&casd);
    std::thread::scope(|scope| {
        let working = scope.spawn(|| machine.cache.execute(&job("sleep 8; echo > made")));
        std::thread::sleep(Duration::from_secs(2));
        casd.kill();
        assert_eq!(working.join().unwrap(), None);
    });
    assert!(matches!(&machine.told()[..], [Event::Lost { .. }]), "{:?}", machine.told());
    assert_eq!(machine.cache.execute(&job("true")), None);
    assert_eq!(machine.told().len(), 1);
}

#[test]
fn a_job_over_its_time_limit_is_abandoned() {
    let Some(casd) = Casd::start_with_workers(&[]) else { return };
    let execution = Execution { limit: Duration::from_secs(1), ..Execution::default() };
    let machine = Machine::with_workers(&casd.url(), execution);
    assert_eq!(machine.cache.execute(&job("sleep 8; echo > made")), None);
    assert!(matches!(&machine.told()[..], [Event::NotExecuted { .. }]), "{:?}", machine.told());
}

#[test]
fn read_only_access_has_no_workers() {
    let options = Options { access: Access::Read, execution: Some(Execution::default()), ..Options::new("grpc://h:1") };
    let folder = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(etbuild_store::Store::open(folder.path()).unwrap());
    let opened = etbuild_remote::RemoteCache::open(&options, store, std::sync::Arc::new(|_: &Event| {}));
    assert!(matches!(opened, Err(OptionsError::ReadOnlyExecution)));
}
