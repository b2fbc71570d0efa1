package registry

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzQuickBody finds that what is read quickly is what encoding/json reads.
func FuzzQuickBody(f *testing.F) {
	for _, b := range []registeredBody{
		{Context: ".", Subject: "orders-value", Version: 1, ID: 1, Type: "AVRO", GUID: "095d71cf-1255-6b9d-5e33-0ad575b3df5d"},
		{Context: ".emea", Subject: "é 💾<&>", Version: 999_999_999, ID: 7, Type: "PROTOBUF", GUID: "x"},
		{Context: ".", Subject: "", Version: 0, ID: 0, Type: "", GUID: ""},
	} {
		b.V = bodyVersion
		text := encodeBody(b)
		var got registeredBody
		if !got.quick(text) || !reflect.DeepEqual(got, b) {
			f.Errorf("%s: it is read as %+v", text, got)
		}
		f.Add([]byte(text))
	}
	for _, text := range []string{
		`{"v":1,"context":".","subject":"a\"b","version":1,"id":1,"type":"AVRO","guid":"g"}`,
		`{"v":2,"context":".","subject":"s","version":1,"id":1,"type":"AVRO","guid":"g"}`,
		`{"v":1,"context":".","subject":"s","version":01,"id":1,"type":"AVRO","guid":"g"}`,
		`{"v":1,"context":".","subject":"s","version":1e1,"id":1,"type":"AVRO","guid":"g"}`,
		`{"v":1,"context":".","subject":"s","version":2147483647,"id":2147483648,"type":"AVRO","guid":"g"}`,
		`{"v":1,"context":".","subject":"s","version":-1,"id":1,"type":"AVRO","guid":"g"}`,
		`{"v":1,"context":".","subject":"s","version":1,"id":1,"type":"AVRO","guid":"g","hides":[1]}`,
		`{"v":1,"context":".","subject":"s","version":1,"id":1,"type":"AVRO","guid":"g"} `,
		"{\"v\":1,\"context\":\".\",\"subject\":\"\xff\",\"version\":1,\"id\":1,\"type\":\"AVRO\",\"guid\":\"g\"}",
		"{\"v\":1,\"context\":\".\",\"subject\":\"\n\",\"version\":1,\"id\":1,\"type\":\"AVRO\",\"guid\":\"g\"}",
	} {
		before := registeredBody{GUID: "as it was"}
		if got := before; got.quick([]byte(text)) || !reflect.DeepEqual(got, before) {
			f.Errorf("%s: it is read quickly, or half: %+v", text, got)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var quick, whole registeredBody
		if !quick.quick(text) {
			return
		}
		if err := json.Unmarshal(text, &whole); err != nil || !reflect.DeepEqual(quick, whole) {
			t.Errorf("%q: %+v, by encoding/json %+v, %v", text, quick, whole, err)
		}
		if strings.ContainsRune(quick.Subject, '\uFFFD') && !strings.ContainsRune(string(text), '\uFFFD') {
			t.Errorf("%q: the subject was altered", text)
		}
	})
}
