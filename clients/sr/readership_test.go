package sr_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var (
	_ validate.Comparer = (*sr.Client)(nil)
	_ validate.Reporter = (*sr.Client)(nil)
)

func TestReportReadership(t *testing.T) {
	t.Parallel()
	r := serve(t, body(http.StatusNoContent, ""))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	err := c.ReportReadership(ctx, schemas.Readership{Consumer: "billing", Environment: "prod", Reads: []schemas.SubjectRead{
		{Subject: schemas.ParseSubject("orders-value"), Versions: []schemas.Version{1, 2}, Accepts: "1..3", Pinned: 3, Seen: time.Date(2026, 11, 30, 9, 0, 0, 0, time.FixedZone("", -3*3600)), Accepted: 7, Rejected: 1},
		{Subject: schemas.ParseSubject(":.eu:orders-value")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.requests()[0]
	want := `{"consumer":"billing","environment":"prod","reads":[` +
		`{"subject":"orders-value","context":".","versions":[1,2],"accepts":"1..3","pinned":3,"seen":"2026-11-30T12:00:00Z","accepted":7,"rejected":1},` +
		`{"subject":"orders-value","context":".eu","versions":[],"accepted":0,"rejected":0}]}` + "\n"
	if d := cmp.Diff([]string{"POST", "/api/v1/readers", want}, []string{got.Method, got.URI, got.Body}); d != "" {
		t.Error(d)
	}
}

// TestReportIsSentOnce shows that counts which may have arrived do not go twice.
func TestReportIsSentOnce(t *testing.T) {
	t.Parallel()
	r := serve(t, body(http.StatusInternalServerError, `{"error_code":50001,"message":"no"}`))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	if err := c.ReportReadership(ctx, schemas.Readership{Consumer: "c"}); !errors.Is(err, schemas.ErrUnreachable) {
		t.Error(err)
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestCanRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		status       int
		ok           bool
		why          string // part of it
		err          error
	}{
		{name: "compatible", status: 200, answer: `{"verdict":"compatible"}`, ok: true},
		{name: "breaking", status: 200, answer: `{"verdict":"breaking","findings":[{"severity":"risk","message":"a risk"},{"severity":"breaking","message":"a field is gone","path":"User.id"},{"severity":"breaking","message":"another"}]}`, why: "a field is gone at User.id; and 1 more"},
		{name: "not checked", status: 200, answer: `{"verdict":"not_checked","compared":[{"reason":"too complex"}]}`, why: "too complex"},
		{name: "no verdict", status: 200, answer: `{}`, err: schemas.ErrUnintelligible},
		{name: "unknown version", status: 404, answer: `{"error_code":40402,"message":"no"}`, err: schemas.ErrVersionUnknown},
		{name: "another product", status: 404, answer: `{"error_code":404,"message":"no"}`, err: schemas.ErrUnintelligible},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, body(tt.status, tt.answer))
			c, _ := client(t, sr.Options{URLs: []string{r.URL}})
			ok, why, err := c.CanRead(ctx, schemas.ParseSubject(":.eu:orders-value"), 3, 1)
			if ok != tt.ok || !strings.Contains(why, tt.why) || !errors.Is(err, tt.err) {
				t.Errorf("%v %q %v", ok, why, err)
			}
			if got := r.requests()[0].URI; got != "/api/v1/compare?reader=%3A.eu%3Aorders-value%403&writer=%3A.eu%3Aorders-value%401" {
				t.Error(got)
			}
		})
	}
}
