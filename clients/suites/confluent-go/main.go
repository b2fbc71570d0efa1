// Program confluent-go proves that confluent-kafka-go works against a registry:
// its REST client and its serializers for Avro, JSON Schema and Protobuf.
//
//	confluent-go URL EXCHANGE write   every case, then writes messages to EXCHANGE
//	confluent-go URL EXCHANGE read    reads the messages that all clients wrote
package main

import (
	"fmt"
	"os"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
)

func main() {
	if len(os.Args) != 4 || os.Args[3] != "write" && os.Args[3] != "read" {
		fmt.Fprintln(os.Stderr, "usage: confluent-go URL EXCHANGE write|read")
		os.Exit(64)
	}
	url, folder := os.Args[1], os.Args[2]
	s := &suite{name: "confluent-kafka-go"}
	x := openExchange(url, folder)
	if os.Args[3] == "read" {
		s.name += " reads"
		x.read(s)
	} else {
		registryCases(s, newClient(url))
		serdeCases(s, url)
		x.write(s)
	}
	os.Exit(s.end())
}

// newClient is what a program writes to use the registry. The credentials show
// that a client which sends some is served.
func newClient(url string) schemaregistry.Client {
	return must(schemaregistry.NewClient(schemaregistry.NewConfigWithBasicAuthentication(url, "user", "secret")))
}
