package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // policies name time zones; an image need not have them
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		s := <-signals
		fmt.Fprintf(os.Stderr, "%s: ended at once by a second signal (%v)\n", name, s)
		os.Exit(exitFailed)
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
