//! Builds on workers of the remote cache.

use etbuild_link::{BuildJob, Built, JobEnd, LinkError, Project};
use etbuild_remote::{Job, JobResult};
use etbuild_system::Outcome;

use crate::environment::Tools;
use crate::world::World;

/// What a worker makes of a project; `None` where it is to be built here.
pub fn build(world: &World, tools: &Tools, project: &Project) -> Option<Result<Built, LinkError>> {
    let remote = world.remote().filter(|remote| remote.executes())?;
    let build = BuildJob::new(&tools.toolchain, &tools.target, project)?;
    let JobResult { status, stdout, stderr, outputs } = remote.execute(&job(&build))?;
    let outcome = Outcome { status: Some(status), timed_out: false, stdout, stderr };
    match build.end(&outcome, outputs) {
        JobEnd::Ended(built) => Some(built),
        JobEnd::Unsuited(reason) => {
            remote.stop_executing(&reason);
            None
        }
    }
}

fn job(build: &BuildJob) -> Job {
    let BuildJob { arguments, variables, folder, files, outputs, .. } = build.clone();
    Job { arguments, variables, folder, files, outputs }
}
