package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user that the broker refuses, and a queue that is not there, have exit codes of
// their own, on every broker and for every command that opens a queue.
func TestRealBrokerExitCodes(t *testing.T) {
	t.Parallel()
	letters := filepath.Join(t.TempDir(), "letters.jsonl")
	if err := os.WriteFile(letters, []byte(`{"id":"m","messageId":"m","headers":[],"payloadBase64":"e30="}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, broker := range []struct {
		name, variable string
		address        func(server, user, queue string) string
		isOpen         bool // it makes a queue that is asked for
	}{
		{"RabbitMQ", "CARTORIO_TEST_RABBITMQ", func(server, user, queue string) string {
			return "amqp://" + user + server[strings.LastIndex(server, "@"):] + "#" + queue
		}, false},
		{"Kafka", "CARTORIO_TEST_KAFKA_SASL", func(server, user, topic string) string {
			return "kafka://" + user + "@" + server + "/" + topic
		}, false},
		{"ActiveMQ", "CARTORIO_TEST_STOMP", func(server, user, queue string) string {
			return "stomp://" + user + "@" + server + "/" + queue
		}, true},
		{"AMQP 1.0", "CARTORIO_TEST_AMQP10", func(server, user, queue string) string {
			return "amqp10://" + user + "@" + strings.TrimPrefix(server, "amqp://") + "/" + queue
		}, true},
	} {
		t.Run(broker.name, func(t *testing.T) {
			t.Parallel()
			server := os.Getenv(broker.variable)
			if server == "" {
				t.Skipf("NOT RUN: set %s; make test starts a broker and names it when it cannot", broker.variable)
			}
			right := "cartorio:s:cret"
			if broker.name == "RabbitMQ" {
				right = "guest:guest"
			}
			queue := "exits-" + rand.Text()[:10]
			for i, args := range [][]string{
				{"doctor", ""},
				{"doctor", "--dead-letter", ""},
				{"dlq", "list", ""},
				{"dlq", "list", "", "--threshold", "0"},
				{"dlq", "show", ""},
				{"dlq", "show", "", "--as", "raw"},
				{"dlq", "replay", "", "--skip-validation"},
				{"dlq", "drop", "", "--all"},
				{"dlq", "export", ""},
				{"dlq", "import", "", letters},
			} {
				t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
					t.Parallel()
					try := func(user string) (int, string) {
						var out, complaint bytes.Buffer
						given := append([]string{}, args...)
						for i := range given {
							if given[i] == "" {
								given[i] = broker.address(server, user, queue)
							}
						}
						code := run(t.Context(), given, strings.NewReader(""), &out, &complaint)
						text := out.String() + complaint.String()
						if strings.Contains(text, "hunter2") {
							t.Errorf("it tells the password: %s", text)
						}
						return code, text
					}
					// RabbitMQ makes whoever it refuses wait for three seconds.
					if broker.name == "RabbitMQ" && i > 2 {
						t.Log("the wrong password was tried by the first commands only")
					} else if code, text := try("cartorio:hunter2"); code != exitRefused || !strings.Contains(text, "refuses this caller") {
						t.Errorf("a wrong password exits %d: %s", code, text)
					}
					if broker.isOpen {
						return
					}
					if code, text := try(right); code != exitNotCompared || !strings.Contains(text, "it does not exist") {
						t.Errorf("a queue that is not there exits %d: %s", code, text)
					}
				})
			}
			if !broker.isOpen {
				return
			}
			// It cannot be told from an empty one, and that is said.
			var out, complaint bytes.Buffer
			if code := run(t.Context(), []string{"dlq", "list", broker.address(server, right, queue)}, nil, &out, &complaint); code != 0 || !strings.Contains(complaint.String(), "check the name") {
				t.Errorf("exits %d: %s%s", code, out.String(), complaint.String())
			}
		})
	}
}
