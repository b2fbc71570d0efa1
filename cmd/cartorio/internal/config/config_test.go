package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
)

// read takes a whole text, as the command does: two levels of keys.
func read(t testing.TB, text string) (config.File, []config.Fault) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	r := config.NewReader("cartorio.yaml")
	if doc.Kind == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return r.File, r.Faults
	}
	members := doc.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		key, value := members[i].Value, members[i+1]
		if r.Take(key, value) || value.Kind != yaml.MappingNode {
			continue
		}
		for j := 0; j+1 < len(value.Content); j += 2 {
			r.Take(key+"."+value.Content[j].Value, value.Content[j+1])
		}
	}
	return r.File, r.Faults
}

// whole has every key once.
const whole = `version: 1
registry:
  url: https://registry.example
  context: .shop
  auth: {user: REGISTRY_USER, password: REGISTRY_PASSWORD}
environments:
  dev: https://dev.example
  prod: {url: https://prod.example, context: .live}
scope: {prefix: shop.}
defaults: {level: FULL, policy: LENIENT, verdict_policy: BOTH, category: WIRE, normalize: true}
subjects:
- {name: orders-value, file: schemas/order.avsc, type: AVRO, level: NONE, policy: STRICT, verdict_policy: SOUND, category: FILE, normalize: false, owner: team-orders, stability: beta, partition_key: customer.id, references: auto, metadata: {tags: {a: [b]}, properties: {p: 'x'}, sensitive: [p]}, mode: READONLY, history: [old.avsc, {file: older.avsc, references: auto, metadata: {tags: {a: b}}}]}
- {name: old-name, alias: orders-value}
- alone
- {name: '{name}-value', files: 'events/**/*.avsc', references: [{name: a.B, subject: b, version: 3}]}
check:
  against: git:main
  use: [avro.*]
  except: json.property-removed
  ignore: [examples, '**/gen']
  ignore_only: {avro.doc-changed: [a, b]}
  ignore_unstable: true
lint: {use: [avro.*], except: [avro.x], ignore: [gen]}
severity: {avro.doc-changed: risk, json.*: 'off'}
stability: {com.acme.preview: alpha, 'x-*': draft}
gate: {fail_on: risk, comment: false, annotations: true, max_annotations: 5, require_version_bump: true}
`

func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	f, faults := read(t, whole)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for name, got := range map[string][2]string{
		"registry":     {f.Context + " " + f.Auth.User + " " + f.Auth.Password, ".shop REGISTRY_USER REGISTRY_PASSWORD"},
		"environments": {fmt.Sprint(f.Environments), "[{dev https://dev.example  7} {prod https://prod.example .live 8}]"},
		"scope":        {f.Scope.Prefix, "shop."},
		"defaults":     {f.Defaults.Level + f.Defaults.Policy + f.Defaults.VerdictPolicy + f.Defaults.Category + fmt.Sprint(*f.Defaults.Normalize), "FULLLENIENTBOTHWIREtrue"},
		"subject":      {fmt.Sprint(f.Subjects[0].Name, f.Subjects[0].File, f.Subjects[0].Type, f.Subjects[0].Choices.Level, f.Subjects[0].Owner, f.Subjects[0].Stability, f.Subjects[0].Line), "orders-valueschemas/order.avscAVRONONEteam-ordersbeta12"},
		"mode":         {fmt.Sprint(f.Subjects[0].Mode, f.Subjects[1].Alias, f.Subjects[2].Name), "READONLYorders-valuealone"},
		"metadata":     {fmt.Sprint(*f.Subjects[0].Metadata), "{map[a:[b]] map[p:x] [p]}"},
		"history":      {fmt.Sprint(f.Subjects[0].History[0].File, f.Subjects[0].History[1].File, *f.Subjects[0].History[1].Metadata), "old.avscolder.avsc{map[a:[b]] map[] []}"},
		"files":        {fmt.Sprint(f.Subjects[3].Files, f.Subjects[3].References), "events/**/*.avsc[{a.B b 3}]"},
		"check":        {fmt.Sprint(f.Check.Use, f.Check.Except, f.Check.Ignore, f.Check.IgnoreOnly, f.Check.IgnoreUnstable.Line), "[{avro.* 18}] [{json.property-removed 19}] [{examples 20} {**/gen 20}] [{{avro.doc-changed 21} [a b]}] 22"},
		"lint":         {fmt.Sprint(f.Lint.Use, f.Lint.Except, f.Lint.Ignore), "[{avro.* 23}] [{avro.x 23}] [{gen 23}]"},
		"severity":     {fmt.Sprint(f.Severity), "[{{avro.doc-changed 24} risk} {{json.* 24} off}]"},
		"stability":    {fmt.Sprint(f.Stability), "[{{com.acme.preview 25} alpha} {{x-* 25} draft}]"},
		"gate":         {fmt.Sprint(f.Gate.FailOn, *f.Gate.Comment, *f.Gate.Annotations, f.Gate.MaxAnnotations, f.Gate.RequireVersionBump), "riskfalse true 5 true"},
	} {
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// Each fault is told with its line and what would be right.
func TestFaultsAreTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"defaults: {level: SIDEWAYS}":                             `1: level: compatibility level "SIDEWAYS" is none of`,
		"defaults: {colour: x}":                                   "1: defaults: colour is not known: there is category, level, normalize, policy, verdict_policy",
		"defaults: {normalize: 7}":                                `1: normalize: "7" is neither true nor false`,
		"defaults: [x]":                                           "1: defaults holds no keys",
		"gate:\n  max_annotations: 11":                            `2: gate.max_annotations: "11" is no number from 1 to 10`,
		"gate: {fail_on: note}":                                   `1: gate.fail_on: "note" is none of breaking, risk`,
		"gate: {fail_on: risk, fail_on: risk}":                    "",
		"severity: {avro.x: fatal}":                               `1: severity: avro.x: "fatal" is none of breaking, risk, note, off`,
		"severity: {'a b': risk}":                                 `1: severity: "a b" is no rule`,
		"stability: {x: golden}":                                  `1: stability: x: "golden" is none of draft, alpha, beta, stable`,
		"stability: {'[': draft}":                                 `1: stability: "[" is no glob`,
		"check: {ignore: [../up]}":                                `1: check.ignore: path pattern "../up" leaves the folder`,
		"check: {use: {a: b}}":                                    "1: check.use must be one value",
		"check: {ignore_unstable: maybe}":                         `1: check.ignore_unstable: "maybe" is neither true nor false`,
		"scope: {prefix: a, pattern: b}":                          "1: scope has both prefix and pattern: take one",
		"environments: {dev: {context: x}}":                       "1: environments: dev needs the url of its registry",
		"registry: {auth: {token: s3cr3t!}}":                      "1: registry.auth.token must be the name of an environment variable",
		"registry: {auth: {token: A, user: B}}":                   "1: registry.auth has both a token and a user",
		"subjects: x":                                             "1: subjects is no list",
		"subjects: [7]":                                           "1: a subject is a mapping",
		"subjects: [{file: a}]":                                   "1: a subject needs a name",
		"subjects: [{name: a, history: [b]}]":                     "1: subjects: a has a history and no file",
		"subjects: [{name: a, file: b, history: [b]}]":            "1: subjects: b is claimed by a and a",
		"subjects: [{name: a, file: b, history: [{}]}]":           "1: subjects: a version of the history needs a file",
		"subjects: [{name: a, file: b, history: c}]":              "1: subjects: history is no list of files",
		"subjects: [{name: a, mode: IMPORT}]":                     `1: subjects: mode: "IMPORT" is none of READWRITE`,
		"subjects: [{name: a, file: b, metadata: {owner: x}}]":    "1: subjects: metadata: owner is not known: there is properties, sensitive, tags",
		"subjects: [{files: b, alias: x}]":                        "has an alias",
		"subjects: [{name: a, file: b}, {name: c, file: ./b}]":    "1: subjects: b is claimed by a and c",
		"subjects: [{name: a, file: b, files: c}]":                "1: subjects: a has both file and files: take one",
		"subjects: [{name: '{what}', files: c}]":                  "{what} is none of",
		"subjects: [{name: a, file: b, references: [{name: x}]}]": "1: a reference needs both name and subject",
		"subjects: [{name: a, file: b, references: no}]":          "1: subjects: references is neither auto nor a list",
		"subjects: [{name: a, file: b, stability: x}]":            `"x" is none of draft`,
		"subjects: [{name: a, file: b, metadata: x}]":             "1: subjects: metadata holds no keys",
		"subjects: [{name: [a], file: b}]":                        "1: subjects: name must be one value",
		"x: &a {level: FULL}\ndefaults: *a":                       "2: defaults holds no keys",
		"x: &a FULL\ndefaults: {level: *a}":                       "2: defaults: aliases are not understood",
	} {
		if want == "" {
			continue // the reader of YAML refuses it before
		}
		_, faults := read(t, text)
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%d: %s", f.Line, f.Text))
		}
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
		for _, g := range got {
			if strings.Contains(g, "s3cr3t") {
				t.Errorf("a secret is repeated: %s", g)
			}
		}
	}
}

const someone = "{fingerprint: '0123456789abcdef0123456789abcdef', rule: r, path: p, reason: because, owner: me, until: 2026-12-31, environments: [dev]}"

func TestExceptions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	list, faults := config.ReadExceptions("x.yaml", []byte("version: 1\nexceptions:\n- "+someone+"\n"), now)
	if len(faults) > 0 || len(list) != 1 {
		t.Fatal(list, faults)
	}
	e := list[0]
	want := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)
	if !e.Until.Equal(want) || e.Source != "x.yaml, line 3" || e.Reason != "because" || e.Owner != "me" || !slices.Equal(e.Environments, []string{"dev"}) {
		t.Errorf("%+v", e)
	}
	for text, want := range map[string]string{
		"exceptions: [" + someone + ", " + someone + "]":                                "stands there twice",
		"exceptions: [" + strings.Replace(someone, "because", "' '", 1) + "]":           "reason is missing",
		"exceptions: [" + strings.Replace(someone, "2026-12-31", "2028-01-01", 1) + "]": "more than a year away",
		"exceptions: [" + strings.Replace(someone, "2026-12-31", "soon", 1) + "]":       "neither a day",
		"exceptions: [" + strings.Replace(someone, "0123", "xyz!", 1) + "]":             "not 32 hexadecimal digits",
		"exceptions: [" + strings.Replace(someone, "rule:", "rool:", 1) + "]":           "rool is not known",
		"exceptions: x": "exceptions is no list",
		"version: 2":    `version "2" is unknown`,
		"other: 1":      "the file: other is not known: there is exceptions, version",
		"- x":           "the file holds no keys",
		"[":             "did not find",
	} {
		_, faults := config.ReadExceptions("x.yaml", []byte(text), now)
		if len(faults) == 0 || !strings.Contains(fmt.Sprint(faults), want) {
			t.Errorf("%s: %v, want %q", text, faults, want)
		}
	}
	if list, faults := config.ReadExceptions("x.yaml", nil, now); len(list)+len(faults) > 0 {
		t.Error("an empty file holds something")
	}
}

func schemaOf(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///s.json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The published schemas and the readers agree on what is right and what is not.
func TestSchemasAreInStep(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, config.Schema())
	if err := s.Validate(asJSON(t, whole)); err != nil {
		t.Errorf("%#v", err)
	}
	for _, text := range []string{
		"defaults: {level: SIDEWAYS}", "defaults: {colour: x}", "gate: {max_annotations: 11}", "gate: {fail_on: note}", "severity: {avro.x: fatal}",
		"severity: {'a b': risk}", "stability: {x: golden}", "scope: {prefix: a, pattern: b}", "environments: {dev: {context: x}}",
		"registry: {auth: {token: s3cr3t!}}", "subjects: x", "subjects: [7]", "subjects: [{file: a}]", "subjects: [{name: a, history: [b]}]", "subjects: [{name: a, mode: IMPORT}]", "subjects: [{name: a, metadata: {owner: x}}]", "subjects: [{name: a, file: b, files: c}]",
		"subjects: [{name: a, file: b, references: [{name: x}]}]", "subjects: [{name: a, file: b, stability: x}]", "version: 2",
	} {
		if _, faults := read(t, text); len(faults) == 0 && text != "version: 2" {
			t.Errorf("the reader takes %s", text)
		}
		if s.Validate(asJSON(t, text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
	// Every key of the reader stands in the schema.
	var root struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys() {
		section, inner, deep := strings.Cut(key, ".")
		p, ok := root.Properties[section]
		if deep {
			_, ok = p.Properties[inner]
		}
		if !ok {
			t.Errorf("the schema lacks %s", key)
		}
	}
	x := schemaOf(t, config.ExceptionsSchema())
	quoted := strings.Replace(someone, "2026-12-31", "'2026-12-31'", 1)
	if err := x.Validate(asJSON(t, "version: 1\nexceptions: ["+quoted+"]")); err != nil {
		t.Errorf("%#v", err)
	}
	for _, bad := range []string{strings.Replace(quoted, "0123", "x", 1), strings.Replace(quoted, "owner: me,", "", 1), strings.Replace(quoted, "rule:", "rool:", 1)} {
		if x.Validate(asJSON(t, "exceptions: ["+bad+"]")) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

func FuzzExceptions(f *testing.F) {
	f.Add("exceptions: [" + someone + "]")
	f.Add("exceptions: [{until: [x]}, &a x, *a]")
	f.Add("- \xff")
	f.Fuzz(func(_ *testing.T, text string) {
		config.ReadExceptions("x.yaml", []byte(text), time.Unix(0, 0))
	})
}

func FuzzConfig(f *testing.F) {
	f.Add(whole)
	f.Fuzz(func(t *testing.T, text string) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			t.Skip("no YAML at all: there is no document to read a configuration from")
		}
		read(t, text)
	})
}

// What the documentation shows is right.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")
	if len(blocks) != 3 {
		t.Fatalf("%d examples", len(blocks)-1)
	}
	whole, _, _ := strings.Cut(blocks[1], "```")
	if f, faults := read(t, whole); len(faults) > 0 || len(f.Subjects) != 4 || f.Context != ".shop" {
		t.Errorf("%v %+v", faults, f)
	}
	if err := schemaOf(t, config.Schema()).Validate(asJSON(t, whole)); err != nil {
		t.Errorf("%#v", err)
	}
	exceptions, _, _ := strings.Cut(blocks[2], "```")
	if list, faults := config.ReadExceptions("x", []byte(exceptions), time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)); len(faults) > 0 || len(list) != 1 {
		t.Errorf("%v %v", list, faults)
	}
}
