package jsonschema

func hasFormat(name, text string) bool { return true }
