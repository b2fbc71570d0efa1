package registry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// cramped is a journal on a disk whose room is told, and that may be full.
type cramped struct {
	registry.Journal
	appends  atomic.Int64
	reclaims atomic.Int64
	most     atomic.Int64 // bytes of the largest text that was written
	full     atomic.Bool
	room     atomic.Uint64
}

func (c *cramped) Append(ctx context.Context, after registry.Revision, b registry.Batch) (registry.Revision, error) {
	c.appends.Add(1)
	for _, t := range b.Texts {
		c.most.Store(max(c.most.Load(), int64(len(t.Text))))
	}
	if c.full.Load() {
		return 0, errors.New("no space left")
	}
	return c.Journal.Append(ctx, after, b)
}

func (c *cramped) Room() (uint64, bool) { return c.room.Load(), true }

func (c *cramped) Reclaim(context.Context) error {
	c.reclaims.Add(1)
	return nil
}

// A full disk is found out though nobody writes, and not by a write for each who
// asks.
func TestReadyFindsAFullDiskByItself(t *testing.T) {
	t.Parallel()
	j := &cramped{Journal: newShared()}
	j.room.Store(1 << 30)
	var clock atomic.Int64
	clock.Store(1_890_000_000_000)
	r := openOn(t, j, func(o *registry.Options) { o.Now = func() time.Time { return time.UnixMilli(clock.Load()) } })
	later := func(d time.Duration) { clock.Add(d.Milliseconds()) }
	asks := func(what string, ready bool, appends int64) {
		t.Helper()
		before := j.appends.Load()
		if err := r.Ready(t.Context()); (err == nil) != ready || j.appends.Load()-before != appends {
			t.Errorf("%s: %v after %d writes, want ready %t after %d", what, err, j.appends.Load()-before, ready, appends)
		}
	}
	asks("after the start", true, 2) // it writes, and takes it away again
	asks("at once", true, 0)
	later(29 * time.Second)
	asks("after 29 seconds", true, 0)
	later(time.Second)
	asks("after 30 seconds", true, 2)
	later(20 * time.Second)
	play(t, r, `register s "A x" => id 1 v1 new`)
	later(20 * time.Second)
	asks("20 seconds after a registration", true, 0)
	if most, n := j.most.Load(), j.reclaims.Load(); most > 100 || n > 0 {
		t.Errorf("where there is room %d bytes were written, and %d times some were reclaimed", most, n)
	}

	j.room.Store(1 << 10)
	asks("with little room", true, 2)
	asks("at once", true, 0)
	later(time.Second)
	asks("a second later", true, 2)
	if most := j.most.Load(); most < 64<<10 {
		t.Errorf("where there is little room no more than %d bytes were tried", most)
	}
	j.full.Store(true)
	asks("at once", true, 0)
	later(time.Second)
	asks("on a full disk", false, 1)
	asks("again", false, 1)
	j.full.Store(false)
	j.room.Store(1 << 30)
	asks("with room again", true, 2)
	asks("at once", true, 0)

	// The room is known to nobody: the time alone finds it out.
	j.full.Store(true)
	later(30 * time.Second)
	asks("a disk that fills up behind our back", false, 1)
	j.full.Store(false)
	asks("with room again", true, 2)

	// Many who ask at once make it write once.
	later(30 * time.Second)
	before := j.appends.Load()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := r.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := j.appends.Load() - before; n != 2 {
		t.Errorf("50 who asked at once made %d writes, want 2", n)
	}
	// A clock that was set back proves nothing.
	later(-time.Hour)
	asks("an hour ago", true, 2)
}

// scarce is a file on a disk that says it has little room.
type scarce struct{ *sqlite.Journal }

func (scarce) Room() (uint64, bool) { return 100 << 10, true }

// Who asks each second whether a disk with little room takes writes does not fill
// it by that.
func TestReadyTakesNoRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64
	clock.Store(1_890_000_000_000)
	r := openOn(t, scarce{j}, func(o *registry.Options) { o.Now = func() time.Time { return time.UnixMilli(clock.Load()) } })
	play(t, r, `register s "A x" => id 1 v1 new`)
	ask := func(times int) (size int64) {
		t.Helper()
		for range times {
			clock.Add(time.Second.Milliseconds())
			if err := r.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		return size
	}
	if before, after := ask(3), ask(30); after > before {
		t.Errorf("%d bytes became %d", before, after)
	}
}
