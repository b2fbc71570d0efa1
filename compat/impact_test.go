package compat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	avroformat "github.com/cartorio-registry/cartorio/schemas/avro"
)

// What a consumer told decides what becomes of it: its pin, its range, or the
// newest version that it has read.
func TestImpacts(t *testing.T) {
	t.Parallel()
	parse := func(text string) schemas.Schema {
		t.Helper()
		s, err := avroformat.Format.Parse(t.Context(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// Version 1 reads what is new, version 2 does not, version 3 is not there.
	versions := map[schemas.Version]schemas.Schema{1: parse(`"double"`), 2: parse(`"int"`)}
	q := compat.Question{Checkers: checkers.All(), Subject: "s", Next: parse(`"long"`)}
	for name, tt := range map[string]struct {
		told   compat.Impact
		answer compat.ImpactAnswer
		reason string
	}{
		"pinned, and reads":         {compat.Impact{Pinned: 1}, compat.ImpactNone, "reads on"},
		"pinned, and does not":      {compat.Impact{Pinned: 2}, compat.ImpactBreaks, "it reads with version 2: "},
		"pinned to what is gone":    {compat.Impact{Pinned: 3}, compat.ImpactUnknown, "version 3 cannot be read: gone"},
		"a range with it":           {compat.Impact{Accepts: "1..4", Versions: []schemas.Version{2}}, compat.ImpactNone, "reads on"},
		"an open range":             {compat.Impact{Accepts: "2.."}, compat.ImpactNone, "reads on"},
		"a list with it":            {compat.Impact{Accepts: "1,4"}, compat.ImpactNone, "reads on"},
		"a range without it":        {compat.Impact{Accepts: "1..3"}, compat.ImpactRefuses, "it accepts 1..3, and the new version is 4"},
		"a range above it":          {compat.Impact{Accepts: "5.."}, compat.ImpactRefuses, "it accepts 5.."},
		"a range, and pinned":       {compat.Impact{Accepts: "1..4", Pinned: 2}, compat.ImpactBreaks, "it reads with version 2"},
		"what is no range":          {compat.Impact{Accepts: "new"}, compat.ImpactUnknown, `it declares "new"`},
		"compatible, and is":        {compat.Impact{Accepts: "compatible with 1"}, compat.ImpactNone, "reads on"},
		"compatible, and is not":    {compat.Impact{Accepts: "compatible with 2"}, compat.ImpactBreaks, "version 2"},
		"nothing, and has read":     {compat.Impact{Versions: []schemas.Version{2, 1}}, compat.ImpactMayBreak, "version 2, the newest that it has read"},
		"nothing, and reads on":     {compat.Impact{Versions: []schemas.Version{1}, Accepts: "any"}, compat.ImpactNone, "reads on"},
		"nothing at all":            {compat.Impact{}, compat.ImpactUnknown, "it declares no version, and has read none"},
		"pinned beside what it saw": {compat.Impact{Pinned: 1, Versions: []schemas.Version{2}}, compat.ImpactNone, "reads on"},
	} {
		tt.told.Subject, tt.told.Consumer, tt.told.Environment = "s", "c", "prod"
		got := compat.Impacts(q, 4, []compat.Impact{tt.told}, func(v schemas.Version) (schemas.Schema, error) {
			if s := versions[v]; s != nil {
				return s, nil
			}
			return nil, errors.New("gone")
		})
		if len(got) != 1 || got[0].Answer != tt.answer || !strings.Contains(got[0].Reason, tt.reason) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if remark := got[0].Remark(); (remark == "") != (tt.answer == compat.ImpactNone) || remark != "" && !strings.HasPrefix(remark, "s: the consumer c in prod ") {
			t.Errorf("%s: %q", name, remark)
		}
	}
}

// The worst come first, and each version is read once.
func TestImpactsOrder(t *testing.T) {
	t.Parallel()
	next, err := avroformat.Format.Parse(t.Context(), schemas.Source{Type: schemas.Avro, Text: `"string"`}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old, err := avroformat.Format.Parse(t.Context(), schemas.Source{Type: schemas.Avro, Text: `"int"`}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	list := []compat.Impact{
		{Consumer: "d", Accepts: "1.."},
		{Consumer: "c", Versions: []schemas.Version{1}},
		{Consumer: "b", Accepts: "1"},
		{Consumer: "a", Environment: "z", Pinned: 1},
		{Consumer: "z", Environment: "a", Pinned: 1},
	}
	if v := compat.ImpactVersions(list); fmt.Sprint(v) != "[1]" {
		t.Errorf("asks for %v", v)
	}
	var got []string
	for _, i := range compat.Impacts(compat.Question{Checkers: checkers.All(), Next: next}, 2, list, func(schemas.Version) (schemas.Schema, error) { asked++; return old, nil }) {
		got = append(got, i.Consumer+" "+string(i.Answer))
	}
	if s := strings.Join(got, ", "); s != "z breaks, a breaks, b refuses, c may_break, d none" || asked != 1 {
		t.Errorf("%s; asked %d times", s, asked)
	}
}
