//! The connection to a server, and the headers of each request.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bazel_remote_apis::build::bazel::remote::execution::v2::{RequestMetadata, ToolDetails};
use prost::Message;
use tokio::runtime::Runtime;
use tonic::metadata::{MetadataKey, MetadataMap, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

use crate::helper::Helper;
use crate::location::Location;
use crate::{Options, OptionsError, Tls};

/// The header with the client's name, which servers write to their logs.
const METADATA: &str = "build.bazel.remote.execution.v2.requestmetadata-bin";

/// The channel with its headers.
pub type Line = InterceptedService<Channel, Headers>;

/// A server with the thread that runs its requests.
pub struct Connection {
    runtime: Runtime,
    line: Line,
    instance: String,
    patience: Duration,
}

impl Connection {
    /// Prepares a connection; the first request opens it.
    pub fn new(location: &Location, options: &Options) -> Result<Self, OptionsError> {
        let wrong = |_| OptionsError::Url(options.url.clone());
        let endpoint = Endpoint::from_shared(location.http()).map_err(wrong)?;
        let endpoint = endpoint.connect_timeout(options.patience).tcp_nodelay(true);
        let endpoint = if location.encrypted { encrypted(endpoint, &options.tls)? } else { endpoint };
        let headers = Headers::new(location, options)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(OptionsError::Runtime)?;
        let channel = {
            let _inside = runtime.enter();
            endpoint.connect_lazy()
        };
        let line = InterceptedService::new(channel, headers);
        Ok(Self { runtime, line, instance: location.instance.clone(), patience: options.patience })
    }

    /// Runs a conversation with the server to its end.
    pub fn wait<T>(&self, conversation: impl Future<Output = T>) -> T {
        self.runtime.block_on(conversation)
    }

    /// The channel for requests.
    pub fn line(&self) -> Line {
        self.line.clone()
    }

    /// The part of the server that is meant.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The time limit of an answer.
    pub fn patience(&self) -> Duration {
        self.patience
    }
}

/// The headers of each request.
#[derive(Clone)]
pub struct Headers {
    fixed: MetadataMap,
    helper: Option<Arc<Helper>>,
}

impl Headers {
    fn new(location: &Location, options: &Options) -> Result<Self, OptionsError> {
        let mut map = MetadataMap::new();
        let token = options.token.as_ref().map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
        for (name, value) in options.headers.iter().cloned().chain(token) {
            // The value may be a secret: only the name is told.
            let wrong = || OptionsError::Header(name.clone());
            let key = MetadataKey::from_str(&name.to_lowercase()).map_err(|_| wrong())?;
            let mut value = MetadataValue::try_from(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            map.insert(key, value);
        }
        map.insert_bin(METADATA, MetadataValue::from_bytes(&metadata()));
        let helper = |program: &PathBuf| Arc::new(Helper::new(program.clone(), location.http(), options.patience));
        Ok(Self { fixed: map, helper: options.credential_helper.as_ref().map(helper) })
    }
}

fn metadata() -> Vec<u8> {
    let tool = ToolDetails { tool_name: "etbuild".to_owned(), tool_version: env!("CARGO_PKG_VERSION").to_owned() };
    RequestMetadata { tool_details: Some(tool), ..RequestMetadata::default() }.encode_to_vec()
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        // gRPC's own headers are in the metadata already.
        request.metadata_mut().as_mut().extend(self.fixed.clone().into_headers());
        if let Some(helper) = &self.helper {
            let headers = helper.headers().map_err(Status::unauthenticated)?;
            request.metadata_mut().as_mut().extend(headers.into_headers());
        }
        Ok(request)
    }
}

fn encrypted(endpoint: Endpoint, tls: &Tls) -> Result<Endpoint, OptionsError> {
    let configuration = ClientTlsConfig::new();
    let configuration = match &tls.authority {
        Some(path) => configuration.ca_certificate(Certificate::from_pem(read(path)?)),
        None => configuration.with_native_roots(),
    };
    let configuration = match &tls.client {
        Some((certificate, key)) => configuration.identity(Identity::from_pem(read(certificate)?, read(key)?)),
        None => configuration,
    };
    endpoint.tls_config(configuration).map_err(|error| OptionsError::Tls(chain(&error)))
}

/// The text of an error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let behind = error.source().map(|source| format!(": {}", chain(source)));
    format!("{error}{}", behind.unwrap_or_default())
}

fn read(path: &Path) -> Result<Vec<u8>, OptionsError> {
    fs::read(path).map_err(|source| OptionsError::File { path: path.to_owned(), source })
}
