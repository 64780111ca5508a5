//! Where a remote is, and how to speak to it.

use std::path::PathBuf;
use std::time::Duration;

use crate::Execution;

/// What a build may do with a remote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Take what is there, add nothing: for pull requests.
    Read,
    /// Take what is there, and add what stages make.
    #[default]
    ReadWrite,
    /// The same, and a build that loses the remote fails.
    Required,
}

impl Access {
    /// Whether what stages make is added.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// Files for encrypted connections, in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The certificates of who may vouch for the server; the system's where this is `None`.
    pub authority: Option<PathBuf>,
    /// The client's own certificate and its private key, for servers that ask for one.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Where a remote is, and how to speak to it.
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
    /// What may be done.
    pub access: Access,
    /// How jobs are run there; all is run here where this is `None`.
    pub execution: Option<Execution>,
    /// For so long a server may say nothing before it counts as lost.
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

/// Secrets stay out of what is printed.
impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Options").field("url", &self.url).field("access", &self.access).finish_non_exhaustive()
    }
}

/// Options that make no sense. Found before anything is sent.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The URL is none of those that are understood.
    #[error("`{0}` is no remote cache: a URL such as `grpc://host:port` or `grpcs://host:port/instance` is")]
    Url(String),
    /// The client of remote caches is not in this build.
    #[error("this etbuild was built without the feature `remote`, so it cannot use the remote cache `{0}`")]
    LeftOut(String),
    /// The client of object stores is not in this build.
    #[error("this etbuild was built without the feature `object-stores`, so it cannot use the remote cache `{0}`")]
    NoObjectStores(String),
    /// A header that HTTP does not allow.
    #[error("`{0}` is no header that can be sent")]
    Header(String),
    /// A file that cannot be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The files do not make up a TLS configuration.
    #[error("no encrypted connection can be made: {0}")]
    Tls(String),
    /// What jobs read must be sent.
    #[error("jobs for workers are sent to the server, and `read` sends nothing")]
    ReadOnlyExecution,
    /// The machine has no threads or sockets left.
    #[error("nothing can be sent: {0}")]
    Runtime(std::io::Error),
}
