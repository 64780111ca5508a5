//! Options of the remote cache.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use etbuild_engine::{RemoteAccess, RemoteExecution, RemoteOptions};
use etbuild_system::System;

/// Options of the remote cache.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Remote cache")]
pub struct RemoteCache {
    /// Share action results through this server, such as `grpc://host:port/instance`
    ///
    /// Use `grpcs:` for TLS. Defaults to `ETBUILD_REMOTE`; `ETBUILD_REMOTE_TOKEN` is the bearer token.
    #[arg(long = "remote", value_name = "URL", hide_short_help = true, global = true)]
    pub url: Option<String>,
    /// Access to the remote cache
    #[arg(long = "remote-mode", value_enum, default_value_t, hide_short_help = true, global = true)]
    pub mode: RemoteMode,
    /// Send this header with every request; repeatable
    #[arg(long = "remote-header", value_name = "NAME=VALUE", value_parser = pair, hide_short_help = true, global = true)]
    pub headers: Vec<(String, String)>,
    /// Get request headers from this credential helper, by Bazel's protocol: `PROGRAM get`
    #[arg(long = "remote-credential-helper", value_name = "PROGRAM", hide_short_help = true, global = true)]
    pub credential_helper: Option<PathBuf>,
    /// Trust the certificate authorities in this PEM file instead of the system's
    #[arg(long = "remote-ca", value_name = "FILE", hide_short_help = true, global = true)]
    pub authority: Option<PathBuf>,
    /// PEM file of the client certificate
    #[arg(long = "remote-certificate", value_name = "FILE", requires = "key", hide_short_help = true, global = true)]
    pub certificate: Option<PathBuf>,
    /// PEM file of the client certificate's private key
    #[arg(long = "remote-key", value_name = "FILE", requires = "certificate", hide_short_help = true, global = true)]
    pub key: Option<PathBuf>,
    /// Give up on a server without an answer for this time
    #[arg(
        long = "remote-timeout",
        value_name = "SECONDS",
        default_value = "20",
        hide_short_help = true,
        global = true
    )]
    pub timeout: u32,
    /// Compile and link on the server's workers, if their toolchain equals this machine's
    #[arg(long = "remote-execute", hide_short_help = true, global = true)]
    pub execute: bool,
    /// Platform property that workers must have; repeatable
    #[arg(long = "remote-platform", value_name = "NAME=VALUE", value_parser = pair, requires = "execute", hide_short_help = true, global = true)]
    pub platform: Vec<(String, String)>,
    /// Environment variable on workers, such as the `PATH` of `rustc`; repeatable
    #[arg(long = "remote-variable", value_name = "NAME=VALUE", value_parser = pair, requires = "execute", hide_short_help = true, global = true)]
    pub variables: Vec<(String, String)>,
    /// Compile and link locally if no worker finishes in this time
    #[arg(
        long = "remote-execute-timeout",
        value_name = "SECONDS",
        default_value = "600",
        hide_short_help = true,
        global = true
    )]
    pub limit: u32,
}

/// Access to the remote cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RemoteMode {
    /// Download only
    Read,
    /// Download and upload
    #[default]
    ReadWrite,
    /// Download and upload; fail with status 7 if the server is lost
    Required,
}

impl RemoteCache {
    /// The remote cache that was asked for, if any.
    pub fn options(&self, system: &dyn System) -> Option<RemoteOptions> {
        let variable = |name: &str| system.variable(name).filter(|value| !value.is_empty());
        let url = self.url.clone().or_else(|| variable("ETBUILD_REMOTE"))?;
        let mut options = RemoteOptions::new(&url);
        options.headers.clone_from(&self.headers);
        options.token = variable("ETBUILD_REMOTE_TOKEN");
        options.credential_helper.clone_from(&self.credential_helper);
        options.tls.authority.clone_from(&self.authority);
        options.tls.client = self.certificate.clone().zip(self.key.clone());
        options.execution = self.execute.then(|| self.execution());
        options.patience = Duration::from_secs(self.timeout.max(1).into());
        options.access = match self.mode {
            RemoteMode::Read => RemoteAccess::Read,
            RemoteMode::ReadWrite => RemoteAccess::ReadWrite,
            RemoteMode::Required => RemoteAccess::Required,
        };
        Some(options)
    }

    fn execution(&self) -> RemoteExecution {
        RemoteExecution {
            platform: self.platform.iter().cloned().collect(),
            variables: self.variables.iter().cloned().collect(),
            limit: Duration::from_secs(self.limit.max(1).into()),
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
