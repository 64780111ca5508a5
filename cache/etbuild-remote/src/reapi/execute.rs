//! Jobs on a server's workers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bazel_remote_apis::build::bazel::remote::execution::v2::execution_client::ExecutionClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::{
    Action, ActionResult, Command, Digest as Message, ExecuteRequest, ExecuteResponse, Platform, WaitExecutionRequest,
    command::EnvironmentVariable, platform::Property,
};
use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::protobuf;
use prost::Message as _;
use tonic::{Code, Status, Streaming};

use super::batch;
use super::capabilities::Capabilities;
use super::connection::Connection;
use super::wire::Load;
use super::wire::WireDigest;
use super::{output, retry, tree};
use crate::{Execution, Job, JobResult, RemoteError};

/// A job in the protocol's words.
struct Words {
    action: WireDigest,
    loads: Vec<Load>,
}

impl Words {
    fn new(capabilities: &Capabilities, execution: &Execution, job: &Job) -> Self {
        let (function, mut loads) = (capabilities.function, Vec::new());
        let files = job.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let root = tree::root(function, files, &mut loads);
        let command = tree::load(function, command(execution, job).encode_to_vec(), &mut loads);
        let seconds = i64::try_from(execution.limit.as_secs()).unwrap_or(i64::MAX);
        let action = Action {
            command_digest: Some(Message::from(&command)),
            input_root_digest: Some(Message::from(&root)),
            timeout: Some(protobuf::Duration { seconds, nanos: 0 }),
            platform: Some(platform(execution)),
            ..Action::default()
        };
        let action = tree::load(function, action.encode_to_vec(), &mut loads);
        loads.sort_by(|left, right| left.digest.cmp(&right.digest));
        loads.dedup_by(|left, right| left.digest == right.digest);
        Self { action, loads }
    }
}

/// The command of a job. The platform is in the command as well as in the action, because older servers read the
/// command's field.
#[expect(deprecated, reason = "servers of version 2.1 look there")]
fn command(execution: &Execution, job: &Job) -> Command {
    let mut variables = job.variables.clone();
    variables.extend(execution.variables.clone());
    let variable = |(name, value)| EnvironmentVariable { name, value };
    let outputs: Vec<String> = job.outputs.iter().cloned().collect();
    Command {
        arguments: job.arguments.clone(),
        environment_variables: variables.into_iter().map(variable).collect(),
        output_files: outputs.clone(),
        output_paths: outputs,
        platform: Some(platform(execution)),
        working_directory: job.folder.clone(),
        ..Command::default()
    }
}

fn platform(execution: &Execution) -> Platform {
    let property = |(name, value): (&String, &String)| Property { name: name.clone(), value: value.clone() };
    Platform { properties: execution.platform.iter().map(property).collect() }
}

/// Executes a job on a worker, or returns the cached result of an equal job. If a cached result lacks blobs, the job
/// runs again.
pub async fn run(
    connection: &Connection,
    capabilities: &Capabilities,
    execution: &Execution,
    job: &Job,
) -> Result<JobResult, RemoteError> {
    if !capabilities.executes {
        return Err(RemoteError::Refused("the server has no execution service".to_owned()));
    }
    let words = Words::new(capabilities, execution, job);
    send(connection, capabilities, &words).await?;
    match attempt(connection, capabilities, execution, &words, false).await {
        Err(RemoteError::Gone(_)) => attempt(connection, capabilities, execution, &words, true).await,
        outcome => outcome,
    }
}

async fn send(connection: &Connection, capabilities: &Capabilities, words: &Words) -> Result<(), RemoteError> {
    let digests: Vec<WireDigest> = words.loads.iter().map(|load| load.digest.clone()).collect();
    let missing = batch::missing(connection, capabilities.function, &digests).await?;
    let loads: Vec<Load> = words.loads.iter().filter(|load| missing.contains(&load.digest.hash)).cloned().collect();
    batch::write(connection, capabilities, &loads).await
}

async fn attempt(
    connection: &Connection,
    capabilities: &Capabilities,
    execution: &Execution,
    words: &Words,
    again: bool,
) -> Result<JobResult, RemoteError> {
    let request = ExecuteRequest {
        instance_name: connection.instance().to_owned(),
        action_digest: Some(Message::from(&words.action)),
        skip_cache_lookup: again,
        digest_function: capabilities.function.number(),
        inline_stdout: true,
        inline_stderr: true,
        ..ExecuteRequest::default()
    };
    let limit = execution.limit + connection.patience();
    let late = |_| RemoteError::Refused(format!("no worker finished the job within {} s", limit.as_secs()));
    let result = tokio::time::timeout(limit, converse(connection, request)).await.map_err(late)?;
    taken(connection, capabilities, result?).await
}

/// Starts a job and follows its operation to the end. After a broken connection the client queries the operation by
/// name, or starts the job again.
async fn converse(connection: &Connection, request: ExecuteRequest) -> Result<ActionResult, RemoteError> {
    let (mut name, mut failures) = (String::new(), 0);
    loop {
        let begun = Instant::now();
        let broken = match follow(connection, &request, &mut name).await {
            Ok(response) => return finished(response),
            Err(status) => status,
        };
        // A server that has finished or lost the job does not know the operation's name.
        if broken.code() == Code::NotFound {
            name.clear();
        } else if !retry::may_pass(&broken) {
            return Err(retry::error(&broken));
        }
        failures = if begun.elapsed() > LONG { 1 } else { failures + 1 };
        if failures >= retry::ATTEMPTS {
            return Err(retry::error(&broken));
        }
        retry::pause(failures).await;
    }
}

/// Connections that lived this long do not count towards the limit of attempts.
const LONG: Duration = Duration::from_secs(20);

/// The response at the end of a stream of operations.
async fn follow(
    connection: &Connection,
    request: &ExecuteRequest,
    name: &mut String,
) -> Result<ExecuteResponse, Status> {
    let mut operations = open(connection, request, name).await?;
    while let Some(operation) = operations.message().await? {
        name.clone_from(&operation.name);
        if operation.done {
            return ended(operation);
        }
    }
    Err(Status::unavailable("the server stopped reporting the job"))
}

async fn open(connection: &Connection, request: &ExecuteRequest, name: &str) -> Result<Streaming<Operation>, Status> {
    let mut client = ExecutionClient::new(connection.line());
    let stream = if name.is_empty() {
        client.execute(request.clone()).await
    } else {
        client.wait_execution(WaitExecutionRequest { name: name.to_owned() }).await
    };
    stream.map(tonic::Response::into_inner)
}

fn ended(operation: Operation) -> Result<ExecuteResponse, Status> {
    match operation.result {
        Some(operation::Result::Response(any)) => {
            let response = ExecuteResponse::decode(any.value.as_slice());
            uncancelled(response.map_err(|error| Status::data_loss(error.to_string()))?)
        }
        Some(operation::Result::Error(error)) => Err(of_job(Status::new(Code::from(error.code), error.message))),
        None => Err(Status::data_loss("the job ended without a result")),
    }
}

/// A failed job is not a failure of the connection. A server that shuts down cancels its jobs first: the next request
/// shows whether the server is gone.
fn of_job(status: Status) -> Status {
    match status.code() {
        Code::Cancelled => Status::unavailable(status.message()),
        _ if retry::may_pass(&status) => status,
        _ => Status::failed_precondition(status.message()),
    }
}

/// A response that does not say that the job was cancelled.
fn uncancelled(response: ExecuteResponse) -> Result<ExecuteResponse, Status> {
    match &response.status {
        Some(status) if Code::from(status.code) == Code::Cancelled => Err(Status::unavailable(status.message.clone())),
        _ => Ok(response),
    }
}

/// The result of the job; an error of the worker is not an error of the job.
fn finished(response: ExecuteResponse) -> Result<ActionResult, RemoteError> {
    match (response.status.filter(|status| status.code != 0), response.result) {
        (None, Some(result)) => Ok(result),
        (Some(status), _) => Err(RemoteError::Refused(format!("no worker ran the job: {}", status.message))),
        (None, None) => Err(RemoteError::Refused("the job ended without a result".to_owned())),
    }
}

async fn taken(
    connection: &Connection,
    capabilities: &Capabilities,
    result: ActionResult,
) -> Result<JobResult, RemoteError> {
    let read = async |named: Option<&Message>, held| output::read(connection, capabilities, named, held).await;
    let stdout = read(result.stdout_digest.as_ref(), result.stdout_raw).await?;
    let stderr = read(result.stderr_digest.as_ref(), result.stderr_raw).await?;
    let mut outputs = BTreeMap::new();
    for file in result.output_files {
        outputs.insert(file.path, read(file.digest.as_ref(), file.contents).await?);
    }
    Ok(JobResult { status: result.exit_code, stdout, stderr, outputs })
}

#[cfg(test)]
mod tests {
    use bazel_remote_apis::google::rpc;

    use super::super::wire::Function;
    use super::*;

    fn failed(code: Code) -> RemoteError {
        let error = rpc::Status { code: code as i32, message: "why".to_owned(), details: Vec::new() };
        let result = Some(operation::Result::Error(error));
        retry::error(&ended(Operation { result, done: true, ..Operation::default() }).unwrap_err())
    }

    #[test]
    fn a_failed_job_does_not_lose_the_server() {
        for code in [Code::DeadlineExceeded, Code::NotFound, Code::FailedPrecondition] {
            assert!(matches!(failed(code), RemoteError::Refused(text) if text == "why"), "{code}");
        }
        for code in [Code::Unavailable, Code::Cancelled] {
            assert!(matches!(failed(code), RemoteError::Lost(_)), "{code}");
        }
    }

    #[test]
    fn a_cancelled_job_is_retried() {
        let cancelled = rpc::Status { code: Code::Cancelled as i32, ..rpc::Status::default() };
        let broken =
            uncancelled(ExecuteResponse { status: Some(cancelled), ..ExecuteResponse::default() }).unwrap_err();
        assert!(retry::may_pass(&broken));
        assert!(uncancelled(ExecuteResponse::default()).is_ok());
    }

    #[test]
    fn every_input_of_a_job_is_in_its_digest() {
        let can = Capabilities { function: Function::Sha256, batch: 1 << 20, takes_results: true, executes: true };
        let name = |execution: &Execution, job: &Job| Words::new(&can, execution, job).action;
        let (execution, job) = (Execution::default(), Job::default());
        let mut names = vec![name(&execution, &job)];
        let entry = ("name".to_owned(), "value".to_owned());
        names.push(name(&Execution { platform: [entry.clone()].into(), ..execution.clone() }, &job));
        names.push(name(&Execution { variables: [entry.clone()].into(), ..execution.clone() }, &job));
        names.push(name(&execution, &Job { arguments: vec!["word".to_owned()], ..job.clone() }));
        names.push(name(&execution, &Job { folder: "folder".to_owned(), ..job.clone() }));
        names.push(name(&execution, &Job { files: [("file".to_owned(), Vec::new())].into(), ..job.clone() }));
        names.push(name(&execution, &Job { outputs: ["output".to_owned()].into(), ..job.clone() }));
        let same = name(&execution, &Job { variables: [entry.clone()].into(), ..job.clone() });
        assert_eq!(names[2], same, "a variable is one wherever it comes from");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 7);
    }
}
