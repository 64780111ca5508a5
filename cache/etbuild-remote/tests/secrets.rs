//! Tokens, headers and certificates against a tonic server that requires them and answers the capabilities query only.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bazel_remote_apis::build::bazel::remote::execution::v2::capabilities_server::{Capabilities, CapabilitiesServer};
use bazel_remote_apis::build::bazel::remote::execution::v2::{
    CacheCapabilities, GetCapabilitiesRequest, ServerCapabilities, digest_function,
};
use etbuild_remote::{Event, Options, RemoteCache, Tls};
use etbuild_store::Store;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

const TOKEN: &str = "a secret";

/// Wants a token and a header.
struct Strict;

#[tonic::async_trait]
impl Capabilities for Strict {
    async fn get_capabilities(
        &self,
        request: Request<GetCapabilitiesRequest>,
    ) -> Result<Response<ServerCapabilities>, Status> {
        let header = |name| request.metadata().get(name).and_then(|value| value.to_str().ok());
        if (header("authorization"), header("x-team")) != (Some("Bearer a secret"), Some("red")) {
            return Err(Status::unauthenticated("who is it?"));
        }
        let functions = vec![digest_function::Value::Sha256 as i32];
        let cache = CacheCapabilities { digest_functions: functions, ..CacheCapabilities::default() };
        Ok(Response::new(ServerCapabilities { cache_capabilities: Some(cache), ..ServerCapabilities::default() }))
    }
}

fn serve(tls: Option<ServerTlsConfig>) -> SocketAddr {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // The reserved port stays open, so that no other process takes the port.
    let entered = runtime.enter();
    let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    drop(entered);
    let address = incoming.local_addr().unwrap();
    std::thread::spawn(move || {
        let builder = Server::builder();
        let mut builder = tls.into_iter().fold(builder, |builder, tls| builder.tls_config(tls).unwrap());
        let router = builder.add_service(CapabilitiesServer::new(Strict));
        runtime.block_on(router.serve_with_incoming(incoming)).unwrap();
    });
    address
}

/// The events of a first request.
fn told(options: &Options) -> Vec<Event> {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(folder.path()).unwrap());
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let observer = Arc::new(move |event: &Event| listener.lock().unwrap().push(event.clone()));
    RemoteCache::open(options, store, observer).unwrap().greet();
    told.lock().unwrap().clone()
}

fn options(url: &str) -> Options {
    Options { token: Some(TOKEN.to_owned()), headers: vec![("X-Team".into(), "red".into())], ..Options::new(url) }
}

#[test]
fn the_token_and_the_headers_go_with_every_request_and_appear_nowhere() {
    let good = options(&format!("grpc://{}", serve(None)));
    assert_eq!(told(&good), []);
    let bad = Options { token: Some("another".to_owned()), ..good.clone() };
    let [Event::Lost { reason, .. }] = &told(&bad)[..] else { panic!() };
    assert_eq!(reason, "who is it?");
    assert!(matches!(&told(&Options { headers: Vec::new(), ..good.clone() })[..], [Event::Lost { .. }]));
    assert!(!format!("{good:?}").contains(TOKEN) && !format!("{good:?}").contains("red"));
}

/// A credential helper: a script of a shell.
fn helper(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("helper");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// The events of a first request with this helper and without a token.
fn told_with_helper(address: SocketAddr, script: &str) -> Vec<Event> {
    let folder = tempfile::tempdir().unwrap();
    let credential_helper = Some(helper(folder.path(), script));
    let patience = Duration::from_secs(5);
    told(&Options { token: None, credential_helper, patience, ..options(&format!("grpc://{address}")) })
}

#[test]
fn a_credential_helper_supplies_headers() {
    let address = serve(None);
    let print = r#"printf '{"headers": {"Authorization": ["Bearer a secret"]}}'"#;
    assert_eq!(told_with_helper(address, print), []);
    let asks = format!(r#"test "$1 $(cat)" = 'get {{"uri":"http://{address}"}}' && {print}"#);
    assert_eq!(told_with_helper(address, &asks), []);
}

#[test]
fn the_failure_of_a_credential_helper_is_reported_without_its_output() {
    let address = serve(None);
    let reason = |script: &str| match &told_with_helper(address, script)[..] {
        [Event::Lost { reason, .. }] => reason.clone(),
        told => panic!("{told:?}"),
    };
    let failed = reason("echo a secret; echo 'not logged in' >&2; exit 7");
    assert!(failed.contains("exit status: 7: not logged in") && !failed.contains("a secret"), "{failed}");
    let nothing = reason("echo a secret");
    assert!(nothing.contains("printed invalid credentials") && !nothing.contains("a secret"), "{nothing}");
    assert!(reason("exec sleep 60").contains("did not answer within 5 s"));
    assert_eq!(reason(r#"echo '{"headers": {"Authorization": ["Bearer another"]}}'"#), "who is it?");
    let absent = Options { credential_helper: Some("/nowhere/helper".into()), ..options(&format!("grpc://{address}")) };
    let [Event::Lost { reason, .. }] = &told(&absent)[..] else { panic!() };
    assert!(reason.contains("`/nowhere/helper` failed to start"), "{reason}");
}

/// Creates a certificate authority and certificates for `localhost` and for a client.
fn certificates(folder: &Path) {
    let openssl = |words: &str| {
        let mut command = Command::new("openssl");
        let status = command.args(words.split_whitespace()).current_dir(folder).stderr(Stdio::null()).status();
        assert!(status.unwrap().success(), "openssl {words}");
    };
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc";
    openssl(&format!("req -x509 {new_key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"));
    for name in ["localhost", "client"] {
        openssl(&format!(
            "req -x509 {new_key} -CA ca.pem -CAkey ca.key -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name} \
             -addext subjectAltName=DNS:{name} -addext basicConstraints=critical,CA:FALSE"
        ));
    }
}

/// Requires `openssl`: without the program the test is skipped with a message, except in continuous integration.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn has_openssl() -> bool {
    let has = Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok();
    assert!(has || std::env::var_os("CI").is_none(), "there is no openssl");
    if !has {
        eprintln!("skipped: there is no openssl");
    }
    has
}

#[test]
fn mutual_tls_checks_both_certificates() {
    if !has_openssl() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let read = |name: &str| std::fs::read(file(name)).unwrap();
    let identity = Identity::from_pem(read("localhost.pem"), read("localhost.key"));
    let authority = Certificate::from_pem(read("ca.pem"));
    let address = serve(Some(ServerTlsConfig::new().identity(identity).client_ca_root(authority)));
    let with = |tls: Tls| {
        let patience = Duration::from_secs(5);
        told(&Options { tls, patience, ..options(&format!("grpcs://localhost:{}", address.port())) })
    };
    let whole = Tls { authority: Some(file("ca.pem")), client: Some((file("client.pem"), file("client.key"))) };
    assert_eq!(with(whole.clone()), []);
    for lacking in [Tls { authority: None, ..whole.clone() }, Tls { client: None, ..whole }] {
        assert!(matches!(&with(lacking.clone())[..], [Event::Lost { .. }]), "{lacking:?}");
    }
}
