package jsonschema

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
)

// formats are the formats that can be asserted. An unknown one fits everything.
var formats = map[string]func(string) bool{
	"date":                  isDate,
	"time":                  isTime,
	"date-time":             isDateTime,
	"duration":              isDuration,
	"email":                 func(s string) bool { return isEmail(s, false) },
	"idn-email":             func(s string) bool { return isEmail(s, true) },
	"hostname":              isHostname,
	"host-name":             isHostname,
	"idn-hostname":          isIDNHostname,
	"ipv4":                  isIPv4,
	"ip-address":            isIPv4,
	"ipv6":                  isIPv6,
	"uri":                   func(s string) bool { return isURI(s, false) && hasScheme(s) },
	"uri-reference":         func(s string) bool { return isURI(s, false) },
	"iri":                   func(s string) bool { return isURI(s, true) && hasScheme(s) },
	"iri-reference":         func(s string) bool { return isURI(s, true) },
	"uri-template":          isURITemplate,
	"json-pointer":          isJSONPointer,
	"relative-json-pointer": isRelativePointer,
	"uuid":                  isUUID,
	"regex":                 regex.Valid,
}

func knowsFormat(name string) bool { return formats[name] != nil }

func hasFormat(name, text string) bool {
	check := formats[name]
	return check == nil || check(text)
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isDate is full-date of RFC 3339.
func isDate(s string) bool {
	if len(s) != 10 {
		return false
	}
	_, err := time.Parse("2006-01-02", s)
	return err == nil
}

// isTime is full-time of RFC 3339, leap seconds included: they fall on 23:59:60
// of UTC.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' || !digitsOnly(s[0:2]) || !digitsOnly(s[3:5]) || !digitsOnly(s[6:8]) {
		return false
	}
	hour, minute, second := twoDigits(s[0:]), twoDigits(s[3:]), twoDigits(s[6:])
	rest := s[8:]
	if strings.HasPrefix(rest, ".") {
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end == 1 {
			return false
		}
		rest = rest[end:]
	}
	offset := 0
	if rest != "Z" && rest != "z" {
		if len(rest) != 6 || rest[0] != '+' && rest[0] != '-' || rest[3] != ':' || !digitsOnly(rest[1:3]) || !digitsOnly(rest[4:6]) {
			return false
		}
		h, m := twoDigits(rest[1:]), twoDigits(rest[4:])
		if h > 23 || m > 59 {
			return false
		}
		if offset = h*60 + m; rest[0] == '+' {
			offset = -offset
		}
	}
	if hour > 23 || minute > 59 || second > 60 {
		return false
	}
	return second < 60 || ((hour*60+minute+offset)%1440+1440)%1440 == 1439
}

func twoDigits(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func isDateTime(s string) bool {
	return len(s) > 11 && (s[10] == 'T' || s[10] == 't') && isDate(s[:10]) && isTime(s[11:])
}

// isDuration is the duration of RFC 3339, appendix A.
func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "P")
	if !ok || s == "" {
		return false
	}
	if weeks, ok := strings.CutSuffix(s, "W"); ok {
		return digitsOnly(weeks)
	}
	date, clock, timed := strings.Cut(s, "T")
	if timed && clock == "" {
		return false
	}
	return units(date, "YMD") && units(clock, "HMS")
}

// units reads numbers with units that follow each other in order, none left out
// between the first and the last.
func units(s, order string) bool {
	last := -1
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 {
			return false
		}
		at := strings.IndexByte(order, s[end])
		if at < 0 || last >= 0 && at != last+1 {
			return false
		}
		last, s = at, s[end+1:]
	}
	return true
}

// isEmail is the Mailbox of RFC 5321, and of RFC 6531 when international.
func isEmail(s string, international bool) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if local[0] == '"' {
		if len(local) < 2 || local[len(local)-1] != '"' {
			return false
		}
		for i := 1; i < len(local)-1; i++ {
			switch c := local[i]; {
			case c == '\\':
				if i++; i == len(local)-1 || local[i] < 0x20 || local[i] > 0x7E {
					return false
				}
			case c == '"', c < 0x20, c == 0x7F, c > 0x7F && !international:
				return false
			}
		}
	} else {
		for part := range strings.SplitSeq(local, ".") {
			if part == "" {
				return false
			}
			for _, r := range part {
				if r >= utf8.RuneSelf && international {
					continue
				}
				if !isAlnum(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) {
					return false
				}
			}
		}
	}
	if strings.HasPrefix(domain, "[") && strings.HasSuffix(domain, "]") {
		literal := domain[1 : len(domain)-1]
		if v6, ok := strings.CutPrefix(literal, "IPv6:"); ok {
			return isIPv6(v6)
		}
		return isIPv4(literal)
	}
	if international {
		return isIDNHostname(domain)
	}
	return isHostname(domain)
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func hasScheme(s string) bool {
	scheme, _, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || !isAlnum(rune(scheme[0])) || scheme[0] <= '9' {
		return false
	}
	for _, r := range scheme {
		if !isAlnum(r) && r != '+' && r != '-' && r != '.' {
			return false
		}
	}
	return true
}

// isURI is a URI reference of RFC 3986, or an IRI reference of RFC 3987.
func isURI(s string, international bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
		case c >= utf8.RuneSelf:
			if !international {
				return false
			}
		case !isAlnum(rune(c)) && strings.IndexByte("-._~:/?#[]@!$&'()*+,;=", c) < 0:
			return false
		}
	}
	rest := s
	if hash := strings.IndexByte(rest, '#'); hash >= 0 {
		if strings.ContainsAny(rest[hash+1:], "#[]") {
			return false
		}
		rest = rest[:hash]
	}
	// A colon in the first segment ends a scheme.
	if colon := strings.IndexAny(rest, ":/?"); colon >= 0 && rest[colon] == ':' {
		if !hasScheme(rest) {
			return false
		}
		rest = rest[colon+1:]
	}
	authority := ""
	if strings.HasPrefix(rest, "//") {
		authority = rest[2:]
		if end := strings.IndexAny(authority, "/?"); end >= 0 {
			rest = authority[end:]
			authority = authority[:end]
		} else {
			rest = ""
		}
	}
	if strings.ContainsAny(rest, "[]") {
		return false
	}
	return isAuthority(authority)
}

func isAuthority(s string) bool {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		if strings.ContainsAny(s[:at], "[]@") {
			return false
		}
		s = s[at+1:]
	}
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return false
		}
		host := s[1:end]
		if !isIPv6(host) && !isFutureHost(host) {
			return false
		}
		s = s[end+1:]
		return s == "" || s[0] == ':' && (s == ":" || digitsOnly(s[1:]))
	}
	host, port, has := strings.Cut(s, ":")
	return !strings.ContainsAny(host, "[]") && (!has || port == "" || digitsOnly(port))
}

// isFutureHost is the IPvFuture of RFC 3986.
func isFutureHost(s string) bool {
	if s == "" || s[0] != 'v' && s[0] != 'V' {
		return false
	}
	version, rest, ok := strings.Cut(s[1:], ".")
	if !ok || version == "" || rest == "" {
		return false
	}
	for i := range len(version) {
		if !isHex(version[i]) {
			return false
		}
	}
	return !strings.ContainsAny(rest, "/?#[]@%")
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isURITemplate is RFC 6570.
func isURITemplate(s string) bool {
	for s != "" {
		open := strings.IndexAny(s, "{}")
		literal := s
		if open >= 0 {
			literal = s[:open]
		}
		for i := 0; i < len(literal); i++ {
			c := literal[i]
			if c == '%' && (i+2 >= len(literal) || !isHex(literal[i+1]) || !isHex(literal[i+2])) || c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`|", c) >= 0 {
				return false
			}
		}
		if open < 0 {
			return true
		}
		end := strings.IndexByte(s[open:], '}')
		if s[open] == '}' || end < 0 || !isExpression(s[open+1:open+end]) {
			return false
		}
		s = s[open+end+1:]
	}
	return true
}

func isExpression(s string) bool {
	if s != "" && strings.IndexByte("+#./;?&=,!@|", s[0]) >= 0 {
		s = s[1:]
	}
	for variable := range strings.SplitSeq(s, ",") {
		name := strings.TrimSuffix(variable, "*")
		if name == variable {
			var length string
			var has bool
			if name, length, has = strings.Cut(variable, ":"); has {
				if n, err := strconv.Atoi(length); err != nil || n < 1 || n > 9999 || length[0] == '0' || length[0] == '+' {
					return false
				}
			}
		}
		if name == "" || name[0] == '.' || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
			return false
		}
		for i := 0; i < len(name); i++ {
			if c := name[i]; !isAlnum(rune(c)) && c != '_' && c != '.' && c != '%' {
				return false
			}
		}
	}
	return true
}

func isJSONPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isRelativePointer(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	if end == 0 || end > 1 && s[0] == '0' {
		return false
	}
	return s[end:] == "#" || isJSONPointer(s[end:])
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}
