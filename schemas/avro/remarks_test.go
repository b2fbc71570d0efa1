package avro_test

import (
	"strings"
	"testing"
)

func TestRemarks(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"type":"record","name":"P","doc":"a","doc":"b","fields":[
{"name":"a","type":{"type":"enum","name":"E","symbols":["A"]},"default":"Z"},
{"name":"b","type":{"type":"fixed","name":"F","size":2},"default":"abc"},
{"name":"c","type":"int","logicalType":"date"},
{"name":"d","type":["null",{"type":"string","logicalType":"date"}],"aliases":["a"]},
{"name":"e","type":{"type":"array","items":{"type":"bytes","logicalType":"decimal"}},"aliases":["x"]},
{"name":"f","type":{"type":"int","logicalType":"moon"},"aliases":["x"]},
{"name":"g","type":["null",{"type":"record","name":"Q","fields":[{"name":"q","type":"Q"}]}]},
{"name":"h","type":{"type":"long","logicalType":7}},
{"name":"i","type":{"type":"long","logicalType":"timestamp-millis"}, "default":0},
{"name":"j","type":["null","string"],"default":"null"}]}`)
	var got []string
	for _, r := range s.Remarks() {
		got = append(got, r.Position.String()+" "+string(r.Pointer)+" "+r.Summary)
	}
	want := []string{
		`1:39  the member "doc" is given twice`,
		`2:73 /fields/0/default the default of field "a" cannot be filled in: "Z" is no symbol of "E"`,
		`3:67 /fields/1/default the default of field "b" cannot be filled in: "abc" is not 2 bytes long`,
		`4:40 /fields/2/logicalType the logical type on the field "c" means nothing`,
		`5:1 /fields/3 the field "d" lists the name of its sibling "a" as an alias`,
		`5:59 /fields/3/type/1/logicalType the logical type "date" does not fit this string and is ignored`,
		`6:74 /fields/4/type/items/logicalType the logical type "decimal" does not fit this bytes and is ignored`,
		`7:1 /fields/5 the fields "e" and "f" list the same alias "x"`,
		`7:48 /fields/5/type/logicalType the logical type "moon" is unknown and is ignored`,
		`8:28 /fields/6/type/1 no finite value fits the record "Q": it contains itself without a way out`,
		`9:49 /fields/7/type/logicalType the logical type is no text and is ignored`,
		`11:48 /fields/9/default the default of field "j" is the text "null", not null`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if r := mustParse(t, eventSchema).Remarks(); len(r) > 0 {
		t.Errorf("a plain schema gets %v", r)
	}
}
