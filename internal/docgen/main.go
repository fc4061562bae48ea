// Command docgen writes the references in docs/reference from the code:
//
//	go run ./internal/docgen          write them
//	go run ./internal/docgen -check   say which are not in step, and end with 1
//
// It is run in the root of the checkout.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"flinkscaler/internal/docgen/reference"
)

func main() {
	check := flag.Bool("check", false, "write nothing, only compare")
	flag.Parse()
	if err := run(context.Background(), ".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// run makes every page and writes or compares it.
func run(ctx context.Context, root string, check bool) error {
	pages, err := reference.Pages(root)
	if err != nil {
		return err
	}
	if pages[reference.CommandsPage], err = commands(ctx, root); err != nil {
		return err
	}
	return settle(root, pages, check)
}

// settle writes the pages that are not in step, or with check reports them.
func settle(root string, pages map[string]string, check bool) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		file := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, err)
		case bytes.Equal(old, []byte(pages[name])):
		case check:
			problems = append(problems, fmt.Errorf("%s is not in step with the code; run: make generate", name))
		default:
			problems = append(problems, write(file, pages[name]))
		}
	}
	return errors.Join(problems...)
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // documents are for all to read
		return err
	}
	fmt.Println("writing", file)
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // documents are for all to read
}
