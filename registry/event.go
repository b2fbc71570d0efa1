package registry

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The kinds of events. The list is append-only: journals hold them for ever.
const (
	KindInstalled         = "installed"
	KindVersionRegistered = "version-registered"
	KindVersionDeleted    = "version-deleted"
	KindSubjectDeleted    = "subject-deleted"
	KindConfigSet         = "config-set"
	KindConfigCleared     = "config-cleared"
	KindModeSet           = "mode-set"
	KindModeCleared       = "mode-cleared"
	KindContextDeleted    = "context-deleted"
	KindExceptionSet      = "exception-set"
	KindExceptionCleared  = "exception-cleared"
	KindMarksSet          = "marks-set" // what a whole registry that moved in remembers
)

// Kinds lists the kinds of events.
func Kinds() []string {
	return []string{
		KindInstalled, KindVersionRegistered, KindVersionDeleted, KindSubjectDeleted, KindConfigSet, KindConfigCleared,
		KindModeSet, KindModeCleared, KindContextDeleted, KindExceptionSet, KindExceptionCleared, KindMarksSet,
	}
}

// bodyVersion is the version of every body this program writes; it reads no
// newer one.
const bodyVersion = 1

// The bodies of events, as they stand in the journal. They have their own
// structs so that a renamed field of the domain never changes what is stored.
type (
	installedBody struct {
		V            int    `json:"v"`
		Installation string `json:"installation"`
	}
	registeredBody struct {
		V          int             `json:"v"`
		Context    schemas.Context `json:"context"`
		Subject    string          `json:"subject"`
		Version    schemas.Version `json:"version"`
		ID         int32           `json:"id"`
		Type       schemas.Type    `json:"type"`
		GUID       string          `json:"guid"`
		References []referenceBody `json:"references,omitempty"`
		Metadata   *metadataBody   `json:"metadata,omitempty"`
		RuleSet    *ruleSetBody    `json:"ruleSet,omitempty"`
		// Hides are soft-deleted versions of the subject that this one replaces.
		Hides []schemas.Version `json:"hides,omitempty"`
		// Canonical is identity.canonical in hex digits.
		Canonical string `json:"canonical,omitempty"`
		// Stored is when another registry stored it, where that is known.
		Stored int64 `json:"stored,omitempty"` // milliseconds since 1970
	}
	deletedBody struct {
		V         int               `json:"v"`
		Context   schemas.Context   `json:"context"`
		Subject   string            `json:"subject"`
		Versions  []schemas.Version `json:"versions"`
		Permanent bool              `json:"permanent,omitempty"`
	}
	configBody struct {
		V       int             `json:"v"`
		Context schemas.Context `json:"context"`
		Subject string          `json:"subject,omitempty"`
		Before  *configMembers  `json:"before,omitempty"`
		After   *configMembers  `json:"after,omitempty"`
	}
	modeBody struct {
		V       int             `json:"v"`
		Context schemas.Context `json:"context"`
		Subject string          `json:"subject,omitempty"`
		Before  Mode            `json:"before,omitempty"`
		After   Mode            `json:"after,omitempty"`
	}
	contextBody struct {
		V       int             `json:"v"`
		Context schemas.Context `json:"context"`
	}
	marksBody struct {
		V        int             `json:"v"`
		Context  schemas.Context `json:"context"`
		Listed   bool            `json:"listed,omitempty"`
		High     int32           `json:"high,omitempty"`
		Subjects []subjectMarks  `json:"subjects,omitempty"`
	}
	exceptionBody struct {
		V           int             `json:"v"`
		Context     schemas.Context `json:"context"`
		Subject     string          `json:"subject,omitempty"`
		Fingerprint string          `json:"fingerprint"`
		Reason      string          `json:"reason,omitempty"`
		Owner       string          `json:"owner,omitempty"`
		Until       int64           `json:"until,omitempty"` // milliseconds since 1970; 0 is for ever
	}

	subjectMarks struct {
		Subject string          `json:"subject"`
		High    schemas.Version `json:"high"`
		Gone    []goneBody      `json:"gone,omitempty"`
		Hidden  []hiddenBody    `json:"hidden,omitempty"`
	}
	hiddenBody struct {
		Version schemas.Version `json:"version"`
		By      schemas.Version `json:"by"`
	}
	goneBody struct {
		Version schemas.Version `json:"version"`
		GUID    string          `json:"guid"`
		Type    schemas.Type    `json:"type"`
	}
	referenceBody struct {
		Name    string          `json:"name"`
		Subject string          `json:"subject"`
		Version schemas.Version `json:"version"`
	}
	metadataBody struct {
		Tags       map[string][]string `json:"tags,omitempty"`
		Properties map[string]string   `json:"properties,omitempty"`
		Sensitive  []string            `json:"sensitive,omitempty"`
	}
	ruleSetBody struct {
		Migration []ruleBody `json:"migrationRules,omitempty"`
		Domain    []ruleBody `json:"domainRules,omitempty"`
		Encoding  []ruleBody `json:"encodingRules,omitempty"`
		EnableAt  string     `json:"enableAt,omitempty"`
	}
	ruleBody struct {
		Name      string            `json:"name"`
		Doc       string            `json:"doc,omitempty"`
		Kind      string            `json:"kind,omitempty"`
		Mode      string            `json:"mode,omitempty"`
		Type      string            `json:"type,omitempty"`
		Tags      []string          `json:"tags,omitempty"`
		Params    map[string]string `json:"params,omitempty"`
		Expr      string            `json:"expr,omitempty"`
		OnSuccess string            `json:"onSuccess,omitempty"`
		OnFailure string            `json:"onFailure,omitempty"`
		Disabled  bool              `json:"disabled,omitempty"`
	}
	configMembers struct {
		Level              string        `json:"compatibility,omitempty"`
		Normalize          *bool         `json:"normalize,omitempty"`
		ValidateFields     *bool         `json:"validateFields,omitempty"`
		ValidateNewSchemas *bool         `json:"validateNewSchemas,omitempty"`
		ValidateRules      *bool         `json:"validateRules,omitempty"`
		Policy             string        `json:"compatibilityPolicy,omitempty"`
		Alias              string        `json:"alias,omitempty"`
		AliasForDEKs       string        `json:"aliasForDeks,omitempty"`
		Group              string        `json:"compatibilityGroup,omitempty"`
		DefaultMetadata    *metadataBody `json:"defaultMetadata,omitempty"`
		OverrideMetadata   *metadataBody `json:"overrideMetadata,omitempty"`
		DefaultRuleSet     *ruleSetBody  `json:"defaultRuleSet,omitempty"`
		OverrideRuleSet    *ruleSetBody  `json:"overrideRuleSet,omitempty"`
		VerdictPolicy      string        `json:"verdictPolicy,omitempty"`
	}
)

// encodeBody makes a body's bytes. It cannot fail: every body is plain data.
func encodeBody(body any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		panic(fmt.Sprintf("registry: an event's body does not encode: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// ours is how every body of bodyVersion begins: a start reads many.
var ours = fmt.Appendf(nil, `{"v":%d,`, bodyVersion)

// decodeBody reads the body of r into body, which must have a member "v".
func decodeBody(r Record, body any) error {
	if b, ok := body.(*registeredBody); ok && b.quick(r.Body) {
		return nil
	}
	var head struct {
		V int `json:"v"`
	}
	if bytes.HasPrefix(r.Body, ours) {
		head.V = bodyVersion
	} else if err := json.Unmarshal(r.Body, &head); err != nil {
		return fmt.Errorf("read event %d (%s): %w", r.Revision, r.Kind, err)
	}
	if head.V < 1 || head.V > bodyVersion {
		return fmt.Errorf("read event %d (%s): its body has version %d and this program reads 1 to %d: use the program that wrote it, or a newer one", r.Revision, r.Kind, head.V, bodyVersion)
	}
	if err := json.Unmarshal(r.Body, body); err != nil {
		return fmt.Errorf("read event %d (%s): %w", r.Revision, r.Kind, err)
	}
	return nil
}

func hashToBody(h Hash) string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

func hashFromBody(text string) (h Hash, err error) {
	if text == "" {
		return h, nil
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("%q is no hash", text)
	}
	return Hash(b), nil
}

func referencesToBody(refs []schemas.Reference) []referenceBody {
	var out []referenceBody
	for _, r := range refs {
		out = append(out, referenceBody(r))
	}
	return out
}

func referencesFromBody(refs []referenceBody) []schemas.Reference {
	if len(refs) == 0 {
		return nil
	}
	out := make([]schemas.Reference, len(refs))
	for i, r := range refs {
		out[i] = schemas.Reference(r)
	}
	return out
}

func metadataToBody(m *schemas.Metadata) *metadataBody { return (*metadataBody)(m) }

func metadataFromBody(m *metadataBody) *schemas.Metadata { return (*schemas.Metadata)(m) }

func ruleSetToBody(s *schemas.RuleSet) *ruleSetBody {
	if s == nil {
		return nil
	}
	list := func(rules []schemas.ContractRule) (out []ruleBody) {
		for _, r := range rules {
			out = append(out, ruleBody(r))
		}
		return out
	}
	return &ruleSetBody{list(s.Migration), list(s.Domain), list(s.Encoding), s.EnableAt}
}

func ruleSetFromBody(s *ruleSetBody) *schemas.RuleSet {
	if s == nil {
		return nil
	}
	list := func(rules []ruleBody) (out []schemas.ContractRule) {
		for _, r := range rules {
			out = append(out, schemas.ContractRule(r))
		}
		return out
	}
	return &schemas.RuleSet{Migration: list(s.Migration), Domain: list(s.Domain), Encoding: list(s.Encoding), EnableAt: s.EnableAt}
}

func configToBody(c Config) *configMembers {
	out := &configMembers{
		Normalize: c.Normalize, ValidateFields: c.ValidateFields, ValidateNewSchemas: c.ValidateNewSchemas,
		ValidateRules: c.ValidateRules, Policy: c.PolicyName,
		Alias: c.Alias, AliasForDEKs: c.AliasForDEKs, Group: c.Group,
		DefaultMetadata: metadataToBody(c.DefaultMetadata), OverrideMetadata: metadataToBody(c.OverrideMetadata),
		DefaultRuleSet: ruleSetToBody(c.DefaultRuleSet), OverrideRuleSet: ruleSetToBody(c.OverrideRuleSet),
	}
	if c.Level != nil {
		out.Level = c.Level.String()
	}
	if c.VerdictPolicy != nil {
		out.VerdictPolicy = c.VerdictPolicy.String()
	}
	return out
}

// configFromBody reads members back; an unknown level or policy is an error,
// since deciding without it would let through what it was set to refuse.
func configFromBody(m *configMembers) (Config, error) {
	if m == nil {
		return Config{}, nil
	}
	c := Config{
		Normalize: m.Normalize, ValidateFields: m.ValidateFields, ValidateNewSchemas: m.ValidateNewSchemas,
		ValidateRules: m.ValidateRules,
		Alias:         m.Alias, AliasForDEKs: m.AliasForDEKs, Group: m.Group,
		DefaultMetadata: metadataFromBody(m.DefaultMetadata), OverrideMetadata: metadataFromBody(m.OverrideMetadata),
		DefaultRuleSet: ruleSetFromBody(m.DefaultRuleSet), OverrideRuleSet: ruleSetFromBody(m.OverrideRuleSet),
	}
	if m.Level != "" {
		level, err := compat.ParseLevel(m.Level)
		if err != nil {
			return Config{}, err
		}
		c.Level = &level
	}
	if m.Policy != "" {
		policy, err := compat.ParsePolicy(m.Policy)
		if err != nil {
			return Config{}, err
		}
		c.Policy, c.PolicyName = &policy, m.Policy
	}
	if m.VerdictPolicy != "" {
		policy, err := compat.ParseVerdictPolicy(m.VerdictPolicy)
		if err != nil {
			return Config{}, err
		}
		c.VerdictPolicy = &policy
	}
	return c, nil
}
