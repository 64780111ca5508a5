//! A server of the Remote Execution API in memory that breaks a promise when a test tells it to. Servers that others wrote keep
//! their promises, so that they cannot show what the client does with a broken one.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream as bytes;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

type Answer<T> = Result<Response<T>, Status>;
type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The broken promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// None: the server works.
    #[default]
    None,
    /// Results name blobs that the server says it lacks.
    BlobsGone,
    /// A stream of a blob has [`SURPLUS`] messages of zeros behind the blob.
    TooLong,
    /// A stream of a blob never begins.
    SilentAtFirst,
    /// A stream of a blob ends in silence after the first half.
    SilentHalfway,
}

/// The number of messages behind the blob in a stream that is too long.
pub const SURPLUS: usize = 2000;

/// The bytes of each of these messages.
const PIECE: usize = 32 << 10;

/// The server. Copies share the state.
#[derive(Clone, Default)]
pub struct Faulty(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    fault: Fault,
    blobs: BTreeMap<String, Vec<u8>>,
    results: BTreeMap<String, api::ActionResult>,
    sent: usize,
}

impl Faulty {
    /// Starts a server without a fault. Returns the server and its URL.
    pub fn start() -> (Self, String) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let entered = runtime.enter();
        let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        drop(entered);
        let (address, server) = (incoming.local_addr().unwrap(), Self::default());
        let router = Server::builder()
            .add_service(api::capabilities_server::CapabilitiesServer::new(server.clone()))
            .add_service(api::action_cache_server::ActionCacheServer::new(server.clone()))
            .add_service(api::content_addressable_storage_server::ContentAddressableStorageServer::new(server.clone()))
            .add_service(bytes::byte_stream_server::ByteStreamServer::new(server.clone()));
        std::thread::spawn(move || runtime.block_on(router.serve_with_incoming(incoming)).unwrap());
        (server, format!("grpc://{address}"))
    }

    /// Breaks a promise from now on.
    pub fn set(&self, fault: Fault) {
        self.state().fault = fault;
    }

    /// The number of messages behind the end of a blob that the server has sent.
    pub fn sent(&self) -> usize {
        self.state().sent
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn fault_and_blob(&self, hash: &str) -> (Fault, Option<Vec<u8>>) {
        let state = self.state();
        (state.fault, state.blobs.get(hash).cloned())
    }

    /// Counts the messages that the transport takes.
    fn surplus(&self) -> impl Iterator<Item = Vec<u8>> + Send + use<> {
        let server = self.clone();
        (0..SURPLUS).map(move |_| {
            server.state().sent += 1;
            vec![0; PIECE]
        })
    }
}

fn hash(digest: Option<api::Digest>) -> String {
    digest.map(|digest| digest.hash).unwrap_or_default()
}

fn message(data: Vec<u8>) -> Result<bytes::ReadResponse, Status> {
    Ok(bytes::ReadResponse { data })
}

#[tonic::async_trait]
impl api::capabilities_server::Capabilities for Faulty {
    async fn get_capabilities(&self, _: Request<api::GetCapabilitiesRequest>) -> Answer<api::ServerCapabilities> {
        let functions = vec![api::digest_function::Value::Sha256 as i32];
        let cache = api::CacheCapabilities { digest_functions: functions, ..Default::default() };
        Ok(Response::new(api::ServerCapabilities { cache_capabilities: Some(cache), ..Default::default() }))
    }
}

#[tonic::async_trait]
impl api::action_cache_server::ActionCache for Faulty {
    async fn get_action_result(&self, request: Request<api::GetActionResultRequest>) -> Answer<api::ActionResult> {
        let found = self.state().results.get(&hash(request.into_inner().action_digest)).cloned();
        found.map(Response::new).ok_or_else(|| Status::not_found("no such action"))
    }

    async fn update_action_result(
        &self,
        request: Request<api::UpdateActionResultRequest>,
    ) -> Answer<api::ActionResult> {
        let request = request.into_inner();
        let result = request.action_result.unwrap_or_default();
        self.state().results.insert(hash(request.action_digest), result.clone());
        Ok(Response::new(result))
    }
}

#[tonic::async_trait]
impl api::content_addressable_storage_server::ContentAddressableStorage for Faulty {
    async fn find_missing_blobs(
        &self,
        request: Request<api::FindMissingBlobsRequest>,
    ) -> Answer<api::FindMissingBlobsResponse> {
        let state = self.state();
        let is_gone = |digest: &api::Digest| state.fault == Fault::BlobsGone || !state.blobs.contains_key(&digest.hash);
        let missing = request.into_inner().blob_digests.into_iter().filter(is_gone).collect();
        Ok(Response::new(api::FindMissingBlobsResponse { missing_blob_digests: missing }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<api::BatchUpdateBlobsRequest>,
    ) -> Answer<api::BatchUpdateBlobsResponse> {
        let mut responses = Vec::new();
        for blob in request.into_inner().requests {
            self.state().blobs.insert(hash(blob.digest.clone()), blob.data);
            responses.push(api::batch_update_blobs_response::Response { digest: blob.digest, status: None });
        }
        Ok(Response::new(api::BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<api::BatchReadBlobsRequest>,
    ) -> Answer<api::BatchReadBlobsResponse> {
        let state = self.state();
        let read = |digest: api::Digest| {
            let data = state.blobs.get(&digest.hash)?.clone();
            Some(api::batch_read_blobs_response::Response { digest: Some(digest), data, ..Default::default() })
        };
        let responses = request.into_inner().digests.into_iter().filter_map(read).collect();
        Ok(Response::new(api::BatchReadBlobsResponse { responses }))
    }

    type GetTreeStream = Messages<api::GetTreeResponse>;

    async fn get_tree(&self, _: Request<api::GetTreeRequest>) -> Answer<Self::GetTreeStream> {
        Err(Status::unimplemented("trees"))
    }

    async fn split_blob(&self, _: Request<api::SplitBlobRequest>) -> Answer<api::SplitBlobResponse> {
        Err(Status::unimplemented("parts of blobs"))
    }

    async fn splice_blob(&self, _: Request<api::SpliceBlobRequest>) -> Answer<api::SpliceBlobResponse> {
        Err(Status::unimplemented("parts of blobs"))
    }

    type GetChunkMappingStream = Messages<api::GetChunkMappingResponse>;

    async fn get_chunk_mapping(&self, _: Request<api::GetChunkMappingRequest>) -> Answer<Self::GetChunkMappingStream> {
        Err(Status::unimplemented("chunks"))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<api::RegisterChunkMappingRequest>>,
    ) -> Answer<api::RegisterChunkMappingResponse> {
        Err(Status::unimplemented("chunks"))
    }
}

#[tonic::async_trait]
impl bytes::byte_stream_server::ByteStream for Faulty {
    type ReadStream = Messages<bytes::ReadResponse>;

    async fn read(&self, request: Request<bytes::ReadRequest>) -> Answer<Self::ReadStream> {
        // `blobs/HASH/SIZE`
        let name = request.into_inner().resource_name;
        let hash = name.split('/').nth(1).unwrap_or_default();
        let (fault, blob) = self.fault_and_blob(hash);
        let blob = blob.ok_or_else(|| Status::not_found("no such blob"))?;
        let half = blob[..blob.len() / 2].to_vec();
        let stream: Self::ReadStream = match fault {
            Fault::None | Fault::BlobsGone => Box::pin(tokio_stream::once(message(blob))),
            Fault::TooLong => Box::pin(tokio_stream::iter(std::iter::once(blob).chain(self.surplus()).map(message))),
            Fault::SilentAtFirst => std::future::pending().await,
            Fault::SilentHalfway => Box::pin(tokio_stream::once(message(half)).chain(tokio_stream::pending())),
        };
        Ok(Response::new(stream))
    }

    async fn write(&self, _: Request<Streaming<bytes::WriteRequest>>) -> Answer<bytes::WriteResponse> {
        Err(Status::unimplemented("blobs that are too large for a batch"))
    }

    async fn query_write_status(
        &self,
        _: Request<bytes::QueryWriteStatusRequest>,
    ) -> Answer<bytes::QueryWriteStatusResponse> {
        Err(Status::unimplemented("blobs that are too large for a batch"))
    }
}
