package folder_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// The newest version of each subject is an entry whose path is the subject.
func TestNewest(t *testing.T) {
	t.Parallel()
	b := bundled(t)
	f, err := folder.Newest(b, folder.Options{Formats: formats.All, Include: []string{"users-*", "shop/**", "typo"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Entries {
		got = append(got, fmt.Sprintf("%s %s %t %d %v %v", e.Path, e.Source.Type, e.Selected, len(e.Source.References), e.Names, e.Err))
	}
	want := []string{
		":.eu:base JSON false 0 [] <nil>", ":.eu:orders-value JSON false 1 [] <nil>",
		"shop/value PROTOBUF true 0 [shop/value Order] <nil>", "users-value AVRO true 0 [User] <nil>",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !slices.Equal(f.Unmatched, []string{"typo"}) {
		t.Errorf("unmatched %v", f.Unmatched)
	}
	if e, _ := f.Entry("users-value"); e.Source.Text != `{"type":"record","name":"User","fields":[{"name":"id","type":"long","default":0}]}` {
		t.Errorf("users-value is %s", e.Source.Text)
	}
	if _, err := folder.Newest(b, folder.Options{Formats: formats.All, Include: []string{"["}}); err == nil {
		t.Error("a pattern that is none was taken")
	}

	// What refers to a version that another bundle may have otherwise is never known
	// to be the same.
	other, err := folder.Newest(b, folder.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.Entries {
		mine, _ := f.Entry(e.Path)
		its, _ := other.Entry(e.Path)
		if same := folder.Same(f, mine, other, its); same == (len(e.Source.References) > 0) {
			t.Errorf("%s: the same is %t", e.Path, same)
		}
	}
}

// A bundle's subjects are those of a folder, whatever its files are called.
func TestPairNewest(t *testing.T) {
	t.Parallel()
	next, err := folder.Newest(bundled(t), folder.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	old := open(t, fstest.MapFS{
		"users-value.avsc": {Data: []byte(`{"type":"record","name":"Account","fields":[]}`)}, "else.avsc": {Data: []byte(`{"type":"record","name":"User","fields":[]}`)},
	}, folder.Options{Formats: formats.All})
	for _, p := range folder.PairNew(old, next) {
		if p.New.Path == "users-value" && (p.Old == nil || p.Old.Path != "users-value.avsc" || p.Err != nil) {
			t.Errorf("users-value was %+v", p)
		}
	}
}
