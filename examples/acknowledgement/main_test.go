package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

// Every way of acknowledging is measured on every broker, and what a crash loses
// is what the guide says: nothing that is acknowledged after the work.
func TestMeasure(t *testing.T) {
	t.Parallel()
	for _, broker := range brokers {
		t.Run(broker.name, func(t *testing.T) {
			t.Parallel()
			address := exampletest.Broker(t, broker.setting)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client, err := sr.New(sr.Options{URLs: []string{exampletest.Registry(t)}})
			if err != nil {
				t.Fatal(err)
			}
			v, err := register(ctx, client)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(v.Close)
			b, err := broker.open(ctx, address, v)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.close)

			small := baseline
			// A commit in the middle of it would decide what comes again.
			small.messages, small.work, small.commit = 200, 0, time.Hour
			for _, r := range modes(&small) {
				if r.prefetch == 1 || r.prefetch == 250 || r.ack == "early" && broker.name == "ActiveMQ" {
					continue // two lose what the first loses: nothing; one takes long
				}
				if err := b.fill(ctx, &r.setting); err != nil {
					t.Fatal(err)
				}
				lost, again, err := b.crash(ctx, &r.setting, 50)
				if err != nil {
					t.Fatalf("%s: %v", r.label, err)
				}
				isKept := r.ack == "manual" || r.ack == "early" && !b.isShared()
				if isKept && (lost != 0 || again == 0) || r.ack == "early" && b.isShared() && lost < 1 || r.ack == "auto" && lost < 2 {
					t.Errorf("%s: %d lost by a crash, %d come again", r.label, lost, again)
				}
			}
			var out bytes.Buffer
			one := small
			one.consumers, one.commit = 1, baseline.commit
			if err := compare(ctx, &out, broker.name, &speedOnly{b}, []row{{"once", one}}, 1); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "| once | ") || !strings.Contains(out.String(), " | 1.00 | – | 0 | 0 |\n") {
				t.Errorf("the table:\n%s", out.String())
			}
		})
	}
}

// speedOnly leaves out what was tried before.
type speedOnly struct{ bench }

func (speedOnly) isShared() bool { return false }
func (speedOnly) crash(context.Context, *setting, int) (lost, again int, err error) {
	return 0, 0, nil
}

// One lever at a time: two are refused, and each row of a lever differs from the
// baseline in nothing else.
func TestLevers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"--vary prefetch=1 --vary ack=auto", "one lever at a time"},
		{"--vary speed=1", "LEVER=VALUE"},
		{"--vary messages=1,2", "LEVER=VALUE"},
		{"--vary prefetch", "LEVER=VALUE"},
		{"--vary prefetch=0", "a number from 1"},
		{"--vary ack=never", "manual, early or auto"},
		{"--queue stream", "classic or quorum"},
		{"--work 2h", "a duration"},
		{"--rounds 0", "--rounds"},
		{"more", "not a flag"},
	} {
		if _, _, _, err := parse(strings.Fields(tt.args), io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	rows, broker, rounds, err := parse(strings.Fields("--broker kafka --workers 3 --rounds 1 --vary prefetch=1,64"), io.Discard)
	if err != nil || broker != "kafka" || rounds != 1 || len(rows) != 2 {
		t.Fatalf("%v, %s, %d, %v", rows, broker, rounds, err)
	}
	for i, prefetch := range []int{1, 64} {
		want := baseline
		want.workers, want.prefetch = 3, prefetch
		if rows[i].setting != want {
			t.Errorf("%+v, want %+v", rows[i].setting, want)
		}
	}
	for _, r := range modes(&baseline) {
		r.ack, r.prefetch = baseline.ack, baseline.prefetch
		if r.setting != baseline {
			t.Errorf("%s changes more than the way of acknowledging: %+v", r.label, r.setting)
		}
	}
}
