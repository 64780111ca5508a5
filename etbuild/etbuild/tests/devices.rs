//! Devices over `ssh` and `adb`: the real clients against a real `sshd`, and against the device's end of adb's protocol
//! (`adb_device.py`), on this machine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use etbuild_engine::device::{self, Device, DeviceFile, DeviceFolder};
use etbuild_system::{Invocation, Outcome, RealSystem, System};

use crate::recording::instructions;
use crate::support::programs::has;
use crate::support::{Place, RECIPE, Ran, tensors, unit};

const TARGET: &str = "linux-x86_64";
const INPUTS: &str = "examples/digits/test.safetensors";
const SSHD: &str = "/usr/sbin/sshd";

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A device on this machine, reached by programs in a folder ahead of `PATH`.
struct There {
    place: Place,
    name: String,
    /// The folder that the device takes for its own.
    home: PathBuf,
    variables: Vec<(String, String)>,
    _server: Server,
}

impl There {
    fn command(&self, words: &str) -> Command {
        let words = words.replace("DEVICE", &self.name);
        let mut command = self.place.command(words.split_whitespace());
        command.envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, words: &str) -> Ran {
        Ran::of(&mut self.command(words))
    }

    /// Deploys the digits; returns the state of the verification and the note about files.
    fn deployed(&self) -> (String, String) {
        let result =
            self.run(&format!("deploy {RECIPE} --target {TARGET} --device DEVICE --output json")).expect(0).json();
        let unit = unit(&result, TARGET);
        let notes = unit["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
        let note = notes.into_iter().find(|note| note.contains("brought")).unwrap_or_default();
        (unit["verification"]["state"].as_str().unwrap().to_owned(), note.to_owned())
    }
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it never happened");
        thread::sleep(Duration::from_millis(20));
    }
}

fn key(path: &Path) {
    Ran::of(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path)).expect(0);
}

/// A host with an ssh server that knows the public key in `trusted`, and a client that has the key `key`.
fn ssh(trusted: &str) -> Option<There> {
    if !has(SSHD, &["-?"]) || !has("ssh", &["-V"]) {
        return None;
    }
    let place = Place::warm();
    let [folder, home, programs] = ["ssh", "home", "programs"].map(|name| place.path().join(name));
    for folder in [&folder, &home, &programs] {
        fs::create_dir(folder).unwrap();
    }
    ["host", "key", "other"].iter().for_each(|name| key(&folder.join(name)));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = folder.display();
    let server = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/{trusted}.pub\nStrictModes no\n\
         UsePAM no\nPidFile none\nForceCommand cd {} && exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n",
        home.display()
    );
    let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let client = format!(
        "Host board\nHostName 127.0.0.1\nPort {port}\nUser {user}IdentityFile {at}/key\nIdentitiesOnly yes\n\
         UserKnownHostsFile {at}/known\nStrictHostKeyChecking accept-new\n"
    );
    fs::write(folder.join("sshd_config"), server).unwrap();
    fs::write(folder.join("config"), client).unwrap();
    let ssh = programs.join("ssh");
    fs::write(&ssh, format!("#!/bin/sh\nexec /usr/bin/ssh -F {at}/config \"$@\"\n")).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    // The folder that Debian's sshd wants, where the package has made none yet.
    let _ = fs::create_dir("/run/sshd");
    let log = fs::File::create(folder.join("log")).unwrap();
    let daemon =
        Command::new(SSHD).args(["-D", "-e", "-f"]).arg(folder.join("sshd_config")).stderr(log).spawn().unwrap();
    wait_for(|| std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let (name, variables) = ("ssh:board".to_owned(), vec![("PATH".to_owned(), path)]);
    Some(There { place, name, home, variables, _server: Server(daemon) })
}

/// An Android device that adb's server is connected with.
fn adb(how: &str) -> Option<There> {
    if !has("adb", &["version"]) || !has("python3", &["--version"]) {
        return None;
    }
    let place = Place::warm();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adb_device.py");
    let device = Command::new("python3").arg(script).arg(&home).args(how.split_whitespace()).spawn().unwrap();
    let device = Server(device);
    let port = wait_for(|| fs::read_to_string(home.join("port")).ok());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let variables = vec![("ANDROID_ADB_SERVER_PORT".to_owned(), free.to_string())];
    let mut connect = Command::new("adb");
    connect.args(["connect", &format!("127.0.0.1:{port}")]).envs(variables.iter().cloned()).stdin(Stdio::null());
    // The server that starts now keeps its key there.
    connect.env("HOME", place.path());
    connect.output().unwrap();
    Some(There { place, name: format!("adb:127.0.0.1:{port}"), home, variables, _server: device })
}

/// Ends adb's server, which outlives its clients.
fn end_server(there: &There) {
    let _ = Command::new("adb").arg("kill-server").envs(there.variables.iter().cloned()).output();
}

/// Deploys twice, and runs once with files of a user.
fn check(there: &There) {
    let (state, note) = there.deployed();
    assert_eq!(state, "done", "{note}");
    assert!(note.starts_with("3 of 3 files brought to"), "{note}");
    let (state, note) = there.deployed();
    assert_eq!(state, "done", "{note}");
    assert!(note.starts_with("0 of 3 files brought to"), "{note}");
    let outputs = there.place.path().join("outputs.safetensors");
    let words =
        format!("run {RECIPE} --target {TARGET} --device DEVICE --inputs {INPUTS} --outputs {}", outputs.display());
    there.run(&words).expect(0);
    assert!(tensors::max_difference(&outputs, &there.place.root.join(INPUTS)) < 1e-4);
    let refused = there.run(&words.replace(INPUTS, "examples/digits/README.md")).expect(8);
    assert!(refused.stderr.contains("the program on device"), "{}", refused.stderr);
    damage(there);
    assert!(there.deployed().1.starts_with("1 of 3 files brought to"));
    traced(there);
}

/// Records on the device, and here: the events are the same, and the files of the deploy stay as they are.
fn traced(there: &There) {
    let binary = there.place.out().join("digits").join(TARGET).join("digits");
    let (before, file) = (fs::read(&binary).unwrap(), there.place.path().join("trace.json"));
    let dump = there.place.path().join("digits.etdp");
    let options = format!("--partition cpu --inputs {INPUTS} --iters 2 --warmup 1 --threads 2 --output json");
    let files = format!("-o {} --etdump {}", file.display(), dump.display());
    let words = format!("trace {RECIPE} --target {TARGET} --device DEVICE {options} {files}");
    let remote = there.run(&words).expect(0).json();
    let local = there.run(&format!("trace {RECIPE} {options}")).expect(0).json();
    assert_eq!(instructions(&remote), instructions(&local));
    assert!(fs::read_to_string(&file).unwrap().contains("traceEvents"));
    assert_eq!(fs::read(&dump).unwrap()[8..12], *b"ED00");
    assert_eq!(fs::read(&binary).unwrap(), before);
}

/// Cuts a file on the device.
fn damage(there: &There) {
    let found = Command::new("find").arg(&there.home).args(["-name", "digits.pte", "-size", "+1"]).output().unwrap();
    let path = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    fs::write(path, "cut").unwrap();
}

#[test]
fn a_host_with_ssh_runs_what_it_lacks_and_no_more() {
    let Some(there) = ssh("key") else { return };
    check(&there);
}

#[test]
fn several_hosts_run_a_binary_at_once() {
    let (Some(there), Some(other)) = (ssh("key"), ssh("key")) else { return };
    let hosts = other.place.path().join("ssh/config");
    let hosts = fs::read_to_string(hosts).unwrap().replace("Host board", "Host other");
    let config = there.place.path().join("ssh/config");
    fs::write(&config, fs::read_to_string(&config).unwrap() + &hosts).unwrap();
    let deploy = format!("deploy {RECIPE} --target {TARGET} --output json --device DEVICE --device");
    let result = there.run(&format!("{deploy} ssh:other")).expect(0).json();
    let devices = unit(&result, TARGET)["devices"].as_array().unwrap();
    let states = devices.iter().map(|device| (device["device"].as_str().unwrap(), device["state"].as_str().unwrap()));
    assert_eq!(states.collect::<Vec<_>>(), [("ssh:board", "done"), ("ssh:other", "done")]);
    for home in [&there.home, &other.home] {
        assert!(home.join(".cache/etbuild/device").join(format!("digits@{TARGET}/digits.pte")).exists());
    }
    // An absent host does not stop the others.
    let result = there.run(&format!("{deploy} ssh:absent.invalid")).expect(8).json();
    let unit = unit(&result, TARGET);
    assert_eq!(
        (&unit["devices"][0]["state"], &unit["devices"][1]["state"]),
        (&"done".into(), &"none".into()),
        "{unit}"
    );
    assert_eq!(unit["diagnostics"][0]["code"], "ETB0705", "{unit}");
    there.run(&format!("{deploy} DEVICE")).expect(2);
}

#[test]
fn a_host_with_ssh_records_prompts_of_language_models() {
    let Some(there) = ssh("key") else { return };
    let words = format!("trace recipes/tiny-llama.yaml --target {TARGET}");
    let refused = there.run(&format!("{words} --device DEVICE")).expect(2).stderr;
    assert!(refused.contains("needs a prompt") && fs::read_dir(&there.home).unwrap().next().is_none(), "{refused}");
    let prompt = "--prompt fox --max-new-tokens 3 --temperature 0 --output json";
    let remote = there.run(&format!("{words} --partition cpu --device DEVICE {prompt}")).expect(0).json();
    let local = there.run(&format!("{words} --partition cpu {prompt}")).expect(0).json();
    assert_eq!(instructions(&remote), instructions(&local));
    assert!(instructions(&remote).iter().any(|row| row[0].contains("decode")), "{remote}");
}

#[test]
fn an_android_device_runs_what_it_lacks_and_no_more() {
    let Some(there) = adb("") else { return };
    check(&there);
    end_server(&there);
}

#[test]
fn a_target_may_name_its_host() {
    let Some(there) = ssh("key") else { return };
    let text = fs::read_to_string(there.place.root.join("targets/linux-x86_64.yaml")).unwrap();
    let text = text.replace("name: linux-x86_64", "name: board").replace("run: native", "run: { ssh: board }");
    let target = there.place.file("board.yaml", text);
    let result = there.run(&format!("deploy {RECIPE} --target {} --output json", target.display())).expect(0).json();
    assert_eq!(unit(&result, "board")["verification"]["state"], "done");
}

#[test]
fn what_keeps_a_device_away_is_told() {
    let words = format!("deploy {RECIPE} --target {TARGET} --device DEVICE");
    if let Some(there) = ssh("other") {
        let refused = there.run(&words).expect(8).stderr;
        assert!(refused.contains("error[ETB0711]") && refused.contains("ssh-copy-id"), "{refused}");
    }
    if let Some(there) = ssh("key") {
        let full = there.home.join(".cache/etbuild/device/digits@linux-x86_64");
        fs::create_dir_all(&full).unwrap();
        std::os::unix::fs::symlink("/dev/full", full.join("digits.pte.part")).unwrap();
        let told = there.run(&words).stderr;
        assert!(told.contains("error[ETB0603]: device `ssh:board` has no space left"), "{told}");
        drop(there._server);
    }
    if let Some(there) = adb("refuse") {
        let refused = there.run(&words).expect(8).stderr;
        assert!(refused.contains("error[ETB0711]") && refused.contains("accept"), "{refused}");
        let other = there.run(&words.replace("DEVICE", "adb:R5CX")).expect(8).stderr;
        assert!(other.contains("error[ETB0705]"), "{other}");
        end_server(&there);
    }
    let place = Place::warm();
    let mut command = place.command(words.replace("DEVICE", "ssh:nobody@127.0.0.1.invalid").split_whitespace());
    assert!(Ran::of(&mut command).expect(8).stderr.contains("error[ETB0705]"));
    let mut command = place.command(words.replace("DEVICE", "usb").split_whitespace());
    assert!(Ran::of(&mut command).expect(2).stderr.contains("`usb` is no device"));
    let twice = format!("deploy {RECIPE} --target linux-x86_64 --device adb --device adb:R5CX");
    let twice = place.run(&twice).expect(2).stderr;
    assert!(twice.contains("device `adb` may be the device `adb:R5CX`"), "{twice}");
    let several = place.run(&format!("deploy {RECIPE} --device adb")).expect(2).stderr;
    assert!(several.contains("one hosted target, and the request has 2"), "{several}");
    let firmware =
        place.run(&format!("run {RECIPE} --target mps2-an505 --device adb --outputs out.npy")).expect(2).stderr;
    assert!(firmware.contains("the request has 0"), "{firmware}");
    let refused = place.run(&format!("run {RECIPE} --device adb --method decode")).expect(2).stderr;
    assert!(refused.contains("cannot be used with"), "{refused}");
}

/// A machine whose programs see other variables.
struct Elsewhere<'a>(RealSystem, &'a There);

impl System for Elsewhere<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.0.read(path)
    }
    fn stamp(&self, path: &Path) -> std::io::Result<etbuild_system::FileStamp> {
        self.0.stamp(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.0.is_dir(path)
    }
    fn list(&self, path: &Path) -> std::io::Result<Vec<PathBuf>> {
        self.0.list(path)
    }
    fn write(&self, path: &Path, bytes: &[u8], executable: bool) -> std::io::Result<()> {
        self.0.write(path, bytes, executable)
    }
    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.0.remove(path)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn run(&self, invocation: &Invocation) -> std::io::Result<Outcome> {
        let variables = self.1.variables.iter();
        self.0.run(&variables.fold(invocation.clone(), |invocation, (name, value)| invocation.env(name, value)))
    }
    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// A process on the device ends with the command here.
fn check_interrupt(there: &There) {
    let text = "#!/bin/sh\necho $$ >process\nexec sleep 1000\n";
    let source = there.place.file("sleeper", text);
    let file = DeviceFile {
        name: "sleeper".to_owned(),
        source,
        digest: "1".to_owned(),
        size: text.len() as u64,
        executable: true,
    };
    let (device, real) = (Device::parse(&there.name).unwrap().shell().unwrap(), RealSystem::default());
    let (processes, system) = (real.processes(), Elsewhere(real, there));
    let folder = DeviceFolder::new(&system, &device, "sleeping");
    folder.push(&[file]).unwrap();
    let process = thread::scope(|scope| {
        let running =
            scope.spawn(|| folder.run(&device::Command { words: vec!["sleeper".to_owned()], ..Default::default() }));
        let find = || {
            let found =
                Command::new("find").arg(&there.home).args(["-name", "process", "-size", "+0"]).output().unwrap();
            fs::read_to_string(String::from_utf8(found.stdout).unwrap().trim()).ok()
        };
        let process: u32 = wait_for(find).trim().parse().unwrap();
        assert!(Path::new(&format!("/proc/{process}")).exists());
        processes.interrupt();
        running.join().unwrap().unwrap_err();
        process
    });
    wait_for(|| (!Path::new(&format!("/proc/{process}")).exists()).then_some(()));
}

#[test]
fn an_interrupted_command_leaves_no_process_on_a_host() {
    let Some(there) = ssh("key") else { return };
    check_interrupt(&there);
}

#[test]
fn an_interrupted_command_leaves_no_process_on_an_android_device() {
    let Some(there) = adb("") else { return };
    check_interrupt(&there);
    end_server(&there);
}
