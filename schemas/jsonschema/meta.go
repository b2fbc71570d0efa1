package jsonschema

import (
	"embed"
	"strings"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

//go:embed meta
var metaFiles embed.FS

// metaNames are the addresses of the bundled meta-schemas, without scheme.
var metaNames = []string{
	"json-schema.org/draft-04/schema",
	"json-schema.org/draft-06/schema",
	"json-schema.org/draft-07/schema",
	"json-schema.org/draft/2019-09/schema",
	"json-schema.org/draft/2019-09/meta/applicator",
	"json-schema.org/draft/2019-09/meta/content",
	"json-schema.org/draft/2019-09/meta/core",
	"json-schema.org/draft/2019-09/meta/format",
	"json-schema.org/draft/2019-09/meta/meta-data",
	"json-schema.org/draft/2019-09/meta/validation",
	"json-schema.org/draft/2020-12/schema",
	"json-schema.org/draft/2020-12/meta/applicator",
	"json-schema.org/draft/2020-12/meta/content",
	"json-schema.org/draft/2020-12/meta/core",
	"json-schema.org/draft/2020-12/meta/format-annotation",
	"json-schema.org/draft/2020-12/meta/format-assertion",
	"json-schema.org/draft/2020-12/meta/meta-data",
	"json-schema.org/draft/2020-12/meta/unevaluated",
	"json-schema.org/draft/2020-12/meta/validation",
}

// bundle reads the embedded documents. They are part of the binary: one that
// does not parse is a broken build, which the tests of this package catch.
func bundle() map[string]*document {
	out := make(map[string]*document, len(metaNames))
	for _, name := range metaNames {
		text, err := metaFiles.ReadFile("meta/" + strings.TrimPrefix(name, "json-schema.org/"))
		if err != nil {
			continue
		}
		root, err := jsontext.Parse(string(text), jsontext.Options{})
		if err != nil {
			continue
		}
		out[name] = &document{name: addressOf(root, name), text: string(text), root: root}
	}
	return out
}

func addressOf(root *jsontext.Value, name string) string {
	for _, key := range []string{"$id", "id"} {
		if v := root.Get(key); v != nil {
			return strings.TrimSuffix(v.Text, "#")
		}
	}
	return "https://" + name
}

var bundled = sync.OnceValue(bundle)

// bundledDocument finds a meta-schema by its address, http or https.
func bundledDocument(address string) *document {
	_, rest, ok := strings.Cut(strings.TrimSuffix(address, "#"), "://")
	if !ok {
		return nil
	}
	if rest == "json-schema.org/schema" {
		rest = strings.TrimPrefix(Draft4.URI(), "http://")
	}
	return bundled()[rest]
}

// metaSchema is a dialect's meta-schema as new schemas are held to: an empty
// enum and an empty required are allowed, and so are repeated members of enum.
// Registries in use hold such schemas, and they have a meaning.
type metaSchema struct {
	root    *Node
	dynamic bool
}

var metaSchemas = sync.OnceValue(func() [5]metaSchema {
	docs := bundle()
	for _, relax := range []struct{ document, object, name string }{
		{"json-schema.org/draft-04/schema", "properties", "enum"},
		{"json-schema.org/draft-04/schema", "definitions", "stringArray"},
		{"json-schema.org/draft-06/schema", "properties", "enum"},
		{"json-schema.org/draft-07/schema", "properties", "enum"},
		{"json-schema.org/draft/2019-09/meta/validation", "properties", "enum"},
		{"json-schema.org/draft/2020-12/meta/validation", "properties", "enum"},
	} {
		v := docs[relax.document].root.Get(relax.object).Get(relax.name)
		var kept []jsontext.Member
		for _, m := range v.Members {
			if m.Name != "minItems" && (m.Name != "uniqueItems" || relax.name != "enum") {
				kept = append(kept, m)
			}
		}
		v.Members = kept
	}
	var out [5]metaSchema
	l := newLoader(schemas.Limits{}, 0)
	l.bundled = true
	for _, name := range metaNames {
		_ = l.add(docs[name], Draft7) // without a limit there is no error
	}
	for d := Draft4; d <= Draft2020; d++ {
		_, name, _ := strings.Cut(d.URI(), "://")
		r := docs[name].main
		out[d].root = l.locate(r.root, r)
	}
	_ = l.build()
	for d := range out {
		out[d].dynamic = Dialect(d).IsModern()
	}
	return out
})
