package yarn

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	"flinkscaler/core"
)

// appState is the state of an application in YARN's words.
type appState string

// The states by which something is decided.
const (
	stateAccepted appState = "ACCEPTED"
	stateRunning  appState = "RUNNING"
	stateFinished appState = "FINISHED"
	stateFailed   appState = "FAILED"
	stateKilled   appState = "KILLED"
	// stateUnknown is none of YARN's: the ResourceManager does not know it any more.
	stateUnknown appState = "unknown to the ResourceManager"
)

// ended is true for a state that YARN never leaves.
func (s appState) ended() bool { return s == stateFinished || s == stateFailed || s == stateKilled }

// application is one application as a ResourceManager shows it. Its progress is
// always full for Flink, and its numbers are -1 once it has ended.
type application struct {
	ID          string   `json:"id"`
	User        string   `json:"user"`
	Name        string   `json:"name"`
	Queue       string   `json:"queue"` // a leaf's name up to Hadoop 3.3, its path from 3.4 on
	State       appState `json:"state"`
	FinalStatus string   `json:"finalStatus"`
	Diagnostics string   `json:"diagnostics"`
	Type        string   `json:"applicationType"`
	Tags        string   `json:"applicationTags"` // lower case, sorted, comma between
	// RPCAddress is where Flink's REST API is: it registers that as the address for
	// clients. It is missing while an attempt starts, and stale once it has ended.
	RPCAddress        string `json:"amRPCAddress"`
	Logs              string `json:"amContainerLogs"`
	StartedMs         int64  `json:"startedTime"`
	FinishedMs        int64  `json:"finishedTime"`
	RunningContainers int    `json:"runningContainers"`
	AllocatedMB       int64  `json:"allocatedMB"`
	AllocatedVCores   int    `json:"allocatedVCores"`
}

// tagged is true for one that bears the tag.
func (a application) tagged(tag string) bool {
	for t := range strings.SplitSeq(a.Tags, ",") {
		if strings.EqualFold(t, tag) {
			return true
		}
	}
	return false
}

// defaultType is the type under which Flink registers.
const defaultType = "Apache Flink"

// is true for an application that the target describes.
func (a application) is(t core.YarnTarget) bool {
	return (t.ApplicationName == "" || a.Name == t.ApplicationName) &&
		(t.ApplicationTag == "" || a.tagged(t.ApplicationTag)) &&
		(t.User == "" || a.User == t.User) &&
		(t.Queue == "" || sameQueue(a.Queue, t.Queue)) &&
		strings.EqualFold(a.Type, kindOf(t))
}

// kindOf is the type of the application that a target describes.
func kindOf(t core.YarnTarget) string { return cmp.Or(t.ApplicationType, defaultType) }

// address is where Flink's REST API is, as host:port; empty where YARN shows none, or
// one of an attempt that is not there.
func (a application) address() string {
	host, port, err := net.SplitHostPort(a.RPCAddress)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" || host == "N/A" || a.State != stateRunning {
		return ""
	}
	return a.RPCAddress
}

// waits is true for one whose ApplicationMaster YARN has given no container yet: its
// queue is full, or may run no more of them.
func (a application) waits() bool { return a.State == stateAccepted && a.RunningContainers <= 0 }

// who says which application it is, for people.
func (a application) who() string {
	return fmt.Sprintf("%s of %s in queue %s", a.ID, a.User, a.Queue)
}

// how says in which state it is, with YARN's reasons.
func (a application) how() string {
	s := string(a.State)
	if a.State.ended() && a.FinalStatus != "" && a.FinalStatus != "UNDEFINED" {
		s += "/" + a.FinalStatus
	}
	if why := strings.TrimSpace(a.Diagnostics); why != "" {
		s += ": " + cut(why)
	}
	return s
}

// sameQueue compares queues of which either may be a leaf's name or its path.
func sameQueue(a, b string) bool {
	if strings.Contains(a, ".") && strings.Contains(b, ".") {
		return a == b
	}
	return leaf(a) == leaf(b)
}

func leaf(queue string) string { return queue[strings.LastIndexByte(queue, '.')+1:] }
