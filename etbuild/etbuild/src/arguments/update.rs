//! Updates over the air.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `delta`.
#[derive(Clone, Debug, Args)]
pub struct Delta {
    /// The deployed version
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The version after the update
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Write the update to this file
    #[arg(short = 'o', long = "file", value_name = "FILE")]
    pub file: PathBuf,
    /// Sign the update with this secret key, a PEM file of Ed25519
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

/// Arguments of `apply`.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("action").required(true).args(["update", "rollback", "confirm"]))]
pub struct Apply {
    /// The deployed version: the folder, or the single file
    #[arg(value_name = "DEPLOYED")]
    pub deployed: PathBuf,
    /// Apply this update
    #[arg(long, value_name = "FILE")]
    pub update: Option<PathBuf>,
    /// Return to the version before the last update
    #[arg(long)]
    pub rollback: bool,
    /// Remove the version before the last update
    #[arg(long)]
    pub confirm: bool,
    /// Refuse updates that this public key did not sign: 64 hexadecimal digits
    #[arg(long, value_name = "KEY", requires = "update")]
    pub key: Option<String>,
}
