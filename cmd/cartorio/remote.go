package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/schemas"
)

const defaultRegistry = "http://127.0.0.1:8081"

// remoteFlags adds what says which registry is asked. Secrets come from the
// environment only: command lines are seen by every process of the machine.
func remoteFlags(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "registry", defaultRegistry, "`URL` of the registry; several, separated by commas, are tried in order")
	keyed(cmd, "registry", "registry.url", "CARTORIO_REGISTRY_URL")
}

const remoteHelp = `Credentials are read from CARTORIO_REGISTRY_USER and CARTORIO_REGISTRY_PASSWORD,
or from CARTORIO_REGISTRY_TOKEN, never from the command line.`

// answerWait is how long a command waits for one answer. A message cannot wait so
// long, a person or a pipeline can: a registry that was just started may have to
// read and compare a thousand versions first, and asking again makes it begin anew.
const answerWait = 30 * time.Second

// dial makes a client; it asks nothing yet.
// auth names other variables than ours, as the configuration may.
func dial(url string, auth ...config.Auth) (*sr.Client, error) {
	secret := func(ours, theirs string) string { return orWord(os.Getenv(ours), os.Getenv(theirs)) }
	var named config.Auth
	if len(auth) > 0 {
		named = auth[0]
	}
	o := sr.Options{
		URLs:     strings.Split(url, ","),
		User:     secret("CARTORIO_REGISTRY_USER", named.User),
		Password: secret("CARTORIO_REGISTRY_PASSWORD", named.Password),
		Timeout:  answerWait,
	}
	for i := range o.URLs {
		o.URLs[i] = strings.TrimSpace(o.URLs[i])
	}
	if token := secret("CARTORIO_REGISTRY_TOKEN", named.Token); token != "" {
		o.Token = sr.StaticToken(token)
	}
	client, err := sr.New(o)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	return client, nil
}

// codeOf is the exit code that a failed call means.
func codeOf(err error) int {
	var answer *sr.Error
	isAnswer := errors.As(err, &answer)
	switch {
	case isIncompatible(err):
		return exitFindings
	case errors.Is(err, schemas.ErrRefused), isAnswer && answer.Code == 42205:
		return exitRefused
	case errors.Is(err, schemas.ErrUnreachable), errors.Is(err, schemas.ErrUnintelligible), isAnswer && answer.Status == 0:
		return exitUnreachable
	}
	return exitNotCompared
}

func isIncompatible(err error) bool {
	var answer *sr.Error
	return errors.As(err, &answer) && answer.Status == http.StatusConflict
}

// unknown tells whether a registry does not know what it was asked for.
func unknown(err error) bool {
	return errors.Is(err, schemas.ErrSubjectUnknown) || errors.Is(err, schemas.ErrVersionUnknown) || errors.Is(err, schemas.ErrSchemaUnknown)
}

// remote resolves references by asking a registry.
type remote struct{ client versioned }

// Resolve answers what ref stands for in the registry.
func (r remote) Resolve(ctx context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	found, err := r.client.Version(ctx, ref.Target(in), ref.Version, sr.VersionOptions{})
	if err != nil {
		return schemas.Resolved{}, err
	}
	return schemas.Resolved{Subject: found.Subject, Version: found.Version, Source: found.Source}, nil
}
