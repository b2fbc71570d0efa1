package sr_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestExceptions(t *testing.T) {
	t.Parallel()
	const text = `{"exceptions":[{"fingerprint":"7fbc1c5f2ee8bc9f394ce11aaabafd11","reason":"none left","owner":"orders","until":"2026-12-31T23:59:59Z"},{"fingerprint":"00bc1c5f2ee8bc9f394ce11aaabafd11","reason":"r","owner":"o"}]}`
	r := serve(t, body(http.StatusOK, text))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	got, err := c.Exceptions(ctx, schemas.ParseSubject(":.eu:a b"))
	if err != nil {
		t.Fatal(err)
	}
	want := []sr.Exception{
		{Fingerprint: "7fbc1c5f2ee8bc9f394ce11aaabafd11", Reason: "none left", Owner: "orders", Until: time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)},
		{Fingerprint: "00bc1c5f2ee8bc9f394ce11aaabafd11", Reason: "r", Owner: "o"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := c.SetExceptions(ctx, schemas.ParseSubject("a"), got); err != nil {
		t.Fatal(err)
	}
	asked := r.requests()
	if d := cmp.Diff([]string{"GET /api/v1/exceptions?subject=%3A.eu%3Aa+b ", "PUT /api/v1/exceptions?subject=a " + text + "\n"},
		[]string{asked[0].Method + " " + asked[0].URI + " " + asked[0].Body, asked[1].Method + " " + asked[1].URI + " " + asked[1].Body}); d != "" {
		t.Error(d)
	}
}

func TestReaders(t *testing.T) {
	t.Parallel()
	const list = `[{"consumer":"billing","environment":"prod","reads":[{"subject":"s","context":".eu","versions":[1,2],"accepts":"1..3","pinned":2,"seen":"2026-11-30T12:00:00Z","accepted":7}]},{"consumer":"idle"}]`
	want := []schemas.Readership{
		{Consumer: "billing", Environment: "prod", Reads: []schemas.SubjectRead{{
			Subject: schemas.Subject{Context: ".eu", Name: "s"}, Versions: []schemas.Version{1, 2}, Accepts: "1..3", Pinned: 2,
			Seen: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Accepted: 7,
		}}},
		{Consumer: "idle"},
	}
	for name, tt := range map[string]struct {
		answer string
		status int
		err    error
	}{
		"a list":          {list, 200, nil},
		"a member":        {`{"readers":` + list + `}`, 200, nil},
		"nothing":         {`{}`, 200, schemas.ErrUnintelligible},
		"a wrong moment":  {`[{"consumer":"c","reads":[{"subject":"s","seen":"yesterday"}]}]`, 200, schemas.ErrUnintelligible},
		"another product": {`{"error_code":404,"message":"no"}`, 404, schemas.ErrUnintelligible},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, body(tt.status, tt.answer))
			c, _ := client(t, sr.Options{URLs: []string{r.URL}})
			got, err := c.Readers(ctx, schemas.ParseSubject("s"))
			if !errors.Is(err, tt.err) {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); tt.err == nil && d != "" {
				t.Error(d)
			}
			if got := r.requests()[0].URI; got != "/api/v1/subjects/s/readers" {
				t.Error(got)
			}
		})
	}
}
