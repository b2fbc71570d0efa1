package config

import (
	_ "embed" // the published forms of the files
	"slices"
)

//go:embed config.schema.json
var configSchema []byte

//go:embed exceptions.schema.json
var exceptionsSchema []byte

// Schema is the JSON Schema (draft 2020-12) of cartorio.yaml, for editors. The
// settings of commands are not closed in it, since each binary has its own.
func Schema() []byte { return slices.Clone(configSchema) }

// ExceptionsSchema is the JSON Schema of cartorio.exceptions.yaml.
func ExceptionsSchema() []byte { return slices.Clone(exceptionsSchema) }
