// Program franz-go proves that franz-go's schema registry client and its Serde
// work against a registry.
//
//	franz-go URL EXCHANGE write   every case, then writes messages to EXCHANGE
//	franz-go URL EXCHANGE read    reads the messages that all clients wrote
package main

import (
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr"
)

func main() {
	if len(os.Args) != 4 || os.Args[3] != "write" && os.Args[3] != "read" {
		fmt.Fprintln(os.Stderr, "usage: franz-go URL EXCHANGE write|read")
		os.Exit(64)
	}
	s := &suite{name: "franz-go sr"}
	c := newClient(os.Args[1])
	x := openExchange(c, os.Args[2])
	if os.Args[3] == "read" {
		s.name += " reads"
		x.read(s)
	} else {
		registryCases(s, c)
		governanceCases(s, c)
		deletionCases(s, c)
		x.write(s)
	}
	os.Exit(s.end())
}

// newClient is what a program writes to use the registry. The credentials show
// that a client which sends some is served.
func newClient(url string) *sr.Client {
	return must(sr.NewClient(sr.URLs(url), sr.BasicAuth("user", "secret"), sr.DefaultParams(sr.Verbose)))
}
