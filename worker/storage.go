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
	_ activities.Checkpoints = (*hdfs.Storage)(nil)

	_ storage = file.Savepoints{}
	_ storage = (*hdfs.Storage)(nil)
	_ storage = storages{}
)

// storage is all that is done with savepoints.
type storage interface {
	activities.Savepoints
	activities.Spaces
	activities.Pruner
}

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
func (s storages) of(place string) storage {
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

// Space reads how much can still be written in a directory.
func (s storages) Space(ctx context.Context, directory string) (core.Space, error) {
	return s.of(directory).Space(ctx, directory)
}

// Stops gives the directories directly below a folder.
func (s storages) Stops(ctx context.Context, folder string) ([]core.StopDirectory, error) {
	return s.of(folder).Stops(ctx, folder)
}

// Remove deletes one of them.
func (s storages) Remove(ctx context.Context, folder, directory string) error {
	return s.of(folder).Remove(ctx, folder, directory)
}

// give lets a cluster be asked for its checkpoints and savepoints.
func (s storages) give(c *activities.Cluster, keep int) {
	if s.hdfs != nil {
		c.Checkpoints = s.hdfs
	}
	if c.Redeployer != nil {
		c.Savepoints, c.Spaces, c.Pruner, c.KeepSavepoints = s, s, s, keep
	}
}

// Exists looks for a file that a submission needs. One of a storage that this worker
// does not read is taken to be there.
func (s storages) Exists(ctx context.Context, place string) error {
	if s.hdfs == nil || !strings.HasPrefix(place, hdfs.Scheme+":") {
		return nil
	}
	return s.hdfs.Exists(ctx, place)
}

// Unstage removes a folder that a submission has staged.
func (s storages) Unstage(ctx context.Context, folder string) error {
	if s.hdfs == nil || !strings.HasPrefix(folder, hdfs.Scheme+":") {
		return nil
	}
	return s.hdfs.Unstage(ctx, folder)
}
