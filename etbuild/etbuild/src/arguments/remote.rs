//! Where the remote cache is, and how to speak to it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use etbuild_engine::{RemoteAccess, RemoteExecution, RemoteOptions};
use etbuild_system::System;

/// Options of the remote cache.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Remote cache")]
pub struct RemoteCache {
    /// Share what stages make through this server, such as `grpc://host:port/instance`; `grpcs:` for an encrypted connection;
    /// `ETBUILD_REMOTE` by default. A bearer token is taken from `ETBUILD_REMOTE_TOKEN`.
    #[arg(long = "remote", value_name = "URL", global = true)]
    pub url: Option<String>,
    /// What to do with it.
    #[arg(long = "remote-mode", value_enum, default_value_t, global = true)]
    pub mode: RemoteMode,
    /// Send this header with every request; may be repeated.
    #[arg(long = "remote-header", value_name = "NAME=VALUE", value_parser = pair, global = true)]
    pub headers: Vec<(String, String)>,
    /// Ask this program for headers to send, as Bazel's credential helpers are asked: `PROGRAM get`.
    #[arg(long = "remote-credential-helper", value_name = "PROGRAM", global = true)]
    pub credential_helper: Option<PathBuf>,
    /// Trust servers that these certificates vouch for, a PEM file, instead of those that the system trusts.
    #[arg(long = "remote-ca", value_name = "FILE", global = true)]
    pub authority: Option<PathBuf>,
    /// The client's own certificate, a PEM file.
    #[arg(long = "remote-certificate", value_name = "FILE", requires = "key", global = true)]
    pub certificate: Option<PathBuf>,
    /// The private key of that certificate, a PEM file.
    #[arg(long = "remote-key", value_name = "FILE", requires = "certificate", global = true)]
    pub key: Option<PathBuf>,
    /// A server that says nothing for so long is lost.
    #[arg(long = "remote-timeout", value_name = "SECONDS", default_value = "20", global = true)]
    pub timeout: u32,
    /// Have the server's workers compile and link, those that have the same toolchain as this machine.
    #[arg(long = "remote-execute", global = true)]
    pub execute: bool,
    /// A platform property that workers must have; may be repeated.
    #[arg(long = "remote-platform", value_name = "NAME=VALUE", value_parser = pair, requires = "execute", global = true)]
    pub platform: Vec<(String, String)>,
    /// An environment variable for workers, such as the `PATH` on which they find `rustc`; may be repeated.
    #[arg(long = "remote-variable", value_name = "NAME=VALUE", value_parser = pair, requires = "execute", global = true)]
    pub variables: Vec<(String, String)>,
    /// Compile and link here where no worker has done it after so long.
    #[arg(long = "remote-execute-timeout", value_name = "SECONDS", default_value = "600", global = true)]
    pub limit: u32,
}

/// What to do with the remote cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RemoteMode {
    /// Take what is there, and add nothing.
    Read,
    /// Take what is there, and add what stages make.
    #[default]
    ReadWrite,
    /// The same, and fail with status 7 where the server is lost.
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
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
