package sqlite

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
)

// A full disk refuses the append as a whole, says so, and the journal goes on
// when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	j, err := Open(t.TempDir() + "/c.db")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	limit := func(pages string) {
		if _, err := j.db.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	big := registry.Text{Text: strings.Repeat("x", 1<<20)}
	big.Hash = registry.HashOf(big.Text)
	batch := registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}"), Text: big.Hash}}, Texts: []registry.Text{big}}
	limit("20")
	if _, err := j.Append(t.Context(), 0, batch); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Fatalf("append to a full disk: %v", err)
	}
	if _, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err != nil {
		t.Errorf("a small append after a refused one: %v", err)
	}
	limit("1000000")
	if _, err := j.Append(t.Context(), 1, batch); err != nil {
		t.Errorf("append with room again: %v", err)
	}
}

func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	j, err := Open(Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.db.ExecContext(t.Context(), "PRAGMA query_only = ON"); err != nil {
		t.Fatal(err)
	}
	_, err = j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}})
	if err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("append to a read-only database: %v", err)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	t.Parallel()
	j, err := Open(Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var version, id int
	if err := j.db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if err := j.db.QueryRowContext(t.Context(), "PRAGMA application_id").Scan(&id); err != nil {
		t.Fatal(err)
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil || version != len(files) || id != application {
		t.Errorf("form %d of application %x with %d migrations, %v", version, id, len(files), err)
	}
}
