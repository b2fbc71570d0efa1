package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

// syncRate tells how often a second a file can be appended to by 4 KiB and
// flushed: the limit of the disk under every durable journal.
func syncRate(b *testing.B, dir string) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4<<10)
	began, n := time.Now(), 0
	for ; time.Since(began) < 500*time.Millisecond; n++ {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := dataSync(f); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(began).Seconds()
}

// tenFields is a schema of 950 bytes that no other call with another n has.
func tenFields(n int64) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Record%d", n)
	for i := range 10 {
		fmt.Fprintf(&out, " field_%d_%s?", i, strings.Repeat("x", 75))
	}
	return out.String()
}

// BenchmarkRegister registers new schemas durably, in subjects of their own,
// and tells the rate beside that of the disk.
func BenchmarkRegister(b *testing.B) {
	for _, clients := range []int{1, 16, 128} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			dir := b.TempDir()
			j, err := sqlite.Open(filepath.Join(dir, "c.db"))
			if err != nil {
				b.Fatal(err)
			}
			r := openOn(b, j)
			rate := syncRate(b, dir)
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			began := time.Now()
			var left atomic.Int64
			left.Store(int64(b.N))
			together(clients, func(int) {
				for left.Add(-1) >= 0 {
					n := next.Add(1)
					if _, err := r.Register(context.Background(), inSubject(fmt.Sprint("s", n%1000), tenFields(n))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			mine := float64(b.N) / time.Since(began).Seconds()
			b.StopTimer()
			rate = (rate + syncRate(b, dir)) / 2 // a disk that others use is never the same
			b.ReportMetric(mine, "registrations/s")
			b.ReportMetric(rate, "syncs/s")
			b.ReportMetric(mine/rate, "registrations/sync")
		})
	}
}

// BenchmarkRegisterKnown is what every producer does at its start.
func BenchmarkRegisterKnown(b *testing.B) {
	r := open(b)
	q := inSubject("s", tenFields(1))
	if _, err := r.Register(b.Context(), q); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Register(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkByID(b *testing.B) {
	r := open(b)
	for n := range int64(1000) {
		if _, err := r.Register(b.Context(), inSubject(fmt.Sprint("s", n), tenFields(n))); err != nil {
			b.Fatal(err)
		}
	}
	subject := schemas.Subject{Context: schemas.DefaultContext, Name: "s7"}
	for _, c := range []struct {
		name    string
		subject *schemas.Subject
	}{{"bare", nil}, {"subject", &subject}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.ByID(b.Context(), 8, c.subject); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens a registry of 100,000 versions in 8,000 subjects: with
// its snapshot, and with its events alone. It tells the live heap for each
// version beside its text.
func BenchmarkOpen(b *testing.B) {
	const versions, subjects = 100_000, 8_000
	for _, snapshot := range []bool{true, false} {
		b.Run(fmt.Sprint("snapshot=", snapshot), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "c.db")
			every := -1
			if snapshot {
				every = 0
			}
			bytesOfText := fill(b, path, versions, subjects, every)
			var r *registry.Registry
			var before, after runtime.MemStats
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				if r != nil {
					if err := r.Close(); err != nil {
						b.Fatal(err)
					}
					r = nil
				}
				runtime.GC()
				runtime.ReadMemStats(&before)
				b.StartTimer()
				j, err := sqlite.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if r, err = registry.Open(b.Context(), j, registry.Options{Formats: fakeFormats, Snapshot: every}); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapAlloc-before.HeapAlloc)-bytesOfText)/versions, "B/version")
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkAsOf looks at the past of 100,000 versions: for the first time, and at
// other moments then.
func BenchmarkAsOf(b *testing.B) {
	const versions = 100_000
	path := filepath.Join(b.TempDir(), "c.db")
	fill(b, path, versions, 8_000, 0)
	for _, first := range []bool{true, false} {
		b.Run(fmt.Sprint("first=", first), func(b *testing.B) {
			var r *registry.Registry
			open := func() {
				b.StopTimer()
				if r != nil {
					if err := r.Close(); err != nil {
						b.Fatal(err)
					}
				}
				j, err := sqlite.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if r, err = registry.Open(b.Context(), j, registry.Options{Formats: fakeFormats}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			look := func(at registry.Revision) {
				if _, err := r.AsOf(b.Context(), registry.Moment{Revision: at}); err != nil {
					b.Fatal(err)
				}
			}
			open()
			look(versions)
			n := registry.Revision(0)
			for b.Loop() {
				if first {
					open()
				}
				n++
				look(versions - 1000*n%versions)
			}
			b.StopTimer()
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func fill(b *testing.B, path string, versions, subjects, every int) (bytesOfText int64) {
	b.Helper()
	j, err := sqlite.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	r, err := registry.Open(b.Context(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers, Snapshot: every})
	if err != nil {
		b.Fatal(err)
	}
	var next, size atomic.Int64
	together(256, func(int) {
		for {
			n := next.Add(1)
			if n > int64(versions) {
				return
			}
			q := inSubject(fmt.Sprintf("team.service.topic-%05d-value", n%int64(subjects)), tenFields(n))
			q.Force = true
			size.Add(int64(len(q.Source.Text)))
			if _, err := r.Register(context.Background(), q); err != nil {
				b.Error(err)
				return
			}
		}
	})
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	return size.Load()
}
