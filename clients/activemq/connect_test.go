package activemq_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
)

// answering listens and answers each connection's first frame with a text; it
// gives what it was sent.
func answering(t *testing.T, answer string) (address string, got <-chan string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	frames := make(chan string, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				text, _ := bufio.NewReader(c).ReadString(0)
				frames <- text
				_, _ = io.WriteString(c, answer)
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr().String(), frames
}

// What is said first, and what is made of the answer.
func TestConnect(t *testing.T) {
	t.Parallel()
	address, got := answering(t, "CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\x00")
	c, err := activemq.Connect(address, activemq.Options{Login: "me", Passcode: `a:b\c`, Host: "/"})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// A password is not escaped: the broker would not unescape it.
	if text := brokertest.Next(t, got); text != "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:10000,10000\nlogin:me\npasscode:a:b\\c\n\n\x00" {
		t.Errorf("%q", text)
	}
	for _, tt := range []struct{ name, answer, says string }{
		{"an old version", "CONNECTED\nversion:1.1\n\n\x00", "1.2 is needed"},
		{"no version", "CONNECTED\n\n\x00", "1.2 is needed"},
		{"a refusal", "ERROR\nmessage:User name [me] or password is invalid.\n\n\x00", "password is invalid"},
		{"a refusal in the body", "ERROR\n\nnot you\nat x\x00", "not you"},
		{"another protocol", "AMQP\x00\x01\x00\x00\n\n", "invalid command"},
		{"a heart-beat that is none", "CONNECTED\nversion:1.2\nheart-beat:x,0\n\n\x00", "heart-beat"},
		{"half a heart-beat", "CONNECTED\nversion:1.2\nheart-beat:0\n\n\x00", "heart-beat"},
	} {
		address, _ := answering(t, tt.answer)
		if _, err := activemq.Connect(address, activemq.Options{Passcode: "secret", Login: "me"})(ctx); err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := activemq.Connect(address, activemq.Options{Passcode: "a\nadmin:true"})(ctx); err == nil || !strings.Contains(err.Error(), "line break") || strings.Contains(err.Error(), "admin") {
		t.Errorf("a password of two lines: %v", err)
	}
	if _, err := activemq.Connect("no port", activemq.Options{})(ctx); err == nil {
		t.Error("an address without a port is taken")
	}
	silent, _ := answering(t, "")
	brief, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := activemq.Connect(silent, activemq.Options{})(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that does not answer: %v", err)
	}
}
