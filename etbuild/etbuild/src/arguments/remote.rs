//! Where the remote cache is, and how to speak to it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use etbuild_engine::{RemoteAccess, RemoteOptions};
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
    #[arg(long = "remote-header", value_name = "NAME=VALUE", value_parser = header, global = true)]
    pub headers: Vec<(String, String)>,
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
        options.tls.authority.clone_from(&self.authority);
        options.tls.client = self.certificate.clone().zip(self.key.clone());
        options.patience = Duration::from_secs(self.timeout.max(1).into());
        options.access = match self.mode {
            RemoteMode::Read => RemoteAccess::Read,
            RemoteMode::ReadWrite => RemoteAccess::ReadWrite,
            RemoteMode::Required => RemoteAccess::Required,
        };
        Some(options)
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a header is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
