package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// squeeze makes repeated slashes one.
func squeeze(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b.WriteByte(path[i])
		}
	}
	return b.String()
}

// escapedPath is r's path as the router sees it: percent-encoded, so that
// "a%2Fb" is one segment, with repeated slashes as one and no trailing one.
func escapedPath(r *http.Request) string {
	path := squeeze(r.URL.EscapedPath())
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	return path
}

// below takes base off the front of path; ok is false for a path outside it.
func below(base, path string) (inside string, ok bool) {
	if base == "" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, base)
	switch {
	case !ok:
		return path, false
	case rest == "":
		return "/", true
	case rest[0] == '/':
		return rest, true
	}
	return path, false
}

// unescape decodes one path segment. Bytes that are no UTF-8 become U+FFFD, as
// in the reference; net/http has refused broken escapes already.
func unescape(segment string) string {
	text, err := url.PathUnescape(segment)
	if err != nil {
		text = segment
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// inContext splits "/contexts/{c}/rest" into the context and "/rest". A path
// that names only a context, or none, is left alone (ctx is empty).
//
// Errors: a colon inside the context's name, 400.
// Source: REST contract 2.3.
func inContext(path string) (ctx schemas.Context, rest string, err error) {
	after, ok := strings.CutPrefix(path, "/contexts/")
	if !ok {
		return "", path, nil
	}
	name, rest, ok := strings.Cut(after, "/")
	if !ok {
		return "", path, nil
	}
	if ctx, err = contextOf(name); err != nil {
		return "", path, err
	}
	return ctx, "/" + rest, nil
}

func contextOf(segment string) (schemas.Context, error) {
	ctx, err := schemas.ParseContext(unescape(segment))
	if err != nil {
		return "", bare(http.StatusBadRequest, err.Error())
	}
	return ctx, nil
}

// qualify puts a subject or prefix of a URL under /contexts/{c} into that
// context; one that is qualified already stays as it is.
func qualify(ctx schemas.Context, text string) string {
	if ctx == "" || ctx == schemas.DefaultContext || strings.HasPrefix(text, ":.") || strings.HasPrefix(text, ":*:") {
		return text
	}
	return schemas.Subject{Context: ctx, Name: text}.String()
}
