package validate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// fixture is a registry with one subject per format and some noise.
type fixture struct {
	*shelf
	order1, order2, user1, shop1, other schemas.Found
}

func newFixture() *fixture {
	f := &fixture{shelf: newShelf()}
	f.order1 = f.put("orders-value", schemas.JSON, orderV1)
	f.order2 = f.put("orders-value", schemas.JSON, orderV2)
	f.user1 = f.put("users-value", schemas.Avro, userV1)
	f.shop1 = f.put("shop-value", schemas.Protobuf, shopV1)
	f.other = f.put("other-value", schemas.JSON, `{"type":"array"}`)
	return f
}

func TestConsume(t *testing.T) {
	t.Parallel()
	f := newFixture()
	good := text(`{"id":1}`)
	h1 := stamped(f.order1)
	orders := validate.Fixed("orders-value")
	binary := func(g schemas.GUID, path framing.Indexes) []byte {
		b, err := framing.JoinHeader(g, path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	prefixed := func(id int32, rest ...byte) []byte {
		b, err := framing.Join(nil, framing.Prefix{Form: framing.ByID, ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return append(b, rest...)
	}
	for _, tt := range []struct {
		name   string
		m      validate.Message
		e      validate.Expect
		want   validate.Verdict
		reason validate.Reason
		check  func(o validate.Outcome) string // what is wrong with it
		says   string                          // part of the error
	}{
		{
			name: "all headers", m: validate.Message{Headers: h1, Payload: good}, e: validate.Expect{Subject: orders}, want: validate.Accept,
			check: func(o validate.Outcome) string {
				if o.Subject.Name != "orders-value" || o.Version != 1 || o.ID != f.order1.ID || o.GUID != f.order1.GUID || o.Type != schemas.JSON || string(o.Payload) != string(good) || o.Writer == nil {
					return fmt.Sprintf("%+v", o)
				}
				return ""
			},
		},
		{name: "no expectation", m: validate.Message{Headers: h1, Payload: good}, want: validate.Accept},
		{name: "version as an integer", m: validate.Message{Headers: with(h1, "schemaVersion", int32(1)), Payload: good}, want: validate.Accept},
		{name: "version as bytes", m: validate.Message{Headers: with(h1, "schemaVersion", []byte("1")), Payload: good}, want: validate.Accept},
		{name: "version alone, subject expected", m: validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: good}, e: validate.Expect{Subject: orders}, want: validate.Accept},
		{name: "guid alone", m: validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: f.order1.GUID.String()}}, Payload: good}, want: validate.Accept},
		{
			name: "guid alone, subject expected", m: validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: f.order1.GUID.String()}}, Payload: good}, e: validate.Expect{Subject: orders, Reads: validate.MustReads("1")}, want: validate.Accept,
			check: func(o validate.Outcome) string {
				if o.Version != 1 {
					return fmt.Sprintf("version %d", o.Version)
				}
				return ""
			},
		},
		{name: "id alone", m: validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: int64(f.order1.ID.Number)}}, Payload: good}, want: validate.Accept},
		{name: "key headers are not the value's", m: validate.Message{Headers: []validate.Header{{Name: "keySchemaVersion", Value: "1"}, {Name: "keySchemaSubject", Value: "orders-value"}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing},
		{name: "a key by its own headers", m: validate.Message{Headers: []validate.Header{{Name: "keySchemaVersion", Value: "1"}, {Name: "keySchemaSubject", Value: "orders-value"}}, Payload: good, IsKey: true}, want: validate.Accept},
		{name: "tombstone", m: validate.Message{}, e: validate.Expect{Subject: orders}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.Tombstone {
				return "no tombstone"
			}
			return ""
		}},
		{name: "empty payload is no tombstone", m: validate.Message{Headers: h1, Payload: []byte{}}, want: validate.Reject, reason: validate.PayloadUnreadable},

		{name: "nothing", m: validate.Message{Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "no header names"},
		{name: "version without a subject", m: validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "schemaSubject"},
		{name: "near miss", m: validate.Message{Headers: []validate.Header{{Name: "schemaversion", Value: "1"}, {Name: "SCHEMASUBJECT", Value: "orders-value"}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "schemaversion (for schemaVersion)"},
		{name: "null header is absent", m: validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: nil}}, Payload: good}, e: validate.Expect{Subject: orders}, want: validate.Reject, reason: validate.HeaderMissing},
		{name: "assumed version", m: validate.Message{Payload: good}, e: validate.Expect{Subject: orders, Assume: 1}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.Assumed || o.Version != 1 {
				return fmt.Sprintf("%+v", o)
			}
			return ""
		}},
		{name: "assuming does not hide what is malformed", m: validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "v1"}}, Payload: good}, e: validate.Expect{Subject: orders, Assume: 1}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "passed over", m: validate.Message{Payload: good}, e: validate.Expect{Subject: orders, Pass: []validate.Reason{validate.HeaderMissing}}, want: validate.Reject, reason: validate.HeaderMissing, check: func(o validate.Outcome) string {
			if !o.Pass {
				return "not to be skipped"
			}
			return ""
		}},

		{name: "empty version", m: validate.Message{Headers: with(h1, "schemaVersion", ""), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "version latest", m: validate.Message{Headers: with(h1, "schemaVersion", "latest"), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "version with a zero", m: validate.Message{Headers: with(h1, "schemaVersion", "01"), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "version as a float", m: validate.Message{Headers: with(h1, "schemaVersion", 1.0), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "version as a bool", m: validate.Message{Headers: with(h1, "schemaVersion", true), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "bad guid beside a good version", m: validate.Message{Headers: with(h1, "schemaGuid", "zzz"), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "bad id", m: validate.Message{Headers: with(h1, "schemaId", "-1"), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "bad type", m: validate.Message{Headers: with(h1, "schemaType", "json"), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "subject too long", m: validate.Message{Headers: with(h1, "schemaSubject", strings.Repeat("a", 256)), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},
		{name: "short binary header", m: validate.Message{Headers: with(h1, "__value_schema_id", []byte{1, 2}), Payload: good}, want: validate.Reject, reason: validate.HeaderMalformed},

		{name: "twice the same", m: validate.Message{Headers: append(h1[:5:5], h1...), Payload: good}, want: validate.Accept},
		{name: "twice, two values", m: validate.Message{Headers: append(h1[:5:5], validate.Header{Name: "schemaVersion", Value: "2"}), Payload: good}, want: validate.Reject, reason: validate.HeaderConflict},
		{name: "binary twice, two values", m: validate.Message{Headers: []validate.Header{{Name: "__value_schema_id", Value: binary(f.order1.GUID, nil)}, {Name: "__value_schema_id", Value: binary(f.order2.GUID, nil)}}, Payload: good}, want: validate.Reject, reason: validate.HeaderConflict},

		{name: "guid and version differ", m: validate.Message{Headers: with(without(h1, "schemaId"), "schemaVersion", "2"), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict, says: "schemaGuid"},
		{name: "version and id differ", m: validate.Message{Headers: with(without(h1, "schemaGuid"), "schemaId", fmt.Sprint(f.order2.ID.Number)), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "version and an unknown id differ", m: validate.Message{Headers: with(without(h1, "schemaGuid"), "schemaId", "999"), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "version and an unknown guid differ", m: validate.Message{Headers: with(without(h1, "schemaId"), "schemaGuid", schemas.GUID{1: 1}.String()), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "guid and binary header differ", m: validate.Message{Headers: with(h1, "__value_schema_id", binary(f.order2.GUID, nil)), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "id and prefix differ", m: validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: fmt.Sprint(f.order1.ID.Number)}}, Payload: prefixed(f.order2.ID.Number, good...)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "type differs", m: validate.Message{Headers: with(h1, "schemaType", "AVRO"), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "guid agrees, the id is of another registry", m: validate.Message{Headers: with(h1, "schemaId", "999"), Payload: good}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.ForeignID {
				return "not counted"
			}
			return ""
		}},
		{name: "guid agrees, the id names another schema here", m: validate.Message{Headers: with(h1, "schemaId", fmt.Sprint(f.order2.ID.Number)), Payload: good}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.ForeignID || o.GUID != f.order1.GUID {
				return fmt.Sprintf("%+v", o)
			}
			return ""
		}},
		{name: "guid agrees, the version is unknown", m: validate.Message{Headers: with(h1, "schemaVersion", "9"), Payload: good}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.UnknownVersion {
				return "not counted"
			}
			return ""
		}},
		{name: "id agrees, the version is unknown", m: validate.Message{Headers: with(without(h1, "schemaGuid"), "schemaVersion", "9"), Payload: good}, want: validate.Accept, check: func(o validate.Outcome) string {
			if !o.UnknownVersion {
				return "not counted"
			}
			return ""
		}},

		{name: "subject of another queue", m: validate.Message{Headers: stamped(f.other), Payload: text(`[]`)}, e: validate.Expect{Subject: orders}, want: validate.Reject, reason: validate.SubjectMismatch, says: "other-value"},
		{name: "guid of another subject", m: validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: f.other.GUID.String()}}, Payload: text(`[]`)}, e: validate.Expect{Subject: orders}, want: validate.Reject, reason: validate.SubjectMismatch},
		{name: "id of another subject", m: validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: fmt.Sprint(f.other.ID.Number)}}, Payload: text(`[]`)}, e: validate.Expect{Subject: orders}, want: validate.Reject, reason: validate.SubjectMismatch},
		{name: "by destination", m: validate.Message{Destination: "orders", Headers: h1, Payload: good}, e: validate.Expect{Subject: validate.ByDestination()}, want: validate.Accept},
		{name: "by another destination", m: validate.Message{Destination: "bills", Headers: h1, Payload: good}, e: validate.Expect{Subject: validate.ByDestination()}, want: validate.Reject, reason: validate.SubjectMismatch},
		{name: "by the original destination", m: validate.Message{Destination: "orders.DLT", Headers: with(h1, "dlqOriginalDestination", "orders"), Payload: good}, e: validate.Expect{Subject: validate.ByDestination()}, want: validate.Accept},
		{name: "by type", m: validate.Message{Headers: with(stamped(f.user1), "schemaSubject", "acme.User"), Payload: []byte{2}}, e: validate.Expect{Subject: validate.ByType()}, want: validate.Accept},
		{name: "by type, another subject", m: validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}, e: validate.Expect{Subject: validate.ByType()}, want: validate.Reject, reason: validate.SubjectMismatch},
		{name: "by type, without a title", m: validate.Message{Headers: h1, Payload: good}, e: validate.Expect{Subject: validate.ByType()}, want: validate.Reject, reason: validate.SubjectMismatch, says: "title"},

		{name: "version outside the range", m: validate.Message{Headers: stamped(f.order2), Payload: good}, e: validate.Expect{Subject: orders, Reads: validate.MustReads("1")}, want: validate.Reject, reason: validate.VersionUnsupported, says: "reads versions 1"},
		{name: "version inside the range", m: validate.Message{Headers: stamped(f.order2), Payload: good}, e: validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, want: validate.Accept},

		{name: "not JSON", m: validate.Message{Headers: h1, Payload: text(`{`)}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "against the schema", m: validate.Message{Headers: h1, Payload: text(`{"id":"x"}`)}, want: validate.Reject, reason: validate.PayloadInvalid, check: func(o validate.Outcome) string {
			if len(o.Violations) == 0 {
				return "no violation is told"
			}
			return ""
		}},
		{name: "too large", m: validate.Message{Headers: h1, Payload: append(text(`{"id":1`), append(make([]byte, 9<<20), '}')...)}, want: validate.Reject, reason: validate.PayloadTooLarge},

		{name: "avro", m: validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}, want: validate.Accept},
		{name: "avro with trailing bytes", m: validate.Message{Headers: stamped(f.user1), Payload: []byte{2, 2}}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "protobuf, first message", m: validate.Message{Headers: stamped(f.shop1), Payload: []byte{8, 1}}, want: validate.Accept},
		{name: "protobuf of no bytes", m: validate.Message{Headers: stamped(f.shop1), Payload: []byte{}}, want: validate.Accept},
		{name: "protobuf, named message", m: validate.Message{Headers: with(stamped(f.shop1), "schemaMessage", "acme.Refund"), Payload: []byte{10, 1, 'x'}}, want: validate.Accept, check: func(o validate.Outcome) string {
			if o.Message != "acme.Refund" {
				return o.Message
			}
			return ""
		}},
		{name: "protobuf, a message that is not there", m: validate.Message{Headers: with(stamped(f.shop1), "schemaMessage", "acme.Nope"), Payload: []byte{8, 1}}, want: validate.Reject, reason: validate.PayloadInvalid},
		{name: "protobuf, broken", m: validate.Message{Headers: stamped(f.shop1), Payload: []byte{8}}, want: validate.Reject, reason: validate.PayloadUnreadable},

		{name: "confluent, json", m: validate.Message{Payload: prefixed(f.order1.ID.Number, good...)}, e: validate.Expect{Framing: validate.Confluent, Subject: orders}, want: validate.Accept, check: func(o validate.Outcome) string {
			if string(o.Payload) != string(good) || o.Version != 1 {
				return fmt.Sprintf("%q, version %d", o.Payload, o.Version)
			}
			return ""
		}},
		{name: "confluent, avro", m: validate.Message{Payload: prefixed(f.user1.ID.Number, 2)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Accept},
		{name: "confluent, protobuf", m: validate.Message{Payload: prefixed(f.shop1.ID.Number, 2, 2, 10, 1, 'x')}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Accept, check: func(o validate.Outcome) string {
			if o.Message != "acme.Refund" || len(o.Payload) != 3 {
				return fmt.Sprintf("%s, %x", o.Message, o.Payload)
			}
			return ""
		}},
		{name: "confluent, protobuf nested", m: validate.Message{Payload: prefixed(f.shop1.ID.Number, 4, 0, 0, 10, 1, 'x')}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Accept, check: func(o validate.Outcome) string { return strings.TrimPrefix(o.Message, "acme.Order.Line") }},
		{name: "confluent, protobuf, no such index", m: validate.Message{Payload: prefixed(f.shop1.ID.Number, 2, 20)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "confluent, protobuf, hostile count", m: validate.Message{Payload: prefixed(f.shop1.ID.Number, 0xfe, 0xff, 0xff, 0xff, 0x0f)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "confluent, indexes and header differ", m: validate.Message{Headers: with(stamped(f.shop1), "schemaMessage", "acme.Order"), Payload: prefixed(f.shop1.ID.Number, 2, 2)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "confluent, no prefix", m: validate.Message{Headers: h1, Payload: good}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "confluent, cut prefix", m: validate.Message{Payload: []byte{0, 0, 0}}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "confluent, glue instead", m: validate.Message{Payload: append([]byte{3, 0}, make([]byte, 20)...)}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Reject, reason: validate.HeaderMissing, says: "aws-glue"},
		{name: "binary header, no prefix", m: validate.Message{Headers: []validate.Header{{Name: "__value_schema_id", Value: binary(f.shop1.GUID, framing.Indexes{1})}}, Payload: []byte{10, 1, 'x'}}, e: validate.Expect{Framing: validate.Confluent}, want: validate.Accept, check: func(o validate.Outcome) string { return strings.TrimPrefix(o.Message, "acme.Refund") }},
		{name: "binary header with bytes behind", m: validate.Message{Headers: []validate.Header{{Name: "__value_schema_id", Value: append(binary(f.shop1.GUID, framing.Indexes{1}), 7)}}, Payload: []byte{10, 1, 'x'}}, want: validate.Reject, reason: validate.HeaderMalformed},

		{name: "detect, json with prefix", m: validate.Message{Payload: prefixed(f.order1.ID.Number, good...)}, e: validate.Expect{Framing: validate.Detect}, want: validate.Accept},
		{name: "detect, json without prefix", m: validate.Message{Headers: h1, Payload: good}, e: validate.Expect{Framing: validate.Detect}, want: validate.Accept},
		{name: "detect, json with prefix and headers", m: validate.Message{Headers: h1, Payload: prefixed(f.order1.ID.Number, good...)}, e: validate.Expect{Framing: validate.Detect}, want: validate.Accept},
		{name: "detect, json with another prefix", m: validate.Message{Headers: h1, Payload: prefixed(f.order2.ID.Number, good...)}, e: validate.Expect{Framing: validate.Detect}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "detect, avro with an agreeing header", m: validate.Message{Headers: stamped(f.user1), Payload: prefixed(f.user1.ID.Number, 2)}, e: validate.Expect{Framing: validate.Detect}, want: validate.Accept, check: func(o validate.Outcome) string {
			if len(o.Payload) != 1 {
				return "the prefix is still there"
			}
			return ""
		}},
		{name: "detect, avro data that begins with a zero", m: validate.Message{Headers: stamped(f.user1), Payload: []byte{0}}, e: validate.Expect{Framing: validate.Detect}, want: validate.Accept},
		{name: "detect, avro with nothing but a prefix", m: validate.Message{Payload: prefixed(f.user1.ID.Number, 2)}, e: validate.Expect{Framing: validate.Detect}, want: validate.Reject, reason: validate.HeaderMissing},

		{name: "dataschema by guid", m: validate.Message{Headers: []validate.Header{{Name: "cloudEvents_dataschema", Value: "urn:uuid:" + f.order1.GUID.String()}}, Payload: good}, want: validate.Accept},
		{name: "dataschema by id", m: validate.Message{Headers: []validate.Header{{Name: "ce_dataschema", Value: fmt.Sprintf("https://registry.example/base/schemas/ids/%d", f.order1.ID.Number)}}, Payload: good}, want: validate.Accept},
		{name: "dataschema by version", m: validate.Message{Headers: []validate.Header{{Name: "cloudEvents:dataschema", Value: "http://r/subjects/orders-value/versions/1"}}, Payload: good}, want: validate.Accept},
		{name: "dataschema elsewhere", m: validate.Message{Headers: []validate.Header{{Name: "ce-dataschema", Value: "https://example.org/order.json"}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "example.org"},
		{name: "dataschema differs", m: validate.Message{Headers: append(h1[:5:5], validate.Header{Name: "ce_dataschema", Value: "http://r/subjects/orders-value/versions/2"}), Payload: good}, want: validate.Reject, reason: validate.IdentityConflict},
		{name: "structured event", m: validate.Message{ContentType: "application/cloudevents+json; charset=utf-8", Payload: text(`{"specversion":"1.0","dataschema":"urn:uuid:` + f.order1.GUID.String() + `","data":{"id":1}}`)}, want: validate.Accept, check: func(o validate.Outcome) string {
			if string(o.Payload) != `{"id":1}` {
				return string(o.Payload)
			}
			return ""
		}},
		{name: "structured event with base64", m: validate.Message{ContentType: "application/cloudevents+json", Headers: stamped(f.user1), Payload: text(`{"data_base64":"Ag=="}`)}, want: validate.Accept},
		{name: "structured event, data invalid", m: validate.Message{ContentType: "application/cloudevents+json", Headers: h1, Payload: text(`{"data":{"id":"x"}}`)}, want: validate.Reject, reason: validate.PayloadInvalid},
		{name: "structured event, broken", m: validate.Message{ContentType: "application/cloudevents+json", Headers: h1, Payload: text(`{"data":`)}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "structured event, data twice", m: validate.Message{ContentType: "application/cloudevents+json", Headers: h1, Payload: text(`{"data":{"id":1},"data":{"id":2}}`)}, want: validate.Reject, reason: validate.PayloadUnreadable},
		{name: "structured event in avro", m: validate.Message{ContentType: "application/cloudevents+avro", Headers: h1, Payload: good}, want: validate.Reject, reason: validate.PayloadUnreadable},

		{name: "azure's schemaId is not ours", m: validate.Message{Headers: with(without(h1, "schemaId"), "schemaId", "00112233445566778899aabbccddeeff"), Payload: good}, want: validate.Accept},
		{name: "azure's schemaId alone", m: validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: "00112233445566778899aabbccddeeff"}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "azure"},
		{name: "apicurio alone", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.value.globalId", Value: make([]byte, 8)}}, Payload: good}, want: validate.Reject, reason: validate.HeaderMissing, says: "apicurio"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _ := open(t, f.shelf, validate.Options{})
			for _, round := range []string{"first", "cached"} {
				o := v.BeforeConsume(ctx, &tt.m, &tt.e)
				if o.Verdict != tt.want || o.Reason != tt.reason {
					t.Fatalf("%s: %s %s (%v), want %s %s", round, o.Verdict, o.Reason, o.Err, tt.want, tt.reason)
				}
				if tt.want == validate.Reject && o.Err == nil {
					t.Errorf("%s: no error says why", round)
				}
				if tt.says != "" && (o.Err == nil || !strings.Contains(o.Err.Error(), tt.says)) {
					t.Errorf("%s: %v does not say %q", round, o.Err, tt.says)
				}
				if tt.check != nil {
					if wrong := tt.check(o); wrong != "" {
						t.Errorf("%s: %s", round, wrong)
					}
				}
			}
		})
	}
}

// A foreign registry reuses version 2 for another schema: what was stamped for
// the old one is never read with the new one, even out of a cache that is old.
func TestReusedVersion(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value")}
	old := &validate.Message{Headers: stamped(f.order2), Payload: text(`{"id":1}`)}
	next := f.order2
	next.Source.Text = `{"type":"object","required":["id","sku"]}`
	next.GUID = schemas.GUIDOf(next.Source.Text, nil, nil, nil)
	next.ID.Number = 77
	f.next = 77
	f.change(next)
	if o := v.BeforeConsume(ctx, old, e); o.Verdict != validate.Reject || o.Reason != validate.IdentityConflict {
		t.Errorf("the old message: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	anew := &validate.Message{Headers: stamped(next), Payload: text(`{"id":1,"sku":2}`)}
	if o := v.BeforeConsume(ctx, anew, e); o.Verdict != validate.Accept {
		t.Errorf("the new message: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	// Without a GUID nothing can tell: this is the exposure that it is stamped for.
	bare := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "2"}}, Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, bare, e); o.Reason != validate.PayloadInvalid {
		t.Errorf("a version alone: %s %s", o.Verdict, o.Reason)
	}
}

// The cache says version 2 is one schema, the registry by now another; a message
// of the new one is asked about once more before it is refused.
func TestConflictAsksPastTheCache(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value")}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order2), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept {
		t.Fatal(o.Err)
	}
	next := f.order2
	next.Source.Text = `{"type":"object","required":["sku"]}`
	next.GUID = schemas.GUIDOf(next.Source.Text, nil, nil, nil)
	next.ID.Number = 77
	f.next = 77
	f.change(next)
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(next), Payload: text(`{"sku":1}`)}, e); o.Verdict != validate.Accept || o.GUID != next.GUID {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	s := newShelf()
	v1 := s.put("users-value", schemas.Avro, userV1)
	s.put("users-value", schemas.Avro, `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string","default":"-"}]}`)
	s.put("users-value", schemas.Avro, `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string"}]}`)
	v, _ := open(t, s, validate.Options{})
	m := &validate.Message{Headers: stamped(v1), Payload: []byte{2}}
	users := validate.Fixed("users-value")
	o := v.BeforeConsume(ctx, m, &validate.Expect{Subject: users, Reader: 2, Value: true})
	if o.Verdict != validate.Accept {
		t.Fatalf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	if doc, ok := o.Value.(map[string]any); !ok || doc["mail"] != "-" || doc["id"] != int64(1) {
		t.Errorf("the reader sees %#v", o.Value)
	}
	o = v.BeforeConsume(ctx, m, &validate.Expect{Subject: users, Reader: 3})
	if o.Verdict != validate.Reject || o.Err == nil || !strings.Contains(o.Err.Error(), "version 3") {
		t.Errorf("a reader that cannot: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	if o = v.BeforeConsume(ctx, m, &validate.Expect{Subject: users, Reader: 9}); o.Verdict != validate.Hold {
		t.Errorf("a reader that is not there: %s %s", o.Verdict, o.Reason)
	}
	if o = v.BeforeConsume(ctx, m, &validate.Expect{Subject: users, Reader: 1, Value: true}); o.Value == nil {
		t.Error("no value when the reader is the writer")
	}
}

func TestOutageOfAWeakerIdentity(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	guid := &validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: f.order1.GUID.String()}}, Payload: text(`{"id":1}`)}
	e := &validate.Expect{}
	if o := v.BeforeConsume(ctx, guid, e); o.Verdict != validate.Accept {
		t.Fatal(o.Err)
	}
	f.fail(schemas.ErrUnreachable)
	whole := &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, whole, e); o.Verdict != validate.Accept || !o.Unverified {
		t.Errorf("in the outage: %s %s, unverified %v (%v)", o.Verdict, o.Reason, o.Unverified, o.Err)
	}
	f.fail(nil)
	c.pass(time.Minute)
	if o := v.BeforeConsume(ctx, whole, e); o.Verdict != validate.Accept || o.Unverified {
		t.Errorf("afterwards: %s, unverified %v", o.Verdict, o.Unverified)
	}
	wrong := &validate.Message{Headers: with(without(stamped(f.order1), "schemaId"), "schemaVersion", "2"), Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, wrong, e); o.Reason != validate.IdentityConflict {
		t.Errorf("compared as soon as the registry answers: %s %s", o.Verdict, o.Reason)
	}
}

func TestContextsOfIDs(t *testing.T) {
	t.Parallel()
	s := newShelf()
	eu := s.put(":.eu:orders-value", schemas.JSON, orderV1)
	v, _ := open(t, s, validate.Options{})
	m := &validate.Message{Headers: []validate.Header{{Name: "schemaSubject", Value: ":.eu:orders-value"}, {Name: "schemaId", Value: fmt.Sprint(eu.ID.Number)}}, Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, m, &validate.Expect{}); o.Verdict != validate.Accept || o.ID.Context != ".eu" {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	m = &validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: fmt.Sprint(eu.ID.Number)}}, Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, m, &validate.Expect{}); o.Reason != validate.SchemaUnknown {
		t.Errorf("without the subject's context: %s %s", o.Verdict, o.Reason)
	}
}
