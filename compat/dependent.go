package compat

import "github.com/cartorio-registry/cartorio/schemas"

// Dependent is a text that both sides of a pair have, references included, while
// something that it refers to is not the same.
type Dependent struct {
	Source schemas.Source
	// References are what those of Source stand for, in their order.
	References []Referred
	// Closure holds the texts of all that Source refers to, directly or not, on
	// the new side.
	Closure []string
	// Old and Next read the text as the schema of either side, where the text
	// alone does not tell. Each is called once at most.
	Old, Next func() (schemas.Schema, error)
}

// Referred is what a reference stands for on both sides.
type Referred struct {
	Names []string // of what it defines; see [schemas.Outline]
	// Old and Next are nil where nothing is different, in it and in all that it
	// refers to.
	Old, Next schemas.Schema
}
