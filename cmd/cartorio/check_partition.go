package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

const rulePartitionKey = "schema.partition-key-changed"

// keyLost tells whether only the old schema has the field of the declared partition
// key, and whether neither has.
func keyLost(q compat.Question, key string) (lost, unknown bool) {
	if key == "" || q.Next == nil || len(q.History) == 0 || q.History[0].Schema == nil {
		return false, false
	}
	old, kind := q.History[0].Schema, q.Next.Source().Type
	format, ok := formats.Named(kind)
	if !ok || format.Tags == nil || old.Source().Type != kind {
		return false, false
	}
	before, after := format.Tags(old), format.Tags(q.Next)
	name := key
	if !hasField(before, name) {
		// Avro and Protobuf name the fields of an inner record by its type.
		name = key[strings.LastIndexByte(key, '.')+1:]
	}
	was, is := hasField(before, name), hasField(after, name)
	return was && !is, !was && !is && !hasField(after, key)
}

// hasField tells whether a field's path ends with name; the paths of JSON Schemas
// have the word object for each object on the way.
func hasField(list []schemas.Tagged, name string) bool {
	return slices.ContainsFunc(list, func(t schemas.Tagged) bool {
		path := strings.ReplaceAll("."+t.Path, ".object.", ".")
		return t.Field && strings.HasSuffix("."+path, "."+name)
	})
}

// partitionKeyChanged tells of a subject whose messages would be spread by
// something else: its declaration names another field than at the git base, or the
// field is gone.
func (g *gate) partitionKeyChanged(r result, c compat.Comparison) (compat.Finding, bool) {
	if r.pair.New == nil {
		return compat.Finding{}, false
	}
	own := g.of(r.pair.New)
	was := own.PartitionKey
	if g.before != nil && r.pair.Old != nil {
		was = declarations{filepath.Dir(g.app.config.Name), g.before.Subjects, true, ""}.of(g.pathOf(r.pair.Old), r.pair.Old.Subject.String()).PartitionKey
	}
	var message string
	switch {
	case was != "" && own.PartitionKey == "":
		message = fmt.Sprintf("its partition key %s is declared no more", was)
	case was != own.PartitionKey && was != "":
		message = fmt.Sprintf("its partition key went from %s to %s", was, own.PartitionKey)
	case r.keyLost:
		message = fmt.Sprintf("the new schema has no field %s, its partition key", own.PartitionKey)
	default:
		return compat.Finding{}, false
	}
	f := about(rulePartitionKey, compat.SeverityBreaking, r.pair.New)
	f.Subject, f.Format, f.Message = r.report.Subject, r.report.Format, message
	f.Head = compat.Location{File: filepath.ToSlash(g.app.config.Name), Line: max(own.Line, 1), Column: 1}
	f.Base = compat.Location{File: c.Old.Label}
	r.identify(&f, f.Path+" "+was+" "+own.PartitionKey)
	return f, true
}
