package report

import (
	"fmt"
	"io"
	"strings"
)

// mostAnnotations is how many annotations of one kind a step may make; further
// ones vanish without a word, so the last one tells how many there are.
const mostAnnotations = 10

var (
	// GitHub's workflow commands: data and properties escape differently.
	ofData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ofProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub prints workflow commands and nothing else.
func writeGitHub(w io.Writer, r Run) error {
	list := r.everything()
	most := r.Annotations
	if most <= 0 || most > mostAnnotations {
		most = mostAnnotations
	}
	if r.Findings > 0 {
		most = min(most, r.Findings)
	}
	var b strings.Builder
	rest, kind := 0, ""
	if len(list) > 0 {
		kind = list[0].kind() // the worst comes first
	}
	if len(list) > most {
		rest, list = len(list)-(most-1), list[:most-1]
	}
	for _, i := range list {
		b.WriteString(annotation(i))
	}
	if rest > 0 {
		all := rest + len(list)
		fmt.Fprintf(&b, "::%s title=%s::%s\n", kind, ofProperty.Replace("Cartório"),
			ofData.Replace(fmt.Sprintf("%d findings in all (%s); %d of them are annotated, the job summary and the other formats hold more", all, counts(r.Document.Summary), len(list))))
	}
	_, err := io.WriteString(w, visible(b.String()))
	return err
}

// kind is the workflow command that tells of an item.
func (i item) kind() string {
	if i.accepted != nil {
		return "notice"
	}
	return map[string]string{breaking: "error", notChecked: "error", risk: "warning", note: "notice"}[i.severity]
}

func annotation(i item) string {
	var properties []string
	add := func(name, value string) { properties = append(properties, name+"="+ofProperty.Replace(value)) }
	if i.file != "" {
		add("file", i.file)
		if i.line > 0 {
			add("line", fmt.Sprint(i.line))
			// A column is shown only where both ends are on one line.
			if i.endLine > i.line {
				add("endLine", fmt.Sprint(i.endLine))
			} else if i.column > 0 {
				add("col", fmt.Sprint(i.column))
				if i.endLine == i.line && i.endColumn > i.column {
					add("endColumn", fmt.Sprint(i.endColumn))
				}
			}
		}
	}
	add("title", i.label()+": "+i.rule)
	text := i.message
	for _, l := range i.describe() {
		text += "\n" + l
	}
	return "::" + i.kind() + " " + strings.Join(properties, ",") + "::" + ofData.Replace(text) + "\n"
}
