package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// setting is everything that a measurement holds still. All queues are durable,
// all messages persistent and confirmed, whatever the setting.
type setting struct {
	ack       string // manual, early or auto
	prefetch  int    // 0: two for each worker
	workers   int    // of each consumer
	consumers int
	work      time.Duration // of a message: a wait, as for a database
	size      int           // of a payload in bytes
	messages  int
	queue     string // classic or quorum; RabbitMQ's
	commit    time.Duration
}

// baseline is what is measured when nothing is said.
var baseline = setting{ack: "manual", workers: 8, consumers: 2, work: time.Millisecond, size: 1000, messages: 4000, queue: "classic", commit: 200 * time.Millisecond}

func (s *setting) hold() int {
	if s.prefetch > 0 {
		return s.prefetch
	}
	return 2 * s.workers
}

// levers are what can be varied, by name. Each sets one thing.
var levers = map[string]func(s *setting, value string) error{
	"ack": func(s *setting, value string) error {
		s.ack = value
		if value != "manual" && value != "early" && value != "auto" {
			return errors.New("manual, early or auto")
		}
		return nil
	},
	"prefetch":  func(s *setting, value string) error { return number(&s.prefetch, value) },
	"workers":   func(s *setting, value string) error { return number(&s.workers, value) },
	"consumers": func(s *setting, value string) error { return number(&s.consumers, value) },
	"messages":  func(s *setting, value string) error { return number(&s.messages, value) },
	"size":      func(s *setting, value string) error { return number(&s.size, value) },
	"work":      func(s *setting, value string) error { return duration(&s.work, value) },
	"commit":    func(s *setting, value string) error { return duration(&s.commit, value) },
	"queue": func(s *setting, value string) error {
		s.queue = value
		if value != "classic" && value != "quorum" {
			return errors.New("classic or quorum")
		}
		return nil
	},
}

func number(to *int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > 1_000_000 {
		return errors.New("a number from 1 to 1000000")
	}
	*to = n
	return nil
}

func duration(to *time.Duration, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > time.Minute {
		return errors.New("a duration from 0s to 1m")
	}
	*to = d
	return nil
}

// row is a setting to measure and what is different about it.
type row struct {
	label string
	setting
}

// modes are the ways of acknowledging: after the work with three prefetches,
// before the work, and by the broker as soon as it has sent, where no prefetch
// counts.
func modes(s *setting) []row {
	tuned, low, high, early, auto := *s, *s, *s, *s, *s
	tuned.prefetch, low.prefetch, high.prefetch, early.prefetch = 2*s.workers, 1, 250, 2*s.workers
	early.ack, auto.ack = "early", "auto"
	return []row{
		{fmt.Sprintf("manual, prefetch %d", tuned.prefetch), tuned},
		{"manual, prefetch 1", low},
		{"manual, prefetch 250", high},
		{fmt.Sprintf("before the work, prefetch %d", early.prefetch), early},
		{"automatic", auto},
	}
}

// varied takes --vary LEVER=VALUE,VALUE….
func varied(s *setting, vary string) ([]row, error) {
	lever, values, ok := strings.Cut(vary, "=")
	set, known := levers[lever]
	if !ok || !known || lever == "messages" {
		return nil, fmt.Errorf("--vary %s: write LEVER=VALUE,VALUE…, and one of ack, prefetch, workers, consumers, work, size, queue, commit", vary)
	}
	var rows []row
	for value := range strings.SplitSeq(values, ",") {
		one := *s
		if err := set(&one, value); err != nil {
			return nil, fmt.Errorf("--vary %s: %s is not %w", vary, value, err)
		}
		rows = append(rows, row{lever + " " + value, one})
	}
	return rows, nil
}

// once is a flag that may be given once: two levers at a time compare nothing.
type once struct{ value string }

func (o *once) String() string { return o.value }
func (o *once) Set(value string) error {
	if o.value != "" {
		return errors.New("change one lever at a time: what would the difference be due to?")
	}
	o.value = value
	return nil
}

// parse reads the command line.
func parse(args []string, usage io.Writer) (rows []row, broker string, rounds int, err error) {
	s, vary := baseline, once{}
	f := flag.NewFlagSet("bench-ack", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&broker, "broker", "", "measure RabbitMQ, ActiveMQ or Kafka alone")
	f.IntVar(&rounds, "rounds", 3, "measure each row so often, in turn, and print the middle one")
	f.Var(&vary, "vary", "`LEVER=VALUE,VALUE…`: a row for each value; once. Without it the ways of acknowledging are compared")
	for _, lever := range []string{"prefetch", "workers", "consumers", "work", "size", "messages", "queue", "commit"} {
		f.Func(lever, "held still at this `value`", func(value string) error { return levers[lever](&s, value) })
	}
	if err := f.Parse(args); err != nil {
		return nil, "", 0, err
	}
	switch {
	case f.NArg() > 0:
		return nil, "", 0, fmt.Errorf("%s is not a flag", f.Arg(0))
	case rounds < 1 || rounds > 99:
		return nil, "", 0, errors.New("--rounds is a number from 1 to 99")
	case vary.value == "":
		return modes(&s), broker, rounds, nil
	}
	rows, err = varied(&s, vary.value)
	return rows, broker, rounds, err
}
