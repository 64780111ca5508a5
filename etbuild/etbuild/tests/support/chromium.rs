//! A page in headless Chromium, of the package `chromium`, which tells a test what the page shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A request of the browser.
pub struct Request {
    /// The first line and the headers, with the empty line.
    pub head: String,
    /// The path without the first slash.
    pub path: String,
    pub body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).ok().filter(|&length| length > 0)?;
        }
        let length = |line: &str| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
        let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let path = head.split(' ').nth(1)?.trim_start_matches('/').to_owned();
        Some(Self { head, path, body })
    }
}

/// The text that a page sends to `/said` by `POST`; `site` answers every other request.
#[track_caller]
pub fn said_by(page: &str, profile: &Path, site: impl Fn(&Request, TcpStream) + Send + Sync + 'static) -> String {
    let (port, said) = serve(site);
    let mut browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("http://127.0.0.1:{port}/{page}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let text = said.recv_timeout(Duration::from_secs(300));
    browser.kill().unwrap();
    browser.wait().unwrap();
    text.unwrap_or_else(|_| panic!("{page} says nothing"))
}

fn serve(site: impl Fn(&Request, TcpStream) + Send + Sync + 'static) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (site, (say, said)) = (Arc::new(site), channel());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (site, say) = (Arc::clone(&site), say.clone());
            thread::spawn(move || match Request::read(&stream) {
                Some(Request { path, body, .. }) if path == "said" => {
                    respond(stream, "200 OK", "text/plain", b"");
                    let _received = say.send(String::from_utf8(body).unwrap());
                }
                Some(request) => site(&request, stream),
                None => {}
            });
        }
    });
    (port, said)
}

/// Answers with a page that has one script more.
pub fn respond_with_script(stream: TcpStream, page: &str, script: &str) {
    let page = page.replace("</html>", &format!("<script type=module>{script}</script></html>"));
    respond(stream, "200 OK", "text/html", page.as_bytes());
}

/// Answers with the headers of a page that may share memory with its workers.
pub fn respond(mut stream: TcpStream, status: &str, kind: &str, body: &[u8]) {
    let isolation = "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n";
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n{isolation}\r\n"
    );
    // A browser that was ended reads no more.
    let _written = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
