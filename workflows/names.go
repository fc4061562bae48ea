package workflows

// Workflow types: the operators' API.
const (
	ScaleName   = "ScaleFlinkJob"
	RescaleName = "RescaleFlinkJob"
	ShareName   = "ShareSlots"
)

// TaskQueue is the task queue of one group of workers; a worker of one cluster
// alone may use TaskQueue + "-" + cluster.
const TaskQueue = "flinkscaler"

// Messages, each a signal and an update.
const (
	MsgPause         = "pause"
	MsgResume        = "resume"
	MsgOverride      = "override"
	MsgClearOverride = "clear-override"
	MsgUndo          = "undo"
	MsgApprove       = "approve"
	MsgReject        = "reject"
	MsgSetPolicy     = "set-policy"
	MsgEvaluateNow   = "evaluate-now"
)

// Queries.
const (
	QueryStatus  = "status"
	QueryExplain = "explain"
	QueryHistory = "history"
	QueryPolicy  = "policy"
)

// Search attributes, used only when the worker says that they are registered.
const (
	AttrCluster     = "FlinkCluster"
	AttrState       = "AutoscalerState"
	AttrParallelism = "FlinkParallelism"
	AttrLastRescale = "LastRescaleTime"
)
