package dedupe_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
)

// isLong asks for the long forms.
var isLong = os.Getenv("CARTORIO_TEST_LONG") != ""

// partVariable makes the test binary play a consumer.
const partVariable = "CARTORIO_TEST_DEDUPE_PART"

func TestMain(m *testing.M) {
	if text := os.Getenv(partVariable); text != "" {
		if err := consume(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(dbtest.Main(m))
}

// dialect is the one of a driver.
func dialect(driver string) dedupe.Dialect {
	if driver == "pgx" {
		return dedupe.Postgres
	}
	return dedupe.SQLite
}

// accounts is among how many accounts the amounts are spread, so that workers do
// not all wait for one row.
const accounts = 16

// prepare makes the tables and the accounts to which messages add.
func prepare(t *testing.T, d dbtest.Database) dedupe.Dialect {
	t.Helper()
	if err := dedupe.Create(t.Context(), d.DB, dialect(d.Driver)); err != nil {
		t.Fatal(err)
	}
	d.Exec(t, `CREATE TABLE account (id INTEGER PRIMARY KEY, total BIGINT NOT NULL, handled BIGINT NOT NULL)`)
	for i := range accounts {
		d.Exec(t, fmt.Sprintf(`INSERT INTO account VALUES (%d, 0, 0)`, i))
	}
	return dialect(d.Driver)
}

func add(ctx context.Context, tx *sql.Tx, amount int) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE account SET total = total + %d, handled = handled + 1 WHERE id = %d`, amount, amount%accounts))
	return err
}

// part is a consumer in a process of its own. It reads deliveries, one "id
// amount" a line, works on each, and acknowledges it by a line with its id. It
// kills itself at its nth delivery, at the place named.
type part struct {
	Driver, DSN string
	Card        string
	Nth         int64
	Place       string
}

func consume(text string) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	db, err := sql.Open(p.Driver, p.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	var count atomic.Int64
	var acks sync.Mutex
	work := func(id string, amount int) error {
		dies := count.Add(1) >= p.Nth && p.Nth > 0 // or the next one, where this was done before
		m := dedupe.Message{Consumer: "billing", ID: id}
		err := dedupe.Once(ctx, db, dialect(p.Driver), m, func(ctx context.Context, tx *sql.Tx) error {
			if p.Card != "" {
				if err := charge(ctx, p.Card, m, amount); err != nil {
					return err
				}
			}
			if err := add(ctx, tx, amount); err != nil {
				return err
			}
			if dies && p.Place == "before the commit" {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill()
				}
				select {}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if dies { // after the commit, before the acknowledgement
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
		acks.Lock()
		defer acks.Unlock()
		fmt.Println(id)
		return nil
	}
	var workers sync.WaitGroup
	lines, failed := make(chan string), make(chan error, 8)
	for range 4 {
		workers.Go(func() {
			for line := range lines {
				var id string
				var amount int
				if _, err := fmt.Sscan(line, &id, &amount); err != nil {
					failed <- err
					return
				}
				if err := work(id, amount); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		select {
		case lines <- in.Text():
		case err := <-failed:
			return err
		}
	}
	close(lines)
	workers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return in.Err()
	}
}

// charge asks the card's service to take an amount.
func charge(ctx context.Context, url string, m dedupe.Message, amount int) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(fmt.Sprint(amount)))
	if err != nil {
		return err
	}
	dedupe.SetIdempotencyKey(r, m, "charge")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("charge the card: %s", answer.Status)
	}
	return nil
}

// card is a service that charges once for each key.
type card struct {
	mu       sync.Mutex
	charged  map[string]string
	requests int
}

func (c *card) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	key := r.Header.Get(dedupe.IdempotencyHeader)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	if there, ok := c.charged[key]; err != nil || key == "" || ok && there != string(body) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	c.charged[key] = string(body)
}

// delivery is a message on its way.
type delivery struct {
	id     string
	amount int
}

// queue hands deliveries to consumers that are killed, one after the other, and
// redelivers what was not acknowledged. It returns how many consumers died.
func queue(t *testing.T, d dbtest.Database, deliveries []delivery, card string, deaths int) (crashed, redelivered int) {
	t.Helper()
	open, ids := deliveries, map[string]bool{}
	for _, one := range deliveries {
		ids[one.id] = true
	}
	for len(open) > 0 {
		p := part{Driver: d.Driver, DSN: d.DSN, Card: card}
		if crashed < deaths {
			p.Nth = 1 + int64(len(ids)/(deaths+1)) // what came before is not worked on again
			p.Place = [...]string{"before the commit", "before the acknowledgement"}[crashed%2]
		}
		acked := session(t, p, open)
		left := open[:0:0]
		for _, one := range open {
			if acked[one.id] > 0 {
				acked[one.id]--
				continue
			}
			left = append(left, one)
		}
		if len(left) > 0 {
			if p.Nth == 0 {
				t.Fatalf("a consumer that was not killed left %d of %d deliveries", len(left), len(open))
			}
			crashed++
		}
		redelivered += len(left)
		open = left
	}
	return crashed, redelivered
}

// session runs one consumer until it ends, and gives what it acknowledged.
func session(t *testing.T, p part, deliveries []delivery) map[string]int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	var lines strings.Builder
	for _, one := range deliveries {
		fmt.Fprintln(&lines, one.id, one.amount)
	}
	cmd.Stdin = strings.NewReader(lines.String())
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the consumer failed: %v", err)
	}
	acked := map[string]int{}
	for _, id := range strings.Fields(string(out)) {
		acked[id]++
	}
	return acked
}
