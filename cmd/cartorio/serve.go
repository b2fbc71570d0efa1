package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

const (
	defaultListen   = "127.0.0.1:8081"
	defaultDatabase = "sqlite:cartorio.db"
)

// serving is what serve was asked.
type serving struct {
	listen, basePath, database string
	limits                     schemas.Limits
	body                       int64
	cache                      int
	logFormat, logLevel        string
	grace                      time.Duration
	strictCode                 bool
	said                       func(flag string) string // who said the value of a flag
}

func (a *app) serveCommand() *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the registry over HTTP",
		Long: `Serves the registry until SIGTERM or SIGINT, then finishes what it has accepted.
Prints the address when it is ready.

The database is sqlite:PATH, or sqlite::memory: for one that ends with the
process. There is no authentication yet: whoever reaches the address may write.`,
		Example: `  cartorio serve
  cartorio serve --listen 0.0.0.0:8081 --database sqlite:/var/lib/cartorio.db
  CARTORIO_DATABASE=sqlite::memory: cartorio serve --listen 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.said = func(flag string) string { return saidBy(cmd, flag) }
			return a.serve(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", defaultListen, "`HOST:PORT`; port 0 takes a free one")
	f.StringVar(&s.basePath, "base-path", "", "path that stands before every path, as behind a proxy")
	f.StringVar(&s.database, "database", defaultDatabase, "`URL` of the database")
	f.DurationVar(&s.grace, "grace", 30*time.Second, "how long requests may take to finish when it is told to stop")
	f.BoolVar(&s.strictCode, "incompatible-40901", false, "answer refusals with error_code 40901 as the newest reference does, not 409")
	d := schemas.DefaultLimits()
	f.Int64Var(&s.body, "limit-body", 4<<20, "bytes of a request body")
	f.IntVar(&s.cache, "limit-cache", 64<<20, "bytes of parsed schemas kept in memory")
	for _, l := range []struct {
		name  string
		value *int
		most  int
		help  string
	}{
		{"text", &s.limits.Text, d.Text, "bytes of a schema text"},
		{"depth", &s.limits.Depth, d.Depth, "open brackets in a schema text"},
		{"nesting", &s.limits.Nesting, d.Nesting, "nested Protobuf messages"},
		{"declarations", &s.limits.Declarations, d.Declarations, "declarations in a schema text"},
		{"references", &s.limits.References, d.References, "schemas that one refers to, directly or not"},
		{"digits", &s.limits.Digits, d.Digits, "digits of a number"},
		{"exponent", &s.limits.Exponent, d.Exponent, "exponent of a number, up or down"},
		{"name", &s.limits.Name, d.Name, "bytes of a name"},
	} {
		f.IntVar(l.value, "limit-"+l.name, l.most, l.help)
		keyed(cmd, "limit-"+l.name, "serve.limits."+l.name, "")
	}
	keyed(cmd, "limit-body", "serve.limits.body", "")
	keyed(cmd, "limit-cache", "serve.limits.cache", "")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json, on stderr")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	keyed(cmd, "log-format", "serve.log.format", "")
	keyed(cmd, "log-level", "serve.log.level", "")
	oneOf(cmd, "log-format", "text", "json")
	oneOf(cmd, "log-level", "debug", "info", "warn", "error")
	return cmd
}

func (a *app) serve(ctx context.Context, s serving) error {
	logger, err := s.logger(a)
	if err != nil {
		return fail(exitUsage, err)
	}
	if err := s.above(); err != nil {
		return fail(exitUsage, err)
	}
	if err := checkAddress(s.listen); err != nil {
		return failf(exitUsage, "%s: %w: write HOST:PORT, as in %s", s.said("listen"), err, defaultListen)
	}
	if _, err := databasePath(s.database); err != nil {
		return fail(exitUsage, err) // before the port, whose owner would hide it
	}
	// Signals are caught before anything is opened: one that comes early must
	// still close the database.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return failf(exitNotCompared, "listening on %s (%s): %w", s.listen, s.said("listen"), whyDeaf(err))
	}
	defer listener.Close() //nolint:errcheck // the server closes it first
	r, err := s.open(ctx)
	if err != nil {
		return err
	}
	build := readBuild()
	server := api.New(r, api.Options{
		BasePath: s.basePath, Body: s.body, Logger: logger, Incompatible40901: s.strictCode,
		Version: build.Version, Commit: build.Commit,
	})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(a.out, "cartorio %s serves http://%s%s\n", build.Version, listener.Addr(), tidyBase(s.basePath))
	if reachable(listener.Addr()) {
		logger.Warn("whoever reaches this address may write: there is no authentication yet", "listen", listener.Addr().String())
	}
	select {
	case err = <-ended:
		if err != nil {
			err = failf(exitNotCompared, "serving: %w", err)
		}
	case <-ctx.Done():
		// From here on a second signal ends the process at once.
		stop()
		logger.Info("stopping: finishing what was accepted", "grace", s.grace.String())
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
		defer cancel()
		if stopErr := server.Shutdown(limited); stopErr != nil {
			err = fail(exitNotCompared, stopErr)
		}
		if serveErr := <-ended; serveErr != nil && err == nil {
			err = failf(exitNotCompared, "serving: %w", serveErr)
		}
	}
	if closeErr := r.Close(); closeErr != nil && err == nil {
		err = failf(exitNotCompared, "closing the database: %w", closeErr)
	}
	logger.Info("stopped")
	return err
}

// above refuses limits that would let nothing in.
func (s serving) above() error {
	for _, l := range []struct {
		flag  string
		value int64
	}{
		{"grace", int64(s.grace)},
		{"limit-body", s.body},
		{"limit-cache", int64(s.cache)},
		{"limit-text", int64(s.limits.Text)},
		{"limit-depth", int64(s.limits.Depth)},
		{"limit-nesting", int64(s.limits.Nesting)},
		{"limit-declarations", int64(s.limits.Declarations)},
		{"limit-references", int64(s.limits.References)},
		{"limit-digits", int64(s.limits.Digits)},
		{"limit-exponent", int64(s.limits.Exponent)},
		{"limit-name", int64(s.limits.Name)},
	} {
		if l.value <= 0 {
			return fmt.Errorf("%s: it must be above zero: found %d", s.said(l.flag), l.value)
		}
	}
	return nil
}

// checkAddress reads HOST:PORT.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}

// whyDeaf says why an address cannot be listened on, and what to do.
func whyDeaf(err error) error {
	var name *net.DNSError
	var call *os.SyscallError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return errors.New("another program listens there: stop it, or choose another port; port 0 takes a free one")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return errors.New("this machine has no such address: 127.0.0.1 is reached from here only, 0.0.0.0 from everywhere")
	case errors.Is(err, syscall.EACCES):
		return errors.New("the system does not permit it: choose a port above 1023")
	case errors.As(err, &name):
		return fmt.Errorf("nothing is known of the host %s: write 127.0.0.1, or an address of this machine", name.Name)
	case errors.As(err, &call):
		return call.Err
	}
	return err
}

// open opens the registry on the database that the URL names.
func (s serving) open(ctx context.Context) (*registry.Registry, error) {
	path, err := databasePath(s.database)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	journal, err := sqlite.Open(path)
	if err != nil {
		return nil, fail(exitNotCompared, err)
	}
	r, err := registry.Open(ctx, journal, registry.Options{
		Formats: formats.All, Checkers: allCheckers(), Limits: s.limits, Cache: s.cache,
	})
	if err != nil {
		_ = journal.Close()
		return nil, failf(exitNotCompared, "opening the registry: %w", err)
	}
	return r, nil
}

// databasePath reads the database's URL. Only SQLite is there.
func databasePath(url string) (string, error) {
	scheme, path, ok := strings.Cut(url, ":")
	switch {
	case !ok || len(scheme) < 2:
		return "", fmt.Errorf("--database %q has no scheme: write sqlite:%s", url, url)
	case scheme == "postgres" || scheme == "postgresql":
		return "", errors.New("--database postgres:// is not supported yet: use sqlite:PATH; a registry on SQLite can be moved later")
	case scheme != "sqlite":
		return "", fmt.Errorf("--database %s: is not known: write sqlite:PATH or sqlite::memory:", scheme)
	case path == "":
		return "", errors.New("--database sqlite: has no path: write sqlite:cartorio.db or sqlite::memory:")
	}
	return strings.TrimPrefix(path, "//"), nil
}

// logger writes to stderr, for people or for machines.
func (s serving) logger(a *app) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil || s.logLevel != strings.ToLower(level.String()) {
		return nil, fmt.Errorf("--log-level %q is none of debug, info, warn, error", s.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch s.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(a.err, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.err, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q is neither text nor json", s.logFormat)
}

// reachable tells whether an address can be reached from other machines.
func reachable(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}

func tidyBase(path string) string {
	if path = strings.Trim(path, "/"); path == "" {
		return ""
	}
	return "/" + path
}
