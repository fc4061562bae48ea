package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// verifyEvery is how often Verify looks. Flink caches what it shows for
// web.refresh-interval (3 s by default), so more would show nothing more.
const verifyEvery = time.Second

// Progress is what Verify's heartbeat shows while it waits. What was counted is
// in it, so that another worker goes on with it.
type Progress struct {
	Phase       string `json:"phase"`
	SecondsLeft int    `json:"secondsLeft"`
	// Reached is how many of the vertices to change run as wanted, of Total.
	Reached int `json:"reached"`
	Total   int `json:"total"`
	// Slots are those of the cluster, nil when not known.
	Slots *core.Slots `json:"slots,omitempty"`
	// Restarts are the moments since which the job ran, after the write.
	Restarts []time.Time `json:"restarts,omitempty"`
	// Restored is true once the job was seen to run from the savepoint that it was
	// submitted with.
	Restored bool `json:"restored,omitempty"`
	// Newest is the newest checkpoint of a submitted job.
	Newest string `json:"newest,omitempty"`
	// Most is the most subtasks that it ran at after any of them.
	Most int `json:"most,omitempty"`
	// Back is since when it ran at the size before again, where that is waited for.
	Back time.Time `json:"back,omitzero"`
}

// Verify waits until the job runs at what was wanted, judged by Flink itself
// and never by a 200, or until the deadline; then it says what Flink shows. A
// job that fails or restarts again and again is not waited for.
func (a *Activities) Verify(ctx context.Context, in VerifyInput) (Verified, error) {
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return Verified{}, toTemporal(err)
	}
	w := watch{in: in, now: a.s.Now, carrier: a.s.Clusters[in.Key.Cluster].Carrier, carried: core.Carried{Done: true}}
	if activity.HasHeartbeatDetails(ctx) {
		// What cannot be read is counted anew.
		_ = activity.GetHeartbeatDetails(ctx, &w.seen)
	}
	ctx, b := startBeat(ctx, activity.GetWorkerStopChannel(ctx))
	defer b.stop()
	for {
		w.look(ctx, platform)
		if ctx.Err() == nil && w.done() {
			return w.verdict(), nil
		}
		b.show(ctx, w.progress())
		select {
		case <-ctx.Done():
			if b.handedOver() {
				return Verified{}, errStopping()
			}
			return Verified{}, ctx.Err()
		case <-time.After(verifyEvery):
		}
	}
}

// watch is the state of one wait.
type watch struct {
	in  VerifyInput
	now func() time.Time

	status core.JobStatus
	held   core.Requirements
	err    error
	// health is the last known, asked when it was.
	health core.JobHealth
	asked  time.Time
	seen   Progress
	// carrier tells how far what was written is on its way to Flink, nil where it goes
	// there directly; carried is what it told last.
	carrier   Carrier
	carried   core.Carried
	carriedAt time.Time
	// replaced is the id under which the job was submitted anew, empty when it
	// was not: the change that is watched is then over with the old one.
	replaced string
}

// askEvery is how often failures and slots are read while there is a reason to.
const askEvery = 5 * time.Second

// look reads the job once; what cannot be read is kept as the error.
func (w *watch) look(ctx context.Context, platform Platform) {
	if w.moves() {
		if w.err = w.follow(ctx, platform); w.err != nil {
			return
		}
	}
	var status core.JobStatus
	if status, w.err = platform.Status(ctx, w.in.Job); w.err != nil {
		if errors.Is(w.err, core.ErrNotFound) {
			w.err = w.confirmGone(ctx, platform)
		}
		return
	}
	w.status = status
	w.count()
	if w.in.Restored == "" {
		w.held, w.err = platform.Wanted(ctx, w.in.Job)
	}
	w.askCarrier(ctx)
	w.ask(ctx, platform)
}

// askCarrier reads how far what was written is on its way: whenever Flink shows the
// size, and else not at each look, since it may be a lot to read.
func (w *watch) askCarrier(ctx context.Context) {
	now := w.now()
	if w.err != nil || w.carrier == nil || !w.atSize() && now.Before(w.in.Deadline) && now.Sub(w.carriedAt) < askEvery {
		return
	}
	w.carriedAt = now
	w.carried, w.err = w.carrier.Carried(ctx, w.in.Job, w.in.Wish)
}

// moves is true for a change that stops the job and starts it again: it may have
// another id then.
func (w *watch) moves() bool { return w.in.Job.Means != nil && w.in.Job.Means.Restarts }

// follow finds the job anew. While it is down that is an error, and no more.
func (w *watch) follow(ctx context.Context, platform Platform) error {
	found, err := platform.Locate(ctx, w.in.Target)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return &core.OpError{Op: "verify", Subject: w.in.Job.ID, Err: core.ErrNotReady, Hint: err.Error()}
	case err != nil:
		return err
	}
	found.Key = w.in.Key
	w.in.Job = found
	return nil
}

// ask reads why it takes so long: failures, and slots. Neither is needed for
// the verdict on the size, so an error is none of the wait.
func (w *watch) ask(ctx context.Context, platform Platform) {
	now := w.now()
	atSize := w.err == nil && w.atSize()
	if !atSize && now.Before(w.in.Deadline) && now.Sub(w.asked) < askEvery {
		return
	}
	w.asked = now
	if h, err := platform.Inspect(ctx, w.in.Job); err == nil {
		w.health = h
		w.origin()
		if h.CompletedPath != "" && w.in.Restored != "" {
			w.seen.Newest = h.CompletedPath
		}
	} else if atSize && w.err == nil && !isFinal(err) {
		w.err = err // that it is well is not known
	}
	if s, err := platform.Slots(ctx, w.in.Job); err == nil {
		w.seen.Slots = &s
	}
}

// count notes each time that the job ran anew. One that got nearer to its size
// by it, as when TaskManagers come one after another, begins the row again.
func (w *watch) count() {
	at := w.status.RunningSince
	if w.in.Undoing && w.seen.Back.IsZero() && slices.Equal(w.status.Topology.Sizes(), w.in.Wanted) {
		w.seen.Back, w.seen.Restarts = at, nil
	}
	if !at.After(w.in.RunningSince) {
		return
	}
	if total := subtasks(w.status.Topology.Sizes()); total > w.seen.Most && w.status.AllTasksRunning() {
		w.seen.Most, w.seen.Restarts = total, []time.Time{at}
		return
	}
	if n := len(w.seen.Restarts); n == 0 || at.After(w.seen.Restarts[n-1]) {
		w.seen.Restarts = append(w.seen.Restarts, at)
	}
}

func subtasks(sizes []core.VertexSize) int {
	n := 0
	for _, v := range sizes {
		n += v.Parallelism
	}
	return n
}

// confirmGone asks the job list as well: right after a failover the job can be
// unknown for a moment though it is about to be recovered.
func (w *watch) confirmGone(ctx context.Context, platform Platform) error {
	found, err := platform.Locate(ctx, w.in.Target)
	if err != nil {
		return err
	}
	if found.ID != w.in.Job.ID {
		w.replaced = found.ID
		return &core.OpError{Op: "verify", Subject: w.in.Job.ID, Err: core.ErrNotFound}
	}
	return &core.OpError{Op: "verify", Subject: w.in.Job.ID, Err: core.ErrNotReady}
}

// A job that restarts or fails so often within loopWithin of the change is not
// waited for any longer. The restart that the change itself is does not count.
const (
	mostRestarts = 3
	mostFailures = 3
	loopWithin   = 10 * time.Minute
)

// quiet is how long a job that failed since the change must run before that is
// taken for over.
const quiet = 30 * time.Second

// done is true when waiting longer can change nothing.
func (w *watch) done() bool {
	if !w.now().Before(w.in.Deadline) || w.replaced != "" {
		return true
	}
	if w.err != nil {
		return false
	}
	return w.status.State.Ended() || w.displaced() || w.forgotten() || w.looping() != "" || w.strange() || w.settled() || (w.reached() && w.calm() && w.stands())
}

// forgotten is true when another JobManager has the job since the change, and
// knows nothing of it: one without HA (I4). Nothing is left to wait for.
func (w *watch) forgotten() bool {
	return !w.moves() && len(w.in.Wish) > 0 && !w.in.Since.IsZero() && w.status.StartedAt.After(w.in.Since) &&
		w.status.AllTasksRunning() && !slices.Equal(w.held, w.in.Wish)
}

// displaced is true when somebody else took away what was written, before it came
// to Flink or after.
func (w *watch) displaced() bool { return w.carried.Reason == core.ReasonForeignWriter }

// stuck is true while what was written has not come to Flink.
func (w *watch) stuck() bool {
	return !w.carried.Done && orReason(w.carried.Reason, core.ReasonNotCarried) == core.ReasonNotCarried
}

// proof is how long a job must run at its size before that is believed: as long
// as Flink may show a copy of what was (web.refresh-interval), and long enough
// to see one that fails as soon as it runs.
const proof = 3 * time.Second

// stands is true when the job has run for long enough.
func (w *watch) stands() bool { return w.status.Now.Sub(w.status.RunningSince) >= proof }

// looping says how it shows that the job will not come to rest, empty while it
// may.
func (w *watch) looping() core.Reason {
	if w.in.Undoing && w.seen.Back.IsZero() {
		return "" // it still fails at the size that is undone
	}
	switch n := len(w.seen.Restarts); {
	case w.failures() >= mostFailures:
		return core.ReasonJobFailing
	case n > mostRestarts && w.seen.Restarts[n-1].Sub(w.seen.Restarts[n-1-mostRestarts]) <= loopWithin:
		return core.ReasonRestartLoop
	}
	return ""
}

// failures counts those since the write, by the JobManager's clock.
func (w *watch) failures() int {
	since := w.in.Since
	if since.IsZero() {
		return 0
	}
	if w.seen.Back.After(since) {
		since = w.seen.Back // before that it failed at the size that is undone
	}
	return w.health.ErrorsSince(since)
}

// calm is true when the job has not failed since the change, or not for a while.
func (w *watch) calm() bool {
	if w.in.Undoing && !w.health.LastError.After(w.status.RunningSince) {
		return true // it failed at the size that is undone
	}
	return w.failures() == 0 || w.status.Now.Sub(w.health.LastError) >= quiet
}

// origin notes where a job that was submitted anew was restored from. One that
// was restored since from a checkpoint of its own was so before.
func (w *watch) origin() {
	if from := w.health.RestoredPath; redeploy.SamePath(from, w.in.Restored) || redeploy.OwnCheckpoint(from, w.in.Job.ID) {
		w.seen.Restored = true
	}
}

// told is how long Flink may go on to show of a job what it showed before.
const told = 15 * time.Second

// strange is true for a submitted job that runs, but not from where it should.
func (w *watch) strange() bool {
	return w.runs() && !w.seen.Restored && w.health.Checkpointing && w.status.Now.Sub(w.status.RunningSince) >= told
}

// settled is true for a submitted job that runs as it will: a scheduler that is
// not adaptive gives it no other size any more.
func (w *watch) settled() bool { return w.runs() && w.seen.Restored && w.calm() && w.stands() }

// runs is true for a submitted job of which all tasks run, whatever its size.
func (w *watch) runs() bool { return w.in.Restored != "" && w.err == nil && w.status.AllTasksRunning() }

// reached is true when everything that was wanted is true at once.
func (w *watch) reached() bool {
	return w.atSize() && w.carried.Done && (w.in.Restored == "" || w.seen.Restored)
}

func (w *watch) atSize() bool {
	return w.err == nil && w.status.AllTasksRunning() && slices.Equal(w.held, w.in.Wish) &&
		slices.Equal(w.status.Topology.Sizes(), w.in.Wanted) && w.restarted()
}

// restarted is true when the job entered RUNNING anew since the preflight, or
// had no reason to.
func (w *watch) restarted() bool {
	return slices.Equal(w.in.Before, w.in.Wanted) || w.status.RunningSince.After(w.in.RunningSince)
}

// progress is what is shown while it waits.
func (w *watch) progress() Progress {
	p := w.seen
	p.Phase = w.phase()
	p.SecondsLeft = max(0, int(w.in.Deadline.Sub(w.now()).Seconds()))
	p.Reached, p.Total = w.arrived()
	return p
}

func (w *watch) phase() string {
	switch {
	case w.err != nil:
		return "asking: " + string(core.ReasonFor(w.err))
	case !w.status.AllTasksRunning():
		return "waiting for all tasks to run"
	case w.carried.Note != "":
		return w.carried.Note
	case !w.restarted():
		return "waiting for Flink to rescale"
	case w.reached():
		return "it failed on the way; seeing whether it runs on"
	case w.short():
		return "waiting for slots"
	}
	return "waiting for the wanted size"
}

// short is true when there is no free slot.
func (w *watch) short() bool { return w.seen.Slots != nil && w.seen.Slots.Free == 0 }

// verdict says how it ended, with what Flink shows.
func (w *watch) verdict() Verified {
	v := Verified{Got: w.status.Topology.Sizes(), RunningAt: w.status.RunningSince, WishHeld: w.err == nil && slices.Equal(w.held, w.in.Wish), Newest: w.seen.Newest}
	if w.moves() {
		v.Job = &w.in.Job
	}
	switch {
	case w.replaced != "":
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonJobRestarted, "the job was submitted anew while it was rescaled; it has the new id "+w.replaced
	case w.err != nil:
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonFor(w.err), "at the deadline Flink could not tell: "+w.err.Error()
	case w.status.State.Ended():
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonJobNotRunning, fmt.Sprintf("the job ended as %s%s", w.status.State, w.words())
	case w.forgotten():
		v.Kind, v.Reason = core.Failed, core.ReasonJobRestarted
		v.Note = "the JobManager was lost while the job was rescaled, and its successor knows nothing of what was asked of it (no HA); it runs as it was submitted"
	case w.displaced():
		v.Kind, v.Reason, v.Note = core.Partial, core.ReasonForeignWriter, w.carried.Note
	case w.stuck() && (!v.WishHeld || !w.restarted()):
		w.unwell(&v, core.ReasonNotCarried, "what was wanted was written, but it did not come to Flink until the deadline: "+w.carried.Note)
	case !v.WishHeld:
		w.taken(&v)
	case w.looping() != "":
		w.unwell(&v, w.looping(), fmt.Sprintf("%d failures and %d restarts since the change%s", w.failures(), max(0, len(w.seen.Restarts)-1), w.words()))
	case w.strange():
		w.unwell(&v, core.ReasonSavepoint, fmt.Sprintf("the job runs, but was restored from %q and not from the savepoint", w.health.RestoredPath))
	case w.runs() && !w.seen.Restored:
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonSavepoint, "the job runs, but Flink did not tell from where it was restored"
	case !w.status.AllTasksRunning():
		w.unwell(&v, core.ReasonTasksNotRunning, fmt.Sprintf("at the deadline the job is %s and not all tasks run%s", w.status.State, w.words()))
	case w.reached() && !w.calm():
		w.unwell(&v, core.ReasonJobFailing, "it runs at the wanted size but still fails"+w.words())
	case w.atSize() && !w.carried.Done:
		v.Kind, v.Reason = core.Partial, core.ReasonNotCarried
		v.Note = "every vertex runs at the wanted size, but what carries it there is not done: " + w.carried.Note
	case w.reached():
		v.Kind, v.Note = core.Applied, "every vertex runs at the wanted size"
		if w.failures() > 0 && !w.in.Undoing {
			v.Note += ", after a failure on the way" + w.words()
		}
	default:
		w.partly(&v)
	}
	return v
}

func orReason(r, otherwise core.Reason) core.Reason {
	if r == "" {
		return otherwise
	}
	return r
}

// taken is a job of which somebody else wants something by now.
func (w *watch) taken(v *Verified) {
	v.Kind, v.Reason = core.Partial, core.ReasonForeignWriter
	v.Note = "somebody else changed what is wanted of Flink while the job was rescaled: " + w.in.Wish.Difference(w.held, titles(w.status.Topology))
	if !w.status.AllTasksRunning() {
		v.Kind, v.Reason = core.Failed, core.ReasonTasksNotRunning
		v.Note += fmt.Sprintf("; the job is %s and not all tasks run%s", w.status.State, w.words())
	}
}

// unwell is a change that should be undone.
func (w *watch) unwell(v *Verified, why core.Reason, note string) {
	v.Kind, v.Reason, v.Undo, v.Note = core.Failed, why, why, note
}

// partly is a job that runs, but not at what was wanted.
func (w *watch) partly(v *Verified) {
	if id, now, before := w.below(); id != "" && w.in.Restored == "" {
		w.unwell(v, core.ReasonBelowBefore, fmt.Sprintf("at the deadline %s runs at %d, before the change it ran at %d%s", w.status.Topology.Title(id, mostTitle), now, before, w.words()))
		return
	}
	reached, total := w.arrived()
	v.Kind, v.Reason = core.Partial, core.ReasonNotReached
	if w.in.Restored != "" {
		v.Note = fmt.Sprintf("%d of %d changed vertices run at the wanted size: the program, or Flink, did not take the sizes that it was given", reached, total)
		return
	}
	v.Note = fmt.Sprintf("%d of %d changed vertices run at the wanted size at the deadline, %d of %d subtasks in all", reached, total, subtasks(v.Got), subtasks(w.in.Wanted))
	switch s := w.seen.Slots; {
	case w.carried.Reason == core.ReasonNoRoom, w.carried.Done && w.carried.Reason != "":
		v.Reason = w.carried.Reason
		v.Note += "; " + w.carried.Note
	case s != nil && s.Free == 0:
		v.Reason = core.ReasonNoSlots
		v.Note += fmt.Sprintf("; none of the cluster's %d slots is free", s.Total)
	case !w.carried.Done:
		v.Reason = orReason(w.carried.Reason, core.ReasonNotReached)
		v.Note += "; " + w.carried.Note
	case !w.restarted():
		v.Note += "; Flink has not begun yet"
	default:
		v.Note += "; probably slots are missing"
	}
	v.Note += w.words()
}

// below finds a vertex that runs at less than before and than is wanted.
func (w *watch) below() (id string, now, before int) {
	for _, v := range w.status.Topology.Vertices {
		before, ok := core.FindSize(w.in.Before, v.ID)
		wanted, _ := core.FindSize(w.in.Wanted, v.ID)
		if ok && !v.Finished && v.Parallelism < min(before, wanted) {
			return v.ID, v.Parallelism, before
		}
	}
	return "", 0, 0
}

// words are Flink's, of the newest failure since the change.
func (w *watch) words() string {
	if w.failures() == 0 {
		return ""
	}
	return "; Flink says: " + w.health.LastErrorNote
}

// arrived gives how many of the vertices to change run at their wanted size.
func (w *watch) arrived() (reached, total int) {
	for _, want := range w.in.Wanted {
		if before, _ := core.FindSize(w.in.Before, want.ID); before == want.Parallelism {
			continue
		}
		total++
		if got, _ := core.FindSize(w.status.Topology.Sizes(), want.ID); got == want.Parallelism {
			reached++
		}
	}
	return reached, total
}
