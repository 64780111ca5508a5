//! Models of the Hugging Face Hub: a server that behaves as the hub does gives the files of the tiny language model, and the hub's
//! own client in Python shares the cache. Tests with the client need `ETBUILD_TEST_PYTHON`, as those of `language.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::http::{Request, respond, serve};
use crate::support::{Place, Ran, python, repository};

const MODEL: &str = "hf:tales/tiny-llama";
const FOLDER: &str = "examples/tiny-llama/model";
const WEIGHTS: &str = "model.safetensors";
const COMMIT: &str = "1111111111111111111111111111111111111111";
const NEXT: &str = "2222222222222222222222222222222222222222";

/// What the server does.
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// The commit of `main`.
    commit: String,
    /// The token that the server wants, if any.
    token: Option<&'static str>,
    /// After how many bytes of a file the connection breaks.
    breaks: Option<usize>,
    /// The requests: the path, and where the answer begins.
    asked: Vec<(String, usize)>,
}

/// A running server.
#[derive(Clone)]
struct Hub {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Hub {
    fn start() -> Self {
        let folder = repository().join(FOLDER);
        let files = fs::read_dir(folder).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        });
        let state =
            State { files: files.collect(), commit: COMMIT.to_owned(), token: None, breaks: None, asked: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let port = serve(move |request, stream| answer(&mut shared.lock().unwrap(), request, stream));
        Self { port, state }
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    fn asked(&self) -> Vec<(String, usize)> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }

    /// A command for which this is the hub, with the hub's folder in the place.
    fn surround<'a>(&self, place: &Place, command: &'a mut Command) -> &'a mut Command {
        command.env("HF_ENDPOINT", format!("http://127.0.0.1:{}", self.port)).env("HF_HOME", place.path().join("hf"));
        command.env_remove("HF_TOKEN").env_remove("HF_HUB_OFFLINE")
    }

    fn run(&self, place: &Place, words: &str) -> Ran {
        let mut command = place.command(words.split_whitespace());
        Ran::of(self.surround(place, &mut command))
    }

    /// Compiles a model, which has to be downloaded first.
    fn compile(&self, place: &Place, words: &str) -> Ran {
        let mut command = place.command(["compile"].into_iter().chain(words.split_whitespace()));
        Ran::of(self.surround(place, command.arg("--program").arg(place.path().join("model.pte"))))
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Any name serves as git's digest here.
fn blob(bytes: &[u8]) -> String {
    sha256(bytes)[..40].to_owned()
}

fn answer(state: &mut State, request: &Request, stream: TcpStream) {
    let refused = state.token.filter(|token| request.header("authorization") != Some(&format!("Bearer {token}")));
    let path = request.path.split('?').next().unwrap();
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        // The store of large files is another host, which must not see the token.
        ["large", name] => {
            assert_eq!(request.header("authorization"), None);
            send(state, request, stream, name);
        }
        _ if refused.is_some() => respond(stream, "401 Unauthorized", &[], b""),
        ["api", "models", "tales", "tiny-llama", "revision", revision] if ["main", COMMIT, NEXT].contains(revision) => {
            state.asked.push((path.to_owned(), 0));
            let body = listing(state, revision).to_string();
            respond(stream, "200 OK", &["Content-Type: application/json".to_owned()], body.as_bytes());
        }
        ["api", "models", "tales", "tiny-llama", "tree", _] => {
            let body = tree(state).to_string();
            respond(stream, "200 OK", &["Content-Type: application/json".to_owned()], body.as_bytes());
        }
        ["tales", "tiny-llama", "resolve", _, name] if state.files.contains_key(*name) => {
            let bytes = &state.files[*name];
            let is_head = request.head.starts_with("HEAD");
            let mut headers = vec![format!("X-Repo-Commit: {}", parts[3]), format!("ETag: \"{}\"", blob(bytes))];
            if *name == WEIGHTS {
                headers.push(format!("X-Linked-Etag: \"{}\"", sha256(bytes)));
                headers.push(format!("X-Linked-Size: {}", bytes.len()));
                let port = stream.local_addr().unwrap().port();
                headers.push(format!("Location: http://localhost:{port}/large/{name}"));
                respond(stream, "302 Found", &headers, b"");
            } else if is_head {
                respond(stream, "200 OK", &headers, bytes);
            } else {
                send(state, request, stream, name);
            }
        }
        _ => respond(stream, "404 Not Found", &[], b""),
    }
}

fn listing(state: &State, revision: &str) -> Value {
    let commit = if revision == "main" { state.commit.as_str() } else { revision };
    let file = |(name, bytes): (&String, &Vec<u8>)| {
        let mut file = json!({ "rfilename": name, "size": bytes.len(), "blobId": blob(bytes) });
        if name == WEIGHTS {
            file["lfs"] = json!({ "sha256": sha256(bytes), "size": bytes.len(), "pointerSize": 134 });
        }
        file
    };
    json!({ "id": "tales/tiny-llama", "sha": commit, "siblings": state.files.iter().map(file).collect::<Vec<_>>() })
}

/// The files as the hub's own client asks for them.
fn tree(state: &State) -> Value {
    let file = |(name, bytes): (&String, &Vec<u8>)| {
        let mut file = json!({ "type": "file", "path": name, "size": bytes.len(), "oid": blob(bytes) });
        if name == WEIGHTS {
            file["lfs"] = json!({ "oid": sha256(bytes), "size": bytes.len(), "pointerSize": 134 });
        }
        file
    };
    state.files.iter().map(file).collect()
}

/// Sends a file, or the rest of it from the first byte of the range; the connection may break before the end.
fn send(state: &mut State, request: &Request, stream: TcpStream, name: &str) {
    let bytes = state.files[name].clone();
    let start: usize = request
        .header("range")
        .map_or(0, |range| range.strip_prefix("bytes=").unwrap().split('-').next().unwrap().parse().unwrap());
    state.asked.push((name.to_owned(), start));
    let rest = &bytes[start..];
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    match state.breaks.filter(|&length| length < rest.len()) {
        None => respond(stream, status, &[], rest),
        Some(length) => {
            use std::io::Write as _;
            let mut stream = stream;
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", rest.len());
            let _written = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&rest[..length]));
        }
    }
}

const PROMPT: [&str; 7] = ["--prompt", "Once", "--max-new-tokens", "8", "--temperature", "0", "--offline"];

#[test]
fn a_model_is_downloaded_once_and_shared_with_the_hubs_own_client() {
    let Some(python) = python::with("huggingface_hub") else { return };
    let (place, hub) = (Place::cold(), Hub::start());
    let ran = hub.compile(&place, MODEL).expect(0);
    assert!(ran.stderr.contains("downloading hf:tales/tiny-llama"), "{}", ran.stderr);
    assert!(hub.asked().iter().any(|(name, _)| name == WEIGHTS));
    // The client finds the snapshot that etbuild has downloaded, without a request.
    let script = "import sys, huggingface_hub as hub\n\
                  print(hub.snapshot_download('tales/tiny-llama', local_files_only='offline' in sys.argv))";
    let mut client = Command::new(&python);
    let found = Ran::of(hub.surround(&place, client.args(["-c", script, "offline"]))).expect(0).stdout;
    let snapshot = place.path().join("hf/hub/models--tales--tiny-llama/snapshots").join(COMMIT);
    assert_eq!(PathBuf::from(found.trim()), snapshot);
    let texts = |place: &Place, model: &str| {
        let mut command = place.command(["run", model].into_iter().chain(PROMPT));
        Ran::of(hub.surround(place, &mut command)).expect(0).stdout
    };
    assert_eq!(texts(&place, MODEL), texts(&place, FOLDER));
    assert_eq!(hub.asked(), []);
    // The other way round.
    let other = Place::cold();
    Ran::of(hub.surround(&other, Command::new(&python).args(["-c", script]))).expect(0);
    hub.asked();
    assert_eq!(texts(&other, MODEL), texts(&place, FOLDER));
    assert_eq!(hub.asked(), []);
}

#[test]
fn a_broken_download_goes_on_where_it_ended() {
    let (place, hub) = (Place::cold(), Hub::start());
    let size = fs::metadata(repository().join(FOLDER).join(WEIGHTS)).unwrap().len() as usize;
    hub.set(|state| state.breaks = Some(size / 6));
    let ran = hub.compile(&place, MODEL).expect(7);
    assert!(ran.stderr.contains("ETB0610") && ran.stderr.contains("goes on where it ended"), "{}", ran.stderr);
    let blobs = place.path().join("hf/hub/models--tales--tiny-llama/blobs");
    let part = fs::read_dir(&blobs).unwrap().map(|entry| entry.unwrap().path());
    let part = part.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "incomplete")).unwrap();
    let there = fs::metadata(&part).unwrap().len() as usize;
    assert!(there > size / 2 && there < size, "{there} of {size}");
    hub.asked();
    hub.set(|state| state.breaks = None);
    hub.compile(&place, MODEL).expect(0);
    assert!(hub.asked().contains(&(WEIGHTS.to_owned(), there)));
    assert!(!part.exists());
}

#[test]
fn a_damaged_download_is_told_and_forgotten() {
    let (place, hub) = (Place::cold(), Hub::start());
    let good = hub.state.lock().unwrap().files[WEIGHTS].clone();
    let blobs = place.path().join("hf/hub/models--tales--tiny-llama/blobs");
    let part = blobs.join(format!("{}.incomplete", sha256(&good)));
    fs::create_dir_all(&blobs).unwrap();
    fs::write(&part, b"bytes of another file").unwrap();
    let ran = hub.compile(&place, MODEL).expect(7);
    assert!(ran.stderr.contains("ETB0610") && ran.stderr.contains("is damaged"), "{}", ran.stderr);
    assert!(!part.exists());
    hub.compile(&place, MODEL).expect(0);
}

#[test]
fn what_the_hub_does_not_give_is_told_with_the_way_in() {
    let (place, hub) = (Place::cold(), Hub::start());
    let refused = |words: &str, status: i32, wanted: &[&str]| {
        let ran = hub.compile(&place, words).expect(status);
        assert!(wanted.iter().all(|text| ran.stderr.contains(text)), "{wanted:?} in {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    };
    refused("hf:tales/absent", 4, &["ETB0611", "has no `hf:tales/absent`"]);
    refused("hf:tales/tiny-llama@v9", 4, &["ETB0611", "has no `hf:tales/tiny-llama@v9`"]);
    refused("hf:tales/tiny-llama/absent.gguf", 4, &["ETB0611"]);
    refused("hf:tales/x@y@z", 3, &["ETB0201", "hf:OWNER/NAME"]);
    refused(&format!("{MODEL} --offline"), 7, &["ETB0610", "the network is off"]);
    hub.set(|state| state.token = Some("secret"));
    refused(MODEL, 4, &["ETB0611", "without a token", "hf auth login"]);
    let token = place.path().join("hf/token");
    fs::create_dir_all(token.parent().unwrap()).unwrap();
    fs::write(&token, "secret of another\n").unwrap();
    refused(MODEL, 4, &["ETB0611", "to this token"]);
    fs::write(&token, "secret\n").unwrap();
    hub.compile(&place, MODEL).expect(0);
    hub.set(|state| {
        let weights = state.files.remove(WEIGHTS).unwrap();
        state.files.insert("tiny-Q4_0.gguf".to_owned(), weights);
        state.commit = NEXT.to_owned();
    });
    refused(&format!("{MODEL}@{NEXT}"), 4, &["ETB0611", "has no safetensors", "hf:tales/tiny-llama/tiny-Q4_0.gguf"]);
}

#[test]
fn a_lock_file_keeps_the_commit() {
    let (mut place, hub) = (Place::cold_with_compiled_crates(), Hub::start());
    place.root = place.path().join("project");
    let recipe = "etbuild: 1\nname: tales\nmodel: { checkpoint: hf:tales/tiny-llama }\nexport: { context: 64 }\ntargets: [linux-x86_64]\n";
    place.file("project/tales.yaml", recipe);
    hub.run(&place, "lock tales.yaml").expect(0);
    let text = fs::read_to_string(place.root.join("etbuild.lock")).unwrap();
    let locked = |commit: &str| {
        let lock: toml::Table = fs::read_to_string(place.root.join("etbuild.lock")).unwrap().parse().unwrap();
        let sources = lock["source"].as_array().unwrap();
        let config = sources.iter().find(|source| source["path"].as_str() == Some("hf:tales/tiny-llama/config.json"));
        assert_eq!(config.unwrap()["revision"].as_str(), Some(commit), "{lock}");
    };
    locked(COMMIT);
    assert!(!text.contains(place.path().to_str().unwrap()), "{text}");
    // The branch moves on; an empty cache gets the commit of the lock.
    hub.set(|state| state.commit = NEXT.to_owned());
    fs::remove_dir_all(place.path().join("hf")).unwrap();
    hub.run(&place, "build tales.yaml --locked").expect(0);
    assert!(hub.asked().contains(&(format!("api/models/tales/tiny-llama/revision/{COMMIT}"), 0)));
    hub.run(&place, "lock tales.yaml --update").expect(0);
    locked(NEXT);
}
