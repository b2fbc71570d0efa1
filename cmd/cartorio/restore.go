package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

func (a *app) restoreCommand() *cobra.Command {
	var database string
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore [--database URL] FILE",
		Short: "Put a backup in the place of the database",
		Long: `Checks the backup page by page, folds it, and puts a copy of it at the place of
the database. A database that is being served is refused: stop the server first.
One that is there already is replaced only with --replace.`,
		Example: `  cartorio restore monday.db
  cartorio restore --replace --database sqlite:/var/lib/cartorio.db monday.db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := storePath(database)
			if err != nil {
				return err
			}
			// What cannot be folded must not stand in the place of what can.
			told, err := lookInto(cmd.Context(), args[0])
			if err != nil {
				return failf(exitNotCompared, "looking into the backup %s: %w", args[0], err)
			}
			err = sqlite.Restore(cmd.Context(), args[0], path, replace)
			switch {
			case errors.Is(err, sqlite.ErrExists):
				return failf(exitNotCompared, "%w: choose another path, or replace it with --replace", err)
			case err != nil:
				return fail(exitNotCompared, err)
			}
			return a.write("", func(w io.Writer, _ bool) error {
				_, err := fmt.Fprintf(w, "%s holds %s\n", plain(path), told)
				return err
			})
		},
	}
	storeFlag(cmd, &database)
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the database that is there")
	return cmd
}
