package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // policies name time zones; an image need not have them
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second one ends the
	// process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
