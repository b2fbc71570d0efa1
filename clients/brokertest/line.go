package brokertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"
)

// Line leads to a broker, and may be cut as a network is: what is on it then goes
// nowhere and nobody is told.
type Line struct {
	// Address is where the line begins, host:port.
	Address string

	target string
	mu     sync.Mutex
	isCut  bool
	pairs  []*pair
}

// pair is one connection through a line.
type pair struct {
	mu    sync.Mutex
	isCut bool // for good: who comes back is not known any more
	ends  []net.Conn
}

// NewLine lays a line to host:port, until the test ends.
func NewLine(t *testing.T, target string) *Line {
	t.Helper()
	return newLine(t, target, nil)
}

// NewTLSLine lays a line that speaks TLS at its beginning, as "localhost" and
// 127.0.0.1. roots trust it.
func NewTLSLine(t *testing.T, target string) (line *Line, roots *x509.CertPool) {
	t.Helper()
	certificate, roots := Authority(t)
	return newLine(t, target, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), roots
}

func newLine(t *testing.T, target string, c *tls.Config) *Line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{Address: listener.Addr().String(), target: target}
	if c != nil {
		listener = tls.NewListener(listener, c)
	}
	t.Cleanup(func() {
		_ = listener.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range l.pairs {
			p.end()
		}
	})
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go l.lead(in)
		}
	}()
	return l
}

// lead joins a connection to one of the target.
func (l *Line) lead(in net.Conn) {
	p := &pair{ends: []net.Conn{in}}
	l.mu.Lock()
	l.pairs = append(l.pairs, p)
	p.isCut = l.isCut
	l.mu.Unlock()
	out, err := net.DialTimeout("tcp", l.target, 5*time.Second) //nolint:noctx // of a test
	if err != nil {
		_ = in.Close()
		return
	}
	p.mu.Lock()
	p.ends = append(p.ends, out)
	p.mu.Unlock()
	go p.carry(out, in)
	p.carry(in, out)
}

// carry hands on what comes, until either side ends. On a pair that was cut what
// comes is lost, and so is that a side ended.
func (p *pair) carry(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		isCut := p.isCut
		p.mu.Unlock()
		switch {
		case isCut && err == nil:
			continue
		case isCut:
			return
		case n > 0:
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = io.ErrClosedPipe
			}
		}
		if err != nil {
			p.end()
			return
		}
	}
}

func (p *pair) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.ends {
		_ = c.Close()
	}
}

// Cut cuts the line: connections stay open on both sides and nothing comes through
// them, ever; new ones are accepted and say nothing.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, p := range l.pairs {
		p.mu.Lock()
		p.isCut = true
		p.mu.Unlock()
	}
}

// Mend lets new connections through. Those of before stay silent.
func (l *Line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}

// Authority makes a certificate for this machine, as "localhost" and 127.0.0.1,
// that is its own authority.
func Authority(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brokertest"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
