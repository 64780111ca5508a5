//! URLs of remotes.

use crate::OptionsError;

/// Where a server of the Remote Execution API is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Whether the connection is encrypted.
    pub encrypted: bool,
    /// `HOST:PORT`.
    pub authority: String,
    /// The instance name of the server; often empty.
    pub instance: String,
}

impl Location {
    /// Reads `grpc://HOST:PORT/INSTANCE`.
    pub fn parse(url: &str) -> Result<Self, OptionsError> {
        let parsed = || {
            let (scheme, rest) = url.split_once("://")?;
            let encrypted = match scheme {
                "grpc" => false,
                "grpcs" => true,
                _ => return None,
            };
            let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
            let named = !authority.is_empty() && !authority.contains(['@', '?', '#', ' ']);
            let instance = instance.trim_matches('/').to_owned();
            named.then(|| Self { encrypted, authority: authority.to_owned(), instance })
        };
        parsed().ok_or_else(|| OptionsError::Url(url.to_owned()))
    }

    /// The URL for HTTP.
    pub fn http(&self) -> String {
        format!("{}://{}", if self.encrypted { "https" } else { "http" }, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_the_instance() {
        let location = Location::parse("grpcs://cache.example:8980/team/main/").unwrap();
        assert_eq!((location.http(), location.instance), ("https://cache.example:8980".into(), "team/main".into()));
        assert_eq!(Location::parse("grpc://[::1]:80").unwrap().instance, "");
    }

    #[test]
    fn a_malformed_url_is_refused() {
        for wrong in ["", "host:80", "ftp://host", "grpc://", "grpc:///instance", "grpc://user:secret@host:80"] {
            assert!(matches!(Location::parse(wrong), Err(OptionsError::Url(url)) if url == wrong), "{wrong}");
        }
    }
}
