package claim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Directory keeps payloads as files, in folders of the first two letters of their
// names. A file's time is when it expires. Producers and consumers on several
// machines share it over a network file system.
type Directory struct {
	root *os.Root
	base string
	// Now is the clock.
	Now func() time.Time
}

// OpenDirectory opens a folder that exists. base is what references begin with;
// empty means "claim:". It is the same for all who share the folder, wherever
// they have mounted it.
func OpenDirectory(folder, base string) (*Directory, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of payloads: %w", err)
	}
	if base == "" {
		base = "claim:"
	}
	return &Directory{root: root, base: base, Now: time.Now}, nil
}

// Close gives the folder back.
func (d *Directory) Close() error { return d.root.Close() }

// Base is Store's.
func (d *Directory) Base() string { return d.base }

func path(name string) string { return name[:2] + "/" + name }

var errName = errors.New("a name is 26 letters of a-z and digits 2-7")

// Put is Store's. A reader sees the whole payload or none.
func (d *Directory) Put(_ context.Context, name string, payload []byte, expires time.Time) (err error) {
	if !isName(name) {
		return fmt.Errorf("keep the payload %.40q: %w", name, errName)
	}
	if err := d.root.MkdirAll(name[:2], 0o750); err != nil {
		return fmt.Errorf("make a folder for payloads: %w", err)
	}
	part := path(name) + ".part"
	defer func() {
		if err != nil {
			_ = d.root.Remove(part)
		}
	}()
	f, err := d.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	_, err = f.Write(payload)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	if err := d.root.Chtimes(part, expires, expires); err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	if err := d.root.Rename(part, path(name)); err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	return d.sync(name[:2])
}

// sync makes a new name in a folder durable.
func (d *Directory) sync(folder string) error {
	f, err := d.root.Open(folder)
	if err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep a payload: %w", err)
	}
	return nil
}

// Open is Store's. A payload that has expired is missing, removed or not.
func (d *Directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if !isName(name) {
		return nil, fmt.Errorf("open the payload %.40q: %w", name, errName)
	}
	f, err := d.root.Open(path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("open a payload: %w", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(d.Now()) {
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("open a payload: %w", err)
		}
		return nil, ErrMissing
	}
	return f, nil
}

// Expire removes the payloads that have expired, and tells how many. What is not
// a payload of this store is left alone. It goes on after a file that cannot be
// removed, and answers with the errors of all.
func (d *Directory) Expire(ctx context.Context) (n int, err error) {
	var failed []error
	now := d.Now()
	err = fs.WalkDir(d.root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || entry.IsDir() || !isPayload(file) {
			return nil //nolint:nilerr // another may have removed it meanwhile
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // as above
		}
		// A payload that was being written when its writer died has no expiry yet.
		if at := info.ModTime(); at.After(now) || isPart(file) && at.After(now.Add(-24*time.Hour)) {
			return nil
		}
		switch err := d.root.Remove(file); {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, err)
		}
		return nil
	})
	if err := errors.Join(append(failed, err)...); err != nil {
		return n, fmt.Errorf("remove payloads that have expired: %w", err)
	}
	return n, nil
}

// isPart tells whether a file is a payload that was never finished.
func isPart(file string) bool { return len(file) == 3+26+len(".part") && file[29:] == ".part" }

// isPayload tells whether a file is a payload, finished or not.
func isPayload(file string) bool {
	if isPart(file) {
		file = file[:29]
	}
	return len(file) == 29 && isName(file[3:]) && file[:3] == file[3:5]+"/"
}
