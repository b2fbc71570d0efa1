package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// application marks a file as ours ("Cart" in ASCII); the number of the last
// migration is the file's user_version.
const application = 0x43617274

var errForeign = errors.New("the file holds the database of another program: choose another path")

// migrate brings a file to the newest form. Each migration is one transaction
// with its number.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in the order of their numbers
	if err != nil {
		return err
	}
	at, err := form(ctx, db)
	if err != nil {
		return err
	}
	if at > len(files) {
		return fmt.Errorf("the database has form %d and this program knows forms up to %d: use the program that wrote it, or a newer one", at, len(files))
	}
	for i := at; i < len(files); i++ {
		number, _, _ := strings.Cut(strings.TrimPrefix(files[i], "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return fmt.Errorf("migration %s should have number %d", files[i], i+1)
		}
		text, err := migrations.ReadFile(files[i])
		if err != nil {
			return err
		}
		if err := step(ctx, db, string(text), i+1); err != nil {
			return fmt.Errorf("migrate the database to form %d: %w", i+1, err)
		}
	}
	return nil
}

func step(ctx context.Context, db *sql.DB, text string, number int) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	// A pragma takes no parameters; both numbers are ours.
	for _, s := range []string{text, fmt.Sprintf("PRAGMA application_id = %d", application), fmt.Sprintf("PRAGMA user_version = %d", number)} {
		if _, err = tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// form answers the number of the last migration; 0 for an empty file.
//
// Errors: a file that holds another program's database.
func form(ctx context.Context, db *sql.DB) (int, error) {
	var tables, id, version int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if tables > 0 && id != application || tables == 0 && (id != 0 && id != application) {
		return 0, errForeign
	}
	if tables == 0 {
		return 0, nil
	}
	return version, nil
}
