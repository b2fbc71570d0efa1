package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Route is one thing that can be asked of the registry. What is not in the list
// of routes does not exist; HEAD, OPTIONS and the form under /contexts/{c}/ come
// with each.
type Route struct {
	Method string
	Path   string // "{name}" stands for one segment
	Query  []Param
	Body   *Shape // nil: none is read
	Answer *Shape
	// Errors are the codes that it may answer beside those of every route.
	Errors []int
	Doc    string
	// Alone routes stand for a part of the reference that is left out: whatever
	// else is asked at their path is no path, and clients take the part for absent.
	Alone bool
	// Plain routes are ours, not the contract's: they answer application/json
	// whatever the caller accepts.
	Plain bool
	// Stream answers whoever accepts text/event-stream; nil for most.
	Stream func(*exchange) error
	Handle func(*exchange) error
}

// Param is one query parameter.
type Param struct {
	Name     string
	Type     string // string, integer or boolean
	Doc      string
	Synonyms []string
}

// Routes lists every route, in the contract's order.
func Routes() []Route { return slices.Clone(routes) }

var (
	deleted       = Param{"deleted", "boolean", "also consider soft-deleted versions", nil}
	deletedOnly   = Param{"deletedOnly", "boolean", "only soft-deleted ones; wins over deleted", []string{"deleted_only"}}
	offset        = Param{"offset", "integer", "how many to skip; a negative one is 0", nil}
	limit         = Param{"limit", "integer", "how many to answer at most; 0, negative or too large is the default", nil}
	format        = Param{"format", "string", "form of the returned text: resolved (Avro), ignore_extensions or serialized (Protobuf); others are the text as it is", nil}
	referenceForm = Param{"referenceFormat", "string", "qualified: show the subjects of references with their context", []string{"reference_format"}}
	findTags      = Param{"findTags", "string", "also answer the parts of the text that carry this inline tag; repeatable, * is any", []string{"find_tags"}}
	ofSubject     = Param{"subject", "string", "narrows the id to a subject or, as :.ctx:, to a context", nil}
	normalize     = Param{"normalize", "boolean", "sort what has no order before comparing", nil}
	permanent     = Param{"permanent", "boolean", "remove for good what was soft-deleted before", nil}
	verbose       = Param{"verbose", "boolean", "answer why not", nil}
	toGlobal      = Param{"defaultToGlobal", "boolean", "answer what is in force instead of 404", nil}
	asOf          = Param{"asOf", "string", "answer as of a revision of the journal, or as of an RFC 3339 time", nil}
	prefixed      = Param{"subjectPrefix", "string", "subjects that begin so; :.ctx: one context, :*: every context", nil}

	seen     = []int{40401, 40402, 42202}
	compared = []int{422, 42201, 42205, 42208, 42209, 42210}
)

func with(codes []int, more ...int) []int {
	all := append(slices.Clone(codes), more...)
	slices.Sort(all)
	return slices.Compact(all)
}

var routes = []Route{
	{
		Method: "GET", Path: "/schemas", Doc: "List the versions of every subject, 1000 at most.", Answer: schemasShape, Handle: listSchemas,
		Query: []Param{prefixed, deleted, {"latestOnly", "boolean", "only the highest listed version of each subject", nil}, {"ruleType", "string", "only versions that have a rule of this type", nil}, {"aliases", "boolean", "also answer the subjects that each one stands for", nil}, offset, limit, referenceForm, asOf},
	},
	{
		Method: "GET", Path: "/schemas/ids/{id}", Doc: "Get a schema by its id.", Answer: schemaStringShape, Errors: []int{40403, 42201}, Handle: getByID,
		Query: []Param{ofSubject, format, referenceForm, findTags, {"fetchMaxId", "boolean", "also answer maxId, the highest id given in the context", []string{"fetch_max_id"}}, asOf},
	},
	{Method: "GET", Path: "/schemas/ids/{id}/schema", Doc: "Get the text of a schema by its id.", Answer: textShape, Errors: []int{40403, 42201}, Handle: getTextByID, Query: []Param{ofSubject, format, asOf}},
	{Method: "GET", Path: "/schemas/ids/{id}/subjects", Doc: "List the subjects that use an id.", Answer: subjectsShape, Errors: []int{40403}, Handle: getSubjectsOfID, Query: []Param{ofSubject, deleted, offset, limit}},
	{Method: "GET", Path: "/schemas/ids/{id}/versions", Doc: "List one version per subject that uses an id.", Answer: placesShape, Errors: []int{40403}, Handle: getVersionsOfID, Query: []Param{ofSubject, deleted, offset, limit}},
	{Method: "GET", Path: "/schemas/guids/{guid}", Doc: "Get a schema by its GUID.", Answer: schemaByGUIDShape, Errors: []int{40403, 42201}, Handle: getByGUID, Query: []Param{format, referenceForm, asOf}},
	{Method: "GET", Path: "/schemas/guids/{guid}/ids", Doc: "List the ids of a GUID in all contexts; an unknown GUID has none.", Answer: contextIDsShape, Handle: getIDsOfGUID},
	{Method: "GET", Path: "/schemas/types", Doc: "List the schema types.", Answer: typesShape, Handle: listTypes},

	{Method: "GET", Path: "/subjects", Doc: "List the subjects.", Answer: subjectsShape, Handle: listSubjects, Query: []Param{prefixed, deleted, deletedOnly, offset, limit, asOf}},
	{Method: "POST", Path: "/subjects/{subject}", Doc: "Find out whether a schema is registered under a subject.", Body: registrationShape, Answer: schemaShape, Errors: with(compared, 40401, 40403), Handle: lookup, Query: []Param{normalize, deleted, format, referenceForm}},
	{Method: "DELETE", Path: "/subjects/{subject}", Doc: "Delete a subject.", Answer: versionsShape, Errors: []int{40401, 40404, 40405, 42205, 42206, 42208}, Handle: deleteSubject, Query: []Param{permanent}},
	{
		Method: "GET", Path: "/subjects/{subject}/metadata", Doc: "Find the newest version with given metadata properties.", Answer: schemaShape, Errors: []int{40401, 40403, 42201}, Handle: searchMetadata,
		Query: []Param{{"key", "string", "the name of a property; repeatable", nil}, {"value", "string", "the value of the key at the same place", nil}, format, deleted},
	},
	{
		Method: "GET", Path: "/subjects/{subject}/versions", Doc: "List the versions of a subject.", Answer: versionsShape, Errors: []int{40401}, Handle: listVersions,
		Query: []Param{deleted, deletedOnly, {"deletedAsNegative", "boolean", "live and deleted ones, the latter negated; wins over both", nil}, offset, limit, asOf},
	},
	{
		Method: "POST", Path: "/subjects/{subject}/versions", Doc: "Register a schema, or get the version that it is already.", Body: registrationShape, Answer: registeredShape, Errors: with(compared, 409), Handle: register,
		Query: []Param{normalize, format, {"force", "boolean", "skip the compatibility check", nil}, referenceForm},
	},
	{Method: "GET", Path: "/subjects/{subject}/versions/{version}", Doc: "Get a version; latest and -1 are the highest live one.", Answer: schemaShape, Errors: with(seen, 42201), Handle: getVersion, Query: []Param{format, referenceForm, deleted, findTags, asOf}},
	{Method: "GET", Path: "/subjects/{subject}/versions/{version}/schema", Doc: "Get the text of a version.", Answer: textShape, Errors: with(seen, 40403, 42201), Handle: getText, Query: []Param{format, deleted, asOf}},
	{Method: "GET", Path: "/subjects/{subject}/versions/{version}/referencedby", Doc: "List the ids of the schemas that reference a version.", Answer: idsShape, Errors: seen, Handle: listReferrers, Query: []Param{deleted, offset, limit}},
	{Method: "DELETE", Path: "/subjects/{subject}/versions/{version}", Doc: "Delete a version.", Answer: integerShape, Errors: with(seen, 40406, 40407, 42205, 42206, 42208), Handle: deleteVersion, Query: []Param{permanent}},
	{Method: "POST", Path: "/subjects/{subject}/versions/{version}/tags", Doc: "Register a version that is derived from one by changing inline tags, metadata or rules.", Body: taggingShape, Answer: registeredShape, Errors: with(with(compared, seen...), 409), Handle: tagVersion},

	{Method: "POST", Path: "/compatibility/subjects/{subject}/versions/{version}", Doc: "Compare a schema with one version.", Body: registrationShape, Answer: verdictShape, Errors: with(compared, 40402, 42202), Handle: checkVersion, Query: []Param{normalize, verbose}},
	{Method: "POST", Path: "/compatibility/subjects/{subject}/versions", Doc: "Compare a schema with what its registration would compare it with.", Body: registrationShape, Answer: verdictShape, Errors: compared, Handle: checkAll, Query: []Param{normalize, verbose}},

	{Method: "GET", Path: "/config", Doc: "Get the global config.", Answer: configShape, Errors: []int{40408}, Handle: getConfig, Query: []Param{toGlobal, asOf}},
	{Method: "PUT", Path: "/config", Doc: "Change the global config.", Body: configUpdateShape, Answer: configUpdateShape, Errors: []int{422, 42203, 42205, 42208, 42210}, Handle: putConfig},
	{Method: "DELETE", Path: "/config", Doc: "Clear the global config.", Answer: oldConfigShape, Errors: []int{40401, 42205, 42208}, Handle: deleteConfig},
	{Method: "GET", Path: "/config/{subject}", Doc: "Get the config of a subject.", Answer: configShape, Errors: []int{40408}, Handle: getConfig, Query: []Param{toGlobal, asOf}},
	{Method: "PUT", Path: "/config/{subject}", Doc: "Change the config of a subject.", Body: configUpdateShape, Answer: configUpdateShape, Errors: []int{422, 42203, 42205, 42208, 42210}, Handle: putConfig},
	{Method: "DELETE", Path: "/config/{subject}", Doc: "Clear the config of a subject.", Answer: oldConfigShape, Errors: []int{40401, 42205, 42208}, Handle: deleteConfig},

	{Method: "GET", Path: "/mode", Doc: "Get the global mode.", Answer: modeShape, Errors: []int{40409}, Handle: getMode, Query: []Param{toGlobal, asOf}},
	{Method: "PUT", Path: "/mode", Doc: "Set the global mode.", Body: modeShape, Answer: modeShape, Errors: []int{422, 42204, 42205, 42206, 42208}, Handle: putMode, Query: []Param{{"force", "boolean", "skip the conditions of IMPORT", nil}}},
	{Method: "DELETE", Path: "/mode", Doc: "Clear the global mode.", Answer: modeShape, Errors: []int{40401, 42205, 42208}, Handle: deleteMode, Query: []Param{{"recursive", "boolean", "also clear the modes of all subjects", nil}}},
	{Method: "GET", Path: "/mode/{subject}", Doc: "Get the mode of a subject.", Answer: modeShape, Errors: []int{40409}, Handle: getMode, Query: []Param{toGlobal, asOf}},
	{Method: "PUT", Path: "/mode/{subject}", Doc: "Set the mode of a subject.", Body: modeShape, Answer: modeShape, Errors: []int{422, 42204, 42205, 42206, 42208}, Handle: putMode, Query: []Param{{"force", "boolean", "skip the conditions of IMPORT", nil}}},
	{Method: "DELETE", Path: "/mode/{subject}", Doc: "Clear the mode of a subject.", Answer: modeShape, Errors: []int{40401, 42205, 42208}, Handle: deleteMode, Query: []Param{{"recursive", "boolean", "also clear the modes of all subjects of a context", nil}}},

	{Method: "GET", Path: "/contexts", Doc: "List the contexts.", Answer: contextsShape, Handle: listContexts, Query: []Param{{"contextPrefix", "string", "compared with the dotted name", nil}, offset, limit}},
	{Method: "DELETE", Path: "/contexts/{context}", Doc: "Delete an empty context.", Answer: nothing, Errors: []int{42208, 42211}, Handle: deleteContext},

	{Method: "GET", Path: "/", Doc: "Answer that a registry is here.", Answer: emptyShape, Handle: getRoot},
	{Method: "POST", Path: "/", Doc: "Answer that a registry is here.", Answer: emptyShape, Handle: getRoot},
	{Method: "GET", Path: "/v1/metadata/id", Doc: "Get the id of this installation.", Answer: installationShape, Handle: getInstallation},
	{Method: "GET", Path: "/v1/metadata/version", Doc: "Get the version of the contract and of the product.", Answer: productShape, Handle: getProduct},
	{Method: "GET", Path: "/v1/metadata/deployment", Doc: "Get the deployment's attributes.", Answer: deploymentShape, Handle: getDeployment},
	{Method: "GET", Path: "/exporters", Doc: "List the exporters: there are none.", Answer: exportersShape, Alone: true, Handle: listExporters},

	{Method: "GET", Path: "/api/v1/guids/{guid}/schema", Doc: "Get the text of a schema by its GUID, to be kept for ever.", Answer: textShape, Errors: []int{40403}, Handle: getTextByGUID},
	{
		Method: "POST", Path: "/api/v1/compare", Doc: "Compare any two texts or versions, with all findings and, if asked, advice.", Body: compareShape, Answer: findingsShape,
		Errors: []int{422, 40401, 40402, 42201, 42202, 42203, 42209}, Handle: compare,
		Query: []Param{
			{"reader", "string", "one direction only: old, new, or SUBJECT@VERSION; with writer", nil},
			{"writer", "string", "one direction only: old, new, or SUBJECT@VERSION; with reader", nil},
			{"advise", "boolean", "also say what passes, in which order to roll out, and which repairs were found", nil},
			{"impact", "boolean", "also say what becomes of the consumers that are known to read the subject when the new side is written", nil},
		},
	},
	{
		Method: "GET", Path: "/api/v1/changes", Doc: "Read the journal: who did what, and what it was before and after; a stream of server-sent events for whoever accepts text/event-stream.",
		Answer: changesShape, Errors: []int{503}, Handle: listChanges, Stream: streamChanges,
		Query: []Param{{"after", "integer", "the revision behind which to begin, 0 for the whole journal; a stream prefers its Last-Event-ID", nil}, {"limit", "integer", "how many to answer at most: 100 when absent, 1000 at most; a stream has none", nil}},
	},
	{Method: "GET", Path: "/api/v1/exceptions", Doc: "List the accepted findings of a scope.", Answer: exceptionsShape, Errors: []int{42208}, Handle: getExceptions, Query: []Param{exceptionScope}},
	{Method: "PUT", Path: "/api/v1/exceptions", Doc: "Make a list the accepted findings of a scope; registrations honour them until they end, at most a year.", Body: exceptionsShape, Answer: exceptionsShape, Errors: []int{422, 42208}, Handle: putExceptions, Query: []Param{exceptionScope}},
	{Method: "DELETE", Path: "/api/v1/exceptions", Doc: "Take the accepted findings of a scope out, or one of them; answers what is left.", Answer: exceptionsShape, Errors: []int{42208}, Handle: deleteExceptions, Query: []Param{exceptionScope, {"fingerprint", "string", "of the one to take out", nil}}},
	{Method: "POST", Path: "/api/v1/readers", Doc: "Tell what a consumer reads; counts add up. A consumer is forgotten 30 days after its last report, a declaration that a later one of the consumer replaces an hour after it was last told.", Body: readershipShape, Answer: readershipKeptShape, Errors: []int{422, 42201}, Handle: postReaders},
	{Method: "GET", Path: "/api/v1/readers", Doc: "List who reads what.", Answer: readersShape, Handle: getReaders, Query: []Param{{"consumer", "string", "only this one", nil}, environmentParam}},
	{Method: "GET", Path: "/api/v1/subjects/{subject}/readers", Doc: "List who reads a subject, and which versions.", Answer: readersShape, Errors: []int{40401}, Handle: getReadersOfSubject, Query: []Param{environmentParam}},
	{Method: "GET", Path: "/api/v1/marks", Doc: "Get what a migration must carry beside versions, configs and modes.", Answer: marksShape, Handle: getMarks},
	{Method: "PUT", Path: "/api/v1/marks", Doc: "Remember what another registry remembered; in mode IMPORT only.", Body: marksShape, Answer: emptyShape, Errors: []int{422, 42205, 42208}, Handle: putMarks},
	{Method: "GET", Path: "/healthz", Doc: "Answer that the process is alive.", Answer: healthShape, Plain: true, Handle: getHealth},
	{Method: "GET", Path: "/readyz", Doc: "Answer whether the process takes requests, writes included: where none has shown it for 30 seconds, or for one while the disk has less than 1 MiB of room, it tries one.", Answer: healthShape, Errors: []int{503}, Plain: true, Handle: getReadiness},
	{Method: "GET", Path: "/metrics", Doc: "Get the figures of this process, in the text form of Prometheus.", Answer: metricsShape, Plain: true, Handle: getMetrics},
	{Method: "GET", Path: "/openapi.json", Doc: "Get this document.", Answer: documentShape, Plain: true, Handle: getDocument},
}

// route builds the router from the list.
func (s *Server) route() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	// The caller's address is the connection's: no header is trusted.
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		x := c.Response().Writer.(*exchange)
		if errors.Is(err, echo.ErrMethodNotAllowed) {
			if allow := allowed(x.path); allow == "" || alone(x.path) {
				err = notFound("")
			} else {
				x.Header().Set("Allow", allow)
			}
		}
		x.fail(err)
	}
	paths := map[string]bool{}
	for i := range routes {
		r := &routes[i]
		path := echoPath(r.Path)
		e.Add(r.Method, path, s.adapt(r))
		if r.Method == http.MethodGet {
			e.Add(http.MethodHead, path, s.adapt(r))
		}
		if paths[path] {
			continue
		}
		paths[path] = true
		allow := allowed(r.Path)
		e.Add(http.MethodOptions, path, func(c echo.Context) error {
			if strays(c) {
				return notFound("")
			}
			x := c.Response().Writer.(*exchange)
			x.Header().Set("Allow", allow)
			return x.answer([]byte("{}"))
		})
	}
	s.echo = e
}

// alone tells whether path is one of an Alone route.
func alone(path string) bool {
	return slices.ContainsFunc(routes, func(r Route) bool { return r.Alone && r.Path == path })
}

// anyMethod are the methods of all routes together.
const anyMethod = "DELETE, GET, HEAD, OPTIONS, POST, PUT"

// echoPath writes "{name}" as echo does.
func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// strays tells whether the last segment of a route took more than one of the
// path: echo gives the rest of the path to a parameter that nothing follows.
func strays(c echo.Context) bool {
	for _, value := range c.ParamValues() {
		if strings.Contains(value, "/") {
			return true
		}
	}
	return false
}

// allowed lists the methods of the routes that have path's segments, as the
// Allow header does; it is empty for a path without a route.
func allowed(path string) string {
	segments := strings.Split(path, "/")
	var methods []string
	for _, r := range routes {
		if !slices.EqualFunc(strings.Split(r.Path, "/"), segments, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{")
		}) {
			continue
		}
		methods = append(methods, r.Method, http.MethodOptions)
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ")
}
