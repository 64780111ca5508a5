//! Requests to the hub.

use std::time::Duration;

use etbuild_system::System;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::runtime::{Builder, Runtime};

use crate::cache::{home, variable};
use crate::{HubError, Reference};

/// How often a request is tried.
const ATTEMPTS: u32 = 4;

/// The longest silence of the hub.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to the hub for one checkpoint.
pub(crate) struct Hub<'a> {
    reference: &'a Reference,
    endpoint: String,
    has_token: bool,
    client: Client,
    runtime: Runtime,
}

impl<'a> Hub<'a> {
    /// The hub that the environment names, with the user's token, if any.
    pub(crate) fn new(system: &dyn System, reference: &'a Reference) -> Result<Self, HubError> {
        // Two libraries need a default TLS provider; an error means that a provider is installed already.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let endpoint = variable(system, "HF_ENDPOINT");
        let endpoint = endpoint.unwrap_or_else(|| "https://huggingface.co".to_owned()).trim_end_matches('/').to_owned();
        let failed = |reason: String| HubError::Unavailable { reference: reference.clone(), reason };
        let mut headers = HeaderMap::new();
        if let Some(token) = token(system) {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| failed("the token has characters that no token has".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let has_token = !headers.is_empty();
        let agent = concat!("etbuild/", env!("CARGO_PKG_VERSION"));
        let client = Client::builder().user_agent(agent).default_headers(headers).read_timeout(PATIENCE);
        let client = client.connect_timeout(PATIENCE).build().map_err(|error| failed(error.to_string()))?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| failed(error.to_string()))?;
        Ok(Self { reference, endpoint, has_token, client, runtime })
    }

    /// The text at a path of the hub.
    pub(crate) fn text(&self, path: &str) -> Result<Vec<u8>, HubError> {
        self.again(|| {
            self.runtime.block_on(async {
                let response = self.response(path, 0).await?;
                Ok(response.bytes().await.map_err(|error| self.broken(&error))?.to_vec())
            })
        })
    }

    /// Reads the file at a path of the hub from the byte `start()` on; `take` gets the offset of each piece, which is less than
    /// that where a server cannot begin there. A broken connection is continued.
    pub(crate) fn read(
        &self,
        path: &str,
        mut start: impl FnMut() -> Result<u64, HubError>,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), HubError>,
    ) -> Result<(), HubError> {
        self.again(|| {
            let wanted = start()?;
            self.runtime.block_on(async {
                let mut response = self.response(path, wanted).await?;
                let mut at = if response.status() == StatusCode::PARTIAL_CONTENT { wanted } else { 0 };
                while let Some(piece) = response.chunk().await.map_err(|error| self.broken(&error))? {
                    take(at, &piece)?;
                    at += piece.len() as u64;
                }
                Ok(())
            })
        })
    }

    async fn response(&self, path: &str, start: u64) -> Result<Response, HubError> {
        let mut request = self.client.get(format!("{}/{path}", self.endpoint));
        if start > 0 {
            request = request.header(RANGE, format!("bytes={start}-"));
        }
        let response = request.send().await.map_err(|error| self.broken(&error))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::NOT_FOUND => Err(HubError::NotFound(self.reference.clone())),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(HubError::Refused { reference: self.reference.clone(), has_token: self.has_token })
            }
            status => Err(self.failed(format!("the hub answered with the status {status}"))),
        }
    }

    /// Tries again after a failure of the network, a little later each time.
    fn again<T>(&self, mut attempt: impl FnMut() -> Result<T, HubError>) -> Result<T, HubError> {
        for tried in 1..ATTEMPTS {
            match attempt() {
                Err(HubError::Unavailable { .. }) => std::thread::sleep(Duration::from_millis(200) * 3_u32.pow(tried)),
                outcome => return outcome,
            }
        }
        attempt()
    }

    /// The innermost cause says what happened; the outer errors repeat the address, which may have a signature.
    fn broken(&self, error: &reqwest::Error) -> HubError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        self.failed(cause.to_string())
    }

    pub(crate) fn failed(&self, reason: String) -> HubError {
        HubError::Unavailable { reference: self.reference.clone(), reason }
    }
}

/// The token where the hub's tools look for it.
fn token(system: &dyn System) -> Option<String> {
    let file = || {
        let path = variable(system, "HF_TOKEN_PATH").map(Into::into).or_else(|| Some(home(system)?.join("token")))?;
        String::from_utf8(system.read(&path).ok()?).ok()
    };
    let token = variable(system, "HF_TOKEN").or_else(|| variable(system, "HUGGING_FACE_HUB_TOKEN")).or_else(file)?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
}
