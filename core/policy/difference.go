package policy

// Difference is one thing that we do on purpose in another way than release
// 1.10.0 of the Java autoscaler.
type Difference struct {
	// Name is for people and reports.
	Name string
	// Ticket is where the Java autoscaler's project changed it since or
	// discusses it; "none" where it does not.
	Ticket string
	// Java is what the release does, Ours what we do and why.
	Java, Ours string
	// Quirk switches the difference off in tests.
	Quirk Quirk
}

const noTicket = "none"

// Differences lists all that we do in another way on purpose. A test runs
// random jobs through the release itself and shows that there is nothing else.
func Differences() []Difference {
	return append(append(sinceReleased(), evidence()...), decisions()...)
}

// sinceReleased is what the Java autoscaler itself does in another way by now.
func sinceReleased() []Difference {
	return []Difference{
		{
			Name: "alignment", Ticket: "FLINK-36527, FLINK-39299, FLINK-39938", Quirk: QuirkAlignment,
			Java: "takes the next divisor of key groups or partitions, searched for in one half of them only; where there is none, the smallest size with the same largest share, even when a growth becomes a shrinkage by that; a source gets more subtasks than partitions when vertex.min-parallelism says so",
			Ours: "scaling.parallelism-alignment.mode of the newest release (BALANCED), which never turns the direction; and a source never gets more subtasks than partitions, since those would have nothing to read",
		},
		{
			Name: "scale-down delay", Ticket: "FLINK-36535, FLINK-36863", Quirk: QuirkScaleDownDelay,
			Java: "counts the delay from the first time a smaller size was wanted, then takes the newest size; while it runs, the vertex gets smaller all the same as soon as another vertex must change",
			Ours: "the rule of the newest release: a vertex gets no smaller while the delay runs, and then as small as the largest size wanted in that time; time in which the vertex was not judged does not count",
		},
		{
			Name: "busy-time numerator", Ticket: "FLINK-39306", Quirk: QuirkNumerator,
			Java: "divides the rate of the counter over the window by busy time, whatever the aggregator",
			Ours: "the rule of the newest release: with MAX and MIN the mean of Flink's own rate, which is taken at the same moments as busy time",
		},
		{
			Name: "utilization bounds", Ticket: "FLINK-36836", Quirk: QuirkBounds,
			Java: "knows only the target and the boundary around it",
			Ours: "utilization.min and utilization.max of the newest release; without them the same numbers",
		},
		{
			Name: "partitions", Ticket: "FLINK-38381", Quirk: QuirkPartitions,
			Java: "counts the partitions of topics with one name on several Kafka clusters once, and those of Kafka and Pulsar only",
			Ours: "counts each cluster's own, and where neither Kafka nor Pulsar tells, the splits that Flink 2.1 and later show for every source",
		},
	}
}

// evidence is what we take for evidence in another way.
func evidence() []Difference {
	return []Difference{
		{
			Name: "window", Ticket: "FLINK-36409", Quirk: QuirkWindow,
			Java: "evaluates samples from the stabilization while the window is not full; the window is full when its first sample is as old as the window, so that an uneven cycle makes a full window not full again, and one long pause empties it",
			Ours: "only samples after the stabilization count, which begins when all tasks run; a window that was full stays full, and a pause shorter than the window leaves what was seen before it",
		},
		{
			Name: "observed rate", Ticket: noTicket, Quirk: QuirkObserved,
			Java: "observes what a source does while it catches up in the stabilization too, when caches and connections are cold",
			Ours: "observes it in the samples that count only; then carries it on alike, as long as the job is not restarted",
		},
		{
			Name: "incomplete counters", Ticket: "FLINK-39925", Quirk: QuirkIncomplete,
			Java: "ignores Flink's flag that a counter misses subtasks: what the JobManager lost sight of counts as zero",
			Ours: "a reading that Flink flags is no number: when TaskManagers are lost, nothing gets smaller because of it",
		},
		{
			Name: "missing metric", Ticket: noTicket, Quirk: QuirkMissing,
			Java: "fails the whole cycle when one vertex lacks a metric",
			Ours: "that vertex and what is downstream of it gets no smaller; all others are judged",
		},
		{
			Name: "no busy time", Ticket: noTicket, Quirk: QuirkNoBusy,
			Java: "leaves a vertex as it is in a cycle in which its busy time is no number",
			Ours: "judges it by the other samples, but never makes it smaller; only a source of the old kind, which never has it, is left as it is",
		},
		{
			Name: "gaps", Ticket: noTicket, Quirk: QuirkGaps,
			Java: "makes a vertex smaller whatever is missing in its numbers or upstream of it",
			Ours: "a vertex gets smaller only on evidence that is complete for it and for all that is upstream",
		},
		{
			Name: "frozen metrics", Ticket: noTicket, Quirk: QuirkFrozen,
			Java: "takes metrics that stand still, because a TaskManager hangs, for a load of zero",
			Ours: "a sample counts only when the JobManager's own clock metric moved since the one before",
		},
		{
			Name: "backlog metric", Ticket: noTicket, Quirk: QuirkLag,
			Java: "takes a backlog that is not shown for a backlog of zero",
			Ours: "a source that never showed one has none; one that did and does not any more is left as it is",
		},
		{
			Name: "backlog that is no number", Ticket: noTicket, Quirk: QuirkLagNumber,
			Java: "fails the whole cycle when it can compute no rate of a backlog, and judges no vertex downstream of a source whose newest backlog is NaN",
			Ours: "that source and what is downstream of it gets no smaller; all others are judged",
		},
		{
			Name: "finished vertices", Ticket: noTicket, Quirk: QuirkFinished,
			Java: "takes the counters of a finished vertex for zero, so that they seem to fall in the window",
			Ours: "a finished vertex has no numbers, and sends nothing",
		},
		{
			Name: "counters that fall", Ticket: noTicket, Quirk: QuirkReset,
			Java: "computes a negative rate over a counter that began anew inside an attempt",
			Ours: "the window begins anew there, and no rate is below zero",
		},
		{
			Name: "rounding of samples", Ticket: noTicket, Quirk: QuirkRounding,
			Java: "rounds to three places what it computed of a reading",
			Ours: "rounds readings themselves, so that samples stay small; busy time and rates can differ in the third place",
		},
		{
			Name: "order of sums", Ticket: noTicket, Quirk: QuirkOrder,
			Java: "adds up the rates of three and more inputs in the order of a hash table, which can show in the third place",
			Ours: "adds them up in the order of their ids, so that the same numbers give the same sum everywhere",
		},
		{
			Name: "stuck partition", Ticket: noTicket, Quirk: QuirkStuck,
			Java: "plans for all of a source's backlog",
			Ours: "leaves out a backlog that waits in front of one subtask which is not busy: more subtasks cannot help it",
		},
		{
			Name: "contradiction", Ticket: noTicket, Quirk: QuirkContradiction,
			Java: "makes a vertex smaller that is busy and holds back what is before it, when its rate says so",
			Ours: "leaves it as it is: the rates of an edge are guesses, busy time and back pressure are not",
		},
	}
}

// decisions is what we decide in another way on the same evidence.
func decisions() []Difference {
	return []Difference{
		{
			Name: "pending rescale", Ticket: noTicket, Quirk: QuirkPending,
			Java: "decides again each cycle until the job restarts at the new size",
			Ours: "holds while a rescale is under way: one decision has one effect",
		},
		{
			Name: "backlog", Ticket: "FLINK-31318", Quirk: QuirkBacklog,
			Java: "makes no vertex smaller for its own sake while a backlog is worked off, but lets it get smaller along with another that gets larger",
			Ours: "makes nothing smaller while a backlog is worked off: the rates of such a time are not those of any other",
		},
		{
			Name: "effectiveness", Ticket: "FLINK-39743", Quirk: QuirkEffect,
			Java: "judges the newest change that was decided, carried out or not, by the rate that was planned with, at the first look, and holds a vertex for good",
			Ours: "judges what was reached, by what that size was to bring, after as many looks as scaling.effectiveness.proofs asks for; the verdict ends by itself",
		},
		{
			Name: "restart time", Ticket: noTicket, Quirk: QuirkRestarts,
			Java: "takes the longest restart of the last decisions, measured from the decision",
			Ours: "measures from when the new size was asked for, and leaves out a restart that was an exception",
		},
		{
			Name: "memory pressure", Ticket: noTicket, Quirk: QuirkPressure,
			Java: "lets a threshold of 1 be exceeded, as several collectors at once can do",
			Ours: "a threshold of 1 is off, as the reference says",
		},
		{
			Name: "quotas", Ticket: noTicket, Quirk: QuirkQuota,
			Java: "counts only vertices that change, and no TaskManager that is partly used; lets everything pass where the cores or the memory of a TaskManager, or slot sharing groups, are not known",
			Ours: "counts every vertex and every TaskManager; holds what needs more TaskManagers where a quota is set and cannot be checked",
		},
		{
			Name: "FORWARD edges", Ticket: noTicket, Quirk: QuirkForward,
			Java: "sizes vertices that a FORWARD edge joins apart from each other",
			Ours: "keeps them at one size, the larger one: Flink keeps such an edge only between equals",
		},
		{
			Name: "undo", Ticket: noTicket, Quirk: QuirkUndo,
			Java: "leaves a job at a new size whatever comes of it, and decides anew by the same formula",
			Ours: "goes back to the size before where the job restarts again and again since the change, or falls behind at a smaller size under a load that it carried before; rescale.undo.enabled switches it off",
		},
	}
}
