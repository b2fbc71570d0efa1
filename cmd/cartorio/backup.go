package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/registry/transfer"
)

// storeFlag names the database that serve would open.
func storeFlag(cmd *cobra.Command, database *string) {
	cmd.Flags().StringVar(database, "database", defaultDatabase, "`URL` of the database")
	keyed(cmd, "database", "serve.database", "CARTORIO_DATABASE")
}

// storePath is the file of a database.
func storePath(database string) (string, error) {
	path, err := databasePath(database)
	if err != nil {
		return "", fail(exitUsage, err)
	}
	if path == sqlite.Memory {
		return "", failf(exitUsage, "a database in memory has no file: name one with --database sqlite:PATH")
	}
	return path, nil
}

func (a *app) backupCommand() *cobra.Command {
	var database string
	cmd := &cobra.Command{
		Use:   "backup [--database URL] FILE",
		Short: "Copy the database, also while it is served",
		Long: `Writes a copy of the database as it stands at one moment, checks it page by page
and folds it, and only then gives it its name. The server goes on serving and
writing meanwhile. The copy is a database itself: serve can open it.`,
		Example: `  cartorio backup /backups/cartorio-monday.db
  cartorio backup --database sqlite:/var/lib/cartorio.db monday.db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := storePath(database)
			if err != nil {
				return err
			}
			if err := sqlite.Backup(cmd.Context(), path, args[0]); err != nil {
				return fail(exitNotCompared, err)
			}
			told, err := lookInto(cmd.Context(), args[0])
			if err != nil {
				return failf(exitNotCompared, "looking into the backup %s: %w", args[0], err)
			}
			return a.write("", func(w io.Writer, _ bool) error {
				_, err := fmt.Fprintf(w, "%s holds %s\n", plain(args[0]), told)
				return err
			})
		},
	}
	storeFlag(cmd, &database)
	return cmd
}

// lookInto folds a database and says what it holds.
func lookInto(ctx context.Context, path string) (told string, err error) {
	r, err := openReadOnly(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return fmt.Sprintf("%s, to revision %d", counted(transfer.FromHeld(r)), r.Revision()), nil
}
