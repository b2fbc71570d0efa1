package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:generate go test -run ^Test(Document|Reference)$ -count=1 . -update

// document is the OpenAPI description of the list of routes, as indented JSON
// that ends in a line feed. Its order is that of the list.
func document(basePath, version string) []byte {
	paths, components := &ordered{}, &ordered{}
	for _, r := range routes {
		operation := &ordered{}
		operation.add("summary", strings.TrimSuffix(r.Doc, "."))
		operation.add("operationId", operationID(r))
		if p := parameters(r); len(p) > 0 {
			operation.add("parameters", p)
		}
		kinds := []string{vendorV1, vendor, plainJSON}
		if r.Plain {
			kinds = []string{plainJSON}
		}
		if r.Answer == metricsShape {
			kinds = []string{metricsType}
		}
		if r.Body != nil {
			operation.add("requestBody", pairs("required", true, "content", content([]string{vendorV1, vendor, plainJSON, octets}, r.Body, components)))
		}
		operation.add("responses", responses(r, kinds, components))
		item, _ := paths.find(r.Path).(*ordered)
		if item == nil {
			item = &ordered{}
			paths.add(r.Path, item)
		}
		item.add(strings.ToLower(r.Method), operation)
	}
	slices.SortFunc(components.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	root := pairs(
		"openapi", "3.0.3",
		"info", pairs("title", "Cartorio schema registry", "description", "The Confluent-compatible REST contract of "+Imitated+" and Cartorio's own routes beside it. Each path of the contract also exists under /contexts/{context}/.", "version", orElse(version, "unknown")),
		"servers", []any{pairs("url", orElse(basePath, "/"))},
		"paths", paths,
		"components", pairs("schemas", components),
	)
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("writing the OpenAPI document: %v", err)) // only a defect of the list of routes can do this
	}
	return append(text, '\n')
}

func operationID(r Route) string {
	id := strings.ToLower(r.Method)
	for part := range strings.SplitSeq(r.Path, "/") {
		part = strings.NewReplacer("{", "by-", "}", "", ".", "-").Replace(part)
		if part != "" {
			id += "-" + part
		}
	}
	return id
}

func parameters(r Route) []any {
	var list []any
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			kind := "string"
			if name == "id" {
				kind = "integer"
			}
			list = append(list, pairs("name", name, "in", "path", "required", true, "schema", pairs("type", kind)))
		}
	}
	for _, q := range r.Query {
		doc := q.Doc
		if len(q.Synonyms) > 0 {
			doc += "; also as " + strings.Join(q.Synonyms, ", ")
		}
		list = append(list, pairs("name", q.Name, "in", "query", "description", doc, "schema", pairs("type", q.Type)))
	}
	return list
}

func content(kinds []string, s *Shape, components *ordered) *ordered {
	c := &ordered{}
	for _, kind := range kinds {
		c.add(kind, pairs("schema", describe(s, components)))
	}
	return c
}

func responses(r Route, kinds []string, components *ordered) *ordered {
	all := &ordered{}
	if r.Answer.Type == "" {
		all.add("204", pairs("description", "done"))
	} else {
		done := content(kinds, r.Answer, components)
		if r.Stream != nil {
			done.add(eventStream, pairs("schema", pairs("type", "string", "description", "one event for each item, with its revision as id, its kind as event and the item as data; comments between keep the connection")))
		}
		all.add("200", pairs("description", "done", "content", done))
	}
	byStatus := map[int][]int{}
	for _, code := range r.codes() {
		byStatus[status(code)] = append(byStatus[status(code)], code)
	}
	statuses := make([]int, 0, len(byStatus))
	for s := range byStatus {
		statuses = append(statuses, s)
	}
	slices.Sort(statuses)
	for _, s := range statuses {
		var texts []string
		for _, code := range byStatus[s] {
			texts = append(texts, fmt.Sprintf("%d: %s", code, meanings[code]))
		}
		all.add(strconv.Itoa(s), pairs("description", strings.Join(texts, "; "), "content", content(kinds[:1], errorShape, components)))
	}
	return all
}

// codes are all the error codes that r may answer, in order.
func (r Route) codes() []int {
	if r.Plain {
		return with([]int{404, 500}, r.Errors...)
	}
	return with(everywhere, r.Errors...)
}

func describe(s *Shape, components *ordered) any {
	if s.Name == "" {
		return inPlace(s, components)
	}
	if components.find(s.Name) == nil {
		components.add(s.Name, true) // holds the place while members are described
		components.set(s.Name, inPlace(s, components))
	}
	return pairs("$ref", "#/components/schemas/"+s.Name)
}

func inPlace(s *Shape, components *ordered) *ordered {
	o := pairs("type", s.Type)
	if s.Null {
		o.add("nullable", true)
	}
	if s.Doc != "" {
		o.add("description", s.Doc)
	}
	if len(s.Enum) > 0 {
		o.add("enum", s.Enum)
	}
	if s.Items != nil {
		o.add("items", describe(s.Items, components))
	}
	if len(s.Members) > 0 {
		properties := &ordered{}
		var required []string
		for _, m := range s.Members {
			d := describe(m.Shape, components)
			if one, ok := d.(*ordered); ok && m.Doc != "" && one.find("$ref") == nil {
				one.add("description", m.Doc)
			}
			properties.add(m.Name, d)
			if m.Required {
				required = append(required, m.Name)
			}
		}
		o.add("properties", properties)
		if len(required) > 0 {
			o.add("required", required)
		}
	}
	return o
}

// ordered is a JSON object whose members keep their order.
type ordered struct{ members []member }

type member struct {
	name  string
	value any
}

// pairs makes an object of names and values in turn.
func pairs(list ...any) *ordered {
	o := &ordered{}
	for i := 0; i+1 < len(list); i += 2 {
		o.add(list[i].(string), list[i+1])
	}
	return o
}

func (o *ordered) add(name string, v any) { o.members = append(o.members, member{name, v}) }

func (o *ordered) set(name string, v any) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members[i].value = v
		}
	}
}

func (o *ordered) find(name string) any {
	for _, m := range o.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalJSON writes the members in order.
func (o *ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, m.name)
		b = append(b, ':')
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}
