package api_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// C50, C51, C52: the worked examples of config.
func c50Config(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("GET", "/config", nil), 200, `{"compatibilityLevel":"BACKWARD"}`)
	c.want(c.do("GET", "/config?defaultToGlobal=true", nil), 200, `{"compatibilityLevel":"BACKWARD"}`)
	c.fails(c.do("GET", "/config/users-value", nil), 40408, "users-value")
	c.fails(c.do("DELETE", "/config/users-value", nil), 40401, "users-value")
	c.want(c.do("PUT", "/config/users-value", `{"compatibility":"full","normalize":true}`), 200, `{"compatibility":"FULL","normalize":true}`)
	c.want(c.do("PUT", "/config/users-value", `{"validateFields":false}`), 200, `{"compatibility":"FULL","normalize":true,"validateFields":false}`)
	c.want(c.do("GET", "/config/users-value", nil), 200, `{"compatibilityLevel":"FULL","normalize":true,"validateFields":false}`)
	c.want(c.do("PUT", "/config/users-value", `{"normalize":null,"validateFields":null}`), 200, `{"compatibility":"FULL"}`)
	c.want(c.do("PUT", "/config/users-value", `{}`), 200, `{"compatibility":"FULL"}`)
	c.want(c.do("GET", "/config/users-value", nil), 200, `{"compatibilityLevel":"FULL"}`)
	c.want(c.do("GET", "/config/other-value?defaultToGlobal=true", nil), 200, `{"compatibilityLevel":"BACKWARD"}`)
	c.want(c.do("DELETE", "/config/users-value", nil), 200, `{"compatibilityLevel":"FULL","compatibility":"FULL"}`)
	c.fails(c.do("GET", "/config/users-value", nil), 40408)
	for range 2 {
		c.want(c.do("DELETE", "/config", nil), 200, `{"compatibilityLevel":"BACKWARD","compatibility":"BACKWARD"}`)
	}
	for _, global := range []string{"/config", "/config/", "/config/:.:", "/config/:.", "/contexts/./config", "/contexts/:.:/config"} {
		c.want(c.do("PUT", global, `{"compatibilityLevel":"none"}`), 200, `{"compatibility":"NONE"}`)
		c.want(c.do("GET", "/config", nil), 200, `{"compatibilityLevel":"NONE"}`)
		c.want(c.do("GET", global, nil), 200, `{"compatibilityLevel":"NONE"}`)
		c.want(c.do("DELETE", global, nil), 200, `{"compatibilityLevel":"NONE","compatibility":"NONE"}`)
		c.want(c.do("GET", "/config", nil), 200, `{"compatibilityLevel":"BACKWARD"}`)
	}
	// The registry-wide scope lies behind the global config, and shows when asked.
	c.want(c.do("PUT", "/config/:.__GLOBAL:", `{"compatibility":"NONE"}`), 200, `{"compatibility":"NONE"}`)
	c.want(c.do("GET", "/config/:.__GLOBAL:", nil), 200, `{"compatibilityLevel":"NONE"}`)
	c.want(c.do("GET", "/config", nil), 200, `{"compatibilityLevel":"BACKWARD"}`)
	c.want(c.do("GET", "/config?defaultToGlobal=true", nil), 200, `{"compatibilityLevel":"NONE"}`)
	c.want(c.do("GET", "/config/s?defaultToGlobal=true", nil), 200, `{"compatibilityLevel":"NONE"}`)
	c.want(c.do("DELETE", "/config/:.__GLOBAL:", nil), 200, `{"compatibilityLevel":"NONE","compatibility":"NONE"}`)
	// The level under its own name counts, and null clears it.
	c.want(c.do("PUT", "/config/s", `{"compatibilityLevel":"NONE","compatibility":"FULL"}`), 200, `{"compatibility":"FULL"}`)
	c.want(c.do("PUT", "/config/s", `{"validateNewSchemas":true,"compatibility":null}`), 200, `{"validateNewSchemas":true}`)
}

// C53: a config that says no level inherits it.
func c53Inheritance(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.do("PUT", "/config", `{"compatibility":"FORWARD_TRANSITIVE","normalize":true,"compatibilityPolicy":"LENIENT"}`)
	c.want(c.do("PUT", "/config/s", `{"validateNewSchemas":false}`), 200, `{"validateNewSchemas":false}`)
	c.want(c.do("GET", "/config/s", nil), 200, `{"compatibilityLevel":"FORWARD_TRANSITIVE","validateNewSchemas":false}`)
	got := c.want(c.do("GET", "/config/t?defaultToGlobal=true", nil), 200, nil)
	if got.member(t, "compatibilityLevel") != "FORWARD_TRANSITIVE" || got.member(t, "normalize") != true || got.member(t, "compatibilityPolicy") != "LENIENT" {
		t.Errorf("the config in force is %s", got)
	}
	c.want(c.do("DELETE", "/config/s", nil), 200, `{"compatibilityLevel":"FORWARD_TRANSITIVE","compatibility":"FORWARD_TRANSITIVE","validateNewSchemas":false}`)
}

// C56: levels, policies and their spellings.
func c56Levels(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, level := range []string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"} {
		for _, text := range []string{level, strings.ToLower(level), level[:1] + strings.ToLower(level[1:])} {
			c.want(c.do("PUT", "/config/s", map[string]any{"compatibility": text}), 200, map[string]any{"compatibility": level})
		}
	}
	for _, text := range []string{"", "BACKWARDS", "FULL ", "0"} {
		c.fails(c.do("PUT", "/config/s", map[string]any{"compatibility": text}), 42203, "FULL_TRANSITIVE")
		c.fails(c.do("PUT", "/config", map[string]any{"compatibilityLevel": text}), 42203)
	}
	c.want(c.do("PUT", "/config/s", `{"compatibilityPolicy":"ANY","compatibility":"NONE"}`), 200, `{"compatibility":"NONE"}`) // dropped
	for _, policy := range []string{"STRICT", "LENIENT", "LOGICAL"} {
		a := c.want(c.do("PUT", "/config/s", map[string]any{"compatibilityPolicy": strings.ToLower(policy)}), 200, map[string]any{"compatibility": "NONE", "compatibilityPolicy": policy})
		if says := a.header.Get("Warning") != ""; says != (policy == "LOGICAL") {
			t.Errorf("%s: Warning is %q", policy, a.header.Get("Warning"))
		}
	}
	c.want(c.do("PUT", "/config/s", `{"compatibilityPolicy":null}`), 200, `{"compatibility":"NONE"}`)
	for _, policy := range []string{"REFERENCE", "SOUND", "BOTH"} {
		c.want(c.do("PUT", "/config/s", map[string]any{"verdictPolicy": strings.ToLower(policy)}), 200, map[string]any{"compatibility": "NONE", "verdictPolicy": policy})
	}
	c.want(c.do("PUT", "/config/s", `{"verdictPolicy":null}`), 200, `{"compatibility":"NONE"}`)
	c.want(c.do("GET", "/config/s", nil), 200, `{"compatibilityLevel":"NONE"}`)
}

// C54, C55, C56: modes.
func c54Modes(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("GET", "/mode", nil), 200, `{"mode":"READWRITE"}`)
	c.want(c.do("DELETE", "/mode", nil), 200, `{"mode":"READWRITE"}`)
	c.fails(c.do("GET", "/mode/s", nil), 40409, "s")
	c.want(c.do("GET", "/mode/s?defaultToGlobal=true", nil), 200, `{"mode":"READWRITE"}`)
	c.fails(c.do("DELETE", "/mode/s", nil), 40401, "s")
	c.want(c.do("DELETE", "/mode/s?recursive=true", nil), 200, `{}`)
	c.want(c.do("PUT", "/mode/s", `{"mode":null}`), 200, `{}`)
	for _, mode := range []string{"READONLY", "READONLY_OVERRIDE", "READWRITE"} {
		c.want(c.do("PUT", "/mode/s", map[string]any{"mode": strings.ToLower(mode)}), 200, map[string]any{"mode": mode})
		c.want(c.do("GET", "/mode/s", nil), 200, map[string]any{"mode": mode})
	}
	c.want(c.do("PUT", "/mode/s", `{"mode":"READONLY"}`), 200, `{"mode":"READONLY"}`)
	c.fails(c.do("POST", "/subjects/s/versions", schema(`"string"`)), 42205, "READONLY")
	c.register("t", schema(`"string"`))
	c.want(c.do("PUT", "/mode/s", `{"mode":null}`), 200, `{}`)
	c.register("s", schema(`"string"`))
	c.want(c.do("PUT", "/mode/s", `{"mode":"READONLY"}`), 200, nil)
	c.want(c.do("DELETE", "/mode/s", nil), 200, `{"mode":"READONLY"}`)
	for _, body := range []string{`{}`, `{"mode":""}`, `{"mode":"OFF"}`, `{"mode":" READONLY"}`, `{"other":1}`, `{"mode":"FORWARD"}`} {
		c.fails(c.do("PUT", "/mode/s", body), 42204)
	}
	c.fails(c.do("PUT", "/mode", `{"mode":"x"}`), 42204, "READWRITE", "FORWARD")
	for _, global := range []string{"/mode/:.:", "/contexts/./mode", "/mode/:."} {
		c.want(c.do("PUT", global, `{"mode":"READONLY"}`), 200, `{"mode":"READONLY"}`)
		c.want(c.do("GET", "/mode", nil), 200, `{"mode":"READONLY"}`)
		c.want(c.do("DELETE", global, nil), 200, `{"mode":"READONLY"}`)
	}
	// IMPORT wants no live subject in its scope.
	c.fails(c.do("PUT", "/mode", `{"mode":"IMPORT"}`), 42205, "IMPORT")
	c.fails(c.do("PUT", "/mode/s", `{"mode":"import"}`), 42205)
}
