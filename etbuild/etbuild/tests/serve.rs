//! The server of a language model: OpenAI's client, several clients at once, clients that misbehave, the key, the end. Tests with
//! OpenAI's client need `ETBUILD_TEST_PYTHON`, as those of `language.rs`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, Ran, python, signals};

/// The recipe of the tiny language model.
pub const RECIPE: &str = "recipes/tiny-llama.yaml";
const TARGET: &str = "linux-x86_64";
/// A message.
pub const PROMPT: &str = "Tell me a tale about a fox.";

/// A place with the tiny language model and a server in its binary.
pub fn deployed() -> &'static Place {
    static DEPLOYED: OnceLock<Place> = OnceLock::new();
    DEPLOYED.get_or_init(|| {
        let place = Place::cold_with_compiled_crates();
        place.run(&format!("build {RECIPE} --target {TARGET} --set server=true")).expect(0);
        place
    })
}

pub fn binary() -> PathBuf {
    deployed().out().join("tiny-llama").join(TARGET).join("tiny-llama")
}

/// What the command line answers greedily.
pub fn told(arguments: &[&str]) -> String {
    let ran = Ran::of(Command::new(binary()).args(arguments).args(["--temperature", "0"])).expect(0);
    ran.stdout.strip_suffix('\n').unwrap().to_owned()
}

/// A running server.
pub struct Server {
    process: Child,
    pub address: SocketAddr,
    /// What the server said.
    said: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(options: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(["--serve", "127.0.0.1:0"]).args(options);
        Self::of(&mut command)
    }

    /// Waits until the process says its address.
    pub fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (said, mut address) = (Arc::new(Mutex::new(String::new())), None);
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        for line in lines.by_ref().map_while(Result::ok) {
            said.lock().unwrap().push_str(&line);
            if let Some(found) = line.strip_prefix("serving http://").and_then(|rest| rest.strip_suffix("/v1")) {
                address = Some(found.parse().unwrap());
                break;
            }
        }
        let rest = Arc::clone(&said);
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| rest.lock().unwrap().push_str(&line)));
        let address = address.unwrap_or_else(|| panic!("no address: {}", said.lock().unwrap()));
        Self { process, address, said }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes, and reads the response to its end.
    fn exchange(&self, request: &[u8]) -> Response {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        Response::read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Response {
        self.exchange(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.exchange(&post(path, &body.to_string(), ""))
    }

    /// A number of `/metrics`.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    fn signal(&self, signal: &str) {
        signals::send(signal, &self.process.id().to_string());
    }

    /// Waits for the end of the process.
    fn ended(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

pub struct Response {
    pub status: u16,
    pub body: String,
}

impl Response {
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, body: body.to_owned() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }

    /// The text of an answer.
    pub fn text(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    }
}

/// A request that ends the connection; `more` has further headers.
pub fn post(path: &str, body: &str, more: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{more}\r\n{body}"
    )
    .into_bytes()
}

pub const CHAT: &str = "/v1/chat/completions";

fn conversation(words: &str, tokens: usize) -> Value {
    json!({ "messages": [{ "role": "user", "content": words }], "max_tokens": tokens, "temperature": 0 })
}

fn stream_of(words: &str, tokens: usize) -> Vec<u8> {
    let mut body = conversation(words, tokens);
    body["stream"] = json!(true);
    post(CHAT, &body.to_string(), "")
}

#[test]
fn the_client_of_openai_gets_the_text_of_the_command_line() {
    let Some(python) = python::with("openai") else { return };
    let server = Server::start(&["--slots", "3"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve.py");
    let base = format!("http://{}/v1", server.address);
    let got = Ran::of(Command::new(python).arg(script).args([&base, PROMPT, "60", "12"])).expect(0).json();
    let whole = told(&["--chat", "--prompt", PROMPT, "--max-new-tokens", "60"]);
    assert_eq!((&got["model"], &got["retrieved"]), (&json!("tiny-llama"), &json!("tiny-llama")));
    assert_eq!(got["whole"]["choices"][0]["message"]["content"], whole);
    assert_eq!(got["whole"]["choices"][0]["finish_reason"], "length");
    assert_eq!(got["whole"]["usage"]["completion_tokens"], 60);
    let streams = got["several"].as_array().unwrap().iter().chain([&got["stream"]]);
    for stream in streams {
        assert_eq!((&stream["text"], &stream["reason"]), (&json!(whole), &json!("length")));
        assert_eq!(stream["usage"]["prompt_tokens"], got["whole"]["usage"]["prompt_tokens"]);
        assert!(stream["pieces"].as_u64().unwrap() > 40, "{stream}");
    }
    let plain = told(&["--prompt", "Once", "--max-new-tokens", "20"]);
    assert_eq!((&got["plain"]["choices"][0]["text"], &got["plain_stream"]), (&json!(plain), &json!(plain)));
    assert_sampling(&got, &whole);
    assert_prompts(&got);
    let refused = got["refused"].as_array().unwrap().iter();
    let refused: Vec<_> = refused.map(|one| (one["status"].as_u64().unwrap(), one["type"].as_str().unwrap())).collect();
    let wanted = [
        (404, "NotFoundError"),
        (400, "BadRequestError"),
        (400, "BadRequestError"),
        (400, "BadRequestError"),
        (404, "NotFoundError"),
    ];
    assert_eq!(refused, wanted);
    assert_eq!(got["refused"][0]["body"]["code"], "model_not_found");
    assert_eq!(got["refused"][2]["body"]["param"], "temperature");
    assert_eq!(got["refused"][3]["body"]["code"], "context_length_exceeded");
}

/// Stop texts, probabilities and seeds.
fn assert_sampling(got: &Value, whole: &str) {
    let before = whole.split(got["stop"].as_str().unwrap()).next().unwrap();
    let stopped = &got["stopped"]["choices"][0];
    assert_eq!((&stopped["message"]["content"], &stopped["finish_reason"]), (&json!(before), &json!("stop")));
    assert_eq!((&got["stopped_stream"]["text"], &got["stopped_stream"]["reason"]), (&json!(before), &json!("stop")));
    let likely = got["likely"].as_array().unwrap();
    assert_eq!(likely.len(), 4);
    for token in likely {
        let best = token["top_logprobs"].as_array().unwrap();
        assert_eq!((best.len(), &best[0]["logprob"], &best[0]["token"]), (3, &token["logprob"], &token["token"]));
        assert!(
            token["logprob"].as_f64().unwrap() <= 0.0 && best[1]["logprob"].as_f64() <= best[0]["logprob"].as_f64()
        );
    }
    let plain = &got["plain"]["choices"][0]["logprobs"];
    assert_eq!(plain["tokens"].as_array().unwrap().len(), 20);
    assert_eq!(plain["top_logprobs"][0].as_object().unwrap().len(), 2);
    assert_eq!(got["seeds"][0], got["seeds"][1]);
    assert_ne!(got["seeds"][0], got["seeds"][2]);
    assert_eq!(got["own_options"], "length");
    let several: Vec<&str> = got["answers"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(several.len() == 3 && several[0] != several[1] && several[1] != several[2], "{several:?}");
    // The first answer has the seed itself.
    assert_eq!(json!(several[0]), got["answer"]);
    assert_eq!(got["answers_stream"], got["answers"]);
    let (echo, prompt) = (got["echo"].as_str().unwrap(), "Once");
    assert_eq!(echo.strip_prefix(prompt).map(|rest| json!(rest)), Some(got["plain"]["choices"][0]["text"].clone()));
    assert_eq!(got["biased"].as_str().unwrap(), got["biased"].as_str().unwrap().replace('.', ""));
}

/// Several prompts of a request have the answers that each has alone.
fn assert_prompts(got: &Value) {
    for [together, alone] in [
        ["prompts", "prompts_alone"],
        ["prompts_stream", "prompts_alone"],
        ["prompts_sampled", "prompts_sampled_alone"],
    ] {
        assert_eq!(got[together], got[alone], "{together}");
    }
    assert_eq!(got["prompts_sampled"].as_array().unwrap().len(), 4);
    let [both, first, second] = [0, 1, 2].map(|index| got["prompts_usage"][index].as_u64().unwrap());
    assert_eq!(both, first + second);
}

#[test]
fn texts_in_batches_are_those_of_the_command_line() {
    let animals = ["fox", "mole", "swan", "hare", "owl", "bear", "frog", "mouse", "cat", "wolf", "hen"];
    let prompts = animals.map(|animal| format!("Tell me a tale about a {animal} and its friends."));
    let alone = prompts.each_ref().map(|prompt| told(&["--chat", "--prompt", prompt, "--max-new-tokens", "80"]));
    // A whole batch, a part of one, and a batch with a part of another.
    for slots in ["8", "3", "11"] {
        let server = Server::start(&["--slots", slots]);
        let requests = prompts.each_ref().map(|prompt| post(CHAT, &conversation(prompt, 80).to_string(), ""));
        for _ in 0..3 {
            let mut clients = requests.each_ref().map(|_| server.connect());
            for (client, request) in clients.iter_mut().zip(&requests) {
                client.write_all(request).unwrap();
            }
            let together = clients.each_mut().map(|client| Response::read(client).text());
            assert_eq!(together, alone, "{slots} slots");
        }
        assert!(server.metric("etbuild_batched_tokens_total") > 100, "{slots} slots");
    }
}

#[test]
fn requests_that_end_a_batch_change_no_answer() {
    let animals = ["fox", "mole", "swan", "hare", "owl", "bear", "frog"];
    let prompts = animals.map(|animal| format!("Tell me a tale about a {animal} and its friends."));
    let alone = prompts.each_ref().map(|prompt| told(&["--chat", "--prompt", prompt, "--max-new-tokens", "300"]));
    let short = told(&["--chat", "--prompt", PROMPT, "--max-new-tokens", "5"]);
    let server = Server::start(&["--slots", "8"]);
    let begin = |prompt: &String| {
        let mut client = server.connect();
        client.write_all(&post(CHAT, &conversation(prompt, 300).to_string(), "")).unwrap();
        client
    };
    // Answers of a token need no pass of the batch: however many come, the others go on.
    for tokens in [5, 1] {
        let mut clients = prompts.each_ref().map(begin);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!(short.starts_with(&server.post(CHAT, &conversation(PROMPT, tokens)).text()));
                }
            });
            let together = clients.each_mut().map(|client| Response::read(client).text());
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(together, alone);
        });
    }
    assert!(server.metric("etbuild_ended_passes_total") > 0);
}

#[test]
fn a_prompt_that_begins_like_the_last_one_is_read_from_there() {
    let server = Server::start(&["--slots", "2"]);
    let first = server.post(CHAT, &conversation(PROMPT, 40));
    let mut messages = vec![json!({ "role": "user", "content": PROMPT })];
    messages.push(json!({ "role": "assistant", "content": first.text() }));
    messages.push(json!({ "role": "user", "content": "And then?" }));
    let next = json!({ "messages": messages, "max_tokens": 40, "temperature": 0 });
    let second = server.post(CHAT, &next);
    let usage = second.json()["usage"].clone();
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert!(cached >= first.json()["usage"]["prompt_tokens"].as_u64().unwrap(), "{usage}");
    assert_eq!(server.metric("etbuild_cached_tokens_total"), cached);
    let fresh = Server::start(&["--slots", "1"]).post(CHAT, &next);
    assert_eq!(fresh.json()["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
    assert_eq!(second.text(), fresh.text());
    // Without a ring buffer that wraps around, any number of tokens may be forgotten.
    let again = server.post(CHAT, &conversation(PROMPT, 40));
    let usage = again.json()["usage"].clone();
    let prompt = usage["prompt_tokens"].as_u64().unwrap();
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], prompt - 1);
    assert_eq!(again.text(), first.text());
}

#[test]
fn a_client_that_goes_away_ends_its_answer() {
    let server = Server::start(&["--slots", "1"]);
    let alone = server.post(CHAT, &conversation(PROMPT, 400)).json();
    let tokens = alone["usage"]["completion_tokens"].as_u64().unwrap();
    assert!(tokens > 30, "{alone}");
    let before = server.metric("etbuild_generated_tokens_total");
    let whole = post(CHAT, &conversation(PROMPT, 400).to_string(), "");
    let requests = [stream_of(PROMPT, 400), whole];
    let open = |index: usize| {
        let mut stream = server.connect();
        stream.write_all(&requests[index % 2]).unwrap();
        stream
    };
    let clients: Vec<TcpStream> = (0..60).map(open).collect();
    drop(clients);
    let start = Instant::now();
    while server.metric("etbuild_running") + server.metric("etbuild_waiting") > 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "answers go on");
        thread::sleep(Duration::from_millis(5));
    }
    let generated = server.metric("etbuild_generated_tokens_total") - before;
    assert!(generated < 30 * tokens, "{generated} tokens for nobody, {tokens} an answer");
    assert_eq!(server.post(CHAT, &conversation(PROMPT, 400)).json()["choices"], alone["choices"]);
}

#[test]
fn requests_beyond_the_queue_are_refused_and_nothing_is_lost() {
    let server = Server::start(&["--slots", "1", "--queue", "2"]);
    let request = post(CHAT, &conversation(PROMPT, 200).to_string(), "");
    let expected = server.post(CHAT, &conversation(PROMPT, 200)).text();
    let mut refused = 0;
    // A slow machine may answer requests faster than they come.
    for _ in 0..20 {
        let mut clients: Vec<TcpStream> = (0..12).map(|_| server.connect()).collect();
        clients.iter_mut().for_each(|client| client.write_all(&request).unwrap());
        for client in &mut clients {
            match Response::read(client) {
                Response { status: 429, body } => {
                    assert!(body.contains("queue_full"), "{body}");
                    refused += 1;
                }
                response => assert_eq!(response.text(), expected),
            }
        }
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0, "no request was refused");
}

#[test]
fn malformed_requests_get_the_right_status_and_a_sentence() {
    let server = Server::start(&[]);
    let with = |name: &str, value: Value| {
        let mut body = conversation(PROMPT, 5);
        body[name] = value;
        post(CHAT, &body.to_string(), "")
    };
    let text = |body: &str| post(CHAT, body, "");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let raw = |text: &str| text.as_bytes().to_vec();
    let cases: Vec<(Vec<u8>, u16, &str)> = vec![
        (text("{"), 400, "not JSON"),
        (text("[]"), 400, "no JSON object"),
        (text(&deep), 400, "not JSON"),
        (text("{}"), 400, "messages"),
        (with("messages", json!([])), 400, "messages"),
        (with("messages", json!([{ "role": "judge", "content": "a" }])), 400, "judge"),
        (with("temperature", json!("hot")), 400, "temperature"),
        (with("top_p", json!(2)), 400, "top_p"),
        (with("max_tokens", json!(0)), 400, "max_tokens"),
        (with("max_tokens", json!(-1)), 400, "max_tokens"),
        (with("frequency_penalty", json!(2.5)), 400, "frequency_penalty"),
        (with("n", json!(200)), 400, "n"),
        (with("tools", json!([{ "type": "function" }])), 400, "tools"),
        (with("tools", json!([{ "type": "function", "function": { "name": "f" } }])), 400, "has no tools"),
        (with("response_format", json!({ "type": "xml" })), 400, "xml"),
        (with("guided_regex", json!("a(")), 400, "unclosed group"),
        (with("guided_json", json!({ "type": "intger" })), 400, "intger"),
        (with("temprature", json!(1)), 400, "temprature"),
        (with("model", json!("gpt-4o")), 404, "gpt-4o"),
        (post("/v1/completions", r#"{"prompt": [999999]}"#, ""), 400, "999999"),
        (post("/v1/completions", r#"{"prompt": ["a", 1]}"#, ""), 400, "neither a text nor tokens"),
        (post("/v1/completions", r#"{"prompt": ["a", []]}"#, ""), 400, "neither a text nor tokens"),
        (post("/v1/embeddings", "{}", ""), 404, "/v1/embeddings"),
        (raw("GET /v1/chat/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 405, "POST"),
        (
            raw("POST /v1/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"),
            415,
            "json",
        ),
    ];
    for (request, status, word) in cases {
        let response = server.exchange(&request);
        let error = response.json()["error"].clone();
        let shown = String::from_utf8_lossy(&request[..request.len().min(400)]).into_owned();
        assert_eq!(response.status, status, "{shown}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word) && error["type"].is_string(), "{shown}: {error}");
    }
    assert_eq!(server.exchange(b"no HTTP at all\r\n\r\n").status, 400);
    assert_eq!(server.post(CHAT, &conversation(PROMPT, 5)).status, 200);
}

#[test]
fn huge_and_slow_requests_end() {
    let server = Server::start(&["--read-timeout", "0.5"]);
    let huge = json!({ "prompt": "a".repeat(9 << 20) });
    assert_eq!(server.post("/v1/completions", &huge).status, 413);
    let mut chunked =
        b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    for _ in 0..9 {
        chunked.extend(format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20)).as_bytes());
    }
    assert_eq!(server.exchange(&[&chunked[..], b"0\r\n\r\n"].concat()).status, 413);
    let request = post(CHAT, &conversation(PROMPT, 5).to_string(), "");
    assert_eq!(server.exchange(&request[..request.len() - 1]).status, 408);
    // A head that never ends.
    let mut stream = server.connect();
    stream.write_all(&request[..30]).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains(" 200 "));
    assert_eq!(server.exchange(&request).status, 200);
}

#[test]
fn a_request_that_takes_too_long_ends() {
    let server = Server::start(&["--timeout", "0"]);
    let response = server.post(CHAT, &conversation(PROMPT, 400));
    assert_eq!((response.status, &response.json()["error"]["code"]), (504, &json!("timeout")));
    let stream = server.exchange(&stream_of(PROMPT, 400));
    assert!(stream.status == 200 && stream.body.contains("\"timeout\""), "{}", stream.body);
}

#[test]
fn a_key_is_demanded_and_never_shown() {
    let key = "sk-very-secret";
    let file = deployed().file("key", format!("{key}\n"));
    let mut by_variable = Command::new(binary());
    by_variable.args(["--serve", "127.0.0.1:0", "--api-key", "env:THE_KEY"]).env("THE_KEY", key);
    for server in [Server::start(&["--api-key", file.to_str().unwrap()]), Server::of(&mut by_variable)] {
        let body = conversation(PROMPT, 5).to_string();
        let status = |header: &str| server.exchange(&post(CHAT, &body, header)).status;
        assert_eq!(status(&format!("Authorization: Bearer {key}\r\n")), 200);
        for wrong in ["", "Authorization: Bearer sk-very-secre\r\n", "Authorization: Basic abc\r\n"] {
            assert_eq!(status(wrong), 401, "{wrong}");
        }
        let refused = server.get("/v1/models");
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (401, &json!("invalid_api_key")));
        assert_eq!(
            [server.get("/metrics").status, server.get("/health").status, server.get("/").status],
            [401, 200, 200]
        );
        assert!(!server.said.lock().unwrap().contains(key));
    }
    let missing = Ran::of(Command::new(binary()).args(["--serve", "0", "--api-key", "env:NO_SUCH_KEY"])).expect(2);
    assert!(missing.stderr.contains("NO_SUCH_KEY"), "{}", missing.stderr);
}

#[test]
fn a_signal_lets_running_answers_end() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&["--slots", "2", "--grace", "60"]);
        let whole = server.post(CHAT, &conversation(PROMPT, 400)).text();
        let mut clients: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
        clients.iter_mut().for_each(|client| client.write_all(&stream_of(PROMPT, 400)).unwrap());
        let mut byte = [0];
        clients.iter_mut().for_each(|client| client.read_exact(&mut byte).unwrap());
        server.signal(signal);
        for client in &mut clients {
            let body = Response::read_after(&byte, client).body;
            assert_eq!(streamed_text(&body), whole);
            assert!(body.contains("data: [DONE]"), "{body}");
        }
        assert!(server.ended().success());
        assert!(TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn answers_beyond_the_grace_are_cut() {
    let mut server = Server::start(&["--slots", "1", "--grace", "0"]);
    let mut clients: Vec<TcpStream> = (0..40).map(|_| server.connect()).collect();
    clients.iter_mut().for_each(|client| client.write_all(&stream_of(PROMPT, 400)).unwrap());
    let mut byte = [0];
    clients.iter_mut().for_each(|client| client.read_exact(&mut byte).unwrap());
    server.signal("TERM");
    let bodies: Vec<String> = clients.iter_mut().map(|client| Response::read_after(&byte, client).body).collect();
    assert!(bodies.iter().any(|body| body.contains("shutting down")), "{bodies:?}");
    assert!(bodies.iter().all(|body| body.contains("data: [DONE]")), "{bodies:?}");
    assert!(server.ended().success());
}

impl Response {
    /// The response whose first bytes have been read.
    fn read_after(first: &[u8], stream: &mut TcpStream) -> Self {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        let text = String::from_utf8([first, &rest].concat()).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        Self { status: 200, body: body.to_owned() }
    }
}

/// The text of a stream.
fn streamed_text(body: &str) -> String {
    let events = body.lines().filter_map(|line| line.strip_prefix("data: ")?.strip_prefix('{'));
    let pieces = events.map(|event| serde_json::from_str::<Value>(&format!("{{{event}")).unwrap());
    pieces.map(|piece| piece["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_command_deploys_and_becomes_the_server() {
    let place = deployed();
    let mut command = place.command(["serve", RECIPE]);
    command.args(["--", "127.0.0.1:0", "--slots", "1"]);
    let mut server = Server::of(&mut command);
    assert_eq!(server.get("/v1/models").json()["data"][0]["id"], "tiny-llama");
    assert_eq!(server.get("/health").json()["status"], "ok");
    server.signal("TERM");
    assert!(server.ended().success());
    let program = place.out().join("tiny-llama").join(TARGET).join("tiny-llama.pte");
    let refused = Ran::of(&mut place.command(["serve", program.to_str().unwrap()])).expect(2);
    assert!(refused.stderr.contains("program file"), "{}", refused.stderr);
}

#[test]
fn a_binary_without_a_server_says_how_to_get_one() {
    let place = deployed();
    let plan = |setting: &str| {
        let value = place.json(&format!("plan {RECIPE} --target {TARGET} --set server={setting}"));
        crate::support::not_cached(&value, TARGET)
    };
    assert!(!plan("true").contains(&"link".to_owned()));
    assert!(plan("false").contains(&"link".to_owned()));
    let refused = place.run("check recipes/digits.yaml --set server=true");
    assert_ne!(refused.status, 0);
    assert!(refused.stderr.contains("requires a checkpoint"), "{}", refused.stderr);
}
