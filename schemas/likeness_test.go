package schemas_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestUnordered(t *testing.T) {
	t.Parallel()
	if schemas.Unordered(`{"a":1,"b":[2,3]}`) != schemas.Unordered(`{"b":[3,2],"a":1}`) {
		t.Error("another order has another hash")
	}
	seen := map[uint64]string{}
	for _, text := range []string{"", "\x00", "\x00\x00", "a", "b", "ab", "aab", "abb", "10", "11", "20", "é", "É"} {
		sum := schemas.Unordered(text)
		if other, there := seen[sum]; there {
			t.Errorf("%q and %q have one hash", text, other)
		}
		seen[sum] = text
	}
}
