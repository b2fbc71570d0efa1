package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The variables that no flag stands for.
var credentials = []string{"CARTORIO_REGISTRY_USER", "CARTORIO_REGISTRY_PASSWORD", "CARTORIO_REGISTRY_TOKEN"}

// The variables of the two ends of a migration.
var moveCredentials = []string{
	"CARTORIO_FROM_USER", "CARTORIO_FROM_PASSWORD", "CARTORIO_FROM_TOKEN",
	"CARTORIO_TO_USER", "CARTORIO_TO_PASSWORD", "CARTORIO_TO_TOKEN",
}

// The variables of brokers, for dlq and inspect, and of the two ends of a bridge.
var brokerCredentials = []string{
	"CARTORIO_BROKER_USER", "CARTORIO_BROKER_PASSWORD", "CARTORIO_BROKER_CA", "CARTORIO_BROKER_CERTIFICATE", "CARTORIO_BROKER_KEY",
	"CARTORIO_BRIDGE_FROM_USER", "CARTORIO_BRIDGE_FROM_PASSWORD", "CARTORIO_BRIDGE_TO_USER", "CARTORIO_BRIDGE_TO_PASSWORD",
	"CARTORIO_BRIDGE_FROM_CA", "CARTORIO_BRIDGE_FROM_CERTIFICATE", "CARTORIO_BRIDGE_FROM_KEY", "CARTORIO_BRIDGE_TO_CA", "CARTORIO_BRIDGE_TO_CERTIFICATE", "CARTORIO_BRIDGE_TO_KEY",
}

// foreign begins the variables that are read elsewhere: by the tests, and by the
// benchmarks. A variable that is one word of them is one too.
var foreign = []string{
	"CARTORIO_TEST", "CARTORIO_CONFORMANCE", "CARTORIO_HUNT", "CARTORIO_KILLS", "CARTORIO_REAL", "CARTORIO_BROKERS", "CARTORIO_BENCHMARK",
	"CARTORIO_PAIRS", "CARTORIO_SEED", "CARTORIO_OPEN", "CARTORIO_SCALE", "CARTORIO_PEERS", "CARTORIO_STRICT_TIME",
}

// every lists the commands below one, those that have commands of their own too.
func every(cmd *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range cmd.Commands() {
		list = append(append(list, c), every(c)...)
	}
	return list
}

// tellUnknown names the variables that look like settings and are none: a
// misspelt one would be ignored without a word.
func (a *app) tellUnknown(root *cobra.Command) {
	known := append([]string{"CARTORIO_CONFIG", "CARTORIO_DEBUG"}, slices.Concat(credentials, moveCredentials, brokerCredentials)...)
	for _, cmd := range every(root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, variable(f)) })
	}
	var list []string
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		isForeign := slices.ContainsFunc(foreign, func(p string) bool { return name == p || strings.HasPrefix(name, p+"_") })
		// Kubernetes tells every container of a service that is called cartorio.
		isService := strings.HasPrefix(name, "CARTORIO_SERVICE_") || strings.HasPrefix(name, "CARTORIO_PORT_") || name == "CARTORIO_PORT" && strings.Contains(value, "://")
		if strings.HasPrefix(name, "CARTORIO_") && value != "" && !slices.Contains(known, name) && !isForeign && !isService {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	switch len(list) {
	case 0:
	case 1:
		a.say("the environment variable %s is no setting and does nothing: see cartorio help settings", list[0])
	default:
		a.say("the environment variables %s are no settings and do nothing: see cartorio help settings", strings.Join(list, ", "))
	}
}
