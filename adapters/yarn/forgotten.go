package yarn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"flinkscaler/core"
)

// gave is true for the ResourceManager that gave an application its id, and was not
// started anew since: the id begins with when it was started.
func (i clusterInfo) gave(application string) bool {
	return i.ID > 0 && strings.HasPrefix(application, "application_"+strconv.FormatInt(i.ID, 10)+"_")
}

// forgot is an error where the ResourceManager was started without the applications of
// the one before. Containers are killed for that by each NodeManager, but only once it
// has met the new one; so what is not listed may run all the same. The sign of it is the
// application that the submission replaces: it is unknown now. One that is merely no
// longer kept among those that have ended is none.
func (x *submission) forgot(ctx context.Context) error {
	if x.m.stopped == "" {
		return nil
	}
	if _, err := x.c.application(ctx, x.m.stopped); !errors.Is(err, core.ErrNotFound) {
		return err
	}
	info, err := x.c.info(ctx)
	if err != nil || info.gave(x.m.stopped) {
		return err
	}
	return &core.OpError{
		Op: "submit job", Subject: x.s.Name,
		Hint: "look on the nodes whether containers of the job run, then start it by hand from the savepoint, under its name: it is found then; yarn.resourcemanager.recovery.enabled prevents this",
		Err: fmt.Errorf("%w: the ResourceManager does not know %s any more, in which the job ran before: it was restarted without its applications, and an earlier submission may run without being listed",
			core.ErrUnreachable, x.m.stopped),
	}
}

// unknown is the room of an application that the ResourceManager has forgotten: its Flink
// may answer for a while, but gets no container any more.
func unknown(id string) core.Room {
	return core.Room{Short: true, Note: fmt.Sprintf("the ResourceManager does not know %s any more: it was restarted without its applications (yarn.resourcemanager.recovery.enabled), and gives it no containers", id)}
}
