package api

import (
	"fmt"
	"slices"
	"strings"
)

// reference is docs/http.md: the list of routes and the table of errors, for
// people.
func reference() []byte {
	var b strings.Builder
	b.WriteString(`# HTTP

<!-- Made from the list of routes by go generate ./api; change that, not this. -->

Cartório speaks the REST contract of the Confluent Schema Registry (` + Imitated + `), so its clients work unchanged. The same list describes it to machines: [openapi.json](openapi.json), also at ` + "`/openapi.json`" + `.

- **Bodies** are JSON. A request may say ` + "`" + vendorV1 + "`, `" + vendor + "`, `" + plainJSON + "` or `" + octets + "`" + `, or nothing; the answer is the first three of these that ` + "`Accept`" + ` likes best.
- **Success** is 200 with a body; only deleting a context answers 204. **Failure** is ` + "`{\"error_code\": …, \"message\": …}`" + `, whatever failed; the first three digits of the code are the status.
- **Paths**: percent-encode subjects (` + "`a%2Fb`" + ` is one subject); a trailing slash and repeated slashes mean nothing. HEAD and OPTIONS work everywhere.
- **Query**: ` + "`true`" + ` in any letter case is true, everything else is false; unknown parameters are ignored; a number that is none answers 404.
- **Contexts**: every path also exists under ` + "`/contexts/{context}/`" + `. A context has subjects, ids, levels and modes of its own; ` + "`:.context:subject`" + ` names a subject in it anywhere. Reads of a version, an id or a schema look for an unqualified subject in the default context first, then in the others.
- **Changes**: ` + "`GET /api/v1/changes`" + ` reads the journal in pages: who asked for what, in which request, and what it was before and after. With ` + "`Accept: text/event-stream`" + ` it is a stream of server-sent events that begins behind ` + "`Last-Event-ID`" + ` or ` + "`after`" + `, beats every 15 seconds and ends when the server stops; a reader that takes nothing for 10 seconds is dropped and can come back to where it was. Values of sensitive properties are not told.
- **The past**: reads with ` + "`asOf`" + ` answer as of a revision of the journal or an RFC 3339 time, and name the revision in ` + "`" + revisionHeader + "`" + `. A text that was permanently deleted since is answered with ` + "`erased`" + `, and as raw text with 40403. The first look at a part of the past folds the journal's events up to it, later ones at most 25,000.
- **Inline tags**: paths in ` + "`schemaTags`" + ` have full names: ` + "`com.acme.User.home.com.acme.Address.street`" + ` in Avro (arrays, maps and unions leave no trace), ` + "`object.home.object.street`" + `, ` + "`allof.0.object.a`" + `, ` + "`object.list.array.object.a`" + ` and ` + "`$defs.D.object.a`" + ` in JSON Schema, ` + "`.acme.User.street`" + ` in Protobuf. Requests may leave out namespaces and packages.
- **Caching**: answers by id, by GUID and of schema texts carry an ` + "`ETag`" + `. Nothing may be stored by caches but the text of a GUID under ` + "`/api/v1`" + `, which may be kept for ever.
- ` + "`X-Request-ID`" + ` is sent back when it is printable text of at most 256 bytes, or made; the journal keeps it with every write. ` + "`" + risksHeader + "`" + ` counts, on answers to comparisons, what may hurt data though the verdict lets it pass.

## Endpoints

`)
	group := ""
	for i, r := range routes {
		if name := groupOf(r.Path); name != group {
			if i > 0 {
				b.WriteString("\n")
			}
			group = name
			fmt.Fprintf(&b, "### %s\n\n| request | what it does | query | may fail with |\n|---|---|---|---|\n", group)
		}
		var query, codes []string
		for _, q := range r.Query {
			query = append(query, "`"+q.Name+"`")
		}
		for _, code := range r.Errors {
			codes = append(codes, fmt.Sprint(code))
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", r.Method, r.Path, r.Doc, strings.Join(query, " "), strings.Join(codes, " "))
	}
	b.WriteString("\nWhat a parameter means stands in openapi.json. Beside the codes named, any route may answer ")
	for i, code := range everywhere {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, code)
	}
	b.WriteString(" and 405.\n\n## Error codes\n\n| code | status | meaning |\n|---|---|---|\n")
	codes := make([]int, 0, len(meanings))
	for code := range meanings {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b int) int {
		if status(a) != status(b) {
			return status(a) - status(b)
		}
		return a - b
	})
	for _, code := range codes {
		fmt.Fprintf(&b, "| %d | %d | %s |\n", code, status(code), meanings[code])
	}
	return []byte(b.String())
}

func groupOf(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "schemas":
		return "Schemas"
	case "subjects":
		return "Subjects and versions"
	case "compatibility":
		return "Compatibility"
	case "config":
		return "Config"
	case "mode":
		return "Mode"
	case "contexts":
		return "Contexts"
	case "api", "healthz", "readyz", "metrics", "openapi.json":
		return "Cartório's own"
	}
	return "Server"
}
