package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Installation is what a registry says of the place it was installed in.
type Installation struct {
	// ID is a stable random id of the installation.
	ID string
	// Cluster is the registry's own group name.
	Cluster string
}

// Installation asks where the registry was installed.
//
// GET /v1/metadata/id
func (c *Client) Installation(ctx context.Context) (Installation, error) {
	var b struct {
		Scope struct {
			Clusters struct {
				Kafka    string `json:"kafka-cluster"`
				Registry string `json:"schema-registry-cluster"`
			} `json:"clusters"`
		} `json:"scope"`
	}
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/metadata/id"}, &b)
	return Installation{b.Scope.Clusters.Kafka, b.Scope.Clusters.Registry}, err
}

// ServerVersion is what a registry says of itself.
type ServerVersion struct {
	// Version is the version of the contract that it speaks, Commit its build.
	Version, Commit string
	// Product and ProductVersion name the program; empty where it has none.
	Product, ProductVersion string
}

// ServerVersion asks what program answers.
//
// GET /v1/metadata/version
func (c *Client) ServerVersion(ctx context.Context) (ServerVersion, error) {
	var b struct {
		Version        string `json:"version"`
		Commit         string `json:"commitId"`
		Product        string `json:"product"`
		ProductVersion string `json:"productVersion"`
	}
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/metadata/version"}, &b)
	return ServerVersion{b.Version, b.Commit, b.Product, b.ProductVersion}, err
}

// Deployment asks for the attributes of the registry's deployment.
//
// GET /v1/metadata/deployment
func (c *Client) Deployment(ctx context.Context) ([]string, error) {
	var b struct {
		Attributes []string `json:"attributes"`
	}
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/metadata/deployment"}, &b)
	return b.Attributes, err
}

// Ping asks whether the registry answers at all.
//
// GET /
func (c *Client) Ping(ctx context.Context) error {
	var any map[string]any
	return c.call(ctx, request{method: http.MethodGet, path: "/"}, &any)
}

// Contexts lists the contexts, the default one first.
//
// GET /contexts
func (c *Client) Contexts(ctx context.Context, prefix string, p Page) ([]schemas.Context, error) {
	var out []schemas.Context
	q := query{}.text("contextPrefix", prefix).page(p)
	err := c.call(ctx, request{method: http.MethodGet, path: "/contexts", query: q.values()}, &out)
	return out, err
}

// DeleteContext removes a context that is empty; an unknown one is no error.
//
// DELETE /contexts/{c}
func (c *Client) DeleteContext(ctx context.Context, context schemas.Context) error {
	return c.call(ctx, request{method: http.MethodDelete, path: "/contexts/" + segment(schemas.Subject{Name: string(context)})}, nil)
}
