package main

import (
	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	m := migrating{fromKeys: "CARTORIO_REGISTRY", format: "text"}
	cmd := &cobra.Command{
		Use:   "export [--registry PLACE] PATH",
		Short: "Write a registry to a folder that people can read, or to one archive",
		Long: `Writes everything that a registry holds: one file a text, one subject.json a
subject with numbers, ids, GUIDs, references and what is deleted, registry.json
with all else, and manifest.json with the SHA-256 of every file. A PATH that ends
in .tar.gz or .tgz is one archive, any other a folder; the same registry gives the
same bytes, so that two exports can be compared. A folder that holds an export
already is brought up to date.

sqlite:PATH tells more than a registry over HTTP: what was permanently deleted.

` + placesHelp + `

` + remoteHelp,
		Example: `  cartorio export schemas-backup/
  cartorio export --registry sqlite:cartorio.db registry.tar.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.to = args[0]
			if to, err := parsePlace(m.to, ""); err == nil && to.kind != placeFiles {
				to.close()
				return failf(exitUsage, "export writes to a folder or an archive: to move into %s use cartorio migrate", m.to)
			}
			return a.migrate(cmd.Context(), m)
		},
	}
	cmd.Flags().StringVar(&m.from, "registry", defaultRegistry, "`PLACE` to read")
	keyed(cmd, "registry", "registry.url", "CARTORIO_REGISTRY_URL")
	cmd.Flags().StringVar(&m.format, "format", "text", "text or json")
	cmd.Flags().BoolVar(&m.verify, "verify", false, "read what was written and name every difference")
	oneOf(cmd, "format", "text", "json")
	paceFlags(cmd, &m.pace)
	return cmd
}
