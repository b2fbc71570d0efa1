package queues_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/queues"
)

func p[T any](v T) *T { return &v }

// The budget that is advised about is the one that a consumer warns of.
func TestMemoryBudget(t *testing.T) {
	t.Parallel()
	if queues.MemoryBudget != deliver.DefaultMemory {
		t.Errorf("%d here and %d there", queues.MemoryBudget, deliver.DefaultMemory)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    queues.Numbers
		want []string // each piece of advice holds one, in this order
		not  string
	}{
		{"nothing known", queues.Numbers{}, []string{"nothing to tune"}, ""},
		{"empty and consumed", queues.Numbers{Ready: p[int64](0), Unacknowledged: p[int64](0), Consumers: p[int64](2), Windows: []int64{16, 16}}, []string{"nothing to tune"}, ""},
		{"nobody consumes", queues.Numbers{Ready: p[int64](7), Consumers: p[int64](0)}, []string{"7 messages wait, and nobody consumes"}, ""},
		{"one waits", queues.Numbers{Ready: p[int64](1), Consumers: p[int64](0)}, []string{"1 message waits"}, ""},
		{"empty without consumers", queues.Numbers{Ready: p[int64](0), Consumers: p[int64](0)}, []string{"nothing to tune"}, ""},
		// Idle consumers and a full queue: raise.
		{
			"idle between two",
			queues.Numbers{Ready: p[int64](5000), Unacknowledged: p[int64](2), Consumers: p[int64](2), Windows: []int64{1, 1}, Rate: p(200.0)},
			[]string{"done with each in 10ms"},
			"more workers",
		},
		{
			"the work is the limit",
			queues.Numbers{Ready: p[int64](5000), Unacknowledged: p[int64](32), Consumers: p[int64](2), Windows: []int64{16, 16}, Rate: p(4.0)},
			[]string{"each stays with its consumer for 8s: the work is the limit"},
			"raise",
		},
		{
			"stuck",
			queues.Numbers{Ready: p[int64](5000), Unacknowledged: p[int64](16), Consumers: p[int64](1), Windows: []int64{16}, Rate: p(0.0)},
			[]string{"none was acknowledged lately"},
			"",
		},
		// Memory or hoarding: lower.
		{"a copied number", queues.Numbers{Consumers: p[int64](1), Windows: []int64{251}}, []string{"a prefetch of 251 is high"}, ""},
		{"not yet", queues.Numbers{Consumers: p[int64](1), Windows: []int64{250}}, []string{"nothing to tune"}, ""},
		{"bytes, not messages", queues.Numbers{Consumers: p[int64](1), Windows: []int64{100}, MeanBytes: p[int64](1 << 20)}, []string{"100 MB in one consumer"}, ""},
		{"no limit", queues.Numbers{Consumers: p[int64](2), Windows: []int64{0, 16}}, []string{"no prefetch"}, ""},
		{
			"one has them all",
			queues.Numbers{Ready: p[int64](0), Unacknowledged: p[int64](60), Consumers: p[int64](4), Windows: []int64{64, 64, 64, 64}},
			[]string{"one of them may have them all (prefetch 64)"},
			"",
		},
		{
			"shared",
			queues.Numbers{Ready: p[int64](0), Unacknowledged: p[int64](3), Consumers: p[int64](4), Windows: []int64{4, 4, 4, 4}},
			[]string{"nothing to tune"},
			"",
		},
		{
			"as deep as they are slow",
			queues.Numbers{Ready: p[int64](0), Unacknowledged: p[int64](4), Consumers: p[int64](1), Windows: []int64{4}},
			[]string{"none waits"},
			"",
		},
		// Failures first.
		{
			"repeats",
			queues.Numbers{Ready: p[int64](10), Unacknowledged: p[int64](2), Consumers: p[int64](1), Windows: []int64{2}, Rate: p(100.0), Delivered: p[int64](100), Redelivered: p[int64](5)},
			[]string{"5 of 100 deliveries were repeats", "done with each"},
			"",
		},
		{"few repeats", queues.Numbers{Consumers: p[int64](1), Delivered: p[int64](100), Redelivered: p[int64](4)}, []string{"nothing to tune"}, ""},
		// Losses before all else.
		{
			"automatic",
			queues.Numbers{Consumers: p[int64](1), Automatic: 1, Delivered: p[int64](1), Redelivered: p[int64](1)},
			[]string{"1 consumer is acknowledged by the broker", "repeats"},
			"",
		},
		{"declared", queues.Numbers{Consumers: p[int64](1), Losses: []string{"presence"}}, []string{"say why: presence"}, ""},
		// Kafka's groups.
		{"members without work", queues.Numbers{Ready: p[int64](0), Consumers: p[int64](5), Partitions: 3}, []string{"5 members share 3 partitions"}, ""},
		{"room for members", queues.Numbers{Ready: p[int64](9), Consumers: p[int64](1), Partitions: 3}, []string{"9 messages of lag, 1 member and 3 partitions"}, ""},
		{"a group that is away", queues.Numbers{Ready: p[int64](9), Consumers: p[int64](0), Partitions: 3}, []string{"nobody consumes"}, ""},
		{"no group", queues.Numbers{Ready: p[int64](9), Partitions: 3}, []string{"nothing to tune"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.n.Advice()
			if len(got) != len(tt.want) {
				t.Fatalf("%+v", got)
			}
			for i, one := range got {
				if !strings.Contains(one.Text, tt.want[i]) {
					t.Errorf("%q does not say %q", one.Text, tt.want[i])
				}
				if tt.not != "" && strings.Contains(one.Text+one.Fix, tt.not) {
					t.Errorf("%+v says %q", one, tt.not)
				}
				if one.OK != (tt.want[i] == "nothing to tune") {
					t.Errorf("%+v", one)
				}
			}
		})
	}
}

func TestNumbersInALine(t *testing.T) {
	t.Parallel()
	n := queues.Numbers{
		Kind: "quorum, durable", Ready: p[int64](1), Unacknowledged: p[int64](2), Consumers: p[int64](3), Delivered: p[int64](4), Redelivered: p[int64](5), MeanBytes: p[int64](6),
		Windows: []int64{8, 8, 16},
	}
	if got, want := n.String(), "1 ready, 2 unacknowledged, 3 consumers, 4 delivered, 5 redelivered, 6 bytes on average, prefetch 8/16, quorum, durable"; got != want {
		t.Errorf("%q", got)
	}
	if got := (&queues.Numbers{}).String(); got != "" {
		t.Errorf("%q", got)
	}
}
