package compat

import (
	"io/fs"
	"slices"
	"strings"
)

// Rule is a kind of change, as data.
type Rule struct {
	ID     string   // kebab-case, prefixed by the format: "avro.type-widened"
	Was    []string // ids that the rule had before
	Mirror string   // the rule that the swapped pair reports
	May    []Effect // the effects it may have, on the layers of Layers
	Layers []Layer  // nil means Data
	Peers  []string // the peer's names for it
	Claims []string // which keyword, attribute or descriptor field it answers for
	Example
}

// Allows tells whether the rule may have the effect e.
func (r Rule) Allows(e Effect) bool { return slices.Contains(r.May, e) }

// Example is the text of a rule and the pair that shows it, from the rule's
// one file.
type Example struct {
	Title string // one clause
	Why   string // why it matters to data, one paragraph
	Fix   string // what to do instead, one paragraph
	Old   string // the schema before
	New   string // the schema after: reports exactly this one change
	Near  string // the smallest variant of New that does not report it
	// Witness holds one line per layer and direction that breaks, as
	// WitnessLines writes them.
	Witness string
}

// Combinations lists the effects of every combination of what may happen when
// new reads old, and when old reads new.
func Combinations(newReadsOld, oldReadsNew []Outcome) (out []Effect) {
	for _, n := range newReadsOld {
		for _, o := range oldReadsNew {
			out = append(out, Effect{NewReadsOld: n, OldReadsNew: o})
		}
	}
	return out
}

// Examples is the folder of example files beside a checker's rules.
const Examples = "rules"

// WithExamples gives every rule the example of its file ID + ".txtar" in the
// folder [Examples] of files, without the format's prefix. A rule whose file is
// missing keeps an empty Example, which checktest refuses.
//
// A file is a comment and the sections old, new, witness and near. The first
// paragraph of the comment is the title after "# "; the second says why; the
// third, after "fix: ", what to do.
func WithExamples(files fs.FS, rules ...Rule) []Rule {
	out := slices.Clone(rules)
	for i := range out {
		if text, err := fs.ReadFile(files, Examples+"/"+out[i].File()); err == nil {
			out[i].Example = ParseExample(string(text))
		}
	}
	return out
}

// File is the name of the rule's example file.
func (r Rule) File() string {
	_, name, _ := strings.Cut(r.ID, ".")
	return name + ".txtar"
}

// ParseExample reads the text of an example file. Sections that are missing
// stay empty.
func ParseExample(text string) Example {
	head, sections := Sections(text)
	e := Example{Old: sections["old"], New: sections["new"], Near: sections["near"], Witness: sections["witness"]}
	for i, paragraph := range strings.Split(strings.TrimSpace(head), "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		switch {
		case i == 0:
			e.Title = strings.TrimPrefix(paragraph, "# ")
		case strings.HasPrefix(paragraph, "fix: "):
			e.Fix = strings.TrimPrefix(paragraph, "fix: ")
		case e.Why == "":
			e.Why = paragraph
		default:
			e.Why += " " + paragraph
		}
	}
	return e
}

// Sections reads the txtar form of example files: a comment, then the text
// behind each "-- name --" line.
func Sections(text string) (head string, sections map[string]string) {
	sections = map[string]string{}
	name, start := "", 0
	put := func(end int) {
		if name == "" {
			head = text[start:end]
		} else {
			sections[name] = text[start:end]
		}
	}
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := strings.TrimRight(text[at:end], "\r\n")
		if len(line) > 6 && strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			put(at)
			name, start = strings.TrimSpace(line[3:len(line)-3]), end
		}
		at = end
	}
	put(len(text))
	return head, sections
}

// RuleByID finds a rule by its id or by one that it had before.
func RuleByID(rules []Rule, id string) (Rule, bool) {
	for _, r := range rules {
		if r.ID == id || slices.Contains(r.Was, id) {
			return r, true
		}
	}
	return Rule{}, false
}

// The rules of the core: what no format answers for.
var (
	schemaAdded = Rule{ID: "schema.added", Mirror: "schema.removed", Example: Example{
		Title: "the schema is new",
		Why:   "nothing was written with it before, so nothing can break.",
		Fix:   "nothing needs to be done.",
	}}
	schemaRemoved = Rule{ID: "schema.removed", Mirror: "schema.added", Peers: []string{"FILE_NO_DELETE", "PACKAGE_MESSAGE_NO_DELETE"}, Example: Example{
		Title: "the schema was removed",
		Why:   "messages written with it may still be under way, and a consumer that starts without it cannot read them.",
		Fix:   "keep the file until no queue or topic holds such messages; the registry keeps its versions in any case.",
	}}
	schemaMoved = Rule{ID: "schema.moved", Mirror: "schema.moved", Example: Example{
		Title: "the file of the schema was moved",
		Why:   "where subjects are named after files, the moved file starts a history of its own in a registry, and nothing compares it with the old one.",
		Fix:   "declare the subject in cartorio.yaml, or keep the path.",
	}}
	formatChanged = Rule{ID: "schema.format-changed", Mirror: "schema.format-changed", May: []Effect{{Refuses, Refuses}}, Example: Example{
		Title: "the format of the schema changed",
		Why:   "a payload of one format cannot be read with a schema of another, so every level but NONE refuses the pair.",
		Fix:   "register the schema under a new subject, and move producers and consumers there.",
	}}
	dataBreaks = Rule{ID: "schema.data-breaks", Mirror: "schema.data-breaks", May: []Effect{{Refuses, Refuses}, {Loses, Loses}, {Alters, Alters}}, Example: Example{
		Title: "payloads exist that the other side refuses or reads as another value",
		Why:   "a payload was found that the other side refuses or reads as another value, and the changes that are told do not account for it in this direction.",
		Fix:   "compare the two schemas side by side, or keep the old shape beside the new one.",
	}}
	readBlindly = Rule{ID: "schema.read-blindly", Mirror: "schema.read-blindly", Example: Example{
		Title: "a consumer that decodes with its own schema reads another value, and no error tells",
		Why:   "verdicts hold for consumers that resolve against the schema that a message was written with. One that decodes with the schema it was built with takes the bytes of this pair for something else and sees no sign of it.",
		Fix:   "let every consumer look up the writer's schema, as the client validators do; until then put the new version on a topic or routing key of its own.",
	}}
	truthOpen = Rule{ID: "schema.data-not-checked", Mirror: "schema.data-not-checked", Example: Example{
		Title: "what happens to data was neither proved nor refuted",
		Why:   "the verdict is the reference registry's alone; whether every payload stays readable is open.",
		Fix:   "try real payloads with the command validate, or make the change in smaller steps.",
	}}
)

var (
	notCheckedRule = Rule{ID: "schema.not-checked", Mirror: "schema.not-checked", Example: Example{
		Title: "the pair was not compared",
		Why:   "a text that does not parse, a reference that nothing answers or a schema language without a checker leaves the question open, and what was not compared is never called compatible.",
		Fix:   "mend what the reason names; where the schema is guarded by other means, leave it out by its path, or pass --allow-unchecked.",
	}}
	versionNotRaised = Rule{ID: "schema.version-not-raised", Mirror: "schema.version-not-raised", Example: Example{
		Title: "a breaking change without a higher major version",
		Why:   "this repository allows breaks only together with a new major version, so that consumers see them coming.",
		Fix:   "raise the major number of the schema's version member (for Protobuf the last part of the package, as in acme.v2), or make the change without a break.",
	}}
	stabilityLowered = Rule{ID: "schema.stability-lowered", Mirror: "schema.stability-lowered", Example: Example{
		Title: "the declared stability of the schema was lowered",
		Why:   "a schema that was stable is not gated any more, so breaks pass from here on.",
		Fix:   "keep the stability, or let the owner of its consumers agree.",
	}}
	partitionKeyChanged = Rule{ID: "schema.partition-key-changed", Mirror: "schema.partition-key-changed", Example: Example{
		Title: "the declared partition key of the subject changed",
		Why:   "messages that belong together go to one partition or group by this field, and are worked on in order there. While messages are spread by both keys that order is lost, though every payload can be read.",
		Fix:   "keep the key, or publish to a new topic and let consumers finish the old one first.",
	}}
)

// The rules of what fails a run and is no difference between two schemas.
var (
	messagesRefused = Rule{ID: "messages.refused", Mirror: "messages.refused", Example: Example{
		Title: "recorded messages would be refused",
		Why:   "the schema does not read messages that were really sent, and that the one before reads.",
		Fix:   "let the schema read them: the reason names the place; or record anew, where such messages are no longer sent.",
	}}
	messagesChanged = Rule{ID: "messages.changed", Mirror: "messages.changed", Example: Example{
		Title: "recorded messages would be read as another value",
		Why:   "the schema reads messages that were really sent, and part of their value is lost or another one.",
		Fix:   "keep what carried the value; or make sure that no reader uses it.",
	}}
	messagesUnread = Rule{ID: "messages.unread", Mirror: "messages.unread", Example: Example{
		Title: "a recording holds what is no message of its schema",
		Why:   "what was not read was not judged, so that nothing is known of it.",
		Fix:   "say how the messages are written with --encoding, --framing and --message, or record them anew.",
	}}
	exceptionsStale = Rule{ID: "exceptions.stale", Mirror: "exceptions.stale", Example: Example{
		Title: "an exception has ended, or matches nothing",
		Why:   "what it accepted counts again, or is not there, and the next reader of the file believes otherwise.",
		Fix:   "take it out with cartorio except FINGERPRINT --remove, or look at the finding anew and extend it.",
	}}
)

// CoreRules are the rules of no format: those that [Check] itself reports, those
// about whole files, then those of what is no difference between schemas.
func CoreRules() []Rule {
	return []Rule{
		formatChanged, dataBreaks, readBlindly, truthOpen, schemaAdded, schemaRemoved, schemaMoved, notCheckedRule, versionNotRaised, stabilityLowered, partitionKeyChanged,
		messagesRefused, messagesChanged, messagesUnread, exceptionsStale,
	}
}
