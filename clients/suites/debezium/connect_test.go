package debezium_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// worker is how Connect's standalone worker is set up, beside the connector.
const worker = `bootstrap.servers=%s
listeners=http://127.0.0.1:0
offset.storage.file.filename=%s
offset.flush.interval.ms=%d
plugin.discovery=service_load
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
`

// database is where the connector finds the table, as the role of that name. The slot of a worker that was
// killed is free once the server has noticed. Heartbeats come sooner than the page
// has it.
const database = `
name=outbox
database.hostname=%[1]s
database.port=%[2]s
database.user=%[3]s
database.password=secret
database.dbname=%[3]s
slot.name=%[3]s
topic.prefix=%[3]s
heartbeat.interval.ms=500
slot.retry.delay.ms=500
`

const logging = `status=error
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %m (%c)%n%throwable
`

// connect is a worker of Kafka Connect, one process after the other on the same
// offsets.
type connect struct {
	t                         *testing.T
	folder, jars, broker, log string

	cmd   *exec.Cmd
	ended chan error
}

// newConnect writes down the configuration: the connector's is that of
// outbox.properties, as it stands.
func newConnect(t *testing.T, jars, broker string, source *tables) *connect {
	t.Helper()
	connector, err := os.ReadFile("outbox.properties")
	if err != nil {
		t.Fatal(err)
	}
	c := &connect{t: t, folder: t.TempDir(), jars: jars, broker: broker}
	c.log = filepath.Join(c.folder, "log")
	c.write("outbox.properties", string(connector)+fmt.Sprintf(database, source.URL.Hostname(), source.URL.Port(), source.name()))
	c.write("log4j2.properties", logging)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		text, _ := os.ReadFile(c.log)
		t.Logf("the log of Connect ends:\n%s", text[max(0, len(text)-8000):])
	})
	return c
}

func (c *connect) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// run starts the worker, which writes its offsets down that often: what came after
// is published again when it was killed.
func (c *connect) run(offsets time.Duration) {
	c.t.Helper()
	c.write("worker.properties", fmt.Sprintf(worker, c.broker, filepath.Join(c.folder, "offsets"), offsets.Milliseconds()))
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	in := func(name string) string { return filepath.Join(c.folder, name) }
	c.cmd = exec.CommandContext(c.t.Context(), "java", "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", //nolint:gosec // files of this test
		"-Dlog4j2.configurationFile="+in("log4j2.properties"), "-cp", filepath.Join(c.jars, "*"),
		"org.apache.kafka.connect.cli.ConnectStandalone", in("worker.properties"), in("outbox.properties"))
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan<- error) { ended <- cmd.Wait() }(c.cmd, c.ended)
}

// kill ends the worker's process at once, and waits for its end.
func (c *connect) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatalf("kill Connect: %v", err)
	}
	<-c.ended
}

// await waits until it is so, as long as the worker lives.
func (c *connect) await(what string, is func() bool) {
	c.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(90 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case err := <-c.ended:
			c.t.Fatalf("waiting for %s: Connect ended: %v", what, err)
		case <-deadline:
			c.t.Fatalf("never came about: %s", what)
		}
	}
}

// tables is a database of the test's own, with an outbox that Debezium may read
// by the statements of outbox.sql.
type tables struct {
	*sql.DB
	URL *url.URL
}

func open(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal("the address of the PostgreSQL is not a URL")
	}
	db.SetMaxOpenConns(16)
	return db
}

// newTables makes the database, and removes it with its slot.
func newTables(t *testing.T, server, name string) *tables {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("the address of the PostgreSQL is not a URL")
	}
	admin := open(t, server)
	level := ""
	if err := admin.QueryRowContext(t.Context(), `SHOW wal_level`).Scan(&level); err != nil {
		t.Fatal(err)
	}
	if level != "logical" {
		t.Fatalf("the PostgreSQL has wal_level %s: Debezium needs wal_level=logical in its configuration, and a restart", level)
	}
	if _, err := admin.ExecContext(t.Context(), `CREATE DATABASE `+name); err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	db := &tables{DB: open(t, u.String()), URL: u}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
		defer stop()
		_ = db.Close()
		for err := error(nil); ; {
			// A sender that was told to end holds the slot a moment longer.
			if _, err = admin.ExecContext(ctx, `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = '`+name+`' AND active_pid IS NOT NULL`); err == nil {
				if _, err = admin.ExecContext(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = '`+name+`'`); err == nil {
					break
				}
			}
			if ctx.Err() != nil {
				t.Errorf("drop the replication slot: %v", err)
				break
			}
		}
		for _, statement := range []string{`DROP DATABASE ` + name + ` WITH (FORCE)`, `DROP ROLE IF EXISTS ` + name} {
			if _, err := admin.ExecContext(ctx, statement); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close()
	})
	return db
}

// prepare runs the statements of outbox.sql, and makes a role that may do just what
// the page says. A server has one slot of a name, so the test's is called as its
// database is.
func (d *tables) prepare(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("outbox.sql")
	if err != nil {
		t.Fatal(err)
	}
	role := `CREATE ROLE ` + d.name() + ` LOGIN REPLICATION PASSWORD 'secret'
GRANT SELECT ON cartorio_outbox TO ` + d.name() + `
`
	for line := range strings.Lines(string(text) + role) {
		statement := strings.ReplaceAll(line, `'cartorio_outbox'`, `'`+d.name()+`'`)
		if _, err := d.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func (d *tables) name() string { return strings.TrimPrefix(d.URL.Path, "/") }

// busy has others write, and answers where the log ends then.
func (d *tables) busy(t *testing.T) (end string) {
	t.Helper()
	if _, err := d.ExecContext(t.Context(), `CREATE TABLE other AS SELECT md5(n::text) AS text FROM generate_series(1, 20000) n`); err != nil {
		t.Fatal(err)
	}
	if err := d.QueryRowContext(t.Context(), `SELECT pg_current_wal_lsn()::text`).Scan(&end); err != nil {
		t.Fatal(err)
	}
	return end
}

// confirmed tells whether the log up to there is no longer kept for the slot.
func (d *tables) confirmed(t *testing.T, end string) (is bool) {
	t.Helper()
	if err := d.QueryRowContext(t.Context(), `SELECT confirmed_flush_lsn >= $1::pg_lsn FROM pg_replication_slots WHERE slot_name = $2`, end, d.name()).Scan(&is); err != nil {
		t.Fatal(err)
	}
	return is
}
