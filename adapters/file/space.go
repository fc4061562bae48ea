package file

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"flinkscaler/core"
)

// Space reads how much can still be written in a directory, or where that is not
// there yet in the nearest one above.
func (s Savepoints) Space(ctx context.Context, directory string) (core.Space, error) {
	const op = "read free space"
	dir, err := local(directory)
	if err != nil {
		return core.Space{}, failed(op, directory, err)
	}
	disk, err := bounded(ctx, func() (syscall.Statfs_t, error) { return statfs(dir) })
	if err != nil {
		return core.Space{}, failed(op, directory, err)
	}
	out := core.Space{Free: core.Read(float64(disk.Bavail) * float64(disk.Bsize)), Bound: "what its file system has left", Copies: 1}
	if disk.Files > 0 { // file systems without a limit say 0
		out.Names = core.Read(float64(disk.Ffree))
	}
	return out, nil
}

func statfs(dir string) (out syscall.Statfs_t, err error) {
	for ; ; dir = filepath.Dir(dir) {
		err = syscall.Statfs(dir, &out)
		if !errors.Is(err, fs.ErrNotExist) || dir == "/" {
			return out, err
		}
	}
}
