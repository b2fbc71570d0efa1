package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/transfer"
)

// same wants no difference at all, in either direction.
func same(tb testing.TB, what string, from, to transfer.Gathered) {
	tb.Helper()
	for _, d := range append(transfer.Compare(from, to), transfer.Compare(to, from)...) {
		tb.Errorf("%s: %s", what, d)
	}
}

func restore(tb testing.TB, g transfer.Gathered) *registry.Registry {
	tb.Helper()
	r := open(tb)
	g.Versions = transfer.InOrder(g.Versions)
	if refused, err := r.Restore(context.Background(), g.Holdings, registry.RestoreOptions{}); err != nil || len(refused) > 0 {
		tb.Fatalf("restore: %v, refused %v", err, refused)
	}
	return r
}

// seeds are those of an ordinary run; CARTORIO_HUNT gives more.
func seeds(tb testing.TB) (list []uint64) {
	n := 5
	if racing {
		n = 2
	}
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			tb.Fatalf("CARTORIO_HUNT=%q is no number", text)
		}
	}
	for i := range n {
		list = append(list, uint64(i+1))
	}
	return list
}

// Whatever a registry holds, a folder and an archive hold, and an empty registry
// that is filled from them.
func TestRandomRegistriesThroughFiles(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r := open(t)
			fill(t, r, seed, 150)
			from := transfer.FromHeld(r)

			var packed, again bytes.Buffer
			if err := transfer.ToArchive(t.Context(), &packed, from); err != nil {
				t.Fatal(err)
			}
			if err := transfer.ToArchive(t.Context(), &again, from); err != nil || !bytes.Equal(packed.Bytes(), again.Bytes()) {
				t.Errorf("the same registry makes two archives (%v)", err)
			}
			archived, err := transfer.FromArchive(t.Context(), &packed)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "archive", from, archived)
			same(t, "archive to registry", from, transfer.FromHeld(restore(t, archived)))

			dir := t.TempDir()
			if err := transfer.ToFolder(t.Context(), dir, from); err != nil {
				t.Fatal(err)
			}
			foldered, err := transfer.FromFolder(t.Context(), os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "folder", from, foldered)
			wantJSON, _ := json.Marshal(from.Holdings)
			gotJSON, _ := json.Marshal(transfer.FromHeld(restore(t, foldered)).Holdings)
			if !bytes.Equal(wantJSON, gotJSON) {
				t.Errorf("the restored registry holds\n%s\nwant\n%s", gotJSON, wantJSON)
			}

			// What a registry was filled with goes on as the first one would.
			fill(t, r, seed+1000, 40)
			if err := transfer.ToFolder(t.Context(), dir, transfer.FromHeld(r)); err != nil {
				t.Fatal(err)
			}
			updated, err := transfer.FromFolder(t.Context(), os.DirFS(dir))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "updated folder", transfer.FromHeld(r), updated)
		})
	}
}
