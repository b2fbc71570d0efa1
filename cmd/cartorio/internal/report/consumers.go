package report

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

const (
	// mostHurt is how many consumers one finding names.
	mostHurt = 5
	// mostConsumers is how many consumers of one subject a section names.
	mostConsumers = 50
)

// Reader is one row of [Consumers]: a consumer that a change hurts.
type Reader struct {
	Who, Where, What, Seen, Why string
}

// Readership is what a change does to the consumers of one subject.
type Readership struct {
	Subject string
	Hurt    []Reader // the worst first
	More    int      // that are hurt and not listed
	Fine    int      // that read on
}

// Consumers groups what a registry knows of consumers by subject, in the
// document's order. A subject whose consumers all read on is there too.
func Consumers(d compat.Document) []Readership {
	var list []Readership
	at := map[string]int{}
	for _, i := range d.Consumers {
		n, ok := at[i.Subject]
		if !ok {
			n = len(list)
			at[i.Subject] = n
			list = append(list, Readership{Subject: i.Subject})
		}
		one := &list[n]
		switch {
		case i.Answer == compat.ImpactNone:
			one.Fine++
		case len(one.Hurt) == mostConsumers:
			one.More++
		default:
			seen, _, _ := strings.Cut(i.Seen, "T")
			one.Hurt = append(one.Hurt, Reader{Who: i.Consumer, Where: i.Environment, What: i.Answer.Words(), Seen: seen, Why: i.Reason})
		}
	}
	return list
}

// Summary counts the consumers of a subject.
func (r Readership) Summary() string {
	hurt := len(r.Hurt) + r.More
	text := fmt.Sprintf("%d of %s would not read on", hurt, plural(hurt+r.Fine, "consumer", "consumers"))
	if r.More > 0 {
		text += fmt.Sprintf("; %d more are hurt than are listed, and the form json has all", r.More)
	}
	return text
}

// hurts names the consumers that a change of a subject would hurt, for the forms
// that have no section of their own.
func (r Run) hurts(subject string) string {
	var names []string
	n := 0
	for _, i := range r.Document.Consumers {
		if i.Subject != subject || i.Answer == compat.ImpactNone {
			continue
		}
		if n++; n > mostHurt {
			continue
		}
		name := i.Consumer
		if i.Environment != "" {
			name += " in " + i.Environment
		}
		names = append(names, name+" "+i.Answer.Words())
	}
	if n > mostHurt {
		names = append(names, fmt.Sprintf("%d more", n-mostHurt))
	}
	return strings.Join(names, ", ")
}

// mdConsumers is the section about consumers within most bytes, cut at a whole
// consumer; empty where no registry was asked.
func mdConsumers(d compat.Document, most int) string {
	list := Consumers(d)
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n### Who reads it\n")
	// The closing line must fit whatever is cut.
	const closing = "\n**Further consumers are not shown.** The form json holds all.\n"
	cut := func(text string) bool {
		if b.Len()+len(text)+len(closing) > most {
			b.WriteString(closing)
			return true
		}
		b.WriteString(text)
		return false
	}
	for _, one := range list {
		text := fmt.Sprintf("\n%s: %s\n", mdCode(one.Subject), InMarkdown(one.Summary()))
		if len(one.Hurt) > 0 {
			text += "\n| consumer | environment | what happens | last message | why |\n|---|---|---|---|---|\n"
		}
		if cut(text) {
			return b.String()
		}
		for _, c := range one.Hurt {
			cells := []string{c.Who, c.Where, c.What, c.Seen, c.Why}
			for i, cell := range cells {
				cells[i] = InMarkdown(cell)
			}
			if cut("| " + strings.Join(cells, " | ") + " |\n") {
				return b.String()
			}
		}
	}
	return b.String()
}
