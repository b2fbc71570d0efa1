// Package cartorio_test holds the tests that look at the whole house: which room
// may import which, and how long a file may be. It parses the files itself, because
// a test that asked the go command would be answered from a cache that does not see
// new imports.
package cartorio_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/cartorio-registry/cartorio"

// room says what a package may import: our own packages, and outside modules
// that a decision record gives it. The standard library is free but for never.
type room struct {
	ours    []string
	outside []string
	never   []string // standard library packages that are banned here
}

var pure = []string{"net/http", "database/sql", "os", "os/exec"}

const (
	jsonschemaV5  = "github.com/santhosh-tekuri/jsonschema/v5"
	protocompile  = "github.com/bufbuild/protocompile"
	goprotobuf    = "google.golang.org/protobuf"
	goavro        = "github.com/linkedin/goavro/v2"
	echo          = "github.com/labstack/echo/v4"
	sqliteDriver  = "modernc.org/sqlite"
	pgx           = "github.com/jackc/pgx/v5"
	promClient    = "github.com/prometheus/client_golang"
	promText      = "github.com/prometheus/common"
	amqp          = "github.com/rabbitmq/amqp091-go"
	franz         = "github.com/twmb/franz-go"
	goStomp       = "github.com/go-stomp/stomp/v3"
	goAMQP        = "github.com/Azure/go-amqp"
	cobra         = "github.com/spf13/cobra"
	pflag         = "github.com/spf13/pflag"
	yaml          = "gopkg.in/yaml.v3"
	sync          = "golang.org/x/sync"
	openTelemetry = "go.opentelemetry.io/otel"
)

var house = map[string]room{
	".":                             {},
	"schemas":                       {never: pure},
	"scripts/ratios":                {never: []string{"net/http", "database/sql"}},
	"schemas/jsontext":              {ours: []string{"schemas"}, never: pure},
	"schemas/costtest":              {never: []string{"net/http", "database/sql", "os/exec"}},
	"schemas/avro":                  {ours: []string{"schemas", "schemas/jsontext"}, outside: []string{goavro}, never: pure},
	"schemas/jsonschema":            {ours: []string{"schemas", "schemas/jsontext", "schemas/jsonschema/regex"}, outside: []string{jsonschemaV5}, never: pure},
	"schemas/jsonschema/regex":      {never: pure},
	"schemas/protobuf":              {ours: []string{"schemas"}, outside: []string{protocompile, goprotobuf}, never: pure},
	"schemas/formats":               {ours: []string{"schemas", "schemas/avro", "schemas/jsonschema", "schemas/protobuf"}, never: pure},
	"schemas/derive":                {ours: []string{"schemas", "schemas/jsontext"}, never: pure},
	"schemas/folder":                {ours: []string{"schemas"}, never: pure},
	"compat":                        {ours: []string{"schemas"}, never: pure},
	"compat/avro":                   {ours: []string{"compat", "schemas", "schemas/avro", "schemas/jsontext"}, never: pure},
	"compat/jsonschema":             {ours: []string{"compat", "schemas", "schemas/jsonschema", "schemas/jsonschema/regex", "schemas/jsontext"}, never: pure},
	"compat/protobuf":               {ours: []string{"compat", "schemas", "schemas/protobuf"}, outside: []string{goprotobuf}, never: pure},
	"compat/checkers":               {ours: []string{"compat", "schemas", "compat/avro", "compat/jsonschema", "compat/protobuf"}, never: pure},
	"compat/checktest":              {ours: []string{"compat", "schemas"}, outside: []string{"golang.org/x/tools/txtar", "github.com/rogpeppe/go-internal/txtar"}},
	"lint":                          {ours: []string{"compat", "schemas", "schemas/jsontext"}, never: pure},
	"lint/avro":                     {ours: []string{"compat", "lint", "schemas", "schemas/avro", "schemas/jsontext"}, never: pure},
	"lint/jsonschema":               {ours: []string{"compat", "lint", "schemas", "schemas/jsonschema", "schemas/jsontext"}, never: pure},
	"lint/protobuf":                 {ours: []string{"compat", "lint", "schemas", "schemas/jsontext", "schemas/protobuf"}, never: pure},
	"lint/linters":                  {ours: []string{"compat", "lint", "lint/avro", "lint/jsonschema", "lint/protobuf", "schemas"}, never: pure},
	"lint/linttest":                 {ours: []string{"compat", "lint", "schemas"}},
	"registry":                      {ours: []string{"schemas", "compat"}, outside: []string{sync}, never: []string{"net/http", "database/sql", "os/exec"}},
	"registry/sqlite":               {ours: []string{"registry", "schemas"}, outside: []string{sqliteDriver}, never: []string{"net/http", "os/exec"}},
	"registry/transfer":             {ours: []string{"registry", "schemas", "clients/sr"}, never: []string{"database/sql", "os/exec"}},
	"registry/journaltest":          {ours: []string{"registry", "schemas"}},
	"api":                           {ours: []string{"registry", "compat", "schemas", "schemas/jsontext", "api/ui"}, outside: []string{echo, promClient, promText}, never: []string{"database/sql", "os/exec"}},
	"clients/framing":               {ours: []string{"schemas"}, never: pure},
	"clients/sr":                    {ours: []string{"schemas"}, never: []string{"database/sql", "os/exec"}},
	"clients/validate":              {ours: []string{"schemas", "clients/framing"}, outside: []string{sync}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/translate":             {ours: []string{"schemas", "schemas/jsontext", "clients/validate"}, outside: []string{yaml}, never: pure},
	"clients/signals":               {ours: []string{"clients/validate"}, never: pure},
	"clients/signals/prometheus":    {ours: []string{"clients/validate"}, outside: []string{promClient}, never: pure},
	"clients/signals/otel":          {ours: []string{"clients/validate"}, outside: []string{openTelemetry}, never: pure},
	"clients/retry":                 {never: pure},
	"clients/deliver":               {ours: []string{"clients/validate", "clients/retry"}, never: pure},
	"clients/brokertest":            {ours: []string{"api", "clients/deliver", "clients/sr", "clients/validate", "registry", "registry/sqlite", "schemas", "schemas/formats"}},
	"clients/dbtest":                {outside: []string{sqliteDriver, pgx}},
	"clients/outbox":                {ours: []string{"clients/validate", "clients/framing", "clients/retry"}, never: []string{"net/http", "os", "os/exec"}},
	"clients/claim":                 {ours: []string{"clients/validate", "clients/framing", "clients/retry"}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/dedupe":                {ours: []string{"clients/validate", "clients/retry"}, never: []string{"os", "os/exec"}},
	"clients/outbox/prometheus":     {ours: []string{"clients/outbox"}, outside: []string{promClient}, never: pure},
	"clients/outbox/otel":           {ours: []string{"clients/outbox"}, outside: []string{openTelemetry}, never: pure},
	"clients/dedupe/prometheus":     {ours: []string{"clients/dedupe"}, outside: []string{promClient}, never: pure},
	"clients/dedupe/otel":           {ours: []string{"clients/dedupe"}, outside: []string{openTelemetry}, never: pure},
	"clients/rabbitmq":              {ours: []string{"schemas", "clients/validate", "clients/deliver", "clients/retry"}, outside: []string{amqp}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/kafka":                 {ours: []string{"clients/validate", "clients/deliver", "clients/retry"}, outside: []string{franz}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/activemq":              {ours: []string{"clients/validate", "clients/deliver", "clients/retry"}, outside: []string{goStomp}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/amqp10":                {ours: []string{"clients/validate", "clients/deliver", "clients/retry"}, outside: []string{goAMQP}, never: []string{"net/http", "database/sql", "os/exec"}},
	"clients/brokers":               {outside: []string{franz}, never: []string{"net/http", "database/sql", "os", "os/exec"}},
	"clients/queues":                {ours: []string{"clients/brokers", "clients/deadletter", "clients/deadletter/kafka", "clients/deadletter/rabbitmq", "clients/framing"}, outside: []string{amqp, franz}, never: []string{"database/sql", "os", "os/exec"}},
	"clients/bridge":                {ours: []string{"schemas", "clients/activemq", "clients/amqp10", "clients/brokers", "clients/deliver", "clients/framing", "clients/kafka", "clients/rabbitmq", "clients/validate"}, outside: []string{amqp, franz, goAMQP, yaml}, never: []string{"net/http", "database/sql", "os", "os/exec"}},
	"clients/deadletter":            {ours: []string{"clients/validate"}, never: pure},
	"clients/deadletter/rabbitmq":   {ours: []string{"clients/brokers", "clients/deadletter", "clients/validate"}, outside: []string{amqp}, never: pure},
	"clients/deadletter/activemq":   {ours: []string{"clients/brokers", "clients/deadletter", "clients/validate"}, outside: []string{goStomp}, never: pure},
	"clients/deadletter/amqp10":     {ours: []string{"clients/amqp10", "clients/brokers", "clients/deadletter", "clients/validate"}, outside: []string{goAMQP}, never: pure},
	"clients/deadletter/kafka":      {ours: []string{"clients/brokers", "clients/deadletter", "clients/validate"}, outside: []string{franz}, never: pure},
	"cmd/cartorio/internal/gitfs":   {never: []string{"net/http", "database/sql"}},
	"cmd/cartorio/internal/archive": {never: append([]string{"path/filepath"}, pure...)},
	"cmd/cartorio/internal/config":  {ours: []string{"compat", "schemas", "schemas/folder", "schemas/jsontext"}, outside: []string{yaml}, never: pure},
	"cmd/cartorio/internal/gitops":  {ours: []string{"compat", "schemas", "clients/sr", "cmd/cartorio/internal/report"}, never: []string{"database/sql", "os", "os/exec"}},
	"cmd/cartorio/internal/report":  {ours: []string{"compat", "schemas"}, never: pure},
	"cmd/cartorio": {
		ours: []string{
			"schemas", "schemas/avro", "schemas/jsonschema", "schemas/protobuf", "schemas/derive", "schemas/formats", "schemas/folder", "schemas/jsontext",
			"compat", "compat/checkers", "lint", "lint/linters", "registry", "registry/sqlite", "registry/transfer", "api", "clients/bridge", "clients/brokers", "clients/deadletter", "clients/deadletter/activemq", "clients/deadletter/amqp10", "clients/deadletter/kafka", "clients/deadletter/rabbitmq", "clients/framing", "clients/queues", "clients/sr", "clients/translate", "clients/validate", "cmd/cartorio/internal/archive", "cmd/cartorio/internal/gitfs", "cmd/cartorio/internal/config", "cmd/cartorio/internal/gitops", "cmd/cartorio/internal/report",
		},
		outside: []string{cobra, pflag, yaml},
		never:   []string{"os/exec"},
	},
	"examples/kafka": {
		ours:    []string{"schemas", "schemas/avro", "schemas/jsonschema", "schemas/protobuf", "schemas/formats", "clients/sr", "clients/validate", "clients/kafka", "clients/retry"},
		outside: []string{franz},
	},
	"examples/outbox": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/sr", "clients/validate", "clients/rabbitmq", "clients/outbox", "clients/dedupe"},
		outside: []string{amqp, sqliteDriver},
	},
	"examples/activemq": {
		ours:    []string{"schemas", "schemas/avro", "schemas/jsonschema", "schemas/protobuf", "schemas/formats", "clients/sr", "clients/validate", "clients/activemq", "clients/amqp10"},
		outside: []string{goAMQP},
	},
	"examples/evolution": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/deliver", "clients/rabbitmq", "clients/sr", "clients/validate"},
		outside: []string{amqp},
	},
	"examples/exampletest": {ours: []string{"api", "compat/checkers", "registry", "registry/sqlite", "schemas/formats"}, outside: []string{amqp}},
	"examples/acknowledgement": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/activemq", "clients/kafka", "clients/rabbitmq", "clients/sr", "clients/validate"},
		outside: []string{amqp, franz, goStomp},
	},
	"examples/pubsub": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/deliver", "clients/sr", "clients/validate", "clients/rabbitmq", "clients/retry"},
		outside: []string{amqp},
	},
	"examples/requestreply": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/deliver", "clients/sr", "clients/validate", "clients/rabbitmq"},
		outside: []string{amqp},
	},
	"examples/routing": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/activemq", "clients/deliver", "clients/kafka", "clients/rabbitmq", "clients/sr", "clients/validate"},
		outside: []string{amqp, franz},
	},
	"examples/transactions": {
		ours:    []string{"schemas", "schemas/jsonschema", "clients/kafka", "clients/sr", "clients/validate"},
		outside: []string{franz},
	},
	"examples/rabbitmq": {
		ours:    []string{"schemas", "schemas/avro", "schemas/jsonschema", "schemas/protobuf", "schemas/formats", "clients/sr", "clients/validate", "clients/rabbitmq"},
		outside: []string{amqp},
	},
}

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "tools" || name != "." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && file != "." {
				return filepath.SkipDir // a module of its own has rules of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		at := path.Dir(filepath.ToSlash(file))
		r, known := house[at]
		if !known {
			t.Errorf("%s: the package %s has no line in the house's table", file, at)
			return nil
		}
		seen[at] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			what, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if spec.Name != nil && spec.Name.Name == "." {
				t.Errorf("%s: dot import of %s", file, what)
			}
			if why := r.refuses(what); why != "" {
				t.Errorf("%s: imports %s: %s", file, what, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := range house {
		if !seen[at] && at != "." {
			t.Errorf("the house's table has a line for %s, which does not exist", at)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d packages were looked at", len(seen))
	}
}

// A file has one subject, and stays shorter than tooLong.
func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	const tooLong = 500 // lines
	seen := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		seen++
		if n := bytes.Count(text, []byte("\n")); n >= tooLong {
			t.Errorf("%s has %d lines, and may have fewer than %d: part it by subject", file, n, tooLong)
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were looked at: %v", seen, err)
	}
}

func (r room) refuses(what string) string {
	if inside, ours := strings.CutPrefix(what, module+"/"); ours {
		if !slices.Contains(r.ours, inside) {
			return "this room may not see that one"
		}
		return ""
	}
	if !strings.Contains(strings.SplitN(what, "/", 2)[0], ".") {
		if slices.Contains(r.never, what) {
			return "banned in this room"
		}
		return ""
	}
	for _, mod := range r.outside {
		if what == mod || strings.HasPrefix(what, mod+"/") {
			return ""
		}
	}
	return "no decision record gives this module to this room"
}

// TestRefusals shows that the table can fail.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		room, what string
		refused    bool
	}{
		{"schemas", module + "/compat", true},
		{"schemas", "os", true},
		{"schemas", "net/url", false},
		{"schemas/avro", module + "/schemas/jsonschema", true},
		{"registry", module + "/api", true},
		{"registry", module + "/schemas/avro", true},
		{"clients/validate", module + "/clients/sr", true},
		{"api", "github.com/labstack/echo/v4/middleware", false},
		{"api", "github.com/labstack/echo/v40", true},
		{"compat", echo, true},
	} {
		if got := house[tt.room].refuses(tt.what) != ""; got != tt.refused {
			t.Errorf("%s importing %s: refused %v, want %v", tt.room, tt.what, got, tt.refused)
		}
	}
}
