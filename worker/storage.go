package main

import (
	"context"
	"strings"

	"flinkscaler/activities"
	"flinkscaler/adapters/file"
	"flinkscaler/adapters/hdfs"
	"flinkscaler/core"
	"flinkscaler/internal/config"
)

var (
	_ activities.Savepoints = file.Savepoints{}
	_ activities.Savepoints = (*hdfs.Storage)(nil)
	_ activities.Savepoints = storages{}
)

// storages are where savepoints of one cluster can be, told apart by the scheme of
// their URLs.
type storages struct {
	hdfs  *hdfs.Storage // nil for none
	local file.Savepoints
}

// openStorages asks nobody anything.
func openStorages(c config.Cluster) (storages, error) {
	if c.HDFS == nil {
		return storages{}, nil
	}
	h, err := hdfs.New(*c.HDFS)
	return storages{hdfs: h}, err
}

// of gives the storage of a place. The local one refuses what is of no storage here.
func (s storages) of(place string) activities.Savepoints {
	if s.hdfs != nil && strings.HasPrefix(place, hdfs.Scheme+":") {
		return s.hdfs
	}
	return s.local
}

// List gives the complete savepoints in a directory.
func (s storages) List(ctx context.Context, directory string) ([]core.Savepoint, error) {
	return s.of(directory).List(ctx, directory)
}

// Check reads one savepoint.
func (s storages) Check(ctx context.Context, savepoint string) (core.Savepoint, error) {
	return s.of(savepoint).Check(ctx, savepoint)
}
