package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// version is set by the linker; without it the build's own information is shown.
var version string //nolint:gochecknoglobals // the linker needs a variable

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, realApp(), os.Args[1:])
	stop()
	os.Exit(code)
}

// run carries out one command line and gives its exit code.
func run(ctx context.Context, a *app, args []string) int {
	a.args = args
	cmd := newRoot(a)
	cmd.SetArgs(args)
	cmd.SetIn(a.in)
	cmd.SetOut(a.out)
	cmd.SetErr(a.err)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	f := asFailure(ctx, err)
	fmt.Fprint(a.err, f.text())
	return f.code
}

// realApp is the app on this machine's terminal.
func realApp() *app {
	out := int(os.Stdout.Fd()) //nolint:gosec // a file descriptor fits an int
	return &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		now:   time.Now,
		newID: func() string { return "cli-" + strings.ToLower(rand.Text())[:16] },
		env:   os.Environ(),
		user:  userName,
		dial:  dial,
		size: func() (int, int) {
			w, h, err := term.GetSize(out)
			if err != nil {
				return 0, 0
			}
			return w, h
		},
		outTerminal: term.IsTerminal(out),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())), //nolint:gosec // a file descriptor fits an int
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),  //nolint:gosec // a file descriptor fits an int
	}
}

// userName is who runs this, for the field "by" of orders.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return os.Getenv("USER")
}
