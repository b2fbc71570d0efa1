package lint

import (
	"slices"
	"strings"
	"unicode"
)

// Words splits a name where its spelling does: at underscores and other signs,
// before a capital behind a small letter, and before the last capital of a run
// that small letters follow. They are lower case.
func Words(name string) []string {
	var list []string
	runes := []rune(name)
	from := 0
	put := func(to int) {
		if to > from {
			list = append(list, strings.ToLower(string(runes[from:to])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			put(i)
			from = i + 1
		case i > from && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			put(i)
			from = i
		}
	}
	put(len(runes))
	return list
}

// Pascal is a name as types are called: OrderLine.
func Pascal(name string) string {
	var b strings.Builder
	for _, w := range Words(name) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// Snake is a name as order_line.
func Snake(name string) string { return strings.Join(Words(name), "_") }

// UpperSnake is a name as ORDER_LINE.
func UpperSnake(name string) string { return strings.ToUpper(Snake(name)) }

// IsPascal tells whether a name begins with a capital and has no underscores.
func IsPascal(name string) bool {
	return name != "" && unicode.IsUpper(rune(name[0])) && !strings.ContainsAny(name, "_-.")
}

// IsCamel tells whether a name begins with a small letter and has no underscores.
func IsCamel(name string) bool {
	return name != "" && unicode.IsLower(rune(name[0])) && !strings.ContainsAny(name, "_-.")
}

// IsSnake tells whether a name is small letters, digits and single underscores.
func IsSnake(name string) bool {
	return name != "" && name == strings.ToLower(name) && !strings.ContainsAny(name, "-.") && !strings.Contains(name, "__") &&
		!strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_")
}

// IsUpperSnake tells whether a name is capitals, digits and single underscores.
func IsUpperSnake(name string) bool {
	return name == strings.ToUpper(name) && IsSnake(strings.ToLower(name))
}

// Plain is a name without what spellings differ in.
func Plain(name string) string { return strings.Join(Words(name), "") }

// sensitive are words and pairs of words that name what belongs to a person or
// opens a door.
var sensitive = []string{
	"password", "passwd", "passphrase", "secret", "api key", "private key", "access token", "refresh token", "pin code", "cvv", "cvc",
	"ssn", "social security", "tax id", "cpf", "cnpj", "rg", "nif", "passport", "driver license", "national id",
	"email", "e mail", "phone", "mobile", "birth date", "birthdate", "birthday", "date of birth", "dob",
	"card number", "credit card", "iban", "bank account", "account number", "salary", "diagnosis", "gender", "religion",
	"first name", "last name", "full name", "surname", "street", "home address", "ip address", "biometric", "latitude", "longitude",
}

// Sensitive tells whether a name sounds like a personal or secret value.
func Sensitive(name string) bool {
	text := " " + strings.Join(Words(name), " ") + " "
	return slices.ContainsFunc(sensitive, func(s string) bool { return strings.Contains(text, " "+s+" ") })
}

// Money tells whether a name sounds like an amount of money.
func Money(name string) bool {
	return slices.ContainsFunc(Words(name), func(w string) bool {
		return slices.Contains([]string{"price", "amount", "cost", "fee", "balance", "total", "subtotal", "tax", "discount", "salary", "payment"}, w)
	})
}

// Moment tells whether a name sounds like a point in time.
func Moment(name string) bool {
	words := Words(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return slices.Contains([]string{"timestamp", "datetime", "instant"}, last) ||
		len(words) > 1 && slices.Contains([]string{"at", "time", "date", "ts", "millis"}, last) && !slices.Contains([]string{"run", "cpu", "elapsed", "response"}, words[0])
}

// Near finds the known word that a word was probably meant to be: the same but
// for case and signs, or one or two letters away; "" for none.
func Near(word string, known []string) string {
	plain := Plain(word)
	best, at := "", 3
	for _, k := range known {
		if k == word {
			return ""
		}
		far := distance(plain, Plain(k))
		if far > 0 && len(k) < 5 || far > 1 && len(k) < 8 {
			continue // short words are near to everything
		}
		if far < at {
			best, at = k, far
		}
	}
	return best
}

// distance counts the letters to insert, drop, replace or swap, up to 3.
func distance(a, b string) int {
	const far = 3
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], far)
}
