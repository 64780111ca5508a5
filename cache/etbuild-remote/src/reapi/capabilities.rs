//! Capabilities of a server.

use bazel_remote_apis::build::bazel::remote::execution::v2::capabilities_client::CapabilitiesClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::{
    CacheCapabilities, ExecutionCapabilities, GetCapabilitiesRequest,
};

use super::connection::Connection;
use super::retry;
use super::wire::Function;
use crate::RemoteError;

/// The upper bound of a message, in bytes: gRPC's default.
const MESSAGE: u64 = 4 << 20;

/// The capabilities of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The digest function of blobs.
    pub function: Function,
    /// The bytes of blobs per batch message.
    pub batch: u64,
    /// Whether the server accepts action results from clients.
    pub takes_results: bool,
    /// Whether the server executes jobs whose files have digests of [`Capabilities::function`].
    pub executes: bool,
}

impl Capabilities {
    /// Selects the digest function and the limits from the server's answer. A digest function that the server does not
    /// list is not used.
    fn of(answer: &CacheCapabilities) -> Result<Self, RemoteError> {
        let functions = [Function::Blake3, Function::Sha256].into_iter();
        let function = functions.into_iter().find(|function| answer.digest_functions.contains(&function.number()));
        let function = function
            .ok_or_else(|| RemoteError::Refused("the server supports neither BLAKE3 nor SHA-256".to_owned()))?;
        // Zero stands for no limit of the server's own.
        let stated = u64::try_from(answer.max_batch_total_size_bytes).unwrap_or(0);
        let batch = if stated == 0 { MESSAGE } else { stated.min(MESSAGE) };
        let takes_results = answer.action_cache_update_capabilities.is_none_or(|results| results.update_enabled);
        Ok(Self { function, batch: batch - batch / 16, takes_results, executes: false })
    }

    /// Adds the server's execution capabilities.
    fn with_execution(self, answer: Option<&ExecutionCapabilities>) -> Self {
        let number = self.function.number();
        // Older servers have no list: the single field names the function, and an empty field means SHA-256.
        let knows = |answer: &ExecutionCapabilities| match (answer.digest_functions.as_slice(), answer.digest_function)
        {
            ([], 0) => self.function.is_sha256(),
            ([], one) => one == number,
            (several, _) => several.contains(&number),
        };
        Self { executes: answer.is_some_and(|answer| answer.exec_enabled && knows(answer)), ..self }
    }
}

/// Queries the capabilities of a server.
pub async fn ask(connection: &Connection) -> Result<Capabilities, RemoteError> {
    let answer = retry::persistently(connection.patience(), async || {
        let request = GetCapabilitiesRequest { instance_name: connection.instance().to_owned() };
        CapabilitiesClient::new(connection.line()).get_capabilities(request).await
    });
    let answer = answer.await.map_err(|status| retry::error(&status))?.into_inner();
    let cache = answer.cache_capabilities.ok_or_else(|| RemoteError::Refused("the server has no cache".to_owned()))?;
    Ok(Capabilities::of(&cache)?.with_execution(answer.execution_capabilities.as_ref()))
}

#[cfg(test)]
mod tests {
    use bazel_remote_apis::build::bazel::remote::execution::v2::ActionCacheUpdateCapabilities;

    use super::*;

    fn answer(functions: &[i32], batch: i64) -> CacheCapabilities {
        CacheCapabilities {
            digest_functions: functions.to_vec(),
            max_batch_total_size_bytes: batch,
            ..CacheCapabilities::default()
        }
    }

    #[test]
    fn only_a_listed_digest_function_is_used() {
        let [sha256, blake3] = [Function::Sha256, Function::Blake3].map(Function::number);
        let chosen = |functions: &[i32]| Capabilities::of(&answer(functions, 0)).map(|can| can.function).ok();
        assert_eq!(chosen(&[sha256, blake3]), Some(Function::Blake3));
        assert_eq!(chosen(&[2, sha256]), Some(Function::Sha256));
        assert_eq!((chosen(&[2]), chosen(&[])), (None, None));
    }

    #[test]
    fn batches_stay_below_the_limit_of_the_server_and_of_messages() {
        let batch = |stated| Capabilities::of(&answer(&[Function::Sha256.number()], stated)).unwrap().batch;
        assert_eq!((batch(65_536), batch(0)), (61_440, MESSAGE - MESSAGE / 16));
        assert_eq!((batch(i64::MAX), batch(-1)), (batch(0), batch(0)));
    }

    #[test]
    fn jobs_go_to_servers_with_execution_and_the_same_digests() {
        let can = Capabilities::of(&answer(&[Function::Sha256.number()], 0)).unwrap();
        let executes = |exec_enabled, digest_function, several: &[i32]| {
            let digest_functions = several.to_vec();
            let said = ExecutionCapabilities { exec_enabled, digest_function, digest_functions, ..Default::default() };
            can.with_execution(Some(&said)).executes
        };
        let [sha256, blake3] = [Function::Sha256, Function::Blake3].map(Function::number);
        assert!(executes(true, 0, &[]) && executes(true, sha256, &[]) && executes(true, blake3, &[blake3, sha256]));
        assert!(!executes(false, sha256, &[sha256]) && !executes(true, blake3, &[]));
        assert!(!executes(true, sha256, &[blake3]) && !can.with_execution(None).executes);
    }

    #[test]
    fn a_server_may_reject_action_results() {
        let mut asked = answer(&[Function::Sha256.number()], 0);
        assert!(Capabilities::of(&asked).unwrap().takes_results);
        asked.action_cache_update_capabilities = Some(ActionCacheUpdateCapabilities { update_enabled: false });
        assert!(!Capabilities::of(&asked).unwrap().takes_results);
    }
}
