// Package dbtest is a workshop: it gives tests a database of their own on each
// engine that the patterns beside it are for, a SQLite file always and a schema
// on a real PostgreSQL where one is given.
//
// Start with [Main] in TestMain, and [Each].
package dbtest

import (
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Variable holds the URL of a PostgreSQL that tests may make schemas in;
// scripts/brokers.sh start sets it.
const Variable = "CARTORIO_TEST_POSTGRES"

var used atomic.Int32

// Main runs a package's tests; it fails when a PostgreSQL was given and no test
// used it, and is loud when none was given.
func Main(m *testing.M) int {
	flag.Parse()
	status := m.Run()
	filter := ""
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		filter += flag.Lookup("test." + name).Value.String()
	}
	switch given := os.Getenv(Variable); {
	case given == "":
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real PostgreSQL: set %s, or run `make test`\n", Variable)
	case filter == "" && used.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", Variable)
		status = 1
	}
	return status
}

// Database is a database of one test's own.
type Database struct {
	*sql.DB
	// Driver and DSN open it again, in another process for one.
	Driver, DSN string
}

// IsPostgres tells which of the two it is.
func (d Database) IsPostgres() bool { return d.Driver == "pgx" }

// Each runs a test on each engine.
func Each(t *testing.T, f func(t *testing.T, d Database)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		f(t, SQLite(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		f(t, Postgres(t))
	})
}

// SQLite gives a new file. What it commits outlives the process, though not the
// machine: synchronous is NORMAL, since the tests kill the first only.
func SQLite(t *testing.T) Database {
	t.Helper()
	// The folder's name is the test's, and may hold what a URI ends with.
	name := url.URL{Path: filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))}
	return open(t, "sqlite", "file:"+name.EscapedPath()+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
}

// Postgres gives a new schema on the server that the environment names, and
// skips the test where it names none.
func Postgres(t *testing.T) Database {
	t.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		t.Skipf("set %s to the URL of a PostgreSQL", Variable)
	}
	used.Add(1)
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("the address of the PostgreSQL is not a URL")
	}
	schema := "test_" + strings.ToLower(rand.Text())
	admin := open(t, "pgx", server)
	admin.Exec(t, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { admin.Exec(t, "DROP SCHEMA "+schema+" CASCADE") })
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return open(t, "pgx", u.String())
}

func open(t *testing.T, driver, dsn string) Database {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	t.Cleanup(func() { _ = db.Close() })
	return Database{DB: db, Driver: driver, DSN: dsn}
}

// Exec executes a statement without parameters, and fails the test with it.
func (d Database) Exec(t *testing.T, statement string) {
	t.Helper()
	// A cleanup comes after the end of the test's own context.
	if _, err := d.DB.Exec(statement); err != nil { //nolint:noctx // see above
		t.Errorf("%s: %v", statement, err)
	}
}

// Int asks for one number, and fails the test with it.
func (d Database) Int(t *testing.T, query string) int64 {
	t.Helper()
	var n int64
	if err := d.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}
