package outbox_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/outbox"
)

// errDied ends a process of the test where a crash would.
var errDied = errors.New("the process died")

// TestDualWrite is how not to do it, beside the outbox. Of thirty orders every
// third's process dies before its commit, and every third's after it: who
// publishes after the commit loses an event for each of the latter, who publishes
// before it announces an order that never was for each of the former.
func TestDualWrite(t *testing.T) {
	t.Parallel()
	const placed = 30
	for _, way := range []struct {
		name          string
		lost, phantom int64
	}{{"after the commit", 10, 0}, {"before the commit", 0, 10}, {"outbox", 0, 0}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
				s := prepare(t, d)
				v := validator(t, &orders{})
				d.Exec(t, `CREATE TABLE sold (id TEXT PRIMARY KEY)`)
				d.Exec(t, `CREATE TABLE event (id TEXT PRIMARY KEY)`) // what the broker has
				b := &broker{}
				for i := range placed {
					id := fmt.Sprintf("o%02d", i)
					err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
						if _, err := tx.ExecContext(t.Context(), `INSERT INTO sold VALUES ('`+id+`')`); err != nil {
							return err
						}
						switch way.name {
						case "before the commit":
							b.ids = append(b.ids, id+"-0")
						case "outbox":
							if err := outbox.Put(t.Context(), tx, s, v, event(id, 0)); err != nil {
								return err
							}
						}
						if i%3 == 0 {
							return errDied
						}
						return nil
					})
					if err != nil && !errors.Is(err, errDied) {
						t.Fatal(err)
					}
					if err == nil && i%3 != 1 && way.name == "after the commit" { // every third died before this line
						b.ids = append(b.ids, id+"-0")
					}
				}
				if way.name == "outbox" {
					if err := runUntilEmpty(t.Context(), relayOf(d, b)); err != nil {
						t.Fatal(err)
					}
				}
				for _, id := range b.ids {
					d.Exec(t, `INSERT INTO event VALUES ('`+id+`')`)
				}
				if n := d.Int(t, `SELECT count(*) FROM sold`); n != 20 {
					t.Fatalf("%d orders", n)
				}
				lost := d.Int(t, `SELECT count(*) FROM sold WHERE id || '-0' NOT IN (SELECT id FROM event)`)
				phantom := d.Int(t, `SELECT count(*) FROM event WHERE id NOT IN (SELECT id || '-0' FROM sold)`)
				if lost != way.lost || phantom != way.phantom {
					t.Errorf("%d events lost, %d of orders that never were; want %d and %d", lost, phantom, way.lost, way.phantom)
				}
			})
		})
	}
}
