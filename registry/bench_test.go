package registry_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
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
			b.ReportMetric(1e6/mine, "µs/registration")
			b.ReportMetric(1e6/rate, "µs/sync")
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
// version beside its text. Beside it stands reading the rows and putting the texts
// into a map, which nothing that answers from memory can do without.
func BenchmarkOpen(b *testing.B) {
	const versions, subjects = 100_000, 8_000
	snapped := sync.OnceValues(func() (string, int64) { // which takes longer than all else
		path := filepath.Join(b.TempDir(), "c.db")
		return path, fill(b, path, versions, subjects, 0)
	})
	for _, snapshot := range []bool{true, false} {
		b.Run(fmt.Sprint("snapshot=", snapshot), func(b *testing.B) {
			var path string
			var bytesOfText int64
			every := 0
			if snapshot {
				path, bytesOfText = snapped()
			} else {
				path, every = filepath.Join(b.TempDir(), "c.db"), -1
				bytesOfText = fill(b, path, versions, subjects, every)
			}
			var r *registry.Registry
			var before, after runtime.MemStats
			var spent time.Duration
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
				start := costtest.Spent()
				j, err := sqlite.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if r, err = registry.Open(b.Context(), j, registry.Options{Formats: fakeFormats, Snapshot: every}); err != nil {
					b.Fatal(err)
				}
				spent += costtest.Spent() - start
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "cpu-ns/op")
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapAlloc-before.HeapAlloc)-bytesOfText)/versions, "B/version")
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("scan", func(b *testing.B) {
		path, _ := snapped()
		db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		defer costtest.Processor(b)()
		for b.Loop() {
			rows, err := db.QueryContext(b.Context(), "SELECT e.revision, e.time, e.actor, e.request, e.kind, e.body, t.hash, t.text FROM events e LEFT JOIN texts t ON t.hash = e.text ORDER BY e.revision")
			if err != nil {
				b.Fatal(err)
			}
			texts := map[string]string{}
			var revision, at int64
			var actor, request, kind, body, hash sql.RawBytes
			var text sql.NullString
			for rows.Next() {
				if err := rows.Scan(&revision, &at, &actor, &request, &kind, &body, &hash, &text); err != nil {
					b.Fatal(err)
				}
				if text.Valid {
					texts[string(hash)] = text.String
				}
			}
			if err := rows.Close(); err != nil || rows.Err() != nil || len(texts) != versions { //nolint:sqlclosecheck // each scan closes its own
				b.Fatal(len(texts), err, rows.Err())
			}
		}
	})
}

// BenchmarkSharedText has 8,000 subjects on one schema of 80 kB: what they add to
// the live heap, in all. Other registries keep a copy for each subject.
func BenchmarkSharedText(b *testing.B) {
	const subjects = 8_000
	fields := strings.Builder{}
	for i := range 800 {
		fmt.Fprintf(&fields, " field_%d_%s?", i, strings.Repeat("x", 88))
	}
	r := open(b)
	var before, after runtime.MemStats
	register := func(n int) {
		if _, err := r.Register(b.Context(), inSubject(fmt.Sprintf("topic-%05d-value", n), "Shared"+fields.String())); err != nil {
			b.Fatal(err)
		}
	}
	register(0)
	live := func(m *runtime.MemStats) {
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(m)
	}
	live(&before)
	n := 1
	for b.Loop() { // the first time does it all
		for ; n < subjects; n++ {
			register(n)
		}
	}
	live(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc-before.HeapAlloc))/(1<<20), "MB")
	runtime.KeepAlive(r)
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
