package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/examples/exampletest"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// partVariable makes this binary a pipeline: registry, broker, name, and the step
// and batch at which it kills itself.
const partVariable = "CARTORIO_EXAMPLE_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		if err := play(strings.Split(part, " ")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(part []string) error {
	client, err := sr.New(sr.Options{URLs: []string{part[0]}})
	if err != nil {
		return err
	}
	p, err := newPipeline(part[1], part[2], validate.New(client, jsonschema.Format))
	if err != nil {
		return err
	}
	batch, err := strconv.Atoi(part[4])
	if err != nil {
		return err
	}
	p.at = func(step string) {
		if step == part[3] {
			if batch--; batch == 0 {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill()
				}
			}
		}
	}
	return p.run(context.Background())
}

// start starts a pipeline as a process of its own.
func start(t *testing.T, out *bytes.Buffer, part ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), partVariable+"="+strings.Join(part, " "))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Pipelines are killed between what they wrote and their commit, and after it; a
// reader of what is committed sees each order once, invoiced or set aside, in
// order.
func TestKilled(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "KAFKA")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	name, registry := exampletest.Name("orders"), exampletest.Registry(t)
	t.Cleanup(func() { clean(t, broker, name) })
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ProducerLinger(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	v, err := prepare(ctx, client, k, name, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)

	const n = 400
	var records []*kgo.Record
	for i := range n {
		value := fmt.Sprintf(`{"id":%d}`, i)
		if i%40 == 0 {
			value = `{"id":"bad"}`
		}
		records = append(records, &kgo.Record{Topic: name, Key: fmt.Appendf(nil, "k%d", i%5), Value: []byte(value), Headers: []kgo.RecordHeader{
			{Key: "messageId", Value: fmt.Appendf(nil, "%05d", i)}, {Key: "schemaSubject", Value: []byte(name + "-value")}, {Key: "schemaVersion", Value: []byte("1")},
		}})
	}
	if err := k.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, kill := range [][]string{{"produced", "1"}, {"ended", "1"}, {"produced", "2"}, {"produced", "1"}, {"ended", "2"}} {
		var out bytes.Buffer
		err := start(t, &out, registry, broker, name, kill[0], kill[1]).Wait()
		var e *exec.ExitError
		if !errors.As(err, &e) || e.ExitCode() != -1 {
			t.Fatalf("the pipeline was not killed at %v: %v: %s", kill, err, &out)
		}
	}
	var out bytes.Buffer
	survivor := start(t, &out, registry, broker, name, "", "0")

	committed := follow(t, broker, name, kgo.ReadCommitted())
	seen := map[string]int{}
	for len(seen) < n {
		committed.poll(ctx, func(r *kgo.Record) { seen[source(r)]++ })
	}
	if err := survivor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = survivor.Wait()
	// One more of each partition, by nobody's transaction: nothing hides before it.
	for _, topic := range topics(name)[1:] {
		for i := range 10 {
			if err := k.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "last%d", i), Value: []byte("last")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for committed.last < 20 {
		committed.poll(ctx, func(r *kgo.Record) { seen[source(r)]++ })
	}
	written := 0
	for all := follow(t, broker, name, kgo.ReadUncommitted()); all.last < 20; {
		all.poll(ctx, func(*kgo.Record) { written++ })
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("order %s is there %d times", id, times)
		}
	}
	if len(seen) != n || committed.dead != n/40 || written <= n {
		t.Errorf("%d orders of %d, %d of %d set aside, %d written: nothing was given up by the kills", len(seen), n, committed.dead, n/40, written)
	}
	t.Logf("5 kills: %d messages written, %d committed, each of %d orders once; %d set aside", written, len(seen), n, committed.dead)
}

// source is the id of the order that a message was made of.
func source(r *kgo.Record) string {
	return strings.TrimSuffix(messageOf(r).MessageID, "-invoice")
}

// follower reads both topics, and sees that each key's invoices come in order.
type follower struct {
	t          *testing.T
	k          *kgo.Client
	name       string
	dead, last int
	newest     map[string]string
	isOrdered  bool
}

func follow(t *testing.T, broker, name string, level kgo.IsolationLevel) *follower {
	t.Helper()
	k, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topics(name)[1:]...), kgo.FetchIsolationLevel(level), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(200*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return &follower{t: t, k: k, name: name, newest: map[string]string{}, isOrdered: level == kgo.ReadCommitted()}
}

func (f *follower) poll(ctx context.Context, take func(*kgo.Record)) {
	f.t.Helper()
	fetches := f.k.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		f.t.Fatalf("%v; %d set aside so far", err, f.dead)
	}
	for _, r := range fetches.Records() {
		if string(r.Value) == "last" {
			f.last++
			continue
		}
		take(r)
		if r.Topic == f.name+".dead" {
			f.dead++
			continue
		}
		key := string(r.Key)
		if id := source(r); f.isOrdered && id <= f.newest[key] {
			f.t.Errorf("of %s, order %s comes after %s", key, id, f.newest[key])
		} else {
			f.newest[key] = id
		}
	}
}
