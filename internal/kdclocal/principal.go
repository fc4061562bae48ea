package kdclocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Principal makes a principal with random keys unless it is there, and returns its full name.
func (k *KDC) Principal(ctx context.Context, name string) (string, error) {
	full := k.full(name)
	output, err := k.kadmin(ctx, "add_principal -randkey "+full)
	if err != nil && !strings.Contains(output, "already exists") {
		return "", err
	}
	return full, nil
}

// Keytab makes the principals that are not there and writes the present keys of all to a file, in place of what that
// held. A program sees the old file or the new one, never half of it.
func (k *KDC) Keytab(ctx context.Context, file string, principals ...string) error {
	if len(principals) == 0 {
		return errors.New("write a keytab: no principal given")
	}
	unfinished := file + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	for _, name := range principals {
		full, err := k.Principal(ctx, name)
		if err != nil {
			return err
		}
		if _, err := k.kadmin(ctx, fmt.Sprintf("ktadd -norandkey -k %s %s", unfinished, full)); err != nil {
			return err
		}
	}
	return os.Rename(unfinished, file)
}

// Rotate gives a principal new keys: keytabs that were written before it do not fit any more.
func (k *KDC) Rotate(ctx context.Context, name string) error {
	_, err := k.kadmin(ctx, "change_password -randkey "+k.full(name))
	return err
}

// Limit makes a principal's tickets live shorter than the KDC's own limits, in whole seconds. A ticket cannot be renewed
// when renewable is zero.
func (k *KDC) Limit(ctx context.Context, name string, life, renewable time.Duration) error {
	_, err := k.kadmin(ctx, fmt.Sprintf(`modify_principal -maxlife "%d seconds" -maxrenewlife "%d seconds" %s`,
		int64(life/time.Second), int64(renewable/time.Second), k.full(name)))
	return err
}

// Forget deletes a principal.
func (k *KDC) Forget(ctx context.Context, name string) error {
	_, err := k.kadmin(ctx, "delete_principal -force "+k.full(name))
	return err
}

// kadmin runs one command of kadmin.local. Its exit code says little, so its output is looked at, too.
func (k *KDC) kadmin(ctx context.Context, query string) (string, error) {
	output, err := k.output(ctx, "kadmin.local", "-r", k.options.Realm, "-q", query)
	if err != nil {
		return output, err
	}
	for line := range strings.Lines(output) {
		if strings.Contains(line, " while ") || strings.Contains(line, "kadmin.local: ") {
			return output, fmt.Errorf("kadmin.local %s: %s", query, strings.TrimSpace(line))
		}
	}
	return output, nil
}

func (k *KDC) run(ctx context.Context, tool string, args ...string) error {
	_, err := k.output(ctx, tool, args...)
	return err
}

// output runs one of MIT's tools. The error does not show its arguments: the database's password may be among them.
func (k *KDC) output(ctx context.Context, tool string, args ...string) (string, error) {
	program, err := k.tools.Program(tool)
	if err != nil {
		return "", err
	}
	k.admin.Lock()
	defer k.admin.Unlock()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = k.layout.dir, append(os.Environ(), k.environment()...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("run %s: %w: %s", filepath.Base(tool), err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}
