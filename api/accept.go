package api

import (
	"net/http"
	"strconv"
	"strings"
)

// The media types of the contract, best first.
const (
	vendorV1   = "application/vnd.schemaregistry.v1+json"
	vendor     = "application/vnd.schemaregistry+json"
	plainJSON  = "application/json"
	octets     = "application/octet-stream"
	noCache    = "no-cache, no-store, must-revalidate"
	neverEnds  = "public, max-age=31536000, immutable"
	rememberAt = 256 // Accept headers remembered, and the longest of them in bytes
)

// Header values that every answer uses; assigned as they are, so that an answer
// allocates none. Nobody may change them.
var (
	contentTypes = map[string][]string{vendorV1: {vendorV1}, vendor: {vendor}, plainJSON: {plainJSON}}
	noCacheValue = []string{noCache}
	xssValue     = []string{"1; mode=block"}
)

// acceptance is what an Accept header comes to: the Content-Type to answer
// with, or nil when none of ours is acceptable.
type acceptance struct{ contentType []string }

var preferred = &acceptance{contentTypes[vendorV1]}

// negotiate answers what to send to whoever sent the given Accept header lines.
// The answer is remembered by the header's text: clients send few different
// ones, and parsing costs a tenth of a whole request.
//
// Source: REST contract 1.3.
func (s *Server) negotiate(lines []string) *acceptance {
	if len(lines) == 0 {
		return preferred
	}
	text := lines[0]
	if len(lines) > 1 {
		text = strings.Join(lines, ",")
	}
	if known, ok := s.accepts.Load(text); ok {
		return known.(*acceptance)
	}
	a := parseAccept(text)
	if len(text) <= rememberAt && s.accepted.Add(1) <= rememberAt {
		s.accepts.Store(strings.Clone(text), a)
	}
	return a
}

// parseAccept chooses by the caller's quality, then by ours. An unparsable
// header is answered with the preferred type, never 406.
func parseAccept(text string) *acceptance {
	if strings.TrimSpace(text) == "" {
		return preferred
	}
	ours := [...]string{vendorV1, vendor, plainJSON}
	quality := [len(ours)]float64{}
	specific := [len(ours)]int{-1, -1, -1}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		kind, q, ok := parseRange(part)
		if !ok {
			return preferred
		}
		for i, t := range ours {
			level := -1
			switch kind {
			case t:
				level = 2
			case "application/*":
				level = 1
			case "*/*":
				level = 0
			}
			if level > specific[i] || level == specific[i] && level >= 0 && q > quality[i] {
				specific[i], quality[i] = level, q
			}
		}
	}
	best := -1
	for i := range ours {
		if quality[i] > 0 && (best < 0 || quality[i] > quality[best]) {
			best = i
		}
	}
	if best < 0 {
		return &acceptance{}
	}
	return &acceptance{contentTypes[ours[best]]}
}

// parseRange reads one element of Accept: its type in lower case and quality.
// A bare "*", which the JVM sends, is "*/*".
func parseRange(part string) (kind string, q float64, ok bool) {
	kind, params, _ := strings.Cut(part, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind == "*" {
		kind = "*/*"
	}
	main, sub, ok := strings.Cut(kind, "/")
	if !ok || main == "" || sub == "" || main == "*" && sub != "*" || strings.ContainsAny(kind, " \t\"(),:;<=>?@[]{}\\") {
		return "", 0, false
	}
	q = 1
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || n < 0 || n > 1 {
			return "", 0, false
		}
		q = n
	}
	return kind, q, true
}

// unsupported tells whether r has a body of a type that is not the contract's.
// A missing Content-Type passes: the reference takes it for octets.
func unsupported(r *http.Request) *problem {
	if r.ContentLength == 0 {
		return nil
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return bare(http.StatusUnsupportedMediaType, "the request's Content-Encoding "+strconv.Quote(coding)+" is not supported: send the body as it is")
	}
	text := r.Header.Get("Content-Type")
	kind, _, _ := strings.Cut(text, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "", vendorV1, vendor, plainJSON, octets:
		return nil
	}
	return bare(http.StatusUnsupportedMediaType, "the request's Content-Type "+strconv.Quote(text)+" is not supported: send "+vendorV1+", "+vendor+", "+plainJSON+" or "+octets)
}

// takesGzip tells whether r asks for gzip.
func takesGzip(h http.Header) bool {
	lines := h["Accept-Encoding"]
	if len(lines) == 0 {
		return false
	}
	star, found := false, false
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(part, ";")
			wanted := true
			if _, value, ok := strings.Cut(strings.ReplaceAll(params, " ", ""), "q="); ok {
				q, err := strconv.ParseFloat(value, 64)
				wanted = err == nil && q > 0
			}
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				if !wanted {
					return false
				}
				found = true
			case name == "*":
				star = wanted
			}
		}
	}
	return found || star
}
