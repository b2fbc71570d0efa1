// Package exampletest gives the tests of the examples what their run scripts give
// the programs: a registry, and the address of a real broker.
package exampletest

import (
	"crypto/rand"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// Registry starts a registry in memory, which ends with the test, and gives its
// URL.
func Registry(t *testing.T) string {
	t.Helper()
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Open(t.Context(), journal, registry.Options{Formats: formats.All, Checkers: checkers.All()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(reg, api.Options{}))
	t.Cleanup(func() {
		server.Close()
		_ = reg.Close()
	})
	return server.URL
}

// Broker is the address that CARTORIO_TEST_<kind> holds; the test is passed over
// when there is none.
func Broker(t *testing.T, kind string) string {
	t.Helper()
	variable := "CARTORIO_TEST_" + kind
	address := os.Getenv(variable)
	if address == "" {
		t.Skipf("NOT RUN: set %s to the address of a broker; make test starts one and names it when it cannot", variable)
	}
	return address
}

// Name is a name of the test's own, so that two runs on one broker do not meet.
func Name(stem string) string { return stem + strings.ToLower(rand.Text()[:8]) }
