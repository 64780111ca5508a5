//! Paths.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use et_llm::Task;
use serde_json::{Value, json};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::answer::answer;
use super::body::{MOST_FILES, most_bytes, read_bytes, read_json};
use super::encode::encode;
use super::form::{boundary, fields};
use super::transcribe::transcribe;
use crate::api::{CHAT, COMPLETION, Shape, TakeTexts, take_embeddings, take_rerank};
use crate::error::ApiError;
use crate::server::{Served, Server};

type Shared = State<Arc<Server>>;

/// The paths that need the key of the server.
const PROTECTED: &str = "/v1/";

/// The paths of a server, as metrics name the paths; the rest is [`OTHER`].
const PATHS: [&str; 11] =
    ["/", "/health", "/metrics", MODELS, MODEL, CHATS, COMPLETIONS, EMBEDDINGS, RERANK, TRANSCRIPTIONS, TRANSLATIONS];
const MODELS: &str = "/v1/models";
const MODEL: &str = "/v1/models/{model}";
const CHATS: &str = "/v1/chat/completions";
const COMPLETIONS: &str = "/v1/completions";
const EMBEDDINGS: &str = "/v1/embeddings";
const RERANK: &str = "/v1/rerank";
const TRANSCRIPTIONS: &str = "/v1/audio/transcriptions";
const TRANSLATIONS: &str = "/v1/audio/translations";
const OTHER: &str = "other";

/// The page to chat.
const PAGE: &str = include_str!("page.html");

/// The permissions of the page: inline style and script, and requests to this server.
const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";

/// How long a browser need not ask again whether a page may call the server.
const KNOWN_FOR: Duration = Duration::from_secs(600);

/// All paths of a server.
pub fn router(server: Arc<Server>) -> Router {
    let router = Router::new()
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route(MODELS, get(models))
        .route(MODEL, get(model));
    let router = match &server.model {
        Served::Language(_) => {
            router.route("/", get(page)).route(CHATS, post(chat)).route(COMPLETIONS, post(completion))
        }
        Served::Encoder(desk) if desk.facts.task == Task::Score => router.route(RERANK, post(rerank)),
        Served::Encoder(_) => router.route(EMBEDDINGS, post(embeddings)),
        Served::Speech(_) => router.route(TRANSCRIPTIONS, post(transcription)).route(TRANSLATIONS, post(translation)),
    };
    router
        .fallback(no_path)
        .method_not_allowed_fallback(async || ApiError::no_method())
        .layer(from_fn_with_state(Arc::clone(&server), watch))
        .layer(pages(&server.origins))
        .with_state(server)
}

/// Lets pages of these origins call the server: browsers ask first, without a key.
fn pages(origins: &[String]) -> CorsLayer {
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(AllowHeaders::mirror_request())
        .max_age(KNOWN_FOR);
    match origins.iter().any(|origin| origin == "*") {
        true => layer.allow_origin(AllowOrigin::any()),
        false => {
            layer.allow_origin(origins.iter().filter_map(|origin| origin.parse().ok()).collect::<Vec<HeaderValue>>())
        }
    }
}

/// Demands the key, and counts the response.
async fn watch(State(server): Shared, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let known = PATHS.into_iter().find(|known| *known == path);
    let named = path.strip_prefix(MODELS).is_some_and(|rest| rest.starts_with('/'));
    let label = known.unwrap_or(if named { MODEL } else { OTHER });
    let needs_key = path.starts_with(PROTECTED) || path == "/metrics";
    let given = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let is_refused = needs_key && server.key.as_ref().is_some_and(|key| !key.is_in(given));
    let response = if is_refused { ApiError::unauthorized().into_response() } else { next.run(request).await };
    server.metrics.answer(label, response.status().as_u16());
    response
}

async fn page() -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, PAGE_POLICY)], PAGE).into_response()
}

async fn health(State(server): Shared) -> Response {
    match server.is_stopping() {
        false => as_json(&json!({ "status": "ok" })),
        true => (StatusCode::SERVICE_UNAVAILABLE, as_json(&json!({ "status": "stopping" }))).into_response(),
    }
}

async fn metrics(State(server): Shared) -> Response {
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, server.metrics.text(server.model.counts())).into_response()
}

async fn models(State(server): Shared) -> Response {
    let all: Vec<Value> = server.names().map(|name| described(&server, name)).collect();
    as_json(&json!({ "object": "list", "data": all }))
}

async fn model(State(server): Shared, Path(name): Path<String>) -> Result<Response, ApiError> {
    let found = server.names().find(|own| *own == name);
    found.map(|name| as_json(&described(&server, name))).ok_or_else(|| ApiError::no_model(&name, server.names()))
}

fn described(server: &Server, name: &str) -> Value {
    let mut model = json!({
        "id": name, "object": "model", "created": server.started, "owned_by": "etbuild",
        "context_length": server.model.context(),
    });
    if let Some(fields) = model.as_object_mut().filter(|_| name != server.name) {
        fields.insert("parent".to_owned(), server.name.into());
    }
    model
}

async fn chat(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    answered(server, &headers, body, &CHAT).await
}

async fn completion(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    answered(server, &headers, body, &COMPLETION).await
}

async fn answered(
    State(server): Shared,
    headers: &HeaderMap,
    body: Body,
    shape: &'static dyn Shape,
) -> Result<Response, ApiError> {
    let Served::Language(language) = &server.model else { return Err(unknown_path(&server, CHATS)) };
    let most = most_bytes(language.facts.context, language.reads_pictures());
    let object = read_json(headers, body, most, server.read_timeout).await?;
    answer(&server, language, object, shape).await
}

async fn embeddings(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    encoded(server, &headers, body, take_embeddings).await
}

async fn rerank(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    encoded(server, &headers, body, take_rerank).await
}

/// The limit of bytes of a request with texts for an encoder.
const MOST_BYTES_OF_TEXTS: usize = 16 << 20;

async fn encoded(
    State(server): Shared,
    headers: &HeaderMap,
    body: Body,
    take: TakeTexts,
) -> Result<Response, ApiError> {
    let Served::Encoder(desk) = &server.model else { return Err(unknown_path(&server, EMBEDDINGS)) };
    let object = read_json(headers, body, MOST_BYTES_OF_TEXTS, server.read_timeout).await?;
    encode(&server, desk, object, take).await
}

async fn transcription(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    heard(server, &headers, body, false).await
}

async fn translation(server: Shared, headers: HeaderMap, body: Body) -> Result<Response, ApiError> {
    heard(server, &headers, body, true).await
}

async fn heard(
    State(server): Shared,
    headers: &HeaderMap,
    body: Body,
    is_translation: bool,
) -> Result<Response, ApiError> {
    let Served::Speech(desk) = &server.model else { return Err(unknown_path(&server, TRANSCRIPTIONS)) };
    let bytes = read_bytes(body, MOST_FILES, server.read_timeout).await?;
    let fields = fields(&bytes, &boundary(headers)?)?;
    transcribe(&server, desk, fields, is_translation).await
}

async fn no_path(State(server): Shared, request: Request) -> ApiError {
    unknown_path(&server, request.uri().path())
}

fn unknown_path(server: &Server, path: &str) -> ApiError {
    let paths = match &server.model {
        Served::Language(_) => format!("{CHATS}, {COMPLETIONS}"),
        Served::Encoder(desk) if desk.facts.task == Task::Score => RERANK.to_owned(),
        Served::Encoder(_) => EMBEDDINGS.to_owned(),
        Served::Speech(_) => format!("{TRANSCRIPTIONS}, {TRANSLATIONS}"),
    };
    ApiError::no_path(path, &paths)
}

fn as_json(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
