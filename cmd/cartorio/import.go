package main

import (
	"github.com/spf13/cobra"
)

func (a *app) importCommand() *cobra.Command {
	m := migrating{toKeys: "CARTORIO_REGISTRY"}
	cmd := &cobra.Command{
		Use:   "import [--registry PLACE] PATH",
		Short: "Fill a registry from an export, or from a dump of a _schemas topic",
		Long: `Reads a folder or an archive that export wrote, whose hashes are checked first, or
a dump of a _schemas topic, and makes a registry hold the same, as migrate does.
An empty database that nobody serves (sqlite:PATH) is filled in one step, all or
nothing, and then also remembers what was permanently deleted.

` + placesHelp + `

` + remoteHelp,
		Example: `  cartorio import registry.tar.gz
  cartorio import --registry sqlite:new.db registry.tar.gz
  kafka-console-consumer --topic _schemas --from-beginning --property print.key=true \
      --bootstrap-server localhost:9092 --timeout-ms 10000 | cartorio import --registry sqlite:new.db topic:-`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.from = args[0]
			if from, err := parsePlace(m.from, ""); err == nil && from.kind != placeFiles && from.kind != placeTopic {
				from.close()
				return failf(exitUsage, "import reads a folder, an archive or a topic dump: to move out of %s use cartorio migrate", m.from)
			}
			return a.migrate(cmd.Context(), m)
		},
	}
	cmd.Flags().StringVar(&m.to, "registry", defaultRegistry, "`PLACE` to fill")
	keyed(cmd, "registry", "registry.url", "CARTORIO_REGISTRY_URL")
	m.flags(cmd)
	return cmd
}
