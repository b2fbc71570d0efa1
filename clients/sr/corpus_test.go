package sr_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// callOf gives the client's call for a recorded request, or why there is none.
func callOf(s step) (call func(*sr.Client) (any, error), why string) {
	if len(s.Request.Headers) > 0 || s.Request.Text != nil || s.Request.Method == http.MethodPatch {
		return nil, "no client sends this: odd headers, broken bodies, odd methods"
	}
	if s.Answer.Status >= 300 && (s.Answer.Status == 400 || strings.Contains(s.Request.Path, "versions/x") || strings.Contains(s.Request.Path, "limit=x") || strings.Contains(s.Request.Path, "versions/0")) {
		return nil, "no client sends this: values that the client's types exclude"
	}
	path, rawQuery, _ := strings.Cut(s.Request.Path, "?")
	q, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, err.Error()
	}
	var p []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		text, err := url.PathUnescape(part)
		if err != nil {
			return nil, err.Error()
		}
		p = append(p, text)
	}
	switch p[0] {
	case "nope", "healthz", "readyz", "metrics", "exporters", "api":
		return nil, "not of this client: health, exporters, own answers"
	}
	if q.Has("findTags") || q.Has("asOf") {
		return nil, "the client asks neither for inline tags nor for the past"
	}
	if p[0] == "contexts" && len(p) > 2 {
		return nil, "the client names contexts in subjects, not in the path"
	}
	if len(p) > 1 && p[0] == "schemas" && (p[1] == "ids" && p[2] == "x" || p[1] == "guids" && len(p[2]) < 32) {
		return nil, "no client sends this: values that the client's types exclude"
	}
	return calls(s, p, q)
}

func flag(q url.Values, name string) bool { return strings.EqualFold(q.Get(name), "true") }

func page(q url.Values) sr.Page {
	offset, _ := strconv.Atoi(q.Get("offset"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	return sr.Page{Offset: offset, Limit: limit}
}

func deletedOf(q url.Values) sr.Deleted {
	switch {
	case flag(q, "deletedAsNegative"):
		return sr.DeletedAsNegative
	case flag(q, "deletedOnly"):
		return sr.DeletedOnly
	case flag(q, "deleted"):
		return sr.WithDeleted
	}
	return sr.LiveOnly
}

func calls(s step, p []string, q url.Values) (func(*sr.Client) (any, error), string) {
	const none = "no method for it"
	route := s.Request.Method + " " + p[0]
	at := func(i int) string {
		if i < len(p) {
			return p[i]
		}
		return ""
	}
	switch route {
	case "GET ":
		return func(c *sr.Client) (any, error) { return nil, c.Ping(ctx) }, ""
	case "GET v1":
		return func(c *sr.Client) (any, error) {
			switch at(2) {
			case "id":
				_, err := c.Installation(ctx)
				return nil, err
			case "version":
				v, err := c.ServerVersion(ctx)
				return map[string]any{"version": v.Version, "commitId": v.Commit, "product": v.Product, "productVersion": v.ProductVersion}, err
			}
			_, err := c.Deployment(ctx)
			return nil, err
		}, ""
	case "GET contexts":
		return func(c *sr.Client) (any, error) {
			list, err := c.Contexts(ctx, q.Get("contextPrefix"), page(q))
			return texts(list), err
		}, ""
	case "DELETE contexts":
		return func(c *sr.Client) (any, error) { return nil, c.DeleteContext(ctx, schemas.Context(at(1))) }, ""
	case "GET config", "PUT config", "DELETE config":
		return configCall(s, at(1), q), ""
	case "GET mode", "PUT mode", "DELETE mode":
		if strings.Contains(string(s.Request.Body), "null") {
			return nil, "the contract's other way of clearing a mode; the client has ClearMode"
		}
		return modeCall(s, at(1), q), ""
	case "POST compatibility":
		g, ok := registrationOf(s, q)
		if !ok {
			return nil, none
		}
		return func(c *sr.Client) (any, error) {
			var got sr.Compatibility
			var err error
			if at(4) == "" {
				got, err = c.CheckAll(ctx, schemas.ParseSubject(p[2]), g, flag(q, "verbose"))
			} else {
				got, err = c.Check(ctx, schemas.ParseSubject(p[2]), versionOf(at(4)), g, flag(q, "verbose"))
			}
			out := map[string]any{"is_compatible": got.Compatible}
			if flag(q, "verbose") {
				out["messages"] = texts(got.Messages)
			}
			return out, err
		}, ""
	case "GET schemas":
		return schemasCall(p, q, at)
	case "GET subjects", "POST subjects", "DELETE subjects":
		return subjectsCall(s, p, q, at)
	}
	return nil, none
}

func versionOf(text string) schemas.Version {
	v, _ := schemas.ParseVersion(text)
	return v
}

func schemasCall(p []string, q url.Values, at func(int) string) (func(*sr.Client) (any, error), string) {
	number, _ := strconv.Atoi(at(2))
	id := schemas.ID{Number: int32(number)}
	o := sr.IDOptions{Format: q.Get("format")}
	if q.Has("subject") {
		s := schemas.ParseSubject(q.Get("subject"))
		o.Subject = &s
	}
	switch at(1) + "/" + at(3) {
	case "/":
		return func(c *sr.Client) (any, error) {
			list, err := c.List(ctx, sr.ListOptions{Prefix: q.Get("subjectPrefix"), Deleted: flag(q, "deleted"), LatestOnly: flag(q, "latestOnly"), RuleType: q.Get("ruleType"), Aliases: flag(q, "aliases"), Page: page(q)})
			out := []any{}
			for _, f := range list {
				one := view(f.Found, true)
				if len(f.Aliases) > 0 {
					one["aliases"] = texts(f.Aliases)
				}
				out = append(out, one)
			}
			return out, err
		}, ""
	case "types/":
		return func(c *sr.Client) (any, error) {
			list, err := c.Types(ctx)
			return texts(list), err
		}, ""
	case "ids/":
		if flag(q, "fetchMaxId") {
			return func(c *sr.Client) (any, error) {
				high, err := c.MaxID(ctx, id) // the rest of the answer is Schema's
				return only{"maxId": float64(high.Number)}, err
			}, ""
		}
		return func(c *sr.Client) (any, error) {
			f, err := c.Schema(ctx, id, o)
			return view(f, false), err
		}, ""
	case "ids/schema":
		return func(c *sr.Client) (any, error) { return c.TextByID(ctx, id, o) }, ""
	case "ids/subjects":
		return func(c *sr.Client) (any, error) {
			list, err := c.SubjectsOf(ctx, id, deletedOf(q), page(q))
			return texts(list), err
		}, ""
	case "ids/versions":
		return func(c *sr.Client) (any, error) {
			list, err := c.VersionsOf(ctx, id, deletedOf(q), page(q))
			out := []any{}
			for _, u := range list {
				out = append(out, map[string]any{"subject": u.Subject.String(), "version": float64(u.Version)})
			}
			return out, err
		}, ""
	case "guids/", "guids/ids":
		g, err := schemas.ParseGUID(at(2))
		if err != nil {
			return nil, err.Error()
		}
		return func(c *sr.Client) (any, error) {
			if at(3) == "ids" {
				list, err := c.IDsOf(ctx, g)
				out := []any{}
				for _, id := range list {
					out = append(out, map[string]any{"context": string(id.Context), "id": float64(id.Number)})
				}
				return out, err
			}
			f, err := c.ByGUID(ctx, g)
			return view(f, false), err
		}, ""
	}
	return nil, "no method for it"
}

func subjectsCall(s step, p []string, q url.Values, at func(int) string) (func(*sr.Client) (any, error), string) {
	subject := schemas.ParseSubject(at(1))
	v := versionOf(at(3))
	o := sr.VersionOptions{Deleted: flag(q, "deleted"), Format: q.Get("format")}
	g, isRegistration := registrationOf(s, q)
	verb := s.Request.Method + " " + at(2) + "/" + at(4)
	if at(1) == "" {
		verb += " all"
	} else if at(3) != "" {
		verb += " one"
	}
	switch verb {
	case "GET / all":
		return func(c *sr.Client) (any, error) {
			list, err := c.Subjects(ctx, q.Get("subjectPrefix"), deletedOf(q), page(q))
			return texts(list), err
		}, ""
	case "POST /":
		if !isRegistration {
			return nil, "no method for it"
		}
		return func(c *sr.Client) (any, error) {
			f, err := c.Lookup(ctx, subject, g, flag(q, "deleted"))
			return view(f, true), err
		}, ""
	case "DELETE /":
		return func(c *sr.Client) (any, error) {
			list, err := c.DeleteSubject(ctx, subject, flag(q, "permanent"))
			return numbers(list), err
		}, ""
	case "GET metadata/":
		return func(c *sr.Client) (any, error) {
			f, err := c.WithMetadata(ctx, subject, []sr.Property{{Key: q.Get("key"), Value: q.Get("value")}}, o)
			return view(f, true), err
		}, ""
	case "GET versions/":
		return func(c *sr.Client) (any, error) {
			list, err := c.Versions(ctx, subject, deletedOf(q), page(q))
			return numbers(list), err
		}, ""
	case "POST versions/":
		if !isRegistration {
			return nil, "no client sends this: members that the client's types exclude"
		}
		return func(c *sr.Client) (any, error) {
			f, err := c.Register(ctx, subject, g)
			out := view(f, true)
			delete(out, "subject")
			return out, err
		}, ""
	case "GET versions/ one":
		return func(c *sr.Client) (any, error) {
			f, err := c.Version(ctx, subject, v, o)
			return view(f, true), err
		}, ""
	case "GET versions/schema one":
		return func(c *sr.Client) (any, error) { return c.TextByVersion(ctx, subject, v, o) }, ""
	case "GET versions/referencedby one":
		return func(c *sr.Client) (any, error) {
			list, err := c.ReferencedBy(ctx, subject, v, o.Deleted, page(q))
			return numbers(list), err
		}, ""
	case "DELETE versions/ one":
		return func(c *sr.Client) (any, error) {
			n, err := c.DeleteVersion(ctx, subject, v, flag(q, "permanent"))
			return float64(n), err
		}, ""
	case "POST versions/tags one":
		return func(c *sr.Client) (any, error) {
			type tags []struct {
				SchemaEntity struct{ EntityPath, EntityType string }
				Tags         []string
			}
			var b struct {
				NewVersion              schemas.Version
				TagsToAdd, TagsToRemove tags
			}
			if err := json.Unmarshal(s.Request.Body, &b); err != nil {
				return nil, err
			}
			list := func(in tags) (out []sr.Tags) {
				for _, t := range in {
					out = append(out, sr.Tags{Path: t.SchemaEntity.EntityPath, Field: t.SchemaEntity.EntityType == "sr_field", Tags: t.Tags})
				}
				return out
			}
			f, err := c.ChangeTags(ctx, subject, v, sr.TagChange{Version: b.NewVersion, Add: list(b.TagsToAdd), Remove: list(b.TagsToRemove)})
			out := view(f, true)
			delete(out, "subject")
			return out, err
		}, ""
	}
	return nil, "no method for it: " + verb
}

func registrationOf(s step, q url.Values) (sr.Registration, bool) {
	var b struct {
		Schema     *string
		SchemaType string
		References []schemas.Reference
		Version    schemas.Version
		ID         *int32
		Metadata   *schemas.Metadata
		RuleSet    *struct{ DomainRules []schemas.ContractRule }
	}
	if len(s.Request.Body) > 0 {
		if err := json.Unmarshal(s.Request.Body, &b); err != nil {
			return sr.Registration{}, false
		}
	}
	g := sr.Registration{
		Source: schemas.Source{Type: schemas.Type(b.SchemaType), References: b.References}, Version: b.Version, ID: b.ID, Metadata: b.Metadata,
		Normalize: flag(q, "normalize"), Force: flag(q, "force"), Format: q.Get("format"),
	}
	if b.Schema != nil {
		g.Source.Text = *b.Schema
		if g.Source.Type == "" {
			g.Source.Type = schemas.Avro
		}
	}
	if b.RuleSet != nil {
		g.RuleSet = &schemas.RuleSet{Domain: b.RuleSet.DomainRules}
	}
	return g, true
}

func configCall(s step, scope string, q url.Values) func(*sr.Client) (any, error) {
	return func(c *sr.Client) (any, error) {
		subject := schemas.ParseSubject(scope)
		var got sr.Config
		var err error
		key := "compatibilityLevel"
		switch s.Request.Method {
		case http.MethodGet:
			got, err = c.Config(ctx, subject, flag(q, "defaultToGlobal"))
		case http.MethodDelete:
			got, err = c.ClearConfig(ctx, subject)
		default:
			key = "compatibility"
			change, clear := changeOf(s.Request.Body)
			got, err = c.SetConfig(ctx, subject, change, clear...)
		}
		out := map[string]any{}
		for name, value := range map[string]any{key: got.Level, "alias": got.Alias, "aliasForDeks": got.AliasForDEKs, "compatibilityGroup": got.Group, "compatibilityPolicy": got.Policy, "verdictPolicy": got.VerdictPolicy} {
			if value != "" {
				out[name] = value
			}
		}
		if s.Request.Method == http.MethodDelete {
			out["compatibility"] = got.Level
		}
		for name, value := range map[string]*bool{"normalize": got.Normalize, "validateFields": got.ValidateFields, "validateNewSchemas": got.ValidateNewSchemas, "validateRules": got.ValidateRules} {
			if value != nil {
				out[name] = *value
			}
		}
		for name, value := range map[string]*schemas.Metadata{"defaultMetadata": got.DefaultMetadata, "overrideMetadata": got.OverrideMetadata} {
			if value != nil {
				out[name] = wire(sr.MetadataBody(value))
			}
		}
		for name, value := range map[string]*schemas.RuleSet{"defaultRuleSet": got.DefaultRuleSet, "overrideRuleSet": got.OverrideRuleSet} {
			if value != nil {
				out[name] = wire(sr.RuleSetBody(value))
			}
		}
		return out, err
	}
}

func changeOf(body []byte) (change sr.Config, clear []string) {
	var members map[string]any
	_ = json.Unmarshal(body, &members)
	for name, value := range members {
		if value == nil {
			clear = append(clear, name)
			continue
		}
		text, _ := value.(string)
		on, _ := value.(bool)
		switch name {
		case "compatibility":
			change.Level = text
		case "alias":
			change.Alias = text
		case "aliasForDeks":
			change.AliasForDEKs = text
		case "defaultMetadata":
			change.DefaultMetadata = metadataOf(value)
		case "overrideMetadata":
			change.OverrideMetadata = metadataOf(value)
		case "compatibilityPolicy":
			change.Policy = text
		case "compatibilityGroup":
			change.Group = text
		case "verdictPolicy":
			change.VerdictPolicy = text
		case "normalize":
			change.Normalize = &on
		case "validateFields":
			change.ValidateFields = &on
		case "validateNewSchemas":
			change.ValidateNewSchemas = &on
		case "validateRules":
			change.ValidateRules = &on
		}
	}
	return change, clear
}

// metadataOf reads properties, which is all that the corpus sets.
func metadataOf(v any) *schemas.Metadata {
	out := &schemas.Metadata{Properties: map[string]string{}}
	members, _ := v.(map[string]any)
	properties, _ := members["properties"].(map[string]any)
	for name, value := range properties {
		out.Properties[name], _ = value.(string)
	}
	return out
}

func modeCall(s step, scope string, q url.Values) func(*sr.Client) (any, error) {
	return func(c *sr.Client) (any, error) {
		subject := schemas.ParseSubject(scope)
		var mode string
		var err error
		switch s.Request.Method {
		case http.MethodGet:
			mode, err = c.Mode(ctx, subject, flag(q, "defaultToGlobal"))
		case http.MethodDelete:
			mode, err = c.ClearMode(ctx, subject, flag(q, "recursive"))
		default:
			var b struct{ Mode *string }
			if err := json.Unmarshal(s.Request.Body, &b); err != nil {
				return nil, err
			}
			mode, err = c.SetMode(ctx, subject, *b.Mode, flag(q, "force"))
		}
		if mode == "" {
			return map[string]any{}, err
		}
		return map[string]any{"mode": mode}, err
	}
}
