package registry

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// globalScope is the config and mode of the default context, which the wire
// calls global; registryScope stands above every context.
var (
	globalScope   = schemas.Subject{Context: schemas.DefaultContext}
	registryScope = schemas.Subject{Context: schemas.GlobalContext}
)

// filled is s with the default context where it names none.
func filled(s schemas.Subject) schemas.Subject {
	if s.Context == "" {
		s.Context = schemas.DefaultContext
	}
	return s
}

// chain lists the scopes that a scope inherits from, itself first.
//
// Source: REST contract 5.8.
func chain(scope schemas.Subject) []schemas.Subject {
	list := make([]schemas.Subject, 0, 3)
	for _, s := range [...]schemas.Subject{scope, {Context: scope.Context}, registryScope} {
		if len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}

// writable tells whether a version may be registered under s.
//
// Errors: CodeSubjectInvalid.
// Source: REST contract 2.2.
func writable(s schemas.Subject) error {
	refuse := func(why string) error {
		return &Error{Code: CodeSubjectInvalid, Subject: s, Text: fmt.Sprintf("subject %q is not valid: %s", s, why)}
	}
	switch {
	case !utf8.ValidString(s.Name) || !utf8.ValidString(string(s.Context)):
		return refuse("it is not UTF-8")
	case hasControl(s.Name) || hasControl(string(s.Context)):
		return refuse("it has a control character")
	case s.Name == "__GLOBAL" || s.Name == "__EMPTY":
		return refuse("the name is reserved")
	case s.Context == schemas.GlobalContext:
		return refuse("the context .__GLOBAL holds no subjects: it is the scope of config and mode for the whole registry")
	case s.Context == schemas.AnyContext:
		return refuse("the wildcard context is for searching only")
	}
	return nil
}

// settable tells whether s may have a config or mode of its own: what is
// writable, and the scope of the whole registry.
func settable(s schemas.Subject) error {
	if s == registryScope {
		return nil
	}
	return writable(s)
}

// named is how a message names a scope.
func named(scope schemas.Subject) string {
	if scope.IsContext() {
		return fmt.Sprintf("context '%s'", scope.Context)
	}
	return fmt.Sprintf("subject '%s' in context '%s'", scope, scope.Context)
}

func hasControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}
