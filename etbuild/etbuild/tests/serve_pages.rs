//! Pages in headless Chromium that call the server: its own, and those of other origins.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use serde_json::{Value, json};

use crate::serve::{CHAT, PROMPT, Server, binary, deployed, told};
use crate::support::Ran;
use crate::support::chromium::{respond_with_script, said_by};
use crate::support::http::Request;
use crate::support::programs::has;

/// A page of another origin in headless Chromium. Without Chromium the test is skipped with a message, except where emulators are required.
#[test]
fn pages_of_other_origins_call_a_server_that_allows_them() {
    let file = deployed().file("page-key", "sk-page\n");
    let key = ["--api-key", file.to_str().unwrap()];
    let with = |origin: &str| Server::start(&[&key[..], &["--allow-origin", origin]].concat());
    let allowed = with("*");
    let asked = |server: &Server, origin: &str| {
        let head = format!(
            "OPTIONS {CHAT} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type\r\n\r\n"
        );
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.to_ascii_lowercase()
    };
    let named = with("https://example.org");
    let answer = asked(&named, "https://example.org");
    for header in
        ["access-control-allow-origin: https://example.org", "access-control-allow-headers: authorization,content-type"]
    {
        assert!(answer.contains(header), "{answer}");
    }
    assert!(!asked(&named, "https://example.com").contains("access-control-allow-origin"));
    assert!(!asked(&Server::start(&key), "https://example.org").contains("access-control-allow-origin"));
    let wrong = Ran::of(Command::new(binary()).args(["--serve", "0", "--allow-origin", "example.org"])).expect(2);
    assert!(wrong.stderr.contains("--allow-origin needs an origin"), "{}", wrong.stderr);
    if !has("chromium", &["--version"]) {
        return;
    }
    let said = |name: &str, server: &Server| {
        let body = json!({ "prompt": "Once", "max_tokens": 20, "temperature": 0 });
        let script = format!(
            r#"
const request = {{ method: "POST", body: JSON.stringify({body}),
  headers: {{ "Content-Type": "application/json", "Authorization": "Bearer sk-page" }} }};
const answer = await fetch("http://{}/v1/completions", request).then(answer => answer.json(), () => null);
await fetch("/said", {{ method: "POST", body: JSON.stringify(answer && answer.choices[0].text) }});
"#,
            server.address
        );
        let profile = deployed().path().join(name);
        said_by("", &profile, move |_, stream| respond_with_script(stream, "<!doctype html><html></html>", &script))
    };
    let text = told(&["--prompt", "Once", "--max-new-tokens", "20"]);
    assert_eq!(said("other-page", &allowed), json!(text).to_string());
    assert_eq!(said("refused-page", &named), "null");
}

/// The page of the server in headless Chromium. Without Chromium the test is skipped with a message, except where emulators are required.
#[test]
fn the_page_shows_the_answer_to_a_message() {
    if !has("chromium", &["--version"]) {
        return;
    }
    let server = Server::start(&[]);
    let (address, page) = (server.address, server.get("/").body);
    let profile = deployed().path().join("chromium");
    let said = said_by(&format!("#{}", PROMPT.replace(' ', "%20")), &profile, move |request, stream| {
        match request.path.is_empty() {
            true => respond_with_script(stream, &page, REPORT),
            false => forward(request, &stream, address),
        }
    });
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        said,
        json!({ "title": "tiny-llama", "user": PROMPT, "assistant": told(&["--chat", "--prompt", PROMPT]) })
    );
}

/// Waits for the end of the first answer, and sends the conversation to the test.
const REPORT: &str = r#"
const watch = () => {
  const [user, assistant] = document.querySelectorAll('#log p');
  if (!assistant || document.getElementById("send").textContent !== "Send") return setTimeout(watch, 50);
  const said = { title: document.title, user: user.textContent, assistant: assistant.textContent };
  fetch("/said", { method: "POST", body: JSON.stringify(said) });
};
watch();
"#;

/// Has the server answer a request of the page.
fn forward(request: &Request, mut stream: &TcpStream, server: SocketAddr) {
    let mut connection = TcpStream::connect(server).unwrap();
    let head = request.head.replacen("\r\n", "\r\nConnection: close\r\n", 1).replace("Connection: keep-alive\r\n", "");
    connection.write_all(&[head.as_bytes(), &request.body].concat()).unwrap();
    // A browser that was ended reads no more.
    let _copied = std::io::copy(&mut connection, &mut stream);
}
