package avro_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
)

// An answer stays what it is while others are made, at once and one after another.
func TestAnswersStay(t *testing.T) {
	t.Parallel()
	record := func(name, kind string, n int) string {
		return fmt.Sprintf(`{"type":"record","name":%q,"fields":[`, name) + many(n, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":%q}`, i, kind) }) + `]}`
	}
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := 1; i <= 20; i++ {
				name := fmt.Sprintf("R%d", n)
				old, next := parse(t, record(name, "int", i)), parse(t, record(name, "string", i))
				_, first := compatavro.Checker.Truth(old, next, compat.Budget{})
				other := parse(t, record(name, "bytes", 21-i))
				compatavro.Checker.Truth(other, next, compat.Budget{})
				_, again := compatavro.Checker.Truth(old, next, compat.Budget{})
				if diff := cmp.Diff(again, first); diff != "" || len(first) != i {
					t.Errorf("%d changes, want %d (-again +first):\n%s", len(first), i, diff)
				}
				for k, c := range first {
					if want := fmt.Sprintf("%s.f%d", name, k); c.Path != want || c.Before != "int" || c.After != "string" {
						t.Errorf("change %d is of %s, want %s: from %s to %s", k, c.Path, want, c.Before, c.After)
					}
				}
			}
		})
	}
	group.Wait()
}
