package outbox_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// router reads the configuration of Debezium's event router that the page gives,
// by the names after "transforms.outbox.".
func router(t *testing.T) map[string]string {
	t.Helper()
	docs, err := os.ReadFile("../../docs/companions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(docs), "```properties\n")
	block, _, closed := strings.Cut(block, "```")
	if !closed {
		t.Fatal("the page has no properties")
	}
	config := map[string]string{}
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		config[strings.TrimPrefix(name, "transforms.outbox.")] = value
	}
	return config
}

// A row, read by the columns that the page's configuration names and placed where
// it says, is a message that a consumer's validator accepts; and the columns are of
// types that Debezium's converters take.
func TestDebeziumRowsAreAccepted(t *testing.T) {
	t.Parallel()
	config := router(t)
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		v := validator(t, &orders{})
		if err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error { return outbox.Put(t.Context(), tx, dialect(d), v, event("a01", 1)) }); err != nil {
			t.Fatal(err)
		}
		table := strings.TrimPrefix(config["table.include.list"], "public.")
		named := map[string]string{} // columns, and where they go
		for _, role := range []string{"table.field.event.id", "table.field.event.key", "table.field.event.payload", "route.by.field"} {
			if config[role] == "" {
				t.Fatalf("the page names no column for %s", role)
			}
			named[config[role]] = role
		}
		type header struct{ column, name string }
		var headers []header
		for one := range strings.SplitSeq(config["table.fields.additional.placement"], ",") {
			column, rest, _ := strings.Cut(one, ":")
			place, name, ok := strings.Cut(rest, ":")
			if !ok || place != "header" {
				t.Fatalf("placement %q", one)
			}
			headers, named[column] = append(headers, header{column, name}), name
		}
		query := `SELECT name, type FROM pragma_table_info('` + table + `')`
		if d.IsPostgres() {
			query = `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '` + table + `'`
		}
		types := map[string]string{}
		rows, err := d.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var column, kind string
			if err := rows.Scan(&column, &kind); err != nil {
				t.Fatal(err)
			}
			types[column] = strings.ToLower(kind)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for _, column := range slices.Sorted(maps.Keys(named)) {
			// Bytes for the binary converter, text for the headers' string converter.
			want := "text"
			if column == config["table.field.event.payload"] {
				want = map[bool]string{true: "bytea", false: "blob"}[d.IsPostgres()]
			}
			if types[column] != want {
				t.Errorf("the column %s, for %s, is %q in the table %s; want %s", column, named[column], types[column], table, want)
			}
		}

		read := func(column string) sql.NullString {
			var s sql.NullString
			if err := d.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT %s FROM %s`, column, table)).Scan(&s); err != nil { //nolint:gosec // names of the page
				t.Fatal(err)
			}
			return s
		}
		m := validate.Message{Destination: read(config["route.by.field"]).String, Payload: []byte(read(config["table.field.event.payload"]).String)}
		for _, h := range headers {
			one := validate.Header{Name: h.name}
			if value := read(h.column); value.Valid { // else the header is there and null
				one.Value = value.String
			}
			m.Headers = append(m.Headers, one)
		}
		o := v.BeforeConsume(t.Context(), &m, &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1")})
		if o.Verdict != validate.Accept || o.Version != 1 || string(o.Payload) != `{"n":1}` {
			t.Errorf("%v %s: %v; headers %v", o.Verdict, o.Reason, o.Err, m.Headers)
		}
		said := map[string]any{}
		for _, h := range m.Headers {
			said[h.Name] = h.Value
		}
		if said["messageId"] != "a01-1" || said["messageKey"] != "a01" || read(config["table.field.event.key"]).String != "a01" || read(config["table.field.event.id"]).String != "a01-1" {
			t.Errorf("id, key and header of the aggregate: %v", said)
		}
	})
}
