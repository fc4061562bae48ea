package core

// Reason says why a decision came out as it did. The set is closed (I14):
// Reasons lists them all, the reference is generated from it.
type Reason string

// Reasons of a change.
const (
	ReasonScaleUp   Reason = "scale-up"
	ReasonScaleDown Reason = "scale-down"
	ReasonOverride  Reason = "override"
	ReasonUndo      Reason = "undo"
)

// Reasons of a hold.
const (
	ReasonWithinTarget     Reason = "within-target"
	ReasonAtLimit          Reason = "at-limit"
	ReasonStabilizing      Reason = "stabilizing"
	ReasonWindowNotFull    Reason = "window-not-full"
	ReasonDownDelayed      Reason = "scale-down-delayed"
	ReasonApproval         Reason = "approval-needed"
	ReasonDeclined         Reason = "change-rejected"
	ReasonPaused           Reason = "paused"
	ReasonScalingDisabled  Reason = "scaling-disabled"
	ReasonExcluded         Reason = "excluded-vertex"
	ReasonExcludedPeriod   Reason = "excluded-period"
	ReasonNoDownPeriod     Reason = "no-down-period"
	ReasonIneffective      Reason = "scale-up-ineffective"
	ReasonMemoryPressure   Reason = "memory-pressure"
	ReasonQuota            Reason = "quota-reached"
	ReasonVetoed           Reason = "vetoed"
	ReasonContradiction    Reason = "metrics-contradict"
	ReasonRescaleOpen      Reason = "rescale-in-progress"
	ReasonBackoff          Reason = "rescale-backoff"
	ReasonBudget           Reason = "restart-budget-spent"
	ReasonBreaker          Reason = "rescales-keep-failing"
	ReasonManagedElsewhere Reason = "target-managed-elsewhere"
	ReasonPolicyInvalid    Reason = "policy-invalid"
	ReasonOverrideInvalid  Reason = "override-invalid"
	ReasonJobGone          Reason = "job-gone"
	ReasonJobAmbiguous     Reason = "job-ambiguous"
	ReasonJobNotRunning    Reason = "job-not-running"
	ReasonTasksNotRunning  Reason = "tasks-not-running"
	ReasonJobRestarted     Reason = "job-restarted"
	ReasonMetricsFrozen    Reason = "metrics-frozen"
	ReasonMetricsMissing   Reason = "metrics-missing"
	ReasonIncomplete       Reason = "metrics-incomplete"
	ReasonTMSilent         Reason = "taskmanager-silent"
	ReasonUnreachable      Reason = "unreachable"
	ReasonNoLeader         Reason = "no-leader"
	ReasonUnauthorized     Reason = "unauthorized"
	ReasonNotFlink         Reason = "not-flink"
	ReasonBusy             Reason = "busy"
	ReasonRefused          Reason = "refused"
	ReasonNotAdaptive      Reason = "not-adaptive"
	ReasonCheckpoints      Reason = "checkpoints-late"
	ReasonStorage          Reason = "storage-unavailable"
	ReasonNoCheckpoints    Reason = "checkpointing-off"
	ReasonNoSlots          Reason = "no-slots"
	ReasonSlotsShared      Reason = "slots-shared"
	ReasonNotReached       Reason = "size-not-reached"
	ReasonVertexChanged    Reason = "vertices-changed"
	ReasonForeignWriter    Reason = "foreign-writer"
	ReasonRival            Reason = "rival"
	ReasonNoSafeWay        Reason = "no-safe-way"
	ReasonNoRoom           Reason = "no-room"
	ReasonNotCarried       Reason = "not-carried-out"
	ReasonForward          Reason = "forward-edge"
	ReasonDegraded         Reason = "degraded"
	ReasonFailedBefore     Reason = "size-failed-before"
	ReasonJobFailing       Reason = "job-failing"
	ReasonRestartLoop      Reason = "restart-loop"
	ReasonBelowBefore      Reason = "below-size-before"
	ReasonLagObjective     Reason = "lag-objective"
	ReasonUndoOff          Reason = "undo-switched-off"
	ReasonSavepoint        Reason = "savepoint-failed"
	ReasonLeftStopped      Reason = "left-stopped"
	ReasonInternal         Reason = "internal-error"
)

// ReasonInfo is one row of the reference.
type ReasonInfo struct {
	Reason  Reason
	Meaning string
	// Do is what an operator can do about it, empty when nothing is needed.
	Do string
}

// Reasons lists every reason once, changes first.
func Reasons() []ReasonInfo {
	return []ReasonInfo{
		{ReasonScaleUp, "at least one vertex cannot keep up within its utilization and gets more subtasks", ""},
		{ReasonScaleDown, "vertices do well below their utilization for long enough and get fewer subtasks", ""},
		{ReasonOverride, "an operator's override is in force: a change where it differs from what runs, else a hold", ""},
		{ReasonUndo, "the job does not run well since the last change of its size: the size before it is asked for again", "see the last outcome in the history, and the JobManager's log"},
		{ReasonWithinTarget, "every vertex works within its utilization bounds", ""},
		{ReasonAtLimit, "a change is wanted but a limit (partitions, max parallelism, policy) leaves the size as it is", "raise the limit named in the note, if that is meant"},
		{ReasonStabilizing, "the job (re)started less than job.autoscaler.stabilization.interval ago", ""},
		{ReasonWindowNotFull, "there are not yet samples over a whole job.autoscaler.metrics.window", ""},
		{ReasonDownDelayed, "a smaller size is wanted, but not yet for job.autoscaler.scale-down.interval", ""},
		{ReasonApproval, "a change is wanted that needs a person's yes, as job.autoscaler.approval.for says; the note has what, and how to answer", "look at it, then approve or reject it"},
		{ReasonDeclined, "a change is wanted that was rejected, or that nobody answered in time; it is not proposed again for job.autoscaler.approval.quiet, unless it grows", ""},
		{ReasonPaused, "an operator paused the job; it is still observed", "resume it when it may be changed again"},
		{ReasonScalingDisabled, "job.autoscaler.scaling.enabled is false: what would be done is only shown", ""},
		{ReasonExcluded, "the vertex is in job.autoscaler.vertex.exclude.ids, or finished", ""},
		{ReasonExcludedPeriod, "now is in one of job.autoscaler.excluded.periods: what would be done is only shown", ""},
		{ReasonNoDownPeriod, "now is in one of job.autoscaler.scale-down.excluded.periods: nothing gets smaller", ""},
		{ReasonIneffective, "the last scale-up of a vertex brought too little, seen often enough; it gets no larger until that verdict expires", "look for what else limits the vertex: skew, an outside system, garbage collection"},
		{ReasonMemoryPressure, "a TaskManager spends too much time in garbage collection or uses too much of its heap; more subtasks would not help", "give the TaskManagers more memory"},
		{ReasonQuota, "the wanted size would exceed job.autoscaler.quota.cpu or job.autoscaler.quota.memory", "raise the quota, or lower vertex.max-parallelism"},
		{ReasonVetoed, "a scaling executor of the policy refused the change; its words are in the note", "see the executor's parameters in the policy"},
		{ReasonContradiction, "signals of a vertex contradict each other: it is busy and holds back what is before it, but its rate says that it has little to do; it gets no smaller", ""},
		{ReasonRescaleOpen, "a rescale of this job is under way; its outcome is awaited first", ""},
		{ReasonBackoff, "the last rescale did not succeed; the next may start at the time in the note", "see the last outcome in the history"},
		{ReasonBudget, "the rescales of the last 24 hours have used up job.autoscaler.rescale.budget.count or job.autoscaler.rescale.budget.downtime; what would be done is only shown", "look at why the job needs so many changes; a larger budget, or an override, lets the next one through"},
		{ReasonBreaker, "job.autoscaler.rescale.breaker.failures rescales in a row did not succeed; none is tried for job.autoscaler.rescale.breaker.reset", "see the outcomes in the history; an override is tried at once"},
		{ReasonManagedElsewhere, "another running workflow manages the same target", "end one of the two workflows"},
		{ReasonPolicyInvalid, "the policy has values that cannot be used; every problem is listed", "correct the policy where its origin says"},
		{ReasonOverrideInvalid, "the override names a vertex that does not exist, or a size that Flink cannot run", "set a correct override, or clear it"},
		{ReasonJobGone, "no such job on the cluster; it is carried on when it comes back", "submit the job again, or end the workflow"},
		{ReasonJobAmbiguous, "more than one live job on the cluster has that name", "give the jobs different names"},
		{ReasonJobNotRunning, "the job is not RUNNING", ""},
		{ReasonTasksNotRunning, "the job is RUNNING but not all of its tasks are", ""},
		{ReasonJobRestarted, "the job restarted while it was read; the numbers belong to two attempts", ""},
		{ReasonMetricsFrozen, "Flink shows metrics that no longer move: probably a hung TaskManager", "look for a TaskManager that does not answer; a lower web.timeout shortens the freeze"},
		{ReasonMetricsMissing, "a metric that the decision needs is not there", "see the note for vertex and metric"},
		{ReasonIncomplete, "Flink marks numbers as incomplete: part of the subtasks is missing in them", ""},
		{ReasonTMSilent, "a registered TaskManager has not sent a heartbeat for a while; its numbers are old", "look at the TaskManager named in the note"},
		{ReasonUnreachable, "the cluster does not answer", "check address, network and JobManager"},
		{ReasonNoLeader, "the JobManager answers but has no leader yet", ""},
		{ReasonUnauthorized, "the cluster refuses the worker's credentials", "check the credential files in the worker's configuration"},
		{ReasonNotFlink, "what answers is not Flink's REST API", "check the address: a proxy or a login page may be in between"},
		{ReasonBusy, "Flink is taking another change of the same job", ""},
		{ReasonRefused, "Flink refused the requirements; its words are in the note", "see the note"},
		{ReasonNotAdaptive, "the job's scheduler cannot change parallelism in place", "set jobmanager.scheduler: adaptive; or allow a redeploy: job.autoscaler.redeploy.enabled: true, and flink.redeploy (on YARN: yarn.redeploy) of the cluster in the worker's file"},
		{ReasonCheckpoints, "checkpoints are late or failing; a rescale would lose progress", "look at the job's checkpoints"},
		{ReasonStorage, "the storage of checkpoints or savepoints does not answer, takes no writes, or has no room; a rescale could end the job for good", "see the note; bring the storage back, or make room"},
		{ReasonNoCheckpoints, "the job has no checkpointing: a rescale would lose its state", "enable checkpointing, or set job.autoscaler.rescale.without-checkpoints: true"},
		{ReasonNoSlots, "the cluster has not enough slots for the wanted size", "add TaskManagers"},
		{ReasonSlotsShared, "a change is wanted that needs more slots of those that the jobs of the cluster share; the job waits for its turn, and its place and why are in the note", "see `flinkscaler slots`; make another job smaller, or raise the limit or job.autoscaler.share.priority"},
		{ReasonNotReached, "the job did not come to the wanted size in time", "see the note, and the JobManager's log"},
		{ReasonVertexChanged, "the job's vertices are no longer those that the decision was made for", ""},
		{ReasonForeignWriter, "the resource requirements in force are not those that flinkscaler wrote: a person or another program changed them; they are not fought", "find who wrote them (Flink's UI, HPA, KEDA, another autoscaler); evaluate-now, resume or an override takes the job over again, and so does job.autoscaler.rescale.foreign-writer.accept-after"},
		{ReasonRival, "something else changes the job's size, such as the operator's own autoscaler, a HorizontalPodAutoscaler, KEDA or a GitOps tool; it is named in the note and not fought", "see the note; take the other away, or end the workflow"},
		{ReasonNoSafeWay, "the job's set-up has no safe way to change its size; the job is only watched", "see the note: it says what to change"},
		{ReasonNoRoom, "the TaskManagers that the size needs cannot be had: a quota, a limit or the nodes forbid it", "see the note; raise the quota, or add nodes"},
		{ReasonNotCarried, "what was wanted was written, but the program that carries it to Flink has not done so", "see whether the operator runs and watches the resource, and its words in the note"},
		{ReasonForward, "vertices that a FORWARD edge joins would get unequal sizes, which breaks the edge", "give the joined vertices one size"},
		{ReasonDegraded, "the job runs at fewer subtasks than are wanted of Flink and than it ran at: slots were lost; no size is learned from that", "bring the slots back: Flink then goes up by itself; an override makes another size the wanted one"},
		{ReasonFailedBefore, "a wanted size is one at which the job failed not long ago; a size on the safe side of it is taken until that is forgotten", "look at the outcome that is named in the history; the note says when it is forgotten"},
		{ReasonJobFailing, "the job fails again and again since its size was changed; Flink's words are in the note", "see the note, and the JobManager's log"},
		{ReasonRestartLoop, "the job restarts again and again since its size was changed", "see the JobManager's log: mostly slots come and go"},
		{ReasonBelowBefore, "after the change the job runs at less than before it", "see whether TaskManagers were lost"},
		{ReasonLagObjective, "since the last change made it smaller the job is further behind than it may be and falls behind further, at a load that it carried before", "see the note; a smaller size is not tried again for a while"},
		{ReasonUndoOff, "job.autoscaler.rescale.undo.enabled is false: a change after which the job is not well is not taken back", "see to the job: undo, or an override"},
		{ReasonSavepoint, "the job could not be stopped with a savepoint, and runs on as before; or it was not restored from it", "see the note: mostly the storage of savepoints, or a job under back pressure"},
		{ReasonLeftStopped, "a redeploy stopped the job and could not start it again", "start it by hand from the savepoint in the note, with the command there"},
		{ReasonInternal, "a fault of flinkscaler itself, or of a plugin that the note names; the job is left as it is", "report it with the note"},
	}
}
