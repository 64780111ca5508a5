//! Updates over the air, and bundles for several targets.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    #[arg(id = "secret-key", long = "key", value_name = "FILE")]
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
    #[arg(id = "public-key", long = "key", value_name = "KEY", requires = "update")]
    pub key: Option<String>,
}

/// Arguments of `bundle`.
#[derive(Clone, Debug, Subcommand)]
pub enum Bundle {
    /// Make a bundle of the versions for several targets; equal weights are stored once
    ///
    /// `--target FILE.yaml` names the files of targets that etbuild does not have.
    Make {
        /// The folders of results, which have the names of their targets
        #[arg(value_name = "FOLDER", required = true)]
        folders: Vec<PathBuf>,
        /// Write the bundle to this file
        #[arg(short = 'o', long = "file", value_name = "FILE")]
        file: PathBuf,
        /// Sign the bundle with this secret key, a PEM file of Ed25519
        #[arg(id = "secret-key", long = "key", value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// List the targets of a bundle: platforms, chips, sizes, digests
    List {
        /// The bundle
        #[arg(value_name = "FILE")]
        bundle: PathBuf,
    },
    /// Write the files of the target of `--target`
    Extract {
        /// The bundle
        #[arg(value_name = "FILE")]
        bundle: PathBuf,
        /// Write the files to this folder
        #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
        folder: PathBuf,
        /// Refuse a bundle that this public key did not sign: 64 hexadecimal digits
        #[arg(id = "public-key", long = "key", value_name = "KEY")]
        key: Option<String>,
    },
    /// Write the program files for Android as an AI pack of Google Play, with a group of devices per chip
    Play {
        /// The bundle
        #[arg(value_name = "FILE")]
        bundle: PathBuf,
        /// Write the AI pack and the configuration of device targeting to this folder
        #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
        folder: PathBuf,
        /// Refuse a bundle that this public key did not sign: 64 hexadecimal digits
        #[arg(id = "public-key", long = "key", value_name = "KEY")]
        key: Option<String>,
    },
}
