//! A page in headless Chromium, of the package `chromium`, which tells a test what the page shows.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::http::{self, Request, serve};

/// The text that a page sends to `/said` by `POST`; `site` answers every other request.
#[track_caller]
pub fn said_by(page: &str, profile: &Path, site: impl Fn(&Request, TcpStream) + Send + Sync + 'static) -> String {
    let (say, said) = channel();
    let port = serve(move |request, stream| match request.path.as_str() {
        "said" => {
            respond(stream, "200 OK", "text/plain", b"");
            let _received = say.send(String::from_utf8(request.body.clone()).unwrap());
        }
        _ => site(request, stream),
    });
    let mut browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        // WebGPU computes on the CPU.
        .args(["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"])
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

/// Answers with a page that has one script more.
pub fn respond_with_script(stream: TcpStream, page: &str, script: &str) {
    let page = page.replace("</html>", &format!("<script type=module>{script}</script></html>"));
    respond(stream, "200 OK", "text/html", page.as_bytes());
}

/// Answers with the headers of a page that may share memory with its workers.
pub fn respond(stream: TcpStream, status: &str, kind: &str, body: &[u8]) {
    let headers = [
        format!("Content-Type: {kind}"),
        "Cross-Origin-Opener-Policy: same-origin".to_owned(),
        "Cross-Origin-Embedder-Policy: require-corp".to_owned(),
    ];
    http::respond(stream, status, &headers, body);
}
