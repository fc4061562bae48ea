package child

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestWaitForSaysWhatItSawLast(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	err := WaitFor(ctx, "the moon", func(context.Context) (string, bool, error) {
		looks++
		if looks == 2 { // what is seen with an ended context is not worth telling
			cancel()
			return "nothing to see", false, nil
		}
		return "a cloud", false, nil
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for the moon") || !strings.HasSuffix(err.Error(), "last seen: a cloud") {
		t.Errorf("error %v", err)
	}
}

func TestWaitForEndsAtOnce(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	cases := map[string]struct {
		reason string
		done   bool
		err    error
	}{
		"done":   {"the first look may be enough", true, nil},
		"failed": {"a look that fails ends the wait", false, broken},
	}
	for name, tc := range cases {
		looks := 0
		err := WaitFor(t.Context(), "x", func(context.Context) (string, bool, error) {
			looks++
			return "", tc.done, tc.err
		})
		if looks != 1 || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d looks, %v; %s", name, looks, err, tc.reason)
		}
	}
}
