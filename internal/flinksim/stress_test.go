package flinksim

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestManyAtOnce: readers, writers and faults at the same time leave the
// cluster answering.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	c, url := serve(t, Options{
		FetchInterval: 5 * time.Millisecond, FetchTime: time.Millisecond, CacheTime: time.Millisecond, WebTimeout: 20 * time.Millisecond,
		LossFreeze: 5 * time.Millisecond, HeartbeatTimeout: 30 * time.Millisecond, Cooldown: time.Millisecond, MaxDelay: 2 * time.Millisecond,
		Stabilization: time.Millisecond, Downtime: 2 * time.Millisecond, Deploy: time.Millisecond, ResourceWait: time.Hour,
		CheckpointInterval: 7 * time.Millisecond, CheckpointDuration: 2 * time.Millisecond, GaugeSpan: 50 * time.Millisecond,
		AfterPut: func(Write) Unavailability {
			if rand.IntN(10) == 0 {
				return Reset
			}
			return Available
		},
	})
	id := c.AddJob(JobSpec{Name: "j"})
	c.AddJob(JobSpec{Name: "k"})
	vertex := "/jobs/" + id + "/vertices/" + VertexID("enrich") + "/subtasks/metrics"
	paths := []string{
		"/jobs/overview", "/jobs/" + id, "/jobs/" + id + "/checkpoints", "/jobs/" + id + "/exceptions", "/jobs/" + id + "/rescales/history",
		"/jobs/" + id + "/rescales/summary", "/taskmanagers", "/jobmanager/metrics", vertex, vertex + "?get=numRecordsIn", "/sim/view", "/overview",
	}
	ask := func(method, path, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // it may hang
		defer cancel()
		_, _, _ = fetchURL(ctx, method, url+path, body)
	}
	do := []func(int){
		func(i int) { ask(http.MethodGet, paths[i%len(paths)], "") },
		func(i int) { ask(http.MethodPut, "/jobs/"+id+"/resource-requirements", requirements(1, 1+i%9, 1)) },
		func(int) { c.HangTaskManager(rand.IntN(2) == 0) },
		func(i int) {
			if i%5 == 0 {
				c.LoseTaskManager()
			}
			c.SetSlots(4 + rand.IntN(8))
		},
		func(int) { _ = c.RestartJob("j", "boom") },
		func(int) { _, _ = c.Resubmit("k") },
		func(i int) {
			c.SetUnavailable(append(Unavailabilities(), Available, Available, Available)[i%12])
			time.Sleep(time.Millisecond)
		},
	}
	until := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for n := range 3 * len(do) {
		all.Go(func() {
			for i := n; time.Now().Before(until); i++ {
				do[n%len(do)](i)
			}
		})
	}
	all.Wait()
	c.SetUnavailable(Available)
	c.HangTaskManager(false)
	c.SetSlots(20)
	if status, _, err := fetchURL(t.Context(), http.MethodGet, url+"/jobs/"+id, ""); status != http.StatusOK || err != nil {
		t.Errorf("afterwards: %d %v", status, err)
	}
}
