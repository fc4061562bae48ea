package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// storageTrouble recognises in the words of a failed checkpoint that its
// storage did not answer, as against a checkpoint that was only too slow.
// A rescale while the storage is down can end a healthy job for good.
func storageTrouble(note string) bool {
	low := strings.ToLower(note)
	for _, w := range []string{
		"ioexception", "io-problem", "could not flush", "could not materialize", "no such file", "connection refused", "connectexception",
		"failed on connection exception", "unknownhost", "no route to host", "filesystem", "file system", "permission denied", "no space",
		"safe mode", "safemode", "standbyexception", "quota", "could not finalize", "failure to finalize", "asynchronous task checkpoint failed",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// subsumed is how often a newer checkpoint is looked for where the newest one is
// gone when it is looked at: Flink deletes it once the next one is complete.
const subsumed = 3

// storageAnswers proves, before anything is written, that the storage of a job's
// checkpoints answers and has what a restart would begin from (I13). Where this
// worker cannot look, nothing is claimed. The place that was asked about comes
// back, empty for none: it is asked about once more right before the write.
func (a *Activities) storageAnswers(ctx context.Context, cluster string, platform Platform, job core.JobRef, health core.JobHealth) (place string, r core.Reason, note string, err error) {
	storage := a.s.Clusters[cluster].Checkpoints
	for range subsumed {
		place = restartsFrom(health)
		if storage == nil || place == "" || !storage.Covers(place) {
			return "", "", "", nil
		}
		if err := storage.Answers(ctx, place); err != nil {
			return place, core.ReasonStorage, "the storage of its checkpoints: " + err.Error(), nil
		}
		found, missing := storage.Check(ctx, place)
		if missing == nil {
			return place, "", found.Note, nil
		}
		note = "the newest checkpoint, which a restart begins from: " + missing.Error()
		if !isGone(missing) {
			break
		}
		if health, err = platform.Inspect(ctx, job); err != nil {
			return place, "", "", err
		}
		if restartsFrom(health) == place {
			break
		}
	}
	return place, core.ReasonStorage, note, nil
}

// restartsFrom is where a job that restarts begins, empty where that is not known.
func restartsFrom(h core.JobHealth) string {
	if h.CompletedPath != "" {
		return h.CompletedPath
	}
	return h.RestoredPath
}

// stillAnswers asks the storage once more right before a write, which may come
// minutes after the preflight: after retries, or on another worker. What is there
// was looked at before; a newer checkpoint may have taken its place.
func (a *Activities) stillAnswers(ctx context.Context, cluster, place string) error {
	storage := a.s.Clusters[cluster].Checkpoints
	if storage == nil || place == "" || !storage.Covers(place) {
		return nil
	}
	if err := storage.Answers(ctx, place); err != nil {
		return &storageAway{err}
	}
	return nil
}

// storageAway is a write that was not tried, since storage did not answer. It may
// answer in a moment.
type storageAway struct{ err error }

func (e *storageAway) Error() string { return "nothing was written: " + e.err.Error() }

func (e *storageAway) Unwrap() error { return core.ErrUnreachable }

// reasonFor is core.ReasonFor, and knows a storage that is away.
func reasonFor(err error) core.Reason {
	var away *storageAway
	if errors.As(err, &away) {
		return core.ReasonStorage
	}
	return core.ReasonFor(err)
}

// stateMargin is how much larger than the newest checkpoint a savepoint may become:
// its format is another, and the state grows meanwhile.
const stateMargin = 1.5

// someNames is how many files and directories a savepoint is taken to need.
const someNames = 100

// roomForSavepoint says whether a savepoint of the job can be written. What is not
// known is told, and forbids nothing: Flink leaves a job running whose savepoint
// fails.
func (a *Activities) roomForSavepoint(ctx context.Context, cluster, directory string, health core.JobHealth) (core.Reason, string) {
	storage := a.s.Clusters[cluster].Spaces
	if storage == nil {
		return "", ""
	}
	space, err := storage.Space(ctx, directory)
	if err != nil {
		return core.ReasonStorage, "the directory for savepoints cannot be read: " + err.Error()
	}
	if names, known := space.Names.Value(); known && names < someNames {
		return core.ReasonStorage, fmt.Sprintf("no room for a savepoint in %s: only %.0f more files and directories can be made", directory, names)
	}
	state, known := health.StateSize.Value()
	free, looked := space.Free.Value()
	switch {
	case !looked:
		return "", also("the free space for the savepoint is not known", space.Note)
	case !known:
		return "", also("the size of the state, and so of the savepoint, is not known", space.Note)
	case free < stateMargin*state:
		kept := ""
		if space.Copies > 1 {
			kept = fmt.Sprintf(" in %d copies", space.Copies)
		}
		return core.ReasonStorage, fmt.Sprintf("no room for a savepoint in %s: a state of %s needs %s, and %s leaves %s%s",
			directory, sizeText(state), sizeText(stateMargin*state), space.Bound, sizeText(free), kept)
	}
	return "", space.Note
}

// sizeText tells a number of bytes.
func sizeText(bytes float64) string {
	const step = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; bytes >= step && i < len(units)-1; i++ {
		bytes /= step
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}

// anyTime is for a write that restarts nothing.
func anyTime() error { return nil }
