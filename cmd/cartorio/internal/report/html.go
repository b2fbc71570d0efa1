package report

import (
	"html/template"
	"io"
	"strings"
)

// mostPage is how many findings one page shows; browsers grow slow above.
const mostPage = 20_000

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Cartório: {{.Verdict}}</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1b1b;background:#fff}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #ccc}
td,p,li,h3{overflow-wrap:anywhere}td[class],td[data-l=Level]{overflow-wrap:normal}td[data-l=Verdict]{min-width:6rem}td[class]+td{min-width:12rem}td:first-child:not([class]){min-width:9rem}code{font-family:ui-monospace,monospace}.breaking,.not{color:#a40000;font-weight:600}.risk{color:#7a4b00}.note{color:#1f4f8f}.accepted{color:#555}
dl{margin:.3rem 0;display:grid;grid-template-columns:max-content 1fr;gap:0 .8rem}dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
@media(max-width:50rem){table,tbody,tr,td{display:block}thead{display:none}tr{border-bottom:1px solid #ccc;padding:.4rem 0}td{border:0;padding:.1rem 0;overflow-wrap:anywhere}td[data-l]::before{content:attr(data-l) ": ";color:#666;font-weight:400}td:empty{display:none}}
@media(prefers-color-scheme:dark){body{color:#eee;background:#181818}.breaking,.not{color:#ff8080}.risk{color:#ffc069}.note{color:#8ab8ff}.accepted,dt,td[data-l]::before{color:#aaa}td,th,tr{border-color:#444}}
</style>
</head>
<body>
<h1>Cartório: {{.Verdict}}</h1>
<p>{{.Summary}}</p>
{{if .Remarks}}<ul>{{range .Remarks}}<li>{{.}}</li>{{end}}</ul>
{{end}}{{if .Items}}<h2>Findings</h2>
<table>
<thead><tr><th scope="col">Severity</th><th scope="col">Where</th><th scope="col">What</th></tr></thead>
<tbody>
{{range .Items}}<tr{{if .Fingerprint}} id="f-{{.Fingerprint}}"{{end}}><td class="{{.Label}}">{{.Label}}</td><td><code>{{.Where}}</code></td><td><code>{{.Rule}}</code>: {{.Message}}{{if .Details}}
<details><summary>more</summary><dl>{{range .Details}}<dt>{{index . 0}}</dt><dd>{{index . 1}}</dd>{{end}}</dl></details>{{end}}</td></tr>
{{end}}</tbody>
</table>
{{end}}{{if .Hidden}}<p>{{.Hidden}}</p>
{{end}}{{range $n, $r := .Readers}}{{if not $n}}<h2>Who reads it</h2>
{{end}}<h3><code>{{$r.Subject}}</code></h3>
<p>{{$r.Summary}}</p>
{{if $r.Hurt}}<table>
<thead><tr><th scope="col">Consumer</th><th scope="col">Environment</th><th scope="col">What happens</th><th scope="col">Last message</th><th scope="col">Why</th></tr></thead>
<tbody>
{{range $r.Hurt}}<tr><td>{{.Who}}</td><td data-l="Environment">{{.Where}}</td><td data-l="What happens">{{.What}}</td><td data-l="Last message">{{.Seen}}</td><td data-l="Why">{{.Why}}</td></tr>
{{end}}</tbody>
</table>
{{end}}{{end}}{{if .Compared}}<h2>Compared</h2>
<table>
<thead><tr><th scope="col">Subject</th><th scope="col">Before</th><th scope="col">Now</th><th scope="col">Level</th><th scope="col">Verdict</th></tr></thead>
<tbody>
{{range .Compared}}<tr><td>{{.Subject}}</td><td data-l="Before">{{if .Base}}<code>{{.Base}}</code>{{end}}</td><td data-l="Now">{{if .Head}}<code>{{.Head}}</code>{{end}}</td><td data-l="Level">{{.Level}}</td><td data-l="Verdict">{{.Verdict}}{{if .Reason}}: {{.Reason}}{{end}}</td></tr>
{{end}}</tbody>
</table>
{{end}}<p><small>{{.Tool}}</small></p>
</body>
</html>
`))

type row struct {
	Label, Where, Rule, Message, Fingerprint string
	Details                                  [][2]string
}

// writeHTML prints one page that needs nothing else and runs no script.
func writeHTML(w io.Writer, r Run) error {
	list, hidden := r.shown()
	if len(list) > mostPage {
		hidden += len(list) - mostPage
		list = list[:mostPage]
	}
	rows := make([]row, 0, len(list))
	for _, i := range list {
		one := row{Label: i.label(), Where: place(i.file, i.line, i.column), Rule: i.rule, Message: i.message, Fingerprint: i.fingerprint}
		for _, l := range i.describe() {
			label, text, _ := strings.Cut(l, ": ")
			if i.finding == nil {
				label, text = "messages", l
			}
			if label == "hurts" { // the section about consumers says it once
				continue
			}
			one.Details = append(one.Details, [2]string{label, text})
		}
		rows = append(rows, one)
	}
	compared := r.Document.Compared
	if r.Alone {
		compared = nil // schemas that were looked at one by one have no verdict
	}
	if len(compared) > mostPage {
		compared = compared[:mostPage]
	}
	more := ""
	if hidden > 0 {
		more = plural(hidden, "more finding is", "more findings are") + " not shown."
	}
	var b strings.Builder
	if err := page.Execute(&b, map[string]any{
		"Verdict": verdict(r), "Summary": summary(r), "Remarks": r.remarks(), "Items": rows, "Hidden": more, "Readers": Consumers(r.Document),
		"Compared": compared, "Tool": r.Document.Tool,
	}); err != nil {
		return err
	}
	_, err := io.WriteString(w, visible(b.String()))
	return err
}
