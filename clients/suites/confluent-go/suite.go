package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/rest"
)

// suite counts the cases of one client. A case that fails is named on standard
// output with its reason; the last line of the program has both counts.
type suite struct {
	name           string
	passed, failed int
}

// run is one case: its error, or its panic, is a failure.
func (s *suite) run(name string, body func() error) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panicked: %v", p)
			}
		}()
		return body()
	}()
	if err != nil {
		s.failed++
		fmt.Printf("FAIL %s: %s: %v\n", s.name, name, err)
		return
	}
	s.passed++
}

// end prints the closing line and answers the exit code.
func (s *suite) end() int {
	fmt.Printf("%s: %d passed, %d failed\n", s.name, s.passed, s.failed)
	if s.failed > 0 || s.passed == 0 {
		return 1
	}
	return 0
}

// equal compares what a client answered with what is right.
func equal(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%s: got %v, want %v", what, show(got), show(want))
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// refused wants an error of the registry with this code.
func refused(err error, code int) error {
	var e *rest.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("got %w, want an error with code %d", err, code)
	}
	if e.Code != code {
		return fmt.Errorf("got code %d (%s), want %d", e.Code, e.Message, code)
	}
	return nil
}

// all joins the checks of one case; the first failure is the one told.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return v
}
