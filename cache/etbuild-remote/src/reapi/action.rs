//! Action results in the action cache of a server.

use std::sync::Arc;

use bazel_remote_apis::build::bazel::remote::execution::v2::action_cache_client::ActionCacheClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::{
    Action, ActionResult, Command, Digest as Message, Directory, ExecutedActionMetadata, GetActionResultRequest,
    NodeProperties, NodeProperty, OutputFile, UpdateActionResultRequest,
};
use etbuild_store::{ActionKey, BlobRef};
use prost::Message as _;
use tonic::Code;

use super::batch;
use super::capabilities::Capabilities;
use super::connection::Connection;
use super::retry;
use super::wire::Load;
use super::wire::{Function, WireDigest};
use crate::{Outputs, RemoteBlob, RemoteError};

/// The node property of an output that stores its BLAKE3 digest.
const PROPERTY: &str = "blake3";

/// A stage as an action of the protocol. A stage is not a process, so its command is a name with the stage's key, and
/// its input root is empty, because the key covers the inputs. Some servers require that command, action and input root
/// exist.
struct Words {
    action: WireDigest,
    loads: [Load; 3],
}

impl Words {
    fn new(function: Function, action: &ActionKey) -> Self {
        let load = |bytes: Vec<u8>| Load { digest: function.digest(&bytes), bytes: Arc::new(bytes) };
        let command = Command { arguments: vec!["etbuild-stage".to_owned(), action.to_string()], ..Command::default() };
        let [folder, command] = [Directory::default().encode_to_vec(), command.encode_to_vec()].map(load);
        let [input_root_digest, command_digest] = [&folder, &command].map(|load| Some(Message::from(&load.digest)));
        let action = load(Action { command_digest, input_root_digest, ..Action::default() }.encode_to_vec());
        Self { action: action.digest.clone(), loads: [folder, command, action] }
    }
}

/// The action result on the server.
pub async fn outputs(
    connection: &Connection,
    function: Function,
    action: &ActionKey,
) -> Result<Option<Outputs>, RemoteError> {
    let request = GetActionResultRequest {
        instance_name: connection.instance().to_owned(),
        action_digest: Some(Message::from(&Words::new(function, action).action)),
        digest_function: function.number(),
        ..GetActionResultRequest::default()
    };
    let call = async || ActionCacheClient::new(connection.line()).get_action_result(request.clone()).await;
    match retry::persistently(connection.patience(), call).await {
        Ok(answer) => Ok(read(function, answer.into_inner())),
        Err(status) if status.code() == Code::NotFound => Ok(None),
        Err(status) => Err(retry::error(&status)),
    }
}

/// Uploads an action result; an existing result is replaced.
pub async fn record(
    connection: &Connection,
    capabilities: &Capabilities,
    action: &ActionKey,
    outputs: &Outputs,
) -> Result<(), RemoteError> {
    if !capabilities.takes_results {
        return Err(RemoteError::Refused("the server does not accept action results from clients".to_owned()));
    }
    let function = capabilities.function;
    let words = Words::new(function, action);
    batch::write(connection, capabilities, &words.loads).await?;
    let request = UpdateActionResultRequest {
        instance_name: connection.instance().to_owned(),
        action_digest: Some(Message::from(&words.action)),
        action_result: Some(write(function, outputs)?),
        digest_function: function.number(),
        ..UpdateActionResultRequest::default()
    };
    let call = async || ActionCacheClient::new(connection.line()).update_action_result(request.clone()).await;
    retry::persistently(connection.patience(), call).await.map(|_| ()).map_err(|status| retry::error(&status))
}

fn write(function: Function, outputs: &Outputs) -> Result<ActionResult, RemoteError> {
    let file = |(index, (name, blob)): (usize, &(String, RemoteBlob))| {
        let property = NodeProperty { name: PROPERTY.to_owned(), value: blob.blob.digest.to_string() };
        let properties = NodeProperties { properties: vec![property], ..NodeProperties::default() };
        Ok(OutputFile {
            // The index keeps the order, because a server may sort the outputs.
            path: format!("{index:06}/{name}"),
            digest: Some(Message::from(&function.of(blob)?)),
            node_properties: Some(properties),
            ..OutputFile::default()
        })
    };
    let output_files = outputs.iter().enumerate().map(file).collect::<Result<_, RemoteError>>()?;
    // Some servers treat a result whose fields are all empty as absent.
    let metadata = ExecutedActionMetadata { worker: "etbuild".to_owned(), ..ExecutedActionMetadata::default() };
    Ok(ActionResult { output_files, execution_metadata: Some(metadata), ..ActionResult::default() })
}

/// `None` for a result that [`write`] did not make.
fn read(function: Function, mut result: ActionResult) -> Option<Outputs> {
    result.output_files.sort_by(|left, right| left.path.cmp(&right.path));
    let outputs = result.output_files.into_iter().map(|file| output(function, &file)).collect::<Option<_>>();
    outputs.filter(|_| result.exit_code == 0)
}

fn output(function: Function, file: &OutputFile) -> Option<(String, RemoteBlob)> {
    let (_, name) = file.path.split_once('/')?;
    let stated = file.digest.as_ref()?;
    let hash = stated.hash.parse::<etbuild_store::Digest>().ok()?;
    let properties = file.node_properties.iter().flat_map(|properties| &properties.properties);
    let ours = properties.into_iter().find(|property| property.name == PROPERTY);
    let (digest, sha256) = match function {
        Function::Blake3 => (hash, None),
        Function::Sha256 => (ours?.value.parse().ok()?, Some(hash.0)),
    };
    let blob = BlobRef { digest, size: u64::try_from(stated.size_bytes).ok()? };
    Some((name.to_owned(), RemoteBlob { blob, sha256 }))
}

#[cfg(test)]
mod tests {
    use etbuild_store::Digest;

    use super::*;
    use crate::names;

    fn outputs(function: Function) -> Outputs {
        let output = |index: u8| {
            let bytes = [index; 9];
            let sha256 = function.is_sha256().then(|| names::of(&bytes));
            (format!("kind-{}", index % 2), RemoteBlob { blob: BlobRef::of(&bytes), sha256 })
        };
        (0..20).rev().map(output).collect()
    }

    #[test]
    fn outputs_read_back_in_any_order() {
        for function in [Function::Blake3, Function::Sha256] {
            let mut result = write(function, &outputs(function)).unwrap();
            result.output_files.reverse();
            assert_eq!(read(function, result), Some(outputs(function)));
        }
    }

    #[test]
    fn a_result_in_another_format_is_none() {
        let whole = write(Function::Sha256, &outputs(Function::Sha256)).unwrap();
        let spoiled = |spoil: fn(&mut ActionResult)| {
            let mut result = whole.clone();
            spoil(&mut result);
            read(Function::Sha256, result)
        };
        assert_eq!(spoiled(|result| result.exit_code = 1), None);
        assert_eq!(spoiled(|result| result.output_files[3].node_properties = None), None);
        assert_eq!(spoiled(|result| result.output_files[3].digest = None), None);
        assert_eq!(spoiled(|result| result.output_files[3].path = "name".to_owned()), None);
    }

    #[test]
    fn actions_have_words_of_their_own() {
        let [one, other] = [b"one", b"two"].map(|name| ActionKey(Digest::of(name)));
        let digest = |action: &ActionKey| Words::new(Function::Sha256, action).action;
        assert!(digest(&one) == digest(&one) && digest(&one) != digest(&other));
    }
}
