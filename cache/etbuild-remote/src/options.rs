//! Options of the connection to a remote.

use std::path::PathBuf;
use std::time::Duration;

use crate::Execution;

/// The access of a build to a remote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Download only, for example for pull requests.
    Read,
    /// Download and upload.
    #[default]
    ReadWrite,
    /// Download and upload; a build that loses the remote fails.
    Required,
}

impl Access {
    /// Whether the build uploads action results.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// Files for encrypted connections, in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The certificate authority of the server; the system's authorities if `None`.
    pub authority: Option<PathBuf>,
    /// The client's certificate and private key, for servers with mutual TLS.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// The address of a remote and the options of the connection.
#[derive(Clone)]
pub struct Options {
    /// `grpc://HOST:PORT/INSTANCE`, or `grpcs://` for an encrypted connection. With the feature `object-stores` also
    /// `s3://BUCKET/FOLDER?region=..&endpoint=..`, `file:///FOLDER` and, to read from, `http://` and `https://`.
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// Sent with every request as `authorization: Bearer`.
    pub token: Option<String>,
    /// A program that says which headers to send with every request.
    pub credential_helper: Option<PathBuf>,
    /// For encrypted connections.
    pub tls: Tls,
    /// Whether a build downloads and uploads.
    pub access: Access,
    /// How jobs are run there; all is run here where this is `None`.
    pub execution: Option<Execution>,
    /// The time without an answer after which a server counts as lost.
    pub patience: Duration,
}

impl Options {
    /// The remote at `url`, without secrets.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            headers: Vec::new(),
            token: None,
            credential_helper: None,
            tls: Tls::default(),
            access: Access::default(),
            execution: None,
            patience: Duration::from_secs(20),
        }
    }
}

/// Debug output omits secrets.
impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Options").field("url", &self.url).field("access", &self.access).finish_non_exhaustive()
    }
}

/// Invalid options, reported before the first request.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The URL has an unknown scheme or is malformed.
    #[error("invalid remote cache `{0}`: expected a URL such as `grpc://host:port` or `grpcs://host:port/instance`")]
    Url(String),
    /// The client of remote caches is not in this build.
    #[error("this etbuild was built without the feature `remote`, so it cannot use the remote cache `{0}`")]
    LeftOut(String),
    /// The client of object stores is not in this build.
    #[error("this etbuild was built without the feature `object-stores`, so it cannot use the remote cache `{0}`")]
    NoObjectStores(String),
    /// A header that HTTP does not allow.
    #[error("invalid request header `{0}`")]
    Header(String),
    /// A file that cannot be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The files do not make up a TLS configuration.
    #[error("invalid TLS configuration: {0}")]
    Tls(String),
    /// Remote execution with read-only access, although jobs upload their input files.
    #[error("remote execution uploads input files, so `--remote-mode read` does not allow it")]
    ReadOnlyExecution,
    /// The machine has no threads or sockets left.
    #[error("invalid connection options: {0}")]
    Runtime(std::io::Error),
}
