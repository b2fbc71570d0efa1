package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/bridge"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/translate"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// partVariable holds, in a process that is to die, the bridge that it is.
const partVariable = "CARTORIO_TEST_BRIDGE_PART"

// part is a bridge in a process of its own. It dies when it has published so many
// messages, before the last of them is acknowledged.
type part struct {
	Registry, From, To, Dead string
	Dies                     int
}

var used atomic.Int32

func TestMain(m *testing.M) {
	if text := os.Getenv(partVariable); text != "" {
		os.Exit(play(text))
	}
	flag.Parse()
	status := m.Run()
	given := os.Getenv(rabbit) != "" && os.Getenv(kafkaVariable) != ""
	switch {
	case !given:
		fmt.Fprintf(os.Stderr, "SKIPPED: bridges between a real RabbitMQ and a real Kafka: set %s and %s, or run `make test`\n", rabbit, kafkaVariable)
	case flag.Lookup("test.run").Value.String() == "" && used.Load() == 0:
		fmt.Fprintln(os.Stderr, "FAIL: brokers were given and no test used them")
		status = 1
	}
	os.Exit(status)
}

const (
	rabbit        = "CARTORIO_TEST_RABBITMQ"
	kafkaVariable = "CARTORIO_TEST_KAFKA"
	subject       = "orders-value"
	mapping       = `
version: 1
translations:
  - {subject: orders-value, from: 1, to: 2, steps: [{rename: {path: /name, to: title}}, {default: {path: /currency, value: BRL}}]}
`
)

var versions = []string{
	`{"type":"object","required":["id","name"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}`,
	`{"type":"object","required":["id","title","currency"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"title":{"type":"string","maxLength":20},"currency":{"type":"string"}}}`,
}

// newRegistry serves a registry with two versions that do not read each other.
func newRegistry(t *testing.T) string {
	t.Helper()
	j, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), j, registry.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(api.New(r, api.Options{}))
	t.Cleanup(func() {
		s.Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := sr.New(sr.Options{URLs: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	body := func(method, path, text string) {
		t.Helper()
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(text))
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, req)
		if w.Code != 200 {
			t.Fatalf("%s %s: %s", method, path, w.Body)
		}
	}
	body("PUT", "/config/"+subject, `{"compatibility":"NONE"}`)
	for _, v := range versions {
		text, _ := json.Marshal(map[string]string{"schemaType": "JSON", "schema": v})
		body("POST", "/subjects/"+subject+"/versions", string(text))
	}
	return s.URL
}

// options are a bridge of the test's registry; closing ends its validator.
func options(url, from, to, dead string) (o bridge.Options, closing func(), err error) {
	if o.From, err = brokers.Parse(from, "", ""); err != nil {
		return o, nil, err
	}
	if o.To, err = brokers.Parse(to, "", ""); err != nil {
		return o, nil, err
	}
	text := fmt.Sprintf("version: 1\nsubject: %s\nreads: 2\nfrom: {address: %q, dead_letter: %s}\nto: {address: %q}\n", subject, from, dead, to)
	if o.Config, err = bridge.ParseConfig([]byte(text)); err != nil {
		return o, nil, err
	}
	if o.From.Kind == brokers.Kafka {
		o.Config.From.Group = o.From.Name + "-bridge"
	}
	m, err := translate.Parse([]byte(mapping))
	if err != nil {
		return o, nil, err
	}
	client, err := sr.New(sr.Options{URLs: []string{url}})
	if err != nil {
		return o, nil, err
	}
	o.Validator = validate.New(client, formats.All...)
	o.Expect = &validate.Expect{Subject: validate.Fixed(subject), Reads: validate.MustReads("2"), Steps: m.Steps()}
	o.Pin = validate.Version(validate.Fixed(subject), 2)
	o.Logger = slog.New(slog.DiscardHandler)
	o.Done = &bridge.Counts{}
	return o, func() { o.Validator.Close(); client.Close() }, nil
}

// play is a bridge that dies.
func play(text string) int {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return 3
	}
	o, closing, err := options(p.Registry, p.From, p.To, p.Dead)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	defer closing()
	go func() {
		for o.Done.Published.Load() < uint64(p.Dies) { //nolint:gosec // of the test
			time.Sleep(100 * time.Microsecond)
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
	}()
	fmt.Fprintln(os.Stderr, bridge.Run(context.Background(), o))
	return 4
}

// run carries until so many were settled, then stops the bridge.
func run(t *testing.T, o bridge.Options, settled uint64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- bridge.Run(ctx, o) }()
	for o.Done.Published.Load()+o.Done.DeadLettered.Load() < settled && ctx.Err() == nil {
		select {
		case err := <-ended:
			t.Fatalf("it ended early: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("%d published, %d set aside", o.Done.Published.Load(), o.Done.DeadLettered.Load())
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestRealTranslate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ from, to func(place, string) string }{
		"RabbitMQ to Kafka":    {place.queue, place.topic},
		"Kafka to RabbitMQ":    {place.topic, place.queue},
		"RabbitMQ to RabbitMQ": {place.queue, place.queue},
		"Kafka to Kafka":       {place.topic, place.topic},
		"ActiveMQ to Kafka":    {place.stomp, place.topic},
		"RabbitMQ to ActiveMQ": {place.queue, place.stomp},
		"AMQP 1.0 to Kafka":    {place.amqp10, place.topic},
		"Kafka to AMQP 1.0":    {place.topic, place.amqp10},
		"AMQP 1.0 to RabbitMQ": {place.amqp10, place.queue},
		"STOMP to AMQP 1.0":    {place.stomp, place.amqp10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			from, to, dead := tt.from(p, "from"), tt.to(p, "to"), tt.from(p, "dead")
			p.send(from, `{"id":0,"name":"a"}`, `{"id":1,"name":"b"}`, `{"id":2,"name":"longer than twenty characters"}`, `{"id":3,"name":"d"}`, `{"id":"x"}`)
			o, closing, err := options(newRegistry(t), from, to, nameOf(t, dead))
			if err != nil {
				t.Fatal(err)
			}
			defer closing()
			run(t, o, 5)
			var got []string
			for _, l := range p.lying(to) {
				key := string(l.Key)
				if l.Key == nil {
					key = l.Header("messageKey")
				}
				got = append(got, strings.Join([]string{l.MessageID(), key, l.Version(), string(l.Message.Payload)}, " "))
				if l.Header("traceparent") == "" || l.Header("mine") != "é" || l.Subject() != subject || l.Message.ContentType != "application/json" {
					t.Errorf("%s arrived with %v", l.MessageID(), l.Message.Headers)
				}
			}
			if want := []string{
				`m00 k0 2 {"id":0,"title":"a","currency":"BRL"}`, `m01 k1 2 {"id":1,"title":"b","currency":"BRL"}`, `m03 k0 2 {"id":3,"title":"d","currency":"BRL"}`,
			}; !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			got = nil
			for _, l := range p.lying(dead) {
				got = append(got, l.MessageID()+" "+l.Reason()+" "+string(l.Message.Payload))
			}
			if want := []string{`m02 translation_failed {"id":2,"name":"longer than twenty characters"}`, `m04 payload_invalid {"id":"x"}`}; !slices.Equal(got, want) {
				t.Errorf("set aside %q, want %q", got, want)
			}
			if n := o.Done.Translated.Load(); n != 3 {
				t.Errorf("%d were translated", n)
			}
		})
	}
}

// A bridge is killed again and again: nothing is lost, order is kept, and what
// comes twice has one id.
func TestRealKilled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, to func(place, string) string
		kills    int
	}{
		"RabbitMQ to Kafka":    {place.queue, place.topic, 4},
		"Kafka to RabbitMQ":    {place.topic, place.queue, 1}, // a group waits ten seconds for each
		"ActiveMQ to RabbitMQ": {place.stomp, place.queue, 4},
		"RabbitMQ to ActiveMQ": {place.queue, place.stomp, 4},
		"AMQP 1.0 to ActiveMQ": {place.amqp10, place.stomp, 4},
		"ActiveMQ to AMQP 1.0": {place.stomp, place.amqp10, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const messages = 60
			kills := tt.kills
			if n, err := strconv.Atoi(os.Getenv("CARTORIO_KILLS")); err == nil && n > kills {
				kills = n
			}
			p, url := places(t), newRegistry(t)
			from, to, dead := tt.from(p, "from"), tt.to(p, "to"), tt.from(p, "dead")
			var payloads []string
			for i := range messages {
				payloads = append(payloads, fmt.Sprintf(`{"id":%d,"name":"n"}`, i))
			}
			p.send(from, payloads...)
			for i := range kills {
				text, _ := json.Marshal(part{url, from, to, nameOf(t, dead), 5 + 3*(i%5)})
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), partVariable+"="+string(text))
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != -1 {
					t.Fatalf("it was not killed: %v: %s", err, out)
				}
			}
			o, closing, err := options(url, from, to, nameOf(t, dead))
			if err != nil {
				t.Fatal(err)
			}
			defer closing()
			seen := func() (once []string, all int) {
				for _, l := range p.lying(to) {
					all++
					if !slices.Contains(once, l.MessageID()) {
						once = append(once, l.MessageID())
					}
				}
				return once, all
			}
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- bridge.Run(ctx, o) }()
			for ctx.Err() == nil {
				if once, _ := seen(); len(once) == messages {
					break
				}
				time.Sleep(200 * time.Millisecond) // the broker tells nobody
			}
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			once, all := seen()
			if len(once) != messages || !slices.IsSorted(once) {
				t.Errorf("%d of %d arrived, in order: %v: %v", len(once), messages, slices.IsSorted(once), once)
			}
			if list := p.lying(dead); len(list) > 0 {
				t.Errorf("%d healthy messages were set aside", len(list))
			}
			t.Logf("%d messages, %d kills: none lost, none set aside, %d came twice", messages, kills, all-len(once))
		})
	}
}

// Where nothing can be published, messages wait and are not set aside; once it
// can be, they go.
func TestRealTargetMissing(t *testing.T) {
	t.Parallel()
	p := places(t)
	from, dead := p.queue("from"), p.queue("dead")
	p.send(from, `{"id":0,"name":"a"}`)
	to := os.Getenv(rabbit) + "#" + p.prefix + "to"
	o, closing, err := options(newRegistry(t), from, to, nameOf(t, dead))
	if err != nil {
		t.Fatal(err)
	}
	defer closing()
	warned := make(chan struct{}, 100)
	o.Logger = slog.New(handler(func(r slog.Record) {
		if strings.Contains(r.Message, "cannot be published and waits") {
			select {
			case warned <- struct{}{}:
			default:
			}
		}
	}))
	go func() {
		<-warned
		<-warned
		if err := p.declare("to"); err != nil {
			t.Error(err)
		}
	}()
	run(t, o, 1)
	if n := len(p.lying(to)); n != 1 || o.Done.DeadLettered.Load() != 0 {
		t.Errorf("%d arrived, %d were set aside", n, o.Done.DeadLettered.Load())
	}
}

// handler is a slog.Handler that only hears.
type handler func(slog.Record)

func (handler) Enabled(context.Context, slog.Level) bool        { return true }
func (h handler) Handle(_ context.Context, r slog.Record) error { h(r); return nil }
func (h handler) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h handler) WithGroup(string) slog.Handler                 { return h }
