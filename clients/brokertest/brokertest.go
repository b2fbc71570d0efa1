// Package brokertest is a workshop: it gives tests of the brokers' adapters what
// they have in common. A registry that may be shut, guarded and opened again; a
// line to a broker that may be cut, or that speaks TLS; processes that work on a
// broker and die at one step of one message; a broker of a test's own, which may
// be paused and killed; and the tests that are the same for each adapter: that a
// killed consumer or producer, an outage of the registry or of the broker and a
// network that is cut lose nothing, keep the order and set nothing healthy aside.
//
// It knows no adapter: each brings a [Workshop] with its two parts, and a [Place]
// for each test. It is for tests alone and is part of no program.
//
// Start with [Workshop.Main] in TestMain, and [NewRegistry].
package brokertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The versions of the subject orders-value that most tests register.
const (
	OrderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`
	OrderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}`
)

// Workshop is an adapter, as the tests of this package use it.
type Workshop struct {
	// Name is the broker's, for people; Broker is its name in scripts/brokers.sh.
	Name, Broker string
	// Variable holds the address of a broker that tests may use, which
	// scripts/brokers.sh start sets; Others must be set beside it.
	Variable string
	Others   []string
	// Parallel is how many tests run at once, when they wait more than they compute;
	// 0 leaves it.
	Parallel int
	// Consume works off p.Queue, calling p.Handle for each message and p.Settled when
	// it is settled, until ctx ends.
	Consume func(ctx context.Context, p *Part, v *validate.Validator) error
	// Produce gives what publishes one message {"id":1} to p.Queue, and what ends it.
	Produce func(ctx context.Context, p *Part, v *validate.Validator) (publish func(ctx context.Context, key, id string) error, end func(), err error)

	used atomic.Int32
}

// Main runs a package's tests and gives the exit code. It fails when a broker was
// given and no test used it, and is loud when none was given. In a process that a
// test started it plays its part.
func (w *Workshop) Main(m *testing.M) int {
	if text := os.Getenv(partVariable); text != "" {
		return w.play(text)
	}
	flag.Parse()
	if w.Parallel > 0 {
		if err := flag.Set("test.parallel", strconv.Itoa(w.Parallel)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	status := m.Run()
	filter := ""
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		filter += flag.Lookup("test." + name).Value.String()
	}
	switch {
	case os.Getenv(w.Variable) == "":
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real %s: set %s, or run `make test`\n", w.Name, w.Variable)
	case filter == "" && w.used.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", w.Variable)
		return 1
	}
	return status
}

// Address is that of the broker that was given; without one the test is skipped.
func (w *Workshop) Address(t *testing.T) string {
	t.Helper()
	for _, name := range append([]string{w.Variable}, w.Others...) {
		if os.Getenv(name) == "" {
			t.Skipf("NOT RUN: set %s to the address of a %s; make test starts one and names it when it cannot", name, w.Name)
		}
	}
	w.used.Add(1)
	return os.Getenv(w.Variable)
}

// IsLong asks for the long forms of outages and crashes: CARTORIO_TEST_LONG is
// set.
func IsLong() bool { return os.Getenv("CARTORIO_TEST_LONG") != "" }

// Message is a message of a test, whatever its broker is.
type Message struct {
	ID, Key, Body string
	// Version is the schema's, 1 when 0.
	Version schemas.Version
	// Reason and Error are what its dead letter says.
	Reason, Error string
}

// Stamps are the headers that name a message's schema, names and values.
func (m *Message) Stamps() [][2]string {
	return [][2]string{{"schemaSubject", "orders-value"}, {"schemaVersion", max(m.Version, 1).String()}}
}

// Place is a queue or topic of a test's own, with its dead letter.
type Place interface {
	// Part is where a part works: the registry, the broker and the names there.
	Part() Part
	// Put publishes messages as they are, unvalidated: with their stamps, and the
	// headers messageId and messageKey where they have such.
	Put(list ...Message)
	// Lying and Dead are what lies in the queue and in the dead letter, in order, and
	// leave it there.
	Lying() []Message
	Dead() []Message
	// IsDone tells that the broker need hand out none of the n messages of the queue.
	IsDone(n int) bool
}
