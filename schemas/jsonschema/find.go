package jsonschema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// resolve is RFC 3986's resolution. A text that is no address is kept as it is:
// it can still be the name of a declared reference.
func resolve(base, ref string) string {
	if ref == "" {
		return base
	}
	r, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	return b.ResolveReference(r).String()
}

// find answers a $ref. It looks among the declared references first, then
// inside the documents, then among the bundled meta-schemas.
//
// Source: JSON Schema specification 2.1.5.
func (l *loader) find(ref string, from *resource) (target *Node, name anchor, why string) {
	if d := l.names[ref]; d != nil { // a name may have a fragment of its own
		return l.locate(d.root, d.main), anchor{}, ""
	}
	address, fragment, _ := strings.Cut(ref, "#")
	r := from
	if address != "" {
		if r = l.lookup(address, from); r == nil {
			return nil, anchor{}, "nothing is known under this name"
		}
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment != "" && fragment[0] != '/' {
		a, ok := r.anchors[fragment]
		if !ok {
			return nil, anchor{}, fmt.Sprintf("no schema there has the anchor %q", fragment)
		}
		return l.locate(a.value, r), a, ""
	}
	root := l.locate(r.root, r)
	if fragment == "" {
		return root, anchor{}, ""
	}
	n, why := l.walk(root, fragment)
	return n, anchor{}, why
}

func (l *loader) lookup(address string, from *resource) *resource {
	if d := l.names[strings.TrimPrefix(address, "./")]; d != nil {
		return d.main
	}
	if d := l.names[address]; d != nil {
		return d.main
	}
	absolute := resolve(from.uri, address)
	for _, u := range []string{absolute, resolve(home, address)} {
		if r := l.resources[u]; r != nil {
			return r
		}
		if d := l.names[u]; d != nil {
			return d.main
		}
	}
	if l.bundled {
		return nil
	}
	if d := bundledDocument(absolute); d != nil {
		return l.adopt(d)
	}
	return nil
}

// adopt takes a bundled meta-schema in, under a document of this loader's own.
func (l *loader) adopt(d *document) *resource {
	own := &document{name: d.name, text: d.text, root: d.root}
	limits := l.limits
	l.limits.Declarations = 0
	_ = l.add(own, Draft7) // without a limit there is no error
	l.limits = limits
	return own.main
}

// locate is the node of a value in r's document, with its true parents so that
// pointers into it are right.
func (l *loader) locate(v *jsontext.Value, r *resource) *Node {
	if n := l.nodes[v]; n != nil {
		n.uses++
		return n
	}
	root := l.at(r.document.root, r.document.main, nil)
	root.uses--
	if v == r.document.root {
		root.uses++
		return root
	}
	path := pathTo(r.document.root, v)
	return l.at(v, r, root, path...)
}

// pathTo finds the tokens from one value down to another that it contains, by
// the offsets.
func pathTo(from, to *jsontext.Value) []string {
	var path []string
	inside := func(v *jsontext.Value) bool { return v.Start <= to.Start && to.End <= v.End }
	for from != to {
		next := from
		for i, item := range from.Items {
			if inside(item) {
				next = item
				path = append(path, strconv.Itoa(i))
				break
			}
		}
		for i := range from.Members {
			if m := &from.Members[i]; next == from && inside(m.Value) {
				next = m.Value
				path = append(path, m.Name)
				break
			}
		}
		if next == from {
			break
		}
		from = next
	}
	return path
}

func pointerTo(from, to *jsontext.Value) schemas.Pointer {
	var p schemas.Pointer
	for _, token := range pathTo(from, to) {
		p = p.Append(token)
	}
	return p
}

// member finds a member, by an index where there are many.
func (l *loader) member(v *jsontext.Value, name string) *jsontext.Value {
	if v == nil || len(v.Members) < 16 {
		return v.Get(name)
	}
	index := l.indexes[v]
	if index == nil {
		index = make(map[string]*jsontext.Value, len(v.Members))
		for i := range v.Members {
			index[v.Members[i].Name] = v.Members[i].Value
		}
		l.indexes[v] = index
	}
	return index[name]
}

// walk follows a JSON Pointer, also through keywords that nobody knows. The
// resource changes where an embedded one begins.
func (l *loader) walk(from *Node, pointer string) (*Node, string) {
	v, r := from.Value, from.resource
	var path []string
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		next := l.member(v, token)
		if next == nil && v.Kind == jsontext.Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Items) && strconv.Itoa(i) == token {
				next = v.Items[i]
			}
		}
		// #/$defs/x also finds what stands under definitions, at the top.
		if next == nil && from.Value == r.document.root {
			if buckets := from.Value.Get("definitions"); v == from.Value && token == "$defs" {
				token, next = "definitions", buckets
			} else if len(path) == 1 && path[0] == "$defs" {
				if next = l.member(buckets, token); next != nil {
					path[0] = "definitions"
				}
			}
		}
		if next == nil {
			return nil, fmt.Sprintf("there is nothing at %q", pointer)
		}
		path = append(path, token)
		v = next
		if own := l.owner[v]; own != nil {
			r = own
		}
	}
	if v.Kind != jsontext.Object && v.Kind != jsontext.Bool {
		return nil, fmt.Sprintf("what stands at %q is no schema", pointer)
	}
	return l.at(v, r, from, path...), ""
}
