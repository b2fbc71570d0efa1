package protobuf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

// CategoryRules are buf's rules as ours are told, by id: what a finding of a
// category names. They have no effect of their own on data, and no example.
func CategoryRules() []compat.Rule {
	var list []compat.Rule
	for _, name := range slices.Sorted(maps.Keys(categoryRules)) {
		var in []string
		for _, category := range CategoryNames() {
			if strings.Contains(categoryRules[name], categoryLetters[category]) {
				in = append(in, category)
			}
		}
		id := "protobuf." + strings.ReplaceAll(strings.ToLower(name), "_", "-")
		words := strings.ToLower(strings.ReplaceAll(name, "_", " "))
		list = append(list, compat.Rule{ID: id, Mirror: id, Peers: []string{name}, Example: compat.Example{
			Title: "buf's rule " + name + ": " + words,
			Why:   fmt.Sprintf("it is part of %s: a rule set refuses the change whichever side reads, and whatever it does to data. What happens to data is told beside it, by a rule of ours.", listed(in)),
			Fix:   "undo the change, or ask for a category that allows it.",
		}})
	}
	return list
}

func listed(names []string) string {
	if len(names) == 1 {
		return "the category " + names[0]
	}
	return "the categories " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
