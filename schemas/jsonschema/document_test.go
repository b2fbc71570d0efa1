package jsonschema_test

import (
	"context"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: `{"type":"object","properties":{"id":{"type":"integer"}}}`}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := parsed.(schemas.Documents)
	if !ok {
		t.Fatal("the schema has no documents")
	}
	const text = `{ "id": 12345678901234567890123 }`
	document, violations := s.DocumentOf(schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{})
	if string(document) != text || len(violations) > 0 {
		t.Errorf("%s, %v", document, violations)
	}
	if _, violations := s.PayloadOf([]byte(`{"id":"x"}`), "", schemas.ReadOptions{}); len(violations) == 0 || violations[0].Payload != "/id" {
		t.Errorf("an invalid document: %v", violations)
	}
}
