package deadletter_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A message without an identity is of the subject that its consumer expected,
// where that was a subject and not a rule for finding one.
func TestSubjectOfALetter(t *testing.T) {
	t.Parallel()
	reads := validate.MustReads("1..2")
	for _, tt := range []struct{ said, expected, want string }{
		{"orders-value", (&validate.Expect{Subject: validate.Fixed("other-value"), Reads: reads}).Expected(), "orders-value"},
		{"", (&validate.Expect{Subject: validate.Fixed("orders-value"), Reads: reads}).Expected(), "orders-value"},
		{"", (&validate.Expect{Subject: validate.ByDestination(), Reads: reads}).Expected(), ""},
		{"", (&validate.Expect{Subject: validate.ByType()}).Expected(), ""},
		{"", (&validate.Expect{}).Expected(), ""},
		{"", "", ""},
	} {
		l := &deadletter.Letter{Message: validate.Message{Headers: []validate.Header{{Name: validate.DLQExpected, Value: tt.expected}}}}
		if tt.said != "" {
			l.Message.Headers = append(l.Message.Headers, validate.Header{Name: "schemaSubject", Value: tt.said})
		}
		if got := l.Subject(); got != tt.want {
			t.Errorf("%q, expected %q: the subject is %q, want %q", tt.said, tt.expected, got, tt.want)
		}
	}
}
