package validate_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// Example is what the README shows.
func Example() {
	server := playRegistry()
	defer server.Close()
	registry, ctx := server.URL, context.Background()
	message := &validate.Message{Payload: []byte(`{"id":1}`)}

	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		fmt.Println(err)
		return
	}
	validator := validate.New(client, jsonschema.Format)
	defer validator.Close()

	// The producer: it is refused, or stamped and ready to be sent.
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	err = validator.BeforePublish(ctx, message, &pin)
	fmt.Println(err, len(message.Headers) > 0)

	// The consumer: Accept, Reject to the dead letters, or Hold until it can be told.
	expect := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1..2")}
	outcome := validator.BeforeConsume(ctx, message, expect)
	fmt.Println(outcome.Verdict == validate.Accept)
	// Output:
	// <nil> true
	// true
}

// TestReadmeShowsWhatCompiles finds every line of the README's Go text here.
func TestReadmeShowsWhatCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(readme), "```go\n")
	shown, _, closed := strings.Cut(shown, "```")
	if !ok || !closed {
		t.Fatal("the README shows no Go text")
	}
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(string(source), "\t"+line+"\n") && line != "import (" && line != ")" {
			t.Errorf("%q is not in the example", line)
		}
	}
}
