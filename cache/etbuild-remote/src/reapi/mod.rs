//! Servers of the Remote Execution API, version 2 (github.com/bazelbuild/remote-apis): content-addressed storage, byte
//! streams, action cache.

mod action;
mod batch;
mod capabilities;
mod connection;
mod execute;
mod output;
mod retry;
mod stream;
mod tree;
mod wire;

use std::sync::OnceLock;

use etbuild_store::{ActionKey, Blob};

use crate::location::Location;
use crate::{Execution, Job, JobResult, Options, OptionsError, Outputs, Remote, RemoteBlob, RemoteError};
use capabilities::Capabilities;
use connection::Connection;
use wire::Load;

/// A client of a server. The first request opens the connection.
pub struct Reapi {
    connection: Connection,
    capabilities: OnceLock<Capabilities>,
    execution: Option<Execution>,
}

impl Reapi {
    /// The server that the options name.
    ///
    /// # Errors
    /// The options make no sense.
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        let connection = Connection::new(&Location::parse(&options.url)?, options)?;
        Ok(Self { connection, capabilities: OnceLock::new(), execution: options.execution.clone() })
    }

    fn capabilities(&self) -> Result<Capabilities, RemoteError> {
        if let Some(known) = self.capabilities.get() {
            return Ok(*known);
        }
        let asked = self.connection.wait(capabilities::ask(&self.connection))?;
        Ok(*self.capabilities.get_or_init(|| asked))
    }
}

impl Remote for Reapi {
    fn greet(&self) -> Result<(), RemoteError> {
        self.capabilities().map(|_| ())
    }

    fn wants_sha256(&self) -> Result<bool, RemoteError> {
        Ok(self.capabilities()?.function.is_sha256())
    }

    fn missing(&self, blobs: &[RemoteBlob]) -> Result<Vec<RemoteBlob>, RemoteError> {
        let function = self.capabilities()?.function;
        let digests = blobs.iter().map(|blob| function.of(blob)).collect::<Result<Vec<_>, _>>()?;
        let missing = self.connection.wait(batch::missing(&self.connection, function, &digests))?;
        let is_missing = |digest: &wire::WireDigest| missing.contains(&digest.hash);
        Ok(blobs.iter().zip(&digests).filter(|(_, digest)| is_missing(digest)).map(|(blob, _)| *blob).collect())
    }

    fn get(
        &self,
        blob: &RemoteBlob,
        take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        let function = self.capabilities()?.function;
        let resource = wire::read_name(self.connection.instance(), function, &function.of(blob)?);
        self.connection.wait(stream::read(&self.connection, &resource, blob.blob.digest, take))
    }

    fn get_small(&self, blobs: &[RemoteBlob]) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
        let capabilities = self.capabilities()?;
        let digests = blobs.iter().map(|blob| capabilities.function.of(blob)).collect::<Result<Vec<_>, _>>()?;
        self.connection.wait(batch::read(&self.connection, &capabilities, &digests))
    }

    fn put(&self, blobs: &[(RemoteBlob, Blob)]) -> Result<(), RemoteError> {
        let capabilities = self.capabilities()?;
        let load = |(name, blob): &(RemoteBlob, Blob)| {
            Ok(Load { digest: capabilities.function.of(name)?, bytes: std::sync::Arc::new(blob.clone()) })
        };
        let loads = blobs.iter().map(load).collect::<Result<Vec<_>, RemoteError>>()?;
        self.connection.wait(batch::write(&self.connection, &capabilities, &loads))
    }

    fn outputs(&self, action: &ActionKey) -> Result<Option<Outputs>, RemoteError> {
        let function = self.capabilities()?.function;
        self.connection.wait(action::outputs(&self.connection, function, action))
    }

    fn record(&self, action: &ActionKey, outputs: &Outputs) -> Result<(), RemoteError> {
        let capabilities = self.capabilities()?;
        self.connection.wait(action::record(&self.connection, &capabilities, action, outputs))
    }

    fn execute(&self, job: &Job) -> Result<JobResult, RemoteError> {
        let capabilities = self.capabilities()?;
        let execution = self.execution.clone().unwrap_or_default();
        self.connection.wait(execute::run(&self.connection, &capabilities, &execution, job))
    }
}
