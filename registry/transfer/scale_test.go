package transfer_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/registry/transfer"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// The goals of 100,000 versions in 8,000 subjects. Smaller runs are held to what
// does not depend on the size.
const (
	scaleFull   = 100_000
	scaleShort  = 2_000
	scaleRacing = 200
	mostImport  = 60 * time.Second
	mostStart   = 3.0 // times a plain scan of the file
	mostMemory  = 300 // bytes a version beside one copy of each text
	mostPage    = 10 * time.Millisecond
	perSubject  = 12.5
)

// scaled is a registry of n versions: texts of about a kilobyte, every ninth with
// a reference, every eleventh deleted.
func scaled(n int) (g transfer.Gathered, bytesOfText int) {
	subjects := max(1, int(float64(n)/perSubject))
	g.Marked, g.Whole = true, true
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		s := schemas.Subject{Context: schemas.DefaultContext, Name: fmt.Sprintf("team.service.topic-%05d-value", i%subjects)}
		var text strings.Builder
		fmt.Fprintf(&text, `{"type":"record","name":"Record%d","namespace":"com.acme","fields":[`, i)
		for f := range 10 {
			fmt.Fprintf(&text, `{"name":"field_%d_%s","type":"long"},`, f, strings.Repeat("x", 60))
		}
		source := schemas.Source{Type: schemas.Avro}
		if i%9 == 8 {
			fmt.Fprintf(&text, `{"name":"other","type":"com.acme.Record%d"}]}`, i-1)
			source.References = []schemas.Reference{{
				Name: fmt.Sprintf("com.acme.Record%d", i-1), Subject: fmt.Sprintf("team.service.topic-%05d-value", (i-1)%subjects), Version: schemas.Version((i-1)/subjects + 1),
			}}
		} else {
			text.WriteString(`{"name":"last","type":"string"}]}`)
		}
		source.Text = text.String()
		bytesOfText += len(source.Text)
		g.Versions = append(g.Versions, registry.Held{Found: schemas.Found{
			Subject: s, Version: schemas.Version(i/subjects + 1), ID: schemas.ID{Context: schemas.DefaultContext, Number: int32(i + 1)},
			Source: source, Deleted: i%11 == 10, Time: start.Add(time.Duration(i) * time.Second),
		}})
	}
	return g, bytesOfText
}

// scan reads every byte of the rows of a database, and keeps nothing.
func scan(tb testing.TB, path string) time.Duration {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	began := time.Now()
	rows, err := db.QueryContext(tb.Context(), "SELECT e.revision, e.time, e.actor, e.request, e.kind, e.body, e.text, t.text FROM events e LEFT JOIN texts t ON t.hash = e.text ORDER BY e.revision")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(sql.RawBytes)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			tb.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return time.Since(began)
}

// costOfCopies is what one copy of each text takes on the heap.
func costOfCopies(g transfer.Gathered) float64 {
	list := make([]string, len(g.Versions))
	before := heap()
	for i := range g.Versions {
		list[i] = strings.Clone(g.Versions[i].Source.Text)
	}
	after := heap()
	runtime.KeepAlive(list)
	runtime.KeepAlive(g.Versions)
	return float64(after) - float64(before)
}

// heap is what is in use when nothing is left to be swept.
func heap() uint64 {
	var m runtime.MemStats
	last := uint64(0)
	for range 10 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if last != 0 && m.HeapAlloc+1<<16 > last {
			break
		}
		last = m.HeapAlloc
	}
	return m.HeapAlloc
}

// It is not parallel: it measures.
func TestScale(t *testing.T) {
	n := scaleShort
	if racing {
		n = scaleRacing
	}
	if text := os.Getenv("CARTORIO_SCALE"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 100 {
			t.Fatalf("CARTORIO_SCALE=%q is no number from 100", text)
		}
	}
	dir := t.TempDir()
	packed, path := filepath.Join(dir, "r.tar.gz"), filepath.Join(dir, "c.db")
	g, bytesOfText := scaled(n)
	out, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := transfer.ToArchive(t.Context(), out, g); err != nil {
		t.Fatal(err)
	}
	info, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("export of %d versions (%d MB of text): %v, %d MB", n, bytesOfText>>20, time.Since(began).Round(time.Millisecond), info.Size()>>20)

	began = time.Now()
	fillFromArchive(t, packed, path)
	took := time.Since(began)
	t.Logf("import: %v, %.0f versions/s", took.Round(time.Millisecond), float64(n)/took.Seconds())
	if took > mostImport {
		t.Errorf("the import took %v, more than %v", took, mostImport)
	}

	plain := min(scan(t, path), scan(t, path))
	copies := costOfCopies(g)
	g.Versions = nil // its texts are not to be counted
	before := heap()
	began = time.Now()
	r := openAt(t, path)
	start := time.Since(began)
	after := heap()
	t.Logf("start: %v, a plain scan: %v, %.2f times it", start.Round(time.Millisecond), plain.Round(time.Millisecond), start.Seconds()/plain.Seconds())
	perVersion := (float64(after) - float64(before) - copies) / float64(n)
	t.Logf("memory: %.0f bytes a version beside its text", perVersion)
	if n >= scaleFull && start.Seconds() > mostStart*plain.Seconds() {
		t.Errorf("the start took %v, more than %.0f times a plain scan (%v)", start, mostStart, plain)
	}
	if n >= scaleFull && perVersion > mostMemory {
		t.Errorf("a version takes %.0f bytes beside its text, more than %d", perVersion, mostMemory)
	}
	pages(t, r, n)
}

func fillFromArchive(t *testing.T, packed, path string) {
	t.Helper()
	in, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	g, err := transfer.FromArchive(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), j, registry.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	g.Versions = transfer.InOrder(g.Versions)
	if refused, err := r.Restore(t.Context(), g.Holdings, registry.RestoreOptions{}); err != nil {
		t.Fatalf("%v, refused %v", err, refused)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// pages asks for pages of 100 of every list, from its start to its end.
func pages(t *testing.T, r *registry.Registry, n int) {
	t.Helper()
	server := api.New(r, api.Options{})
	ask := func(path string) {
		t.Helper()
		best := time.Hour // of a few: others use the machine too
		for range 5 {
			w := httptest.NewRecorder()
			q := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
			began := time.Now()
			server.ServeHTTP(w, q)
			took := time.Since(began)
			if w.Code != http.StatusOK || w.Body.Len() < 10 {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
			best = min(best, took)
		}
		t.Logf("%s: %v", path, best)
		// A small run on a busy machine tells only what is far off.
		if most := mostPage; best > most && n >= scaleFull || best > 20*most && !racing {
			t.Errorf("%s took %v, more than %v", path, best, most)
		}
	}
	subjects := int(float64(n) / perSubject)
	for _, at := range []float64{0, 0.5, 0.999} {
		live := float64(n) * 10 / 11
		ask(fmt.Sprintf("/schemas?limit=100&offset=%d", int(at*live)-int(at)))
		ask(fmt.Sprintf("/schemas?deleted=true&limit=100&offset=%d", int(at*float64(n))))
		ask(fmt.Sprintf("/schemas?latestOnly=true&limit=100&offset=%d", int(at*float64(subjects))))
		ask(fmt.Sprintf("/subjects?limit=100&offset=%d", int(at*float64(subjects))))
	}
	ask("/subjects/team.service.topic-00000-value/versions?limit=100")
	ask("/subjects?subjectPrefix=:*:team.service.topic-0000&limit=100&deleted=true")
}
