package logging

// Keys of log lines. One thing has one key everywhere, so that a search finds
// it. The SDK adds keys of its own in PascalCase.
const (
	KeyAddress   = "address"
	KeyAttempt   = "attempt"
	KeyCluster   = "cluster"
	KeyClusters  = "clusters"
	KeyCycle     = "cycle"
	KeyDecision  = "decision"
	KeyDo        = "do" // what a person can do about it
	KeyError     = "error"
	KeyEvent     = "event"
	KeyFrom      = "from"
	KeyIdentity  = "identity"
	KeyJob       = "job"
	KeyNamespace = "namespace"
	KeyNote      = "note"
	KeyOutcome   = "outcome"
	KeyPlatform  = "platform"
	KeyReason    = "reason"
	KeyRetryIn   = "retry_in"
	KeySetting   = "setting"
	KeySignal    = "signal"
	KeyTaskQueue = "task_queue"
	KeyTimeout   = "timeout"
	KeyTo        = "to"
	KeyVerdict   = "verdict"
	KeyVersion   = "version"
	KeyVertex    = "vertex"
)
