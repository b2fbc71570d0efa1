package avro_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// bounded runs f and fails if it takes out of proportion: the aim is a second of
// the processor for a text or payload, with room for a slow one.
func bounded(t *testing.T, most int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := costtest.Spent()
	f()
	took := costtest.Spent() - start
	runtime.ReadMemStats(&after)
	if took > costtest.Slower*3*time.Second {
		t.Errorf("it took %v of the processor", took)
	}
	if used := int64(after.TotalAlloc - before.TotalAlloc); used > most {
		t.Errorf("it allocated %d MB", used>>20)
	}
}

// TestHostilePayloads holds the inputs that bring down or mislead the libraries.
func TestHostilePayloads(t *testing.T) {
	ints := `{"type":"array","items":"int"}`
	nulls := `{"type":"array","items":"null"}`
	list := `{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}`
	tree := `{"type":"record","name":"T","fields":[{"name":"kids","type":{"type":"array","items":"T"}}]}`
	for name, c := range map[string]struct {
		schema  string
		payload []byte
		kind    schemas.ViolationKind
	}{
		"five bytes claim two thousand million items":  {ints, []byte{0x80, 0xa8, 0xd6, 0xb9, 0x0e}, schemas.Unreadable},
		"five bytes claim a hundred million nulls":     {nulls, append(long(nil, 100_000_000), 0), schemas.TooComplex},
		"six bytes claim ten million empty records":    {`{"type":"array","items":{"type":"record","name":"E","fields":[]}}`, append(long(nil, 10_000_000), 0), schemas.TooComplex},
		"items of a fixed of no bytes":                 {`{"type":"array","items":{"type":"fixed","name":"F","size":0}}`, append(long(nil, 1<<40), 0), schemas.TooComplex},
		"many small blocks of nulls":                   {nulls, append([]byte(strings.Repeat("\xfe\xff\x03", 1000)), 0), schemas.TooComplex},
		"nulls in blocks with a size":                  {nulls, append(long(long(nil, -1<<50), 0), 0), schemas.TooComplex},
		"a map claims more entries than bytes":         {`{"type":"map","values":"null"}`, append(long(nil, 1<<40), 0), schemas.Unreadable},
		"a string claims two thousand million bytes":   {`"string"`, long(nil, 2_000_000_000), schemas.Unreadable},
		"a fixed larger than the payload":              {`{"type":"fixed","name":"F","size":2147483647}`, []byte{1, 2, 3}, schemas.Unreadable},
		"two megabytes of a list":                      {list, []byte(strings.Repeat("\x02", 2<<20)), schemas.TooLarge},
		"eight megabytes of a list":                    {list, []byte(strings.Repeat("\x02", 8<<20)), schemas.TooLarge},
		"eight megabytes of a tree":                    {tree, []byte(strings.Repeat("\x02", 8<<20)), schemas.TooLarge},
		"a record that contains itself":                {`{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`, []byte(strings.Repeat("\x00", 1<<20)), schemas.Invalid},
		"invalid UTF-8 at the end of a megabyte":       {`"string"`, append(long(nil, 1<<20), []byte(strings.Repeat("a", 1<<20-1)+"\xff")...), schemas.Unreadable},
		"an int beyond 32 bits":                        {`"int"`, []byte{0xff, 0xff, 0xff, 0xff, 0x1f}, schemas.Unreadable},
		"a varint of twelve bytes":                     {`"long"`, []byte("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), schemas.Unreadable},
		"a megabyte of continued varint":               {`"long"`, []byte(strings.Repeat("\x80", 1<<20)), schemas.Unreadable},
		"bytes left over":                              {`"int"`, []byte{0, 0}, schemas.Unreadable},
		"a payload over the limit":                     {`"bytes"`, make([]byte, 8<<20+1), schemas.TooLarge},
		"a record of nulls for each byte of the array": {nullsBeside(10_000), append(append(long(nil, 1<<20), make([]byte, 1<<20)...), 7), schemas.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, c.schema)
			s.Reads(s, schemas.Payload{Bytes: []byte{}}, schemas.ReadOptions{}) // made ready outside of the measure
			for _, value := range []bool{false, true} {
				most := int64(64 << 20)
				if value {
					most *= 4
				}
				bounded(t, most, func() {
					got := s.Reads(s, schemas.Payload{Bytes: c.payload}, schemas.ReadOptions{Value: value})
					if got.OK() {
						t.Fatal("it is read")
					}
					if kind := got.Violations[0].Kind; kind != c.kind && (!value || kind != schemas.TooComplex) {
						t.Errorf("got %v: %s, want %v", got.Violations[0].Kind, got.Violations[0].Text, c.kind)
					}
				})
			}
		})
	}
}

// nullsBeside is an array of records of one int and many nulls: one byte, many
// values.
func nullsBeside(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"a","type":"int"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"n%d","type":"null"}`, i)
	}
	b.WriteString(`]}}`)
	return b.String()
}

// TestHostileReadables are payloads that are valid, and would explode when
// built or printed.
func TestHostileReadables(t *testing.T) {
	s := mustParse(t, nullsBeside(10_000))
	payload := append(append(long(nil, 1<<20), make([]byte, 1<<20)...), 0)
	s.Reads(s, schemas.Payload{}, schemas.ReadOptions{})
	bounded(t, 1<<20, func() {
		if !valid(s, payload) {
			t.Errorf("a valid payload is refused: %v", violations(s, payload))
		}
	})
	bounded(t, 1<<30, func() {
		got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
		if got.OK() || got.Violations[0].Kind != schemas.TooComplex {
			t.Errorf("building ten thousand million values is answered by %v", got.Violations)
		}
	})
	bounded(t, 1<<30, func() {
		if _, v := s.JSONOf(payload, schemas.ReadOptions{}); len(v) != 1 || v[0].Kind != schemas.TooComplex {
			t.Errorf("printing ten thousand million values is answered by %v", v)
		}
	})
}

// doubling is a chain of records, each holding the next one twice.
func doubling(levels int, last, between string) string {
	var b strings.Builder
	b.WriteString(`[`)
	for i := range levels {
		next := fmt.Sprintf(`"R%d"`, i+1)
		if i == levels-1 {
			next = last
		}
		fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[{"name":"a","type":%s%s},{"name":"b","type":%s%s}]},`, i, next, between, next, between)
	}
	return strings.TrimSuffix(b.String(), ",") + `]`
}

func TestHostileSchemas(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"type":"array","items":`, n) + `"int"` + strings.Repeat(`}`, n)
	}
	var limit *schemas.LimitError
	var faults schemas.SyntaxErrors
	for name, c := range map[string]struct {
		text string
		want any // nil: accepted; else the kind of error
	}{
		"four thousand nested arrays":        {deep(4000), &limit},
		"a hundred thousand open brackets":   {strings.Repeat(`[`, 100_000), &limit},
		"as many brackets as allowed":        {deep(128), nil},
		"one bracket more":                   {deep(129), &limit},
		"an exponent of five million":        {`{"type":"int","x":1e5000000}`, &limit},
		"a default with an exponent":         {withDefault(`"double"`, `1e1000000`), &limit},
		"a number of a million digits":       {`{"type":"int","x":` + strings.Repeat("9", 1_000_000) + `}`, &limit},
		"a text of two megabytes":            {`"` + strings.Repeat(" ", 2<<20) + `"`, &limit},
		"a name of two kilobytes":            {`{"type":"fixed","name":"` + strings.Repeat("n", 2048) + `","size":1}`, &limit},
		"a use of a name of two kilobytes":   {`["` + strings.Repeat("n", 2048) + `"]`, &limit},
		"an alias of two kilobytes":          {`{"type":"fixed","name":"F","size":1,"aliases":["` + strings.Repeat("n", 2048) + `"]}`, &limit},
		"thirty thousand fields":             {wideSchema(30_000)[:1<<20-1], &faults}, // cut: no JSON
		"twenty-one thousand symbols":        {`{"type":"enum","name":"E","symbols":["S` + strings.Join(strings.Split(strings.Repeat("0123456789", 2100), ""), `","S`) + `"]}`, &limit},
		"records that double":                {doubling(40, `"int"`, ``), nil},
		"records that double, no width":      {doubling(40, `"null"`, ``), nil},
		"defaults that double":               {doubling(40, `"int"`, `,"default":{}`), &faults}, // the last one is no int
		"defaults that double and end":       {strings.Replace(doubling(40, `"int"`, `,"default":{}`), `"int","default":{}`, `"int","default":1`, 2), nil},
		"definitions that move ever deeper":  {forwardChain(2000), &limit},
		"definitions that move a little":     {forwardChain(30), nil},
		"a branch for each of 5000 records":  {manyBranches(5000), nil},
		"a default against 5000 branches":    {`{"type":"record","name":"P","fields":[{"name":"u","type":{"type":"array","items":` + strings.TrimSuffix(manyBranches(5000), "]") + `,"int"]},"default":[` + strings.TrimSuffix(strings.Repeat(`7,`, 100_000), ",") + `]}]}`, &limit},
		"a duplicate member for every byte":  {`{"type":"int"` + strings.Repeat(`,"":0`, 100_000) + `}`, nil},
		"a hundred thousand attributes":      {`{"type":"int"` + manyMembers(60_000) + `}`, nil},
		"twenty thousand unknown names":      {`[` + manyNames(20_000) + `]`, &faults},
		"half a million faults":              {`[` + strings.TrimSuffix(strings.Repeat(`5,`, 500_000), ",") + `]`, &faults},
		"aliases that are no text":           {`{"type":"fixed","name":"F","size":1,"aliases":[` + strings.TrimSuffix(strings.Repeat(`5,`, 500_000), ",") + `]}`, &faults},
		"a large attribute beside small":     {`{"type":"record","name":"P","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1,"x":"` + strings.Repeat("x", 600_000) + `"}}` + manyRepeats(5000) + `]}`, &faults},
		"fixed sizes beyond any memory":      {`{"type":"record","name":"P","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":2147483647}}` + manyFields(15_000, `"F"`) + `]}`, nil},
		"one definition five thousand times": {`[` + strings.TrimSuffix(strings.Repeat(`{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}},`, 1), ",") + strings.Repeat(`,{"type":"map","values":{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}}`, 5000) + `]`, &faults},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, 256<<20, func() {
				s, err := parse(c.text, schemas.New)
				switch want := c.want.(type) {
				case nil:
					if err != nil {
						t.Fatalf("refused: %v", err)
					}
					for _, payload := range [][]byte{nil, make([]byte, 1000), []byte(strings.Repeat("\x02", 1000))} {
						for _, value := range []bool{false, true} {
							s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: value})
						}
						s.JSONOf(payload, schemas.ReadOptions{})
					}
					s.BinaryOf([]byte(`{}`), schemas.ReadOptions{})
					s.Normalized()
					s.ParsingForm()
					s.Equivalent(mustParse(t, c.text))
				default:
					if !errors.As(err, want) {
						t.Errorf("answered by %T: %.300v", err, err)
					}
				}
			})
		})
	}
}

// forwardChain names each record before its definition, so that printing nests
// what the text has side by side.
func forwardChain(n int) string {
	var b strings.Builder
	b.WriteString(`[`)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"record","name":"C%d","fields":[{"name":"a","type":["null","C%d"]}]},`, i, i+1)
	}
	fmt.Fprintf(&b, `{"type":"record","name":"C%d","fields":[]}]`, n)
	return b.String()
}

func manyRepeats(n int) string { return manyFields(n, `{"type":"fixed","name":"F","size":1,"x":""}`) }

func manyFields(n int, typ string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"m%d","type":%s}`, i, typ)
	}
	return b.String()
}

func manyBranches(n int) string {
	var b strings.Builder
	b.WriteString(`["null"`)
	for i := range n {
		fmt.Fprintf(&b, `,{"type":"record","name":"B%d","fields":[{"name":"a","type":"int"}]}`, i)
	}
	b.WriteString(`]`)
	return b.String()
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"x%d":%d`, i, i)
	}
	return b.String()
}

func manyNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"Z%d"`, i)
	}
	return strings.Join(names, ",")
}

// TestHostilePairs resolves schemas against each other that make the resolution
// large.
func TestHostilePairs(t *testing.T) {
	wide := func(n int, prefix string) string {
		return strings.ReplaceAll(manyBranches(n), `"name":"B`, `"name":"`+prefix)
	}
	for name, c := range map[string]struct{ writer, reader string }{
		"two unions of 3000 records":       {manyBranches(3000), withLong(manyBranches(3000))},
		"two unions of other records":      {wide(3000, "a.B"), wide(3000, "b.C")},
		"branches of one simple name":      {namespaces(2500), withLong(namespaces(2500))},
		"branches of one name, all other":  {namespaces(2500), strings.ReplaceAll(namespaces(2500), `"name":"n`, `"name":"m`)},
		"one record with many aliases":     {namespaces(2500), `{"type":"record","name":"B","fields":[{"name":"a","type":"int","default":1,"aliases":["x` + strings.Join(strings.Split(strings.Repeat("0123456789", 8000), ""), `","x`) + `"]}]}`},
		"unions of 6000 branches":          {manyBranches(6000), withLong(manyBranches(6000))},
		"records that double":              {doubling(40, `"int"`, ``), doubling(40, `"long"`, ``)},
		"records that double in nullables": {nullable(doubling(8, `"int"`, ``)), nullable(doubling(8, `"long"`, ``))},
		"wide records":                     {wideSchema(8000), strings.ReplaceAll(wideSchema(8000), `"long"`, `"double"`)},
		"aliases of each other":            {`{"type":"record","name":"P","fields":[` + aliased(1500, false) + `]}`, `{"type":"record","name":"P","fields":[` + aliased(1500, true) + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			writer, err := parse(c.writer, schemas.Stored)
			if err != nil {
				t.Fatal(err)
			}
			reader, err := parse(c.reader, schemas.Stored)
			if err != nil {
				t.Fatal(err)
			}
			bounded(t, 512<<20, func() {
				reader.Reads(writer, schemas.Payload{Bytes: make([]byte, 100)}, schemas.ReadOptions{Value: true})
			})
		})
	}
}

// nullable wraps the uses of records into a map and a union.
func nullable(text string) string {
	return regexp.MustCompile(`"type":("R\d+")`).ReplaceAllString(text, `"type":["null",{"type":"map","values":$1}]`)
}

// withLong gives a union another branch, so that it is another schema.
func withLong(text string) string { return strings.Replace(text, `["null"`, `["null","long"`, 1) }

// namespaces is a union of records with one simple name.
func namespaces(n int) string {
	var b strings.Builder
	b.WriteString(`["null"`)
	for i := range n {
		fmt.Fprintf(&b, `,{"type":"record","name":"n%d.B","fields":[{"name":"a%d","type":"int"}]}`, i, i)
	}
	b.WriteString(`]`)
	return b.String()
}

func aliased(n int, aliases bool) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"f%d","type":"int"`, i)
		if aliases {
			b.WriteString(`,"aliases":[`)
			for j := range 20 {
				if j > 0 {
					b.WriteString(",")
				}
				fmt.Fprintf(&b, `"f%d"`, (i+j*37)%n)
			}
			b.WriteString(`]`)
		}
		b.WriteString(`}`)
	}
	return b.String()
}

// TestDefaultsThatHoldThemselves: a default that leans on itself many times, at
// each level and behind unions, has that number to the power of any depth of
// parts. Nothing here writes it out.
func TestDefaultsThatHoldThemselves(t *testing.T) {
	deep := strings.Repeat(`{"f1":{},"f0":`, 60) + `{}` + strings.Repeat(`}`, 60)
	for name, c := range map[string]struct {
		types, value string
		fits         bool // else it never ends, and a new schema is refused
	}{
		"a record or a map of it":      {`["R",{"type":"map","values":"R"}]`, `{}`, true},
		"a map of the record or it":    {`[{"type":"map","values":"R"},"R"]`, `{"f0":{},"f1":{}}`, false},
		"no way out":                   {`"R"`, `{}`, false},
		"two records of each other":    {`["R","S",{"type":"map","values":["S","R"]}]`, `{"f0":{},"s":{}}`, true},
		"lists of it":                  {`[{"type":"map","values":{"type":"array","items":"R"}},"R"]`, `{"f0":[{},{},{}]}`, false},
		"a default of sixty levels":    {`["R",{"type":"map","values":["R",{"type":"map","values":"R"}]}]`, deep, false},
		"a default that never ends in": {`["int","R"]`, deep, false},
	} {
		var fields strings.Builder
		for i := range 30 {
			fmt.Fprintf(&fields, `,{"name":"f%d","type":%s,"default":%s}`, i, c.types, c.value)
		}
		text := `["null",{"type":"record","name":"S","fields":[{"name":"s","type":["R","S",{"type":"map","values":"S"}],"default":{}}]},{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1}` + fields.String() + `]}]`
		writer := mustParse(t, `["null",{"type":"record","name":"R","fields":[]},{"type":"record","name":"S","fields":[]}]`)
		t.Run(name, func(t *testing.T) {
			for _, mode := range []schemas.Mode{schemas.New, schemas.Stored} {
				bounded(t, 256<<20, func() {
					s, err := parse(text, mode)
					if accepted := err == nil; accepted != (c.fits || mode == schemas.Stored) {
						t.Errorf("accepted: %v, %.200v", accepted, err)
					}
					if err != nil {
						return
					}
					for _, payload := range [][]byte{{2}, {4}} {
						s.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
					}
					s.BinaryOf([]byte(`{"R":{}}`), schemas.ReadOptions{})
					s.Normalized()
					s.ParsingForm()
					s.Remarks()
				})
			}
		})
	}
}

func TestHostileReferences(t *testing.T) {
	subjects := map[string]text1{}
	var all []string
	for i := range 900 {
		name := fmt.Sprint("s", i)
		uses := []string{}
		next := `"int"`
		if i > 0 {
			uses = []string{fmt.Sprint("s", i-1)}
			next = fmt.Sprintf(`"T%d"`, i-1)
		}
		subjects[name] = text1{fmt.Sprintf(`{"type":"record","name":"T%d","fields":[{"name":"a","type":%s},{"name":"b","type":%s}]}`, i, next, next), uses}
		all = append(all, name)
	}
	subjects["top"] = text1{`"T899"`, []string{"s899"}}
	subjects["every"] = text1{`"T899"`, all}
	subjects["circle"] = text1{`"int"`, []string{"circle"}}
	subjects["protobuf"] = text1{`"int"`, []string{"nowhere"}}
	source, resolver := folderOf(subjects)
	for _, name := range []string{"top", "every"} {
		bounded(t, 512<<20, func() {
			s, err := avro.Parse(context.Background(), source(name), resolver, schemas.ParseOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.ParsingForm()
			if r := s.Reads(s, schemas.Payload{Bytes: make([]byte, 1000)}, schemas.ReadOptions{}); r.OK() {
				t.Errorf("%s: a record of 2^900 ints fits 1000 bytes", name)
			}
		})
	}
	for _, name := range []string{"circle", "protobuf"} {
		_, err := avro.Parse(context.Background(), source(name), resolver, schemas.ParseOptions{})
		var reference *schemas.ReferenceError
		if !errors.As(err, &reference) {
			t.Errorf("%s is answered by %v", name, err)
		}
	}
	if _, err := avro.Parse(context.Background(), source("every"), resolver, schemas.ParseOptions{Limits: schemas.Limits{References: 100}}); err == nil {
		t.Error("900 references pass a limit of 100")
	}
	// A closure is bounded as a whole.
	var limit *schemas.LimitError
	if _, err := avro.Parse(context.Background(), source("every"), resolver, schemas.ParseOptions{Limits: schemas.Limits{Declarations: 100}}); !errors.As(err, &limit) {
		t.Errorf("2700 declarations in references pass a limit of 100: %v", err)
	}
}

// TestDeepStoredSchemas walks what only a stored schema may nest.
func TestDeepStoredSchemas(t *testing.T) {
	records := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[{"name":"f","type":`, i)
		}
		return b.String() + `"int"` + strings.Repeat(`}]}`, n)
	}
	for name, text := range map[string]string{
		"arrays":  strings.Repeat(`{"type":"array","items":`, 9900) + `"int"` + strings.Repeat(`}`, 9900),
		"records": records(3300),
		"default": withDefault(`"int"`, strings.Repeat(`[`, 9000)+strings.Repeat(`]`, 9000)),
	} {
		bounded(t, 512<<20, func() {
			s, err := parse(text, schemas.Stored)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			useAll(s)
		})
	}
	if _, err := parse(forwardChain(9000), schemas.Stored); err == nil {
		t.Error("a canonical text that cannot be read back is accepted")
	}
}

// useAll asks a schema everything that walks it.
func useAll(s *avro.Schema) {
	for _, payload := range [][]byte{nil, make([]byte, 64), []byte(strings.Repeat("\x02", 1000))} {
		s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
		s.JSONOf(payload, schemas.ReadOptions{})
	}
	s.BinaryOf([]byte(`{"f":[[[{}]]]}`), schemas.ReadOptions{})
	s.Normalized()
	s.ParsingForm()
	s.Resolved()
	s.Equivalent(s)
	s.Remarks()
	s.Weight()
}

func TestDeepReferences(t *testing.T) {
	for _, c := range []struct {
		texts    int
		accepted bool
	}{{700, true}, {900, false}} {
		subjects := map[string]text1{}
		for i := range c.texts {
			var uses []string
			next := `"int"`
			if i > 0 {
				uses, next = []string{fmt.Sprint("s", i-1)}, fmt.Sprintf(`"T%d"`, i-1)
			}
			text := strings.Repeat(`{"type":"array","items":`, 250) + next + strings.Repeat(`}`, 250)
			subjects[fmt.Sprint("s", i)] = text1{fmt.Sprintf(`{"type":"record","name":"T%d","fields":[{"name":"a","type":%s}]}`, i, text), uses}
		}
		source, resolver := folderOf(subjects)
		bounded(t, 1<<30, func() {
			s, err := avro.Parse(context.Background(), source(fmt.Sprint("s", c.texts-1)), resolver, schemas.ParseOptions{Mode: schemas.Stored})
			if (err == nil) != c.accepted {
				t.Errorf("%d texts: %v", c.texts, err)
			}
			if err == nil {
				useAll(s)
			}
		})
	}
}
