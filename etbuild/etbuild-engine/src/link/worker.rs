//! Builds on workers of the remote cache.

use etbuild_link::{BuildJob, Built, JobAnswer, JobEnd, LinkError, Project, Workshop};
use etbuild_remote::{Job, JobResult};
use etbuild_system::Outcome;

use super::Tools;
use crate::session::World;

/// The outputs of a worker for a project; `None` for a build on this machine.
pub fn build(
    world: &World,
    tools: &Tools,
    project: &Project,
    workshop: &Workshop<'_>,
) -> Option<Result<Built, LinkError>> {
    let remote = world.remote().filter(|remote| remote.executes())?;
    let build = BuildJob::new(world.system(), &tools.toolchain, &tools.target, project, workshop)?;
    let (job, answer) = split(build);
    let JobResult { status, stdout, stderr, outputs } = remote.execute(&job)?;
    let outcome = Outcome { status: Some(status), timed_out: false, stdout, stderr };
    match answer.end(&outcome, outputs) {
        JobEnd::Ended(built) => Some(built),
        JobEnd::Unsuited(reason) => {
            remote.stop_executing(&reason);
            None
        }
    }
}

fn split(build: BuildJob) -> (Job, JobAnswer) {
    let BuildJob { arguments, variables, folder, files, outputs, answer } = build;
    (Job { arguments, variables, folder, files, outputs }, answer)
}
