package main

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// bundling is what bundle was asked.
type bundling struct {
	registry, output, signKey, verify, key string
	subjects                               []string
}

func (a *app) bundleCommand() *cobra.Command {
	var b bundling
	cmd := &cobra.Command{
		Use:   "bundle --subject NAME[@VERSIONS]... -o FILE",
		Short: "Put versions of a registry into one file that validators read offline",
		Long: `Fetches versions of subjects and all that they refer to, and writes them into one
file with their ids, GUIDs and fingerprints. Client validators load it before they
ask a registry, or instead. It is a ZIP archive that may be unpacked: the folder is
a bundle too.

VERSIONS are a list of numbers and ranges, such as 1..3, 2.. or 1,3..5, or latest;
without them every version that is not deleted. A number that is named has to be
there, soft-deleted or not; a gap inside a range is left out.

--sign-key signs with the ed25519 key of a PEM file, such as openssl makes:
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem
--verify proves a bundle that is there, file or folder, and lists it; with --key
it has to be signed by that public key.

` + remoteHelp,
		Example: `  cartorio bundle --subject orders-value@1..3 -o schemas.bundle
  cartorio bundle --subject orders-value --subject users-value@latest --sign-key key.pem -o schemas.bundle
  cartorio bundle --verify schemas.bundle --key public.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.bundle(cmd.Context(), b) },
	}
	f := cmd.Flags()
	remoteFlags(cmd, &b.registry)
	f.StringArrayVar(&b.subjects, "subject", nil, "`NAME[@VERSIONS]` of a subject; may stand several times")
	f.StringVarP(&b.output, "output", "o", "", "`FILE` to write")
	f.StringVar(&b.signKey, "sign-key", "", "PEM `FILE` of the ed25519 private key to sign with")
	f.StringVar(&b.verify, "verify", "", "`BUNDLE` to prove and list instead")
	f.StringVar(&b.key, "key", "", "with --verify: PEM `FILE` of the ed25519 public key that must have signed")
	return cmd
}

func (a *app) bundle(ctx context.Context, b bundling) error {
	switch {
	case b.verify != "" && (len(b.subjects) > 0 || b.output != "" || b.signKey != ""):
		return failf(exitUsage, "--verify stands alone, or with --key")
	case b.verify != "":
		return a.verifyBundle(ctx, b)
	case b.key != "":
		return failf(exitUsage, "--key is for --verify; --sign-key signs")
	case len(b.subjects) == 0:
		return failf(exitUsage, "no --subject is named: write --subject NAME or --subject NAME@1..3")
	case b.output == "":
		return failf(exitUsage, "no file is named: write -o FILE")
	}
	wanted := make([]wantedVersions, len(b.subjects))
	for i, text := range b.subjects {
		var err error
		if wanted[i], err = parseWanted(text); err != nil {
			return fail(exitUsage, err)
		}
	}
	var key ed25519.PrivateKey
	if b.signKey != "" {
		var err error
		if key, err = privateKey(b.signKey); err != nil {
			return fail(exitUsage, err)
		}
	}
	client, err := dial(b.registry)
	if err != nil {
		return err
	}
	defer client.Close()
	g := gatherer{client: client, seen: map[string]bool{}}
	for _, w := range wanted {
		if err := g.subject(ctx, w); err != nil {
			return err
		}
	}
	made, err := folder.NewBundle(ctx, g.entries, time.Now(), formats.All)
	if err != nil {
		return fail(exitNotCompared, err)
	}
	if err := a.write(b.output, func(w io.Writer, _ bool) error { return made.Pack(w, key, formats.All) }); err != nil {
		return err
	}
	var signer []byte
	if key != nil {
		signer = key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]
	}
	return a.listBundle(b.output, made, signer)
}

// wantedVersions is one --subject.
type wantedVersions struct {
	subject schemas.Subject
	latest  bool
	all     bool
	text    string // the range as written
	ranges  validate.Range
}

// parseWanted reads NAME[@VERSIONS]. What follows the last @ is versions only if
// it reads like some: a subject's name may hold an @ itself.
func parseWanted(text string) (wantedVersions, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		if text == "" {
			return wantedVersions{}, errors.New("--subject names no subject")
		}
		return wantedVersions{subject: schemas.ParseSubject(text), all: true}, nil
	}
	w := wantedVersions{subject: schemas.ParseSubject(text[:at]), text: text[at+1:]}
	if text[:at] == "" {
		return w, fmt.Errorf("--subject %s names no subject", text)
	}
	if w.text == "latest" {
		w.latest = true
		return w, nil
	}
	var err error
	if w.ranges, err = validate.Reads(w.text); err != nil {
		return w, fmt.Errorf("--subject %s: %w; or latest", text, err)
	}
	return w, nil
}

// gatherer fetches versions and what they refer to.
type gatherer struct {
	client  *sr.Client
	entries []folder.BundleEntry
	seen    map[string]bool
}

func (g *gatherer) subject(ctx context.Context, w wantedVersions) error {
	latest, err := g.client.Latest(ctx, w.subject)
	// A subject whose versions are all soft-deleted has no latest one.
	if err != nil && !unknown(err) {
		return fail(codeOf(err), err)
	}
	if w.latest {
		if err != nil {
			return fail(codeOf(err), err)
		}
		return g.version(ctx, w.subject, latest.Version, latest.Version)
	}
	deleted := sr.WithDeleted
	if w.all {
		deleted = sr.LiveOnly
	}
	there, err := g.client.Versions(ctx, w.subject, deleted, sr.Page{})
	if err != nil {
		return fail(codeOf(err), err)
	}
	has := map[schemas.Version]bool{}
	found := 0
	for _, v := range there {
		has[v] = true
		if !w.ranges.Has(v) {
			continue
		}
		found++
		if err := g.version(ctx, w.subject, v, latest.Version); err != nil {
			return err
		}
	}
	for _, bound := range w.ranges.Bounds() {
		if !has[bound] {
			return failf(exitNotCompared, "bundle %s@%s: there is no version %s: the registry has %s", w.subject, w.text, bound, versionList(there))
		}
	}
	if found == 0 {
		return failf(exitNotCompared, "bundle %s@%s: no version is in that range: the registry has %s", w.subject, w.text, versionList(there))
	}
	return nil
}

func versionList(list []schemas.Version) string {
	if len(list) == 0 {
		return "none"
	}
	text := ""
	for i, v := range list {
		if i == 20 {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += v.String()
	}
	return text
}

func (g *gatherer) version(ctx context.Context, s schemas.Subject, v, latest schemas.Version) error {
	at := s.String() + "@" + v.String()
	if g.seen[at] {
		return nil
	}
	g.seen[at] = true
	found, err := g.client.ByVersion(ctx, s, v)
	if err != nil {
		return fail(codeOf(err), err)
	}
	g.entries = append(g.entries, folder.BundleEntry{Found: found, Latest: v == latest})
	for _, ref := range found.Source.References {
		to := ref.Target(found.Subject.Context)
		// Which version of what is referred to is the latest is not asked: nobody
		// pins that by a bundle.
		if err := g.version(ctx, to, ref.Version, 0); err != nil {
			return err
		}
	}
	return nil
}

// listBundle tells what is in a bundle.
func (a *app) listBundle(name string, b *folder.Bundle, signer []byte) error {
	return a.write("", func(w io.Writer, _ bool) error {
		signed := "not signed"
		if signer != nil {
			signed = fmt.Sprintf("signed by ed25519 %x", signer)
		}
		entries := b.Entries()
		versions := "versions"
		if len(entries) == 1 {
			versions = "version"
		}
		_, err := fmt.Fprintf(w, "%s: %d %s, made %s, %s\n", plain(name), len(entries), versions, b.Made().Format(time.RFC3339), signed)
		for _, e := range entries {
			if err != nil {
				break
			}
			notes := ""
			if e.Latest {
				notes += " latest"
			}
			if e.Deleted {
				notes += " deleted"
			}
			_, err = fmt.Fprintf(w, "%s@%s %s id %d guid %s%s\n", plain(e.Subject.String()), e.Version, e.Source.Type, e.ID.Number, e.GUID, notes)
		}
		return err
	})
}

func (a *app) verifyBundle(ctx context.Context, b bundling) error {
	o := folder.BundleOptions{Formats: formats.All}
	if b.key != "" {
		var err error
		if o.Key, err = publicKey(b.key); err != nil {
			return fail(exitUsage, err)
		}
	}
	info, err := os.Stat(b.verify)
	if err != nil {
		return failf(exitNotCompared, "reading %s: %w", b.verify, bare(err))
	}
	var opened *folder.Bundle
	if info.IsDir() {
		opened, err = folder.OpenBundle(ctx, os.DirFS(b.verify), o)
	} else {
		var data []byte
		if data, err = os.ReadFile(b.verify); err != nil {
			return failf(exitNotCompared, "reading %s: %w", b.verify, bare(err))
		}
		opened, err = folder.ReadBundle(ctx, data, o)
	}
	if err != nil {
		return failf(exitNotCompared, "%s: %w", b.verify, err)
	}
	return a.listBundle(b.verify, opened, opened.Signer())
}

// privateKey reads an ed25519 key in PKCS #8; it is never shown.
func privateKey(file string) (ed25519.PrivateKey, error) {
	der, err := pemOf(file, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err == nil {
		if own, ok := key.(ed25519.PrivateKey); ok {
			return own, nil
		}
	}
	return nil, fmt.Errorf("reading %s: it holds no ed25519 private key: make one with openssl genpkey -algorithm ed25519", file)
}

func publicKey(file string) (ed25519.PublicKey, error) {
	der, err := pemOf(file, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err == nil {
		if own, ok := key.(ed25519.PublicKey); ok {
			return own, nil
		}
	}
	return nil, fmt.Errorf("reading %s: it holds no ed25519 public key", file)
}

func pemOf(file, kind string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, bare(err))
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("reading %s: it holds no PEM block %q", file, kind)
	}
	return block.Bytes, nil
}
