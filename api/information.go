package api

import "net/http"

// getRoot answers GET / and POST /.
func getRoot(x *exchange) error { return x.answer([]byte("{}")) }

// getInstallation answers GET /v1/metadata/id. Its empty members are written:
// the shape is the reference's.
func getInstallation(x *exchange) error {
	b := []byte(`{"scope":{"path":[],"clusters":{"kafka-cluster":`)
	b = appendString(b, x.server.registry.Installation())
	return x.answer(append(b, `,"schema-registry-cluster":"schema-registry"}},"id":""}`...))
}

// getProduct answers GET /v1/metadata/version.
func getProduct(x *exchange) error {
	o := begin(128)
	o.always("version", Imitated)
	o.always("commitId", orElse(x.server.options.Commit, "unknown"))
	o.always("product", "cartorio")
	o.always("productVersion", orElse(x.server.options.Version, "unknown"))
	return x.answer(o.end())
}

// getDeployment answers GET /v1/metadata/deployment.
func getDeployment(x *exchange) error { return x.answer([]byte(`{"attributes":[]}`)) }

// listExporters answers GET /exporters: there are none, which keeps tools that
// ask from failing.
func listExporters(x *exchange) error { return x.answer([]byte("[]")) }

// getHealth answers GET /healthz: the process answers.
func getHealth(x *exchange) error { return x.answer([]byte(`{"status":"ok"}`)) }

// getReadiness answers GET /readyz: the process takes requests, writes included.
func getReadiness(x *exchange) error {
	if x.server.draining.Load() {
		return bare(http.StatusServiceUnavailable, "the registry is stopping")
	}
	if x.server.registry.Err() != nil {
		return bare(http.StatusServiceUnavailable, "the registry has stopped writing: its log says why; restart it")
	}
	if err := x.server.registry.Ready(x.ctx()); err != nil {
		x.server.log.Warn("not ready: the store takes no writes", "request", x.requestID, "error", err)
		return bare(http.StatusServiceUnavailable, "the store takes no writes: the log says why; nothing need be restarted when it has room again")
	}
	return x.answer([]byte(`{"status":"ready"}`))
}

// getDocument answers GET /openapi.json.
func getDocument(x *exchange) error { return x.answer(x.server.document) }
