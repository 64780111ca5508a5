//! A small HTTP server for tests: a thread for each request, and the connection ends with the answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A request.
pub struct Request {
    /// The first line and the headers, with the empty line.
    pub head: String,
    /// The path without the first slash.
    pub path: String,
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).ok().filter(|&length| length > 0)?;
        }
        let path = head.split(' ').nth(1)?.trim_start_matches('/').to_owned();
        let request = Self { head, path, body: Vec::new() };
        let mut body = vec![0; request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        Some(Self { body, ..request })
    }
}

/// Has `site` answer requests from now on; returns the port.
pub fn serve(site: impl Fn(&Request, TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let site = Arc::new(site);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let site = Arc::clone(&site);
            thread::spawn(move || {
                if let Some(request) = Request::read(&stream) {
                    site(&request, stream);
                }
            });
        }
    });
    port
}

/// Answers with these headers, each a line, and a body.
pub fn respond(mut stream: TcpStream, status: &str, headers: &[String], body: &[u8]) {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    // Who asked may have gone.
    let _written = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
