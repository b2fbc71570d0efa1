package validate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// playRegistry plays a registry with one version of one subject.
func playRegistry() *httptest.Server {
	const order = `{"subject":"orders-value","version":1,"id":7,"guid":"01fc056e-ed58-c88f-e1c5-07fcd84dd4b7","schemaType":"JSON",
		"schema":"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"}},\"required\":[\"id\"]}"}`
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, order)
	}))
}

func ExampleValidator_BeforePublish() {
	server := playRegistry()
	defer server.Close()
	client, err := sr.New(sr.Options{URLs: []string{server.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	validator := validate.New(client, jsonschema.Format, avro.Format)
	defer validator.Close()

	pin := validate.Version(validate.Fixed("orders-value"), 1)
	good := &validate.Message{MessageID: "o-1", Payload: []byte(`{"id":1}`)}
	if err := validator.BeforePublish(context.Background(), good, &pin); err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range good.Headers {
		fmt.Println(h.Name, h.Value)
	}

	bad := &validate.Message{Payload: []byte(`{"id":"one"}`)}
	err = validator.BeforePublish(context.Background(), bad, &pin)
	fmt.Println("permanent:", errors.Is(err, validate.ErrPermanent))
	// Output:
	// schemaSubject orders-value
	// schemaVersion 1
	// schemaId 7
	// schemaGuid 01fc056e-ed58-c88f-e1c5-07fcd84dd4b7
	// schemaType JSON
	// messageId o-1
	// permanent: true
}

func ExampleValidator_BeforeConsume() {
	server := playRegistry()
	defer server.Close()
	client, err := sr.New(sr.Options{URLs: []string{server.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	validator := validate.New(client, jsonschema.Format)
	defer validator.Close()

	expect := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1..2")}
	for _, payload := range []string{`{"id":1}`, `{"id":"one"}`} {
		message := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: []byte(payload)}
		switch o := validator.BeforeConsume(context.Background(), message, expect); o.Verdict {
		case validate.Accept:
			fmt.Println("handle", o.Subject, o.Version)
		case validate.Reject:
			fmt.Println("set aside:", o.Reason)
		case validate.Hold:
			fmt.Println("keep it and ask again:", o.Reason)
		}
	}
	// Output:
	// handle orders-value 1
	// set aside: payload_invalid
}
