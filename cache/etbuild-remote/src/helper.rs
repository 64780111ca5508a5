//! Headers from a credential helper, by Bazel's protocol: etbuild starts the program with the argument `get`, writes
//! `{"uri": URI}` to its input, and reads `{"headers": {NAME: [VALUE]}, "expires": TIME}` from its output.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tonic::metadata::{MetadataKey, MetadataMap, MetadataValue};

/// The interval at which a running helper is polled.
const POLL: Duration = Duration::from_millis(5);

/// A credential helper with its last answer.
pub struct Helper {
    program: PathBuf,
    uri: String,
    patience: Duration,
    known: Mutex<Option<Credentials>>,
}

#[derive(Serialize)]
struct Question<'a> {
    uri: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    headers: BTreeMap<String, Vec<String>>,
    expires: Option<String>,
}

struct Credentials {
    headers: MetadataMap,
    expires: Option<SystemTime>,
}

impl Helper {
    /// A helper for the server at `uri` with the time limit `patience`.
    pub fn new(program: PathBuf, uri: String, patience: Duration) -> Self {
        Self { program, uri, patience, known: Mutex::default() }
    }

    /// The current headers. The helper runs for the first request and after its answer has expired.
    ///
    /// # Errors
    /// The failure of the helper, with the helper's error output.
    pub fn headers(&self) -> Result<MetadataMap, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref().filter(|known| known.hold()) {
            return Ok(known.headers.clone());
        }
        let failed = |reason| format!("the credential helper `{}` {reason}", self.program.display());
        let fresh = self.ask().and_then(|printed| Credentials::read(&printed)).map_err(failed)?;
        Ok(known.insert(fresh).headers.clone())
    }

    /// Runs the helper and returns its standard output.
    fn ask(&self) -> Result<Vec<u8>, String> {
        let question = serde_json::to_vec(&Question { uri: &self.uri }).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.program);
        command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("failed to start: {error}"))?;
        let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
        if let Some(mut stdin) = child.stdin.take() {
            // A helper may ignore its input, so a failed write is no error; the helper's output decides.
            let _ = stdin.write_all(&question);
        }
        let status = wait(&mut child, self.patience)?;
        if status.success() {
            return Ok(stdout.join().unwrap_or_default());
        }
        let said = stderr.join().unwrap_or_default();
        Err(format!("failed with {status}: {}", String::from_utf8_lossy(&said).trim()))
    }
}

impl Credentials {
    /// Parses the helper's output. Error messages leave out names and values, because headers may be secrets.
    fn read(printed: &[u8]) -> Result<Self, String> {
        let answer: Answer = serde_json::from_slice(printed).map_err(|_| "printed invalid credentials".to_owned())?;
        let mut headers = MetadataMap::new();
        for (name, values) in &answer.headers {
            let wrong = || "printed an invalid header".to_owned();
            let key = MetadataKey::from_str(&name.to_lowercase()).map_err(|_| wrong())?;
            for value in values {
                let mut value = MetadataValue::try_from(value).map_err(|_| wrong())?;
                value.set_sensitive(true);
                headers.append(key.clone(), value);
            }
        }
        let expires = answer.expires.map(|text| OffsetDateTime::parse(&text, &Rfc3339));
        let expires = expires.transpose().map_err(|_| "printed an invalid expiry time".to_owned())?;
        Ok(Self { headers, expires: expires.map(SystemTime::from) })
    }

    fn hold(&self) -> bool {
        self.expires.is_none_or(|expires| SystemTime::now() < expires)
    }
}

/// Reads a pipe to its end on a separate thread.
fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| format!("failed: {error}"))? {
            Some(status) => return Ok(status),
            None if start.elapsed() >= limit => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(format!("did not answer within {} s", limit.as_secs_f32()));
            }
            None => thread::sleep(POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(printed: &str) -> Result<Credentials, String> {
        Credentials::read(printed.as_bytes())
    }

    #[test]
    fn printed_headers_are_sent_until_expiry() {
        let read = |expires: &str| read(&format!(r#"{{"headers": {{"X-A": ["1", "2"]}}{expires}}}"#)).unwrap();
        let known = read("");
        assert_eq!(known.headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
        assert!(known.hold() && read(r#", "expires": "2999-01-01T00:00:00+01:00""#).hold());
        assert!(!read(r#", "expires": "2001-01-01T00:00:00Z""#).hold());
    }

    /// The number of helper runs for two requests, if the helper's answer contains `expires`.
    #[cfg(unix)]
    fn asked_for_two(expires: &str) -> usize {
        use std::fs;
        let folder = tempfile::tempdir().unwrap();
        let (program, log) = (folder.path().join("helper"), folder.path().join("log"));
        let script = format!("#!/bin/sh\necho asked >> {}\necho '{{\"headers\": {{}}{expires}}}'\n", log.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let helper = Helper::new(program, "http://host".to_owned(), Duration::from_secs(20));
        helper.headers().and_then(|_| helper.headers()).unwrap();
        fs::read_to_string(log).unwrap().lines().count()
    }

    #[cfg(unix)]
    #[test]
    fn a_helper_runs_again_only_after_expiry() {
        assert_eq!(asked_for_two(""), 1);
        assert_eq!(asked_for_two(r#", "expires": "2001-01-01T00:00:00Z""#), 2);
    }

    #[test]
    fn malformed_output_is_refused_and_not_shown() {
        for wrong in ["", "secret", r#"{"headers": {"a b": ["secret"]}}"#, r#"{"headers": {"a": ["secret\n"]}}"#] {
            assert!(read(wrong).is_err_and(|reason| !reason.contains("secret")), "{wrong}");
        }
        assert!(read(r#"{"expires": "tomorrow"}"#).is_err());
    }
}
