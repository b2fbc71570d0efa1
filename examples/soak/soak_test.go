// Package soak_test is a flow of messages over RabbitMQ, Kafka and ActiveMQ at
// once: three producers and three consumers on each, one registry for all.
// Consumers are killed at random, the registry goes away again and again, handlers
// fail and some messages are bad. In the end everything is counted.
//
// scripts/soak.sh runs it for twenty minutes; an ordinary run takes seconds.
package soak_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/examples/exampletest"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

const (
	producers, consumers = 3, 3
	keys                 = 10 // of each producer
	badEvery             = 20
)

// tempo is how fast it goes: for how long, how many messages a second of each
// producer, the mean time between two kills of a broker's consumers and between two
// outages of the registry, and the longest time until what was killed is back.
type tempo struct {
	span, kills, outages, back time.Duration
	perSecond                  time.Duration
}

// short is the tempo of an ordinary run, and long, but for its span, of a soak.
var (
	short = tempo{2 * time.Second, 500 * time.Millisecond, 800 * time.Millisecond, 300 * time.Millisecond, 40}
	long  = tempo{0, 15 * time.Second, 25 * time.Second, 8 * time.Second, 10}
)

// Two versions of an order, and what is of another subject altogether.
var texts = []string{
	`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`,
	`{"type":"object","properties":{"n":{"type":"integer"},"note":{"type":"string"}},"required":["n"],"additionalProperties":false}`,
}

// flow is one broker's half of the soak.
type flow struct {
	side
	kind, name, db string
	good, bad      atomic.Int64
	kills          int        // by the one who kills
	consumers      []*process // killed by one goroutine alone
}

func TestSoak(t *testing.T) {
	pace := short
	if text := os.Getenv("CARTORIO_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CARTORIO_SOAK is %q, and is to be a duration such as 20m", text)
		}
		pace = long
		pace.span = d
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("for %v, seed %d", pace.span, seed)
	folder := t.TempDir()
	reg := startRegistry(t, filepath.Join(folder, "registry.db"))
	var flows []*flow
	for _, kind := range []string{"RABBITMQ", "KAFKA", "STOMP"} {
		address := os.Getenv("CARTORIO_TEST_" + kind)
		if address == "" {
			t.Logf("NOT RUN: set CARTORIO_TEST_%s to the address of a broker", kind)
			continue
		}
		f := &flow{kind: kind, name: exampletest.Name("soak"), db: filepath.Join(folder, kind+".db")}
		f.side = sides[kind](t, address, f.name)
		register(t, reg.url, f.name)
		createEffects(t, f.db)
		for i := range consumers {
			p := &process{part: part{Play: "consume", Kind: kind, Address: address, Registry: reg.url, Name: f.name, DB: f.db, Index: i, Seed: seed}}
			p.start(t)
			f.consumers = append(f.consumers, p)
		}
		flows = append(flows, f)
	}
	if len(flows) == 0 {
		t.Skip("NOT RUN: no broker was given; make test starts some, and scripts/soak.sh does")
	}

	ctx, stop := context.WithTimeout(t.Context(), pace.span)
	defer stop()
	var flowing sync.WaitGroup
	for _, f := range flows {
		for p := range producers {
			flowing.Go(func() { f.produce(ctx, t, reg.url, p, time.Second/pace.perSecond) })
		}
	}
	var breaking sync.WaitGroup
	outages := 0
	breaking.Go(func() { outages = reg.comeAndGo(ctx, t, pace, rand.New(rand.NewPCG(seed, 1))) })
	for i, f := range flows {
		breaking.Go(func() { f.killAtRandom(ctx, t, pace, rand.New(rand.NewPCG(seed, uint64(i+2)))) })
	}
	breaking.Wait()
	flowing.Wait()
	for _, f := range flows {
		f.count(t, outages)
	}
}

// register registers what a flow needs.
func register(t *testing.T, registry, name string) {
	t.Helper()
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, one := range []struct{ subject, text string }{{name, texts[0]}, {name, texts[1]}, {name + "-other", texts[0]}} {
		if _, err := client.Register(t.Context(), schemas.ParseSubject(one.subject), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: one.text}}); err != nil {
			t.Fatal(err)
		}
	}
}

func openEffects(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate")
}

// createEffects makes the table of what was worked on. It takes a message twice:
// what keeps that away is to be the deduplication.
func createEffects(t *testing.T, file string) {
	t.Helper()
	db, err := openEffects(file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := dedupe.Create(t.Context(), db, dedupe.SQLite); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE effects (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, key TEXT NOT NULL, sequence INTEGER NOT NULL);
		CREATE TABLE tries (n INTEGER NOT NULL); INSERT INTO tries VALUES (0)`); err != nil {
		t.Fatal(err)
	}
}

// produce publishes until ctx ends, and what it has begun to the end: each
// message is published again until the broker has it.
func (f *flow) produce(ctx context.Context, t *testing.T, registry string, number int, every time.Duration) {
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		t.Error(err)
		return
	}
	defer client.Close()
	v := validate.New(client, jsonschema.Format)
	defer v.Close()
	pins := []validate.Pin{validate.Version(validate.Fixed(f.name), 1), validate.Version(validate.Fixed(f.name), 2), validate.Version(validate.Fixed(f.name+"-other"), 1)}
	publish, closeAll, err := f.producers(v, pins)
	if err != nil {
		t.Error(err)
		return
	}
	defer closeAll()
	last := context.WithoutCancel(ctx)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 1; ; n++ {
		key := fmt.Sprintf("p%d-k%d", number, n%keys)
		one := message{id: fmt.Sprintf("p%d-%06d", number, n), key: key, pin: n % 2, body: fmt.Appendf(nil, `{"n":%d}`, n)}
		if n%badEvery == 0 {
			one.id, one.pin = "bad-"+one.id, 2
		}
		for deadline := time.Now().Add(2 * time.Minute); ; {
			trying, cancel := context.WithTimeout(last, 20*time.Second)
			err := publish(trying, one)
			cancel()
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%s: %s was never published: %v", f.kind, one.id, err)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		if one.pin == 2 {
			f.bad.Add(1)
		} else {
			f.good.Add(1)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// killAtRandom kills consumers of a flow and starts them again, once at least.
func (f *flow) killAtRandom(ctx context.Context, t *testing.T, pace tempo, r *rand.Rand) {
	for sleep(ctx, spread(pace.kills, r)) || f.kills == 0 {
		p := f.consumers[r.IntN(len(f.consumers))]
		p.kill(t)
		f.kills++
		sleep(ctx, time.Duration(r.Int64N(int64(pace.back))))
		p.start(t)
	}
}

// comeAndGo kills the registry and starts it again at the same place, once at
// least.
func (p *registryProcess) comeAndGo(ctx context.Context, t *testing.T, pace tempo, r *rand.Rand) (outages int) {
	for sleep(ctx, spread(pace.outages, r)) || outages == 0 {
		p.kill(t)
		outages++
		sleep(ctx, time.Duration(r.Int64N(int64(pace.back))))
		p.start(t)
		p.await(t)
	}
	return outages
}

// spread is a time around a mean, from half of it to half as much again.
func spread(mean time.Duration, r *rand.Rand) time.Duration {
	return mean/2 + time.Duration(r.Int64N(int64(mean)))
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// count waits until the flow has come to rest, stops its consumers and says what
// became of all messages.
func (f *flow) count(t *testing.T, outages int) {
	t.Helper()
	db, err := openEffects(f.db)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	number := func(query string) (n int64) {
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	good, bad := f.good.Load(), f.bad.Load()
	aside := map[string]string{}
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if number(`SELECT count(DISTINCT id) FROM effects`) < good {
			continue
		}
		// A letter may lie there twice: its consumer was killed before it acknowledged.
		if f.takeAside(t, aside); int64(len(aside)) >= bad {
			break
		}
	}
	for _, p := range f.consumers {
		p.stop(t)
	}
	f.takeAside(t, aside)
	healthy := 0
	for id, reason := range aside {
		if !strings.HasPrefix(id, "bad-") {
			healthy++
			t.Errorf("%s: %s is healthy and was set aside: %s", f.kind, id, reason)
		}
	}
	handled, distinct, all := number(`SELECT count(DISTINCT id) FROM effects`), number(`SELECT count(*) FROM cartorio_dedupe`), number(`SELECT count(*) FROM effects`)
	late := number(`SELECT count(*) FROM effects later JOIN effects earlier ON later.key = earlier.key AND later.n = (SELECT min(n) FROM effects WHERE key = earlier.key AND n > earlier.n) WHERE later.sequence <= earlier.sequence`)
	tries := number(`SELECT n FROM tries`)
	t.Logf("%s: %d published, %d handled, %d of them twice, %d deliveries of what was handled; %d bad, %d set aside, %d of them healthy; %d out of order; %d consumers killed, %d outages of the registry",
		f.kind, good, handled, all-handled, tries-handled, bad, len(aside), healthy, late, f.kills, outages)
	if handled != good || all != handled || distinct != handled || int64(len(aside)) != bad || late != 0 {
		t.Errorf("%s: that is not what was published", f.kind)
	}
	f.clean()
}

// takeAside moves what lies in the dead letter into a map of ids and reasons.
func (f *flow) takeAside(t *testing.T, into map[string]string) {
	t.Helper()
	box := f.box()
	defer box.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := deadletter.Drop(ctx, box, deadletter.Filter{}, false, func(l *deadletter.Letter) error {
		into[l.MessageID()] = l.Reason()
		return nil
	}); err != nil {
		t.Fatalf("%s: read the dead letter: %v", f.kind, err)
	}
}

// freeAddress is an address of the loopback that nobody listens on. It is below
// the ports that systems give to those who connect: while the registry is away one
// of those would be somebody else's.
func freeAddress(t *testing.T) string {
	t.Helper()
	var last error
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(8000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
		last = err
	}
	t.Fatal(last)
	return ""
}
