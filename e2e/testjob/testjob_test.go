package testjob_test

import (
	"io/fs"
	"regexp"
	"testing"

	"flinkscaler/e2e/testjob"
)

func TestSourcesHoldTheMainClass(t *testing.T) {
	t.Parallel()
	sources, err := testjob.Sources()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(sources, "flinkscaler/testjob/TestJob.java"); err != nil {
		t.Error(err)
	}
}

func TestHashIsShortAndStable(t *testing.T) {
	t.Parallel()
	first, err := testjob.Hash()
	if err != nil {
		t.Fatal(err)
	}
	second, err := testjob.Hash()
	if err != nil {
		t.Fatal(err)
	}
	if first != second || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(first) {
		t.Errorf("Hash() = %q, then %q; want the same 12 hex digits", first, second)
	}
}
