package kafka_test

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A real broker that asks who is there: by name and password, and by SCRAM. Who
// is refused is told so on both sides, and the password is not repeated.
func TestRealCredentials(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	server := os.Getenv("CARTORIO_TEST_KAFKA_SASL")
	if server == "" {
		t.Skip("NOT RUN: set CARTORIO_TEST_KAFKA_SASL to the listener of a Kafka that asks for a user; scripts/brokers.sh start kafka sets it")
	}
	r.registry.RegisterOrders()
	r.letScramIn("scram-"+r.group, "s:cret")
	for _, tt := range []struct {
		name, says string
		mechanism  sasl.Mechanism
	}{
		{name: "plain", mechanism: plain.Auth{User: "cartorio", Pass: "s:cret"}.AsMechanism()},
		{name: "scram", mechanism: scram.Auth{User: "scram-" + r.group, Pass: "s:cret"}.AsSha512Mechanism()},
		{name: "a wrong password", says: "SASL_AUTHENTICATION_FAILED", mechanism: plain.Auth{User: "cartorio", Pass: "hush"}.AsMechanism()},
		{name: "a user that is not known", says: "SASL_AUTHENTICATION_FAILED", mechanism: scram.Auth{User: "nobody", Pass: "hush"}.AsSha512Mechanism()},
	} {
		options := []kgo.Opt{kgo.SeedBrokers(server), kgo.SASL(tt.mechanism), kgo.HeartbeatInterval(200 * time.Millisecond)}
		client, err := kgo.NewClient(options...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		p, err := kafka.NewProducer(client, r.v, validate.Version(byOrders, 1), kafka.ProducerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		patience := 30 * time.Second
		if tt.says != "" {
			patience = 6 * time.Second // it is tried to the end, and has to have found out why by then
		}
		limited, cancel := context.WithTimeout(t.Context(), patience)
		err = p.Publish(limited, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)})
		cancel()
		says(t, tt.name+": publish", err, tt.says)
		handled := make(chan struct{})
		c, err := kafka.NewConsumer(kafka.With(options...), r.v, &validate.Expect{Subject: byOrders}, func(context.Context, *kafka.Delivery) error {
			close(handled)
			return nil
		}, kafka.ConsumerOptions{Group: r.group, Topics: []string{r.topic}, DeadLetter: r.dead, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		says(t, tt.name+": consume", brokertest.Handled(t.Context(), c.Run, handled), tt.says)
	}
}

// says checks what an error says, and that it keeps a secret.
func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want != "" {
		t.Logf("%s: %v", what, err)
	}
	if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush")) {
		t.Errorf("%s: %v", what, err)
	}
}

// letScramIn tells the broker of a user.
func (r *real) letScramIn(user, password string) {
	r.t.Helper()
	const iterations = 4096
	salt := []byte(rand.Text())
	salted, err := pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	if err != nil {
		r.t.Fatal(err)
	}
	ask := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	one := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	one.Name, one.Mechanism, one.Iterations, one.Salt, one.SaltedPassword = user, 2, iterations, salt, salted
	ask.Upsertions = append(ask.Upsertions, one)
	answer, err := ask.RequestWith(ctx, r.k)
	if err == nil {
		err = kerr.ErrorForCode(answer.Results[0].ErrorCode)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
