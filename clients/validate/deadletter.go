package validate

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The headers of a dead letter. All are text.
const (
	DLQReason                = "dlqReason"
	DLQClass                 = "dlqClass"
	DLQError                 = "dlqError"
	DLQDetail                = "dlqDetail"
	DLQTrace                 = "dlqTrace"
	DLQAttempts              = "dlqAttempts"
	DLQFirstFailedAt         = "dlqFirstFailedAt"
	DLQFailedAt              = "dlqFailedAt"
	DLQOriginalDestination   = "dlqOriginalDestination"
	DLQOriginalRoutingKey    = "dlqOriginalRoutingKey"
	DLQOriginalQueue         = "dlqOriginalQueue"
	DLQOriginalPartition     = "dlqOriginalPartition"
	DLQOriginalOffset        = "dlqOriginalOffset"
	DLQOriginalTimestamp     = "dlqOriginalTimestamp"
	DLQConsumer              = "dlqConsumer"
	DLQExpected              = "dlqExpected"
	DLQReplays               = "dlqReplays"
	longestTrace, longestAll = 8 << 10, 24 << 10
)

// DeadLetter is why a message is set aside, and where it came from. Empty
// members have no header.
type DeadLetter struct {
	Reason Reason
	// Exhausted tells that attempts were used up; else the failure is permanent.
	Exhausted  bool
	Err        error
	Violations []schemas.Violation
	// Trace is the chain of causes and the stack.
	Trace    string
	Attempts int // made; at least 1
	FailedAt time.Time
	// FirstFailedAt is when it failed first; FailedAt when zero.
	FirstFailedAt time.Time

	Destination, RoutingKey, Queue string
	// Partition, Offset and Timestamp are Kafka's, in decimal digits.
	Partition, Offset, Timestamp string
	// Consumer is group or queue, host and build; Expected is Expect.Expected.
	Consumer, Expected string
}

// Headers gives a message's headers with those of the dead letter: all others
// are kept untouched and in order. A message that was set aside before keeps
// when it first failed, where it came from and how often it was replayed; the
// rest is replaced.
//
// total bounds the names and values of the dlq headers in bytes, 24 KiB when 0.
// What is too long is cut from its end; for the total the trace is cut first,
// then the detail, then the error.
//
// Source: client specification 3.6.
func (d DeadLetter) Headers(headers []Header, total int) []Header {
	if total <= 0 {
		total = longestAll
	}
	old := map[string]string{}
	out := make([]Header, 0, len(headers)+16)
	for _, h := range headers {
		if !isDeadLetter(h.Name) {
			out = append(out, h)
			continue
		}
		if text, ok, err := h.Text(); ok && err == nil && old[h.Name] == "" {
			old[h.Name] = text
		}
	}
	list := d.list(old)
	shrink(list, total)
	for _, one := range list {
		if one.value != "" {
			out = append(out, Header{Name: one.name, Value: one.value})
		}
	}
	return out
}

type deadHeader struct {
	name, value string
	most        int
}

// The places of the texts that are cut for the total, in Headers' list.
const (
	atError, atDetail, atTrace = 2, 3, 4
)

func (d DeadLetter) list(old map[string]string) []deadHeader {
	class := "permanent"
	if d.Exhausted {
		class = "exhausted"
	}
	failed := d.FailedAt.UTC().Format(time.RFC3339Nano)
	first := failed
	if !d.FirstFailedAt.IsZero() {
		first = d.FirstFailedAt.UTC().Format(time.RFC3339Nano)
	}
	problem := ""
	if d.Err != nil {
		problem = d.Err.Error()
	}
	kept := func(name, value string) string {
		if was := old[name]; was != "" {
			return was
		}
		return value
	}
	// Where a message came from is one fact: a part of it from an earlier place
	// and a part from a later one would name a place that never was.
	origin := func(name, value string) string {
		if old[DLQOriginalDestination] != "" || old[DLQOriginalQueue] != "" {
			return old[name]
		}
		return value
	}
	list := []deadHeader{
		{DLQReason, d.Reason.String(), 64},
		{DLQClass, class, 16},
		atError:  {DLQError, problem, 2 << 10},
		atDetail: {DLQDetail, "", 6 << 10},
		atTrace:  {DLQTrace, d.Trace, longestTrace},
		{DLQAttempts, strconv.Itoa(max(d.Attempts, 1)), 20},
		{DLQFirstFailedAt, kept(DLQFirstFailedAt, first), 64},
		{DLQFailedAt, failed, 64},
		{DLQOriginalDestination, origin(DLQOriginalDestination, d.Destination), 512},
		{DLQOriginalRoutingKey, origin(DLQOriginalRoutingKey, d.RoutingKey), 255},
		{DLQOriginalQueue, origin(DLQOriginalQueue, d.Queue), 255},
		{DLQOriginalPartition, origin(DLQOriginalPartition, d.Partition), 20},
		{DLQOriginalOffset, origin(DLQOriginalOffset, d.Offset), 20},
		{DLQOriginalTimestamp, origin(DLQOriginalTimestamp, d.Timestamp), 20},
		{DLQConsumer, d.Consumer, 255},
		{DLQExpected, d.Expected, 255},
		{DLQReplays, old[DLQReplays], 20},
	}
	for i := range list {
		list[i].value = cut(strings.ToValidUTF8(list[i].value, "\uFFFD"), list[i].most)
	}
	list[atDetail].value = detail(d.Violations, list[atDetail].most)
	return list
}

// shrink cuts the long texts until the whole fits.
func shrink(list []deadHeader, total int) {
	size := 0
	for _, h := range list {
		if h.value != "" {
			size += len(h.name) + len(h.value)
		}
	}
	for _, at := range []int{atTrace, atDetail, atError} {
		over := size - total
		if over <= 0 {
			return
		}
		h := &list[at]
		before := len(h.value)
		if at == atDetail {
			// A cut list would be no JSON any more.
			h.value = ""
		} else {
			h.value = cut(h.value, max(before-over, 0))
		}
		size -= before - len(h.value)
	}
}

// detail writes as many violations as fit, as a JSON list.
func detail(list []schemas.Violation, most int) string {
	if len(list) == 0 {
		return ""
	}
	type entry struct {
		Pointer string `json:"pointer"`
		Schema  string `json:"schema,omitempty"`
		Rule    string `json:"rule,omitempty"`
		Text    string `json:"text"`
	}
	var b strings.Builder
	for i, v := range list {
		one, err := json.Marshal(entry{cut(string(v.Payload), 1<<10), cut(string(v.Schema), 1<<10), v.Rule, cut(v.Text, 2<<10)})
		if err != nil || b.Len()+len(one)+2 > most {
			break
		}
		if i == 0 {
			b.WriteByte('[')
		} else {
			b.WriteByte(',')
		}
		b.Write(one)
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "]"
}

func isDeadLetter(header string) bool {
	return len(header) > 3 && strings.HasPrefix(header, "dlq") && header[3] >= 'A' && header[3] <= 'Z'
}
