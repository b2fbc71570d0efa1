package avro

import "slices"

// unionIndexes finds the branches of readers' unions.
type unionIndexes map[*Type]*unionIndex

type unionIndex struct {
	kinds   [Fixed + 1]*Type // unnamed branches
	full    map[string]*Type
	simple  map[string][]int
	aliases map[string][]int
}

// candidates are the branches of a reader's union that may take what is no
// union, in the order in which they are tried: the full name; the simple name or
// an alias, in the order of branches; the kind; promotions, nearest first.
//
// Source: avro-compat 6.
func (u unionIndexes) candidates(union, writer *Type) []*Type {
	x := u[union]
	if x == nil {
		x = indexUnion(union)
		u[union] = x
	}
	var list []*Type
	if writer.Named == nil {
		for _, kind := range append([]Kind{writer.Kind}, promotions[writer.Kind]...) {
			if b := x.kinds[kind]; b != nil {
				list = append(list, b)
			}
		}
		return list
	}
	own := x.full[writer.Named.Full]
	if own != nil && own.Kind == writer.Kind {
		list = append(list, own)
	}
	at := slices.Concat(x.simple[writer.Named.Name], x.aliases[writer.Named.Full])
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		if b := union.Branches[i]; b != own && b.Kind == writer.Kind {
			list = append(list, b)
		}
	}
	return list
}

func indexUnion(union *Type) *unionIndex {
	x := &unionIndex{full: map[string]*Type{}, simple: map[string][]int{}, aliases: map[string][]int{}}
	for i, b := range union.Branches {
		if b.Named == nil {
			x.kinds[b.Kind] = b
			continue
		}
		x.full[b.Named.Full] = b
		x.simple[b.Named.Name] = append(x.simple[b.Named.Name], i)
		for _, alias := range b.Named.Aliases {
			x.aliases[alias] = append(x.aliases[alias], i)
		}
	}
	return x
}
