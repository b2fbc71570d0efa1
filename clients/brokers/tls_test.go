package brokers_test

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
)

// What an address says of TLS and of users is what a client does. This broker says
// nothing to whom it refuses; a real one does, in package kafka's tests.
func TestKafkaSecurity(t *testing.T) {
	t.Parallel()
	certificate, roots := brokertest.Authority(t)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"), kfake.EnableSASL(),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}),
		kfake.Superuser("PLAIN", "me", "s:cret"), kfake.Superuser("SCRAM-SHA-256", "me256", "s:cret"), kfake.Superuser("SCRAM-SHA-512", "me512", "s:cret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	server := cluster.ListenAddrs()[0]
	for _, tt := range []struct {
		address, says string
		isUntrusted   bool
	}{
		{address: "kafka://me:s%3Acret@" + server + "/orders?tls=true"},
		{address: "kafka://me256:s%3Acret@" + server + "/orders?tls=true&sasl=scram-sha-256"},
		{address: "kafka://me512:s%3Acret@" + server + "/orders?tls=true&sasl=scram-sha-512"},
		{address: "kafka://me:hush@" + server + "/orders?tls=true", says: "EOF"},
		{address: "kafka://me512:hush@" + server + "/orders?tls=true&sasl=scram-sha-512", says: "EOF"},
		{address: "kafka://me:s%3Acret@" + server + "/orders?tls=true", isUntrusted: true, says: "certificate signed by unknown authority"},
	} {
		a := mustParse(t, tt.address)
		if !tt.isUntrusted {
			a.Trust = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		}
		err := ping(t, a)
		if (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v", a, err)
		}
	}
}

func ping(t *testing.T, a brokers.Address) error {
	t.Helper()
	client, err := kgo.NewClient(append(a.Options(), kgo.RetryTimeout(time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	brief, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return client.Ping(brief)
}
