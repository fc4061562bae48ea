package yarn_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
)

// forgets has the ResourceManager be one that was started without the applications of the
// one before: with what such a one was recorded to say.
func (d *deployment) forgets(t *testing.T) func() {
	t.Helper()
	info, unknown, none := recordedAnswer(t, "info-alone.200.json"), recordedAnswer(t, "app-unknown.404.json"), recordedAnswer(t, "apps-none.200.json")
	return func() {
		d.rm.set(func() {
			clear(d.rm.apps)
			d.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
				switch path := strings.TrimPrefix(r.URL.Path, "/ws/v1/cluster"); {
				case path == "/info":
					return info(w, r)
				case path == "/apps":
					return none(w, r)
				case strings.HasPrefix(path, "/apps/"):
					return unknown(w, r)
				}
				return false
			}
		})
	}
}

// TestAResourceManagerThatForgot its applications lists nothing of an earlier submission,
// which may run all the same: no other is begun, and an operator is told why.
func TestAResourceManagerThatForgot(t *testing.T) {
	t.Parallel()
	const words = "does not know " + firstID + " any more, in which the job ran before: it was restarted without its applications"
	for name, tt := range map[string]struct {
		reason string
		script string
		bend   func(t *testing.T, d *deployment, s *core.Submission)
		err    error // nil: it runs
		words  string
		ran    bool
	}{
		"after an earlier call": {"what that began is not listed", "exit 3", func(t *testing.T, d *deployment, s *core.Submission) {
			s.Repeated = true
			d.forgets(t)()
		}, core.ErrUnreachable, words, false},
		"after one elsewhere": {"the same", "exit 3", func(t *testing.T, d *deployment, s *core.Submission) {
			s.Elsewhere = time.Now().Add(-time.Hour)
			d.forgets(t)()
		}, core.ErrUnreachable, words, false},
		"while the command runs": {"that it failed says nothing of the application", "sleep 0.3; exit 1", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.forgets(t))
		}, core.ErrUnreachable, words, true},
		"until the time-out": {"the same", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.forgets(t))
		}, core.ErrUnreachable, words, true},
		"before it is killed": {"it cannot be killed, and so may run", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			forget, unknown := d.forgets(t), recordedAnswer(t, "app-unknown.404.json")
			d.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPut {
					return false
				}
				forget()
				return unknown(w, r)
			}
			d.after(t, d.shows(d.second("ACCEPTED", "UNDEFINED", "")))
		}, core.ErrUnreachable, words, true},
		"before the first call": {"the job was stopped, and nothing else was begun", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.rm.set(func() { clear(d.rm.apps) })
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", true},
		"merely of so many": {"it keeps a thousand that have ended, and is the one that gave the id", "sleep 60", func(t *testing.T, d *deployment, s *core.Submission) {
			s.Repeated = true
			d.rm.set(func() {
				clear(d.rm.apps)
				d.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
					return strings.HasSuffix(r.URL.Path, "/info") && says(200, isJSON, `{"clusterInfo":{"id":1795968107066,"resourceManagerVersion":"3.4.2","haState":"ACTIVE"}}`)(w, r)
				}
			})
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", tt.script, "--slow", "${parallelism:slow}")
			d.as(t.Name())
			s := submission()
			s.JobID = d.job
			tt.bend(t, d, &s)
			ref, err := d.Submit(t.Context(), s)
			switch {
			case tt.err == nil && (err != nil || ref.ID != d.job):
				t.Errorf("%s: %+v, %v", tt.reason, ref, err)
			case tt.err != nil && (!errors.Is(err, tt.err) || errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), tt.words)):
				t.Errorf("%s: %v, want %v: %s", tt.reason, err, tt.err, tt.words)
			}
			if d.ran() != tt.ran {
				t.Errorf("%s: the command ran: %v", tt.reason, d.ran())
			}
		})
	}
}

// TestNoRoomInAForgottenApplication: its Flink still answers, so the job is seen, but a
// change would end it: YARN gives it no container.
func TestNoRoomInAForgottenApplication(t *testing.T) {
	t.Parallel()
	s := newSized(t, oneHeld, roomy)
	unknown := recordedAnswer(t, "app-unknown.404.json")
	s.rm.set(func() { s.rm.odd = unknown })
	for what, r := range map[string]core.Requirements{"the same": s.held, "more": s.more(9)} {
		room, err := s.Fits(t.Context(), s.job, r)
		if err != nil || !room.Short || room.Fits != 0 || room.MayGrow || !strings.Contains(room.Note, "does not know "+firstID+" any more: it was restarted without its applications") {
			t.Errorf("%s: %+v, %v", what, room, err)
		}
	}
}
