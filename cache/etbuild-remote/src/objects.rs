//! Object stores behind OpenDAL: S3 and compatible services, a folder on a shared file system, an HTTP server
//! (read-only). A blob is the object `cas/ab/...`, an action result is the object `ac/ab/...`.

use std::future::Future;
use std::time::Duration;

use etbuild_store::{ActionKey, Blob, BlobRef, Digest};
use opendal::{Buffer, Error, ErrorKind, Operator, OperatorBuilder, services};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;

use crate::retry;
use crate::{Job, JobResult, Options, OptionsError, Outputs, Remote, RemoteBlob, RemoteError};

/// The first line of an action result.
const HEADING: &str = "etbuild-remote 1";

/// The number of concurrent requests.
const SIDE_BY_SIDE: usize = 16;

/// The object of the first request, which only tests the connection.
const GREETING: &str = "ac/greeting";

/// Why reading ended early.
enum Broken {
    Store(Error),
    Taker(RemoteError),
}

/// A store of objects.
pub struct Objects {
    runtime: Runtime,
    operator: Operator,
    patience: Duration,
}

impl Objects {
    /// Opens the object store that the options name.
    ///
    /// # Errors
    /// The options contradict each other or are malformed.
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(OptionsError::Runtime)?;
        // Two libraries need a default TLS provider; an error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let operator = operator(options).ok_or_else(|| OptionsError::Url(options.url.clone()))?;
        Ok(Self { runtime, operator, patience: options.patience })
    }

    /// Runs a request, with retries after transient failures.
    fn wait<T>(&self, mut question: impl AsyncFnMut() -> Result<T, Error>) -> Result<T, Error> {
        self.runtime.block_on(async {
            for attempt in 1..retry::ATTEMPTS {
                match within(self.patience, question()).await {
                    Err(error) if error.is_temporary() => retry::pause(attempt).await,
                    outcome => return outcome,
                }
            }
            within(self.patience, question()).await
        })
    }

    /// Reads an object from the offset `start`, the end of the bytes received so far. The request has no end offset,
    /// because some web servers reject bounded ranges.
    async fn read_from(
        &self,
        path: &str,
        start: &mut u64,
        size: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<(), Broken> {
        if *start == size {
            return Ok(());
        }
        let reader = self.operator.reader(path).await.map_err(Broken::Store)?;
        let mut pieces = within(self.patience, reader.into_stream(*start..size)).await.map_err(Broken::Store)?;
        while let Some(piece) = within(self.patience, pieces.try_next()).await.map_err(Broken::Store)? {
            take(&piece.to_bytes()).map_err(Broken::Taker)?;
            *start += piece.len() as u64;
        }
        Ok(())
    }

    /// The error of a failed read. An object of another size than the blob's is a wrong object.
    fn not_read(&self, blob: &RemoteBlob, path: &str, error: &Error) -> RemoteError {
        let size = || self.wait(async || self.operator.stat(path).await).map(|facts| facts.content_length());
        match error.kind() {
            ErrorKind::NotFound => RemoteError::Gone(blob.blob.digest),
            ErrorKind::RangeNotSatisfied => RemoteError::Wrong(blob.blob.digest),
            _ if !error.is_temporary() && size().is_ok_and(|size| size != blob.blob.size) => {
                RemoteError::Wrong(blob.blob.digest)
            }
            _ => failure(error),
        }
    }

    /// Runs the request `question` for each path concurrently; results are in the order of the paths.
    fn for_each<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        paths: Vec<String>,
        question: impl Fn(Operator, String) -> F,
    ) -> Result<Vec<T>, RemoteError> {
        let mut found = Vec::new();
        for page in paths.chunks(SIDE_BY_SIDE) {
            let answers = self.wait(async || {
                let mut set = JoinSet::new();
                for (index, path) in page.iter().enumerate() {
                    let answer = question(self.operator.clone(), path.clone());
                    set.spawn(async move { answer.await.map(|answer| (index, answer)) });
                }
                let mut answers = set.join_all().await.into_iter().collect::<Result<Vec<_>, Error>>()?;
                answers.sort_by_key(|(index, _)| *index);
                Ok(answers)
            });
            found.extend(answers.map_err(|error| failure(&error))?.into_iter().map(|(_, answer)| answer));
        }
        Ok(found)
    }
}

async fn within<T>(limit: Duration, question: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let silent = |_| Err(Error::new(ErrorKind::Unexpected, format!("no answer within {} s", limit.as_secs_f32())));
    tokio::time::timeout(limit, question).await.unwrap_or_else(silent)
}

fn operator(options: &Options) -> Option<Operator> {
    let (scheme, rest) = options.url.split_once("://")?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let root = format!("/{}", path.trim_matches('/'));
    match scheme {
        "file" => {
            let folder = services::Fs::default().root(&root).atomic_write_dir(&format!("{root}/tmp"));
            Operator::new(folder).map(OperatorBuilder::finish).ok()
        }
        _ if host.is_empty() => None,
        "s3" => {
            let setting = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            let bucket = services::S3::default().bucket(host).root(&root);
            let bucket = setting("region").into_iter().fold(bucket, services::S3::region);
            let bucket = setting("endpoint").into_iter().fold(bucket, services::S3::endpoint);
            Operator::new(bucket).map(OperatorBuilder::finish).ok()
        }
        _ => {
            let server = services::Http::default().endpoint(&format!("{scheme}://{host}")).root(&root);
            let server = options.token.iter().fold(server, |server, token| server.token(token));
            Operator::new(server).map(OperatorBuilder::finish).ok()
        }
    }
}

/// The error after the last attempt.
fn failure(error: &Error) -> RemoteError {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Unexpected | ErrorKind::RateLimited => RemoteError::Lost(text),
        _ => RemoteError::Refused(text),
    }
}

fn path(folder: &str, digest: &Digest) -> String {
    let name = digest.to_string();
    let (shard, rest) = name.split_at(2);
    format!("{folder}/{shard}/{rest}")
}

fn blob_path(blob: &RemoteBlob) -> String {
    path("cas", &blob.blob.digest)
}

/// The bytes of an object; `None` if the object does not exist.
async fn read_whole(operator: Operator, path: String) -> Result<Option<Vec<u8>>, Error> {
    match operator.read(&path).await {
        Ok(bytes) => Ok(Some(bytes.to_vec())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Remote for Objects {
    fn greet(&self) -> Result<(), RemoteError> {
        self.wait(async || self.operator.exists(GREETING).await).map(|_| ()).map_err(|error| failure(&error))
    }

    fn wants_sha256(&self) -> Result<bool, RemoteError> {
        Ok(false)
    }

    fn missing(&self, blobs: &[RemoteBlob]) -> Result<Vec<RemoteBlob>, RemoteError> {
        let paths = blobs.iter().map(blob_path).collect();
        let there = self.for_each(paths, |operator, path| async move { operator.exists(&path).await })?;
        Ok(blobs.iter().zip(there).filter(|(_, there)| !there).map(|(blob, _)| *blob).collect())
    }

    fn get(
        &self,
        blob: &RemoteBlob,
        take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        let (path, mut start) = (blob_path(blob), 0);
        for attempt in 1.. {
            match self.runtime.block_on(self.read_from(&path, &mut start, blob.blob.size, take)) {
                Ok(()) => break,
                Err(Broken::Taker(error)) => return Err(error),
                Err(Broken::Store(error)) if error.is_temporary() && attempt < retry::ATTEMPTS => {
                    self.runtime.block_on(retry::pause(attempt));
                }
                Err(Broken::Store(error)) => return Err(self.not_read(blob, &path, &error)),
            }
        }
        Ok(())
    }

    fn get_small(&self, blobs: &[RemoteBlob]) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        self.for_each(blobs.iter().map(blob_path).collect(), read_whole)
    }

    fn put(&self, blobs: &[(RemoteBlob, Blob)]) -> Result<(), RemoteError> {
        for (name, blob) in blobs {
            let path = blob_path(name);
            let bytes: Buffer = blob.to_vec().into();
            let written = self.wait(async || self.operator.write(&path, bytes.clone()).await);
            written.map_err(|error| failure(&error))?;
        }
        Ok(())
    }

    fn outputs(&self, action: &ActionKey) -> Result<Option<Outputs>, RemoteError> {
        let path = path("ac", &action.0);
        let found = self.wait(async || read_whole(self.operator.clone(), path.clone()).await);
        Ok(found.map_err(|error| failure(&error))?.and_then(|bytes| parse(&bytes)))
    }

    fn record(&self, action: &ActionKey, outputs: &Outputs) -> Result<(), RemoteError> {
        let path = path("ac", &action.0);
        let bytes: Buffer = print(outputs).into_bytes().into();
        let written = self.wait(async || self.operator.write(&path, bytes.clone()).await);
        written.map(|_| ()).map_err(|error| failure(&error))
    }

    fn execute(&self, _: &Job) -> Result<JobResult, RemoteError> {
        Err(RemoteError::Refused("an object store cannot execute jobs".to_owned()))
    }
}

/// An action result as text: the heading, a line `DIGEST SIZE NAME` for each output, and the digest of these lines.
fn print(outputs: &Outputs) -> String {
    let line =
        |(name, RemoteBlob { blob, .. }): &(String, RemoteBlob)| format!("{} {} {name}\n", blob.digest, blob.size);
    let body = format!("{HEADING}\n{}", outputs.iter().map(line).collect::<String>());
    format!("{body}{}\n", Digest::of(body.as_bytes()))
}

/// `None` for a truncated action result, or for the format of another version.
fn parse(bytes: &[u8]) -> Option<Outputs> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let (body, digest) = text.split_at(text.rfind('\n')? + 1);
    let lines = body.strip_prefix(HEADING)?.strip_prefix('\n')?.lines();
    let output = |line: &str| {
        let (digest, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let blob = BlobRef { digest: digest.parse().ok()?, size: size.parse().ok()? };
        Some((name.to_owned(), RemoteBlob { blob, sha256: None }))
    };
    lines.map(output).collect::<Option<_>>().filter(|_| digest == Digest::of(body.as_bytes()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_truncated_record_is_none() {
        let output = |bytes: &[u8]| ("a name".to_owned(), RemoteBlob { blob: BlobRef::of(bytes), sha256: None });
        let outputs: Outputs = vec![output(b"one"), output(b""), output(b"one")];
        let text = print(&outputs);
        assert_eq!(parse(text.as_bytes()), Some(outputs));
        assert_eq!(parse(print(&Vec::new()).as_bytes()), Some(Vec::new()));
        for length in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..length]), None);
        }
    }
}
