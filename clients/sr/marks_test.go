package sr_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	const told = `{"contexts":[{"context":".","listed":true,"highestId":9}],` +
		`"subjects":[{"subject":":.emea:s","highestVersion":4,"gone":[{"version":3,"guid":"1d20cbb9-e5e3-5e97-54e7-da170b6e5ddb","schemaType":"JSON"}],"hidden":[{"version":1,"by":2}]}]`
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.Method + " " + r.URL.Path + " " + string(body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, told+`,"configs":[":.:","a"],"modes":[":.emea:"]}`)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer s.Close()
	c, err := sr.New(sr.Options{URLs: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Marks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	guid, err := schemas.ParseGUID("1d20cbb9-e5e3-5e97-54e7-da170b6e5ddb")
	if err != nil {
		t.Fatal(err)
	}
	want := sr.Marks{
		Contexts: []sr.ContextMarks{{Context: ".", Listed: true, HighestID: 9}},
		Subjects: []sr.SubjectMarks{{
			Subject: schemas.ParseSubject(":.emea:s"), HighestVersion: 4,
			Gone: []sr.GoneVersion{{Version: 3, GUID: guid, Type: schemas.JSON}}, Hidden: []sr.HiddenVersion{{Version: 1, By: 2}},
		}},
		Configs: []schemas.Subject{sr.Global, schemas.ParseSubject("a")},
		Modes:   []schemas.Subject{{Context: ".emea"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// What is asked is what can be sent.
	if err := c.SetMarks(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if want := "PUT /api/v1/marks " + told + "}\n"; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
}
