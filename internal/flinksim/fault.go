package flinksim

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// Unavailability is how the REST API does not answer as it should.
type Unavailability string

// The ways.
const (
	Available Unavailability = ""
	// NoLeader: 503 with Flink's text on an election.
	NoLeader Unavailability = "503"
	// Recovering: 500 on everything, as while a standby has no leader yet.
	Recovering Unavailability = "500"
	// Hanging: the connection is taken and nothing comes.
	Hanging Unavailability = "hang"
	// HTML: 200 with a page, as a login or another program on the port gives.
	HTML Unavailability = "html"
	// Redirect: 302 to a login.
	Redirect Unavailability = "redirect"
	// Reset: the connection is reset.
	Reset Unavailability = "reset"
	// HalfBody: the answer is cut short in the middle.
	HalfBody Unavailability = "half"
	// Unauthorized: 401, as a proxy in front gives.
	Unauthorized Unavailability = "401"
	// Conflict: 409, for PUTs: what Flink says to one of two at once.
	Conflict Unavailability = "409"
)

// Unavailabilities are all ways.
func Unavailabilities() []Unavailability {
	return []Unavailability{NoLeader, Recovering, Hanging, HTML, Redirect, Reset, HalfBody, Unauthorized, Conflict}
}

// SetUnavailable makes every path of Flink's answer like that, until it is set
// to Available. It panics on a way that it does not know.
func (c *Cluster) SetUnavailable(mode Unavailability) {
	if err := c.setUnavailable(mode); err != nil {
		panic(err)
	}
}

func (c *Cluster) setUnavailable(mode Unavailability) error {
	if mode != Available && !slices.Contains(Unavailabilities(), mode) {
		return fmt.Errorf("flinksim: unknown way to be unavailable %q, known are %v", mode, Unavailabilities())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = mode
	if !c.closed {
		close(c.modeOver)
		c.modeOver = make(chan struct{})
	}
	return nil
}

// unavailable answers in the way that is set; it is false if none is.
func (c *Cluster) unavailable(w http.ResponseWriter, r *http.Request) bool {
	c.mu.Lock()
	mode, over := c.mode, c.modeOver
	c.mu.Unlock()
	if mode == Available {
		return false
	}
	c.breakOff(w, r, mode, over)
	return true
}

// breakOff answers in a way; over is closed when that way ends.
func (c *Cluster) breakOff(w http.ResponseWriter, r *http.Request, mode Unavailability, over <-chan struct{}) {
	switch mode {
	case NoLeader:
		write(w, errorReply(http.StatusServiceUnavailable, "Service temporarily unavailable due to an ongoing leader election. Please refresh."))
	case Recovering:
		write(w, internal("org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException", "Could not send message to the leader: it is not reachable."))
	case Conflict:
		write(w, refuse(http.StatusConflict, "Another update to the job [%s] resource requirements is in progress."))
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n")
	case Redirect:
		http.Redirect(w, r, "/login", http.StatusFound)
	case Unauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="flink"`)
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
	case Hanging:
		select {
		case <-r.Context().Done():
		case <-over:
		}
		abort(w, false)
	case HalfBody:
		halve(w)
	default:
		abort(w, true)
	}
}

// halve promises a longer body than it sends.
func halve(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", "100000")
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, `{"jobs":[{"jid":"8c65c979`)
	if f, isFlusher := w.(http.Flusher); isFlusher {
		f.Flush()
	}
	abort(w, false)
}

// abort ends the connection without an answer; hard means with a reset.
func abort(w http.ResponseWriter, hard bool) {
	h, isHijacker := w.(http.Hijacker)
	if !isHijacker {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, isTCP := conn.(*net.TCPConn); isTCP && hard {
		_ = tcp.SetLinger(0)
	}
	_ = conn.SetDeadline(time.Now())
	_ = conn.Close()
}
