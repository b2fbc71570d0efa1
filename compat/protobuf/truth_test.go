package protobuf_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
)

// TestTruth names the answers for whole pairs where surroundings decide: new
// reads old on the wire and in JSON, then old reads new.
func TestTruth(t *testing.T) {
	t.Parallel()
	reads, loses, refuses, alters := compat.Reads, compat.Loses, compat.Refuses, compat.Alters
	for _, c := range []struct {
		name, old, next string
		want            [4]compat.Outcome // wire: new reads old, old reads new; JSON: the same
	}{
		{"equal", p3 + "message M { int32 a = 1; }", p3 + "message M { int32 a = 1; }", [4]compat.Outcome{reads, reads, reads, reads}},
		{"out of range is soft on the wire only", p3 + "message M { int64 a = 1; }", p3 + "message M { int32 a = 1; }", [4]compat.Outcome{reads, reads, refuses, reads}},
		{"a message that requires itself is never written", p2 + "message R { required R r = 1; } message M { optional R a = 1; }", p2 + "message R { required R r = 1; } message M { optional int32 a = 1; }", [4]compat.Outcome{reads, loses, reads, refuses}},
		{"swapped numbers", p3 + "message M { string a = 1; string b = 2; }", p3 + "message M { string b = 1; string a = 2; }", [4]compat.Outcome{loses, loses, reads, reads}},
		{"a name taken by another number", p3 + "message M { string a = 1 [json_name = \"k\"]; }", p3 + "message M { int32 b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, refuses, refuses}},
		{"one member of one type under another number", p3 + "message M { string a = 1 [json_name = \"k\"]; }", p3 + "message M { string b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, reads, reads}},
		{"one member that is a map", p3 + "enum E { O = 0; A = 1; B = 2; } message M { map<bool, E> a = 1 [json_name = \"k\"]; }", p3 + "enum E { O = 0; A = 1; B = 2; } message M { map<bool, E> b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, reads, reads}},
		{"one member that is a map of other values", p3 + "message M { map<string, int32> a_b = 1; }", p3 + "message M { map<string, string> aB = 2; }", [4]compat.Outcome{reads, reads, refuses, refuses}},
		{"one member that is a map of wider keys", p3 + "message X { int32 x = 1; } message M { map<int32, X> a = 1 [json_name = \"k\"]; }", p3 + "message X { int32 x = 1; } message M { map<int64, X> b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, reads, refuses}},
		{"one member that is a map of messages that changed", p3 + "message X { int32 x = 1; } message M { map<int32, X> a = 1 [json_name = \"k\"]; }", p3 + "message X { string x = 1; } message M { map<int32, X> b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{loses, loses, refuses, refuses}},
		{"one member that is a map of other messages", p3 + "message X { int32 x = 1; } message Y { int32 x = 1; } message M { map<int32, X> a = 1 [json_name = \"k\"]; }", p3 + "message X { int32 x = 1; } message Y { int32 x = 1; } message M { map<int32, Y> b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, compat.Undecided, compat.Undecided}},
		{"one member whose enum lost a value", p3 + "enum E { O = 0; A = 1; } message M { map<string, E> a = 1 [json_name = \"k\"]; repeated E l = 3 [json_name = \"m\"]; }", p3 + "enum E { O = 0; } message M { map<string, E> b = 2 [json_name = \"k\"]; repeated E n = 4 [json_name = \"m\"]; }", [4]compat.Outcome{reads, reads, loses, reads}},
		{"one member of two enums", p3 + "enum E { O = 0; A = 1; } enum F { P = 0; B = 1; } message M { E a = 1 [json_name = \"k\"]; }", p3 + "enum E { O = 0; A = 1; } enum F { P = 0; B = 1; } message M { F b = 2 [json_name = \"k\"]; }", [4]compat.Outcome{reads, reads, loses, loses}},
		{"one member that came into a oneof", p3 + "message M { string a = 1 [json_name = \"k\"]; int32 c = 3; }", p3 + "message M { oneof o { string b = 2 [json_name = \"k\"]; int32 c = 3; } }", [4]compat.Outcome{reads, reads, refuses, reads}},
		{"a map of an enum that is zero", p3 + "enum E { O = 0; } message M { map<string, E> a = 1; }", p3 + "enum E { O = 0; } message M { map<string, int32> a = 1; }", [4]compat.Outcome{reads, reads, refuses, reads}},
		{"keys that become one", p3 + "message M { map<int32, string> a = 1; }", p3 + "message M { map<bool, string> a = 1; }", [4]compat.Outcome{loses, reads, refuses, refuses}},
		{"two fields that are one member for the reader", p3 + "message M { string d = 6 [json_name = \"k\"]; }", p3 + "message M { string e = 6 [json_name = \"k\"]; string d = 1; }", [4]compat.Outcome{loses, loses, loses, compat.Undecided}},
		{"required in a message of a message", p2 + "message A { optional int32 x = 1; } message M { optional A a = 1; }", p2 + "message A { required int32 x = 1; } message M { optional A a = 1; }", [4]compat.Outcome{refuses, reads, refuses, reads}},
		{"bytes to a string that nobody checks", p2 + "message M { optional bytes a = 1; }", p2 + "message M { optional string a = 1; }", [4]compat.Outcome{reads, reads, alters, refuses}},
		{"a faithful translation to an edition", p2 + "message M { required int32 a = 1; repeated int32 b = 2; optional string c = 3; }", ed + "option features.repeated_field_encoding = EXPANDED; option features.utf8_validation = NONE; option features.json_format = LEGACY_BEST_EFFORT; message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; repeated int32 b = 2; string c = 3; }", [4]compat.Outcome{reads, reads, reads, reads}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			effects, changes := checker.Checker.Truth(parse(t, c.old, nil), parse(t, c.next, nil), compat.Budget{})
			wire, inJSON := effects[compat.Wire], effects[compat.JSONMapping]
			if got := [4]compat.Outcome{wire.NewReadsOld, wire.OldReadsNew, inJSON.NewReadsOld, inJSON.OldReadsNew}; got != c.want {
				t.Errorf("got %v, want %v: %+v", got, c.want, changes)
			}
		})
	}
}

// A number that the reader knows by another value's name is read without an error,
// and stands for something else.
func TestRenumberedValue(t *testing.T) {
	t.Parallel()
	reads, misleads := compat.Reads, compat.Misleads
	enum := func(values string) string { return p3 + "enum E { " + values + " } message M { E e = 1; }" }
	for _, c := range []struct {
		name, old, next string
		want            compat.Effect // of each change, on the wire
	}{
		{"swapped", enum("O = 0; A = 1; B = 2;"), enum("O = 0; A = 2; B = 1;"), compat.Effect{NewReadsOld: misleads, OldReadsNew: misleads}},
		{"to a number of its own", enum("O = 0; A = 1;"), enum("O = 0; A = 2;"), compat.Effect{NewReadsOld: reads, OldReadsNew: reads}},
		{"its number is given on", enum("O = 0; A = 1;"), enum("O = 0; A = 2; B = 1;"), compat.Effect{NewReadsOld: misleads, OldReadsNew: reads}},
		{"an alias keeps the number", enum("option allow_alias = true; O = 0; A = 1; B = 1;"), enum("option allow_alias = true; O = 0; A = 2; B = 1; C = 2;"), compat.Effect{NewReadsOld: misleads, OldReadsNew: reads}},
		{"in no message", p3 + "enum E { O = 0; A = 1; B = 2; } message M { int32 e = 1; }", p3 + "enum E { O = 0; A = 2; B = 1; } message M { int32 e = 1; }", compat.Effect{NewReadsOld: reads, OldReadsNew: reads}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, changes := checker.Checker.Truth(parse(t, c.old, nil), parse(t, c.next, nil), compat.Budget{})
			n := 0
			for _, change := range changes {
				if change.Rule != "protobuf.enum-value-renumbered" {
					continue
				}
				n++
				if got := change.Effects[compat.Wire]; got != c.want {
					t.Errorf("%s: got %v, want %v", change.Text, got, c.want)
				}
			}
			if n == 0 {
				t.Errorf("no value was renumbered: %+v", changes)
			}
		})
	}
}
