package schemas

import (
	"crypto/md5" //nolint:gosec // the GUID formula of the wire is MD5; it is an identity, not a protection
	"encoding/binary"
	"slices"
	"sort"
)

// Metadata is what users attach to a schema: tags by path, properties, and the
// names of the properties that are sensitive.
type Metadata struct {
	Tags       map[string][]string
	Properties map[string]string
	Sensitive  []string
}

// RuleSet holds the contract rules that users attach to a schema. Cartório
// stores and returns them and executes none.
type RuleSet struct {
	Migration, Domain, Encoding []ContractRule
	EnableAt                    string
}

// ContractRule is one rule of a RuleSet, in the wire's own words.
type ContractRule struct {
	Name, Doc, Kind, Mode, Type string
	Tags                        []string
	Params                      map[string]string
	Expr, OnSuccess, OnFailure  string
	Disabled                    bool
}

// GUIDOf computes the GUID of a schema: the MD5 of its text, its references,
// metadata and rules. Absent metadata and rules (nil) differ from empty ones.
//
// Source: REST contract 5.3.
func GUIDOf(text string, references []Reference, metadata *Metadata, rules *RuleSet) GUID {
	h := md5.New() //nolint:gosec // see the import
	put := func(s string) { h.Write([]byte(s)) }
	put(text)
	for _, r := range references {
		put(r.Name)
		put(r.Subject)
		var v [4]byte
		binary.BigEndian.PutUint32(v[:], uint32(r.Version))
		h.Write(v[:])
	}
	if metadata != nil {
		h.Write([]byte{1})
		for _, k := range sortedKeys(metadata.Tags) {
			put(k)
			for _, v := range sorted(metadata.Tags[k]) {
				put(v)
			}
		}
		for _, k := range sortedKeys(metadata.Properties) {
			put(k)
			put(metadata.Properties[k])
		}
		for _, v := range sorted(metadata.Sensitive) {
			put(v)
		}
	}
	if rules != nil {
		h.Write([]byte{1})
		for _, list := range [][]ContractRule{rules.Migration, rules.Domain, rules.Encoding} {
			for _, r := range list {
				put(r.Name)
				put(r.Doc)
				put(orElse(r.Kind, "TRANSFORM"))
				put(orElse(r.Mode, "WRITEREAD"))
				put(r.Type)
				for _, t := range sorted(r.Tags) {
					put(t)
				}
				for _, k := range sortedKeys(r.Params) {
					put(k)
					put(r.Params[k])
				}
				put(r.Expr)
				put(r.OnSuccess)
				put(r.OnFailure)
				if r.Disabled {
					h.Write([]byte{1})
				}
			}
		}
		put(rules.EnableAt)
	}
	return GUID(h.Sum(nil))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	sort.Strings(out)
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
