// Command acknowledgement measures what ways of acknowledging and prefetches cost
// on the reader's broker: speed, how evenly consumers share the work, and what a
// crash loses and repeats. It changes one thing at a time, and refuses two.
//
// It needs a registry and one of the brokers at least; scripts/bench-ack.sh starts
// all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// brokers are how each is called, the setting that holds its address, and how it
// is measured.
var brokers = []struct {
	name, setting string
	open          func(ctx context.Context, address string, v *validate.Validator) (bench, error)
}{
	{"RabbitMQ", "RABBITMQ", openRabbitMQ},
	{"ActiveMQ", "STOMP", openActiveMQ},
	{"Kafka", "KAFKA", openKafka},
}

func main() {
	rows, only, rounds, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	measured, err := run(ctx, os.Getenv("CARTORIO_REGISTRY_URL"), only, rows, rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if measured == 0 {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…), CARTORIO_TEST_STOMP or CARTORIO_TEST_KAFKA (host:port), or start scripts/bench-ack.sh")
		os.Exit(64)
	}
}

// run measures the brokers whose address is known, and answers how many.
func run(ctx context.Context, registry, only string, rows []row, rounds int) (int, error) {
	if registry == "" {
		return 0, nil
	}
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	v, err := register(ctx, client)
	if err != nil {
		return 0, err
	}
	defer v.Close()
	n := 0
	for _, b := range brokers {
		address := os.Getenv("CARTORIO_TEST_" + b.setting)
		if address == "" || only != "" && !strings.EqualFold(only, b.name) {
			continue
		}
		m, err := b.open(ctx, address, v)
		if err != nil {
			return n, fmt.Errorf("%s: %w", b.name, err)
		}
		err = compare(ctx, os.Stdout, b.name, m, rows, rounds)
		m.close()
		if err != nil {
			return n, fmt.Errorf("%s: %w", b.name, err)
		}
		fmt.Println()
		n++
	}
	return n, nil
}
