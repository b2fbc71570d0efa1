package claim_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/claim"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func Example() {
	folder, err := os.MkdirTemp("", "claims")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	validator := validate.New(orders{}, jsonschema.Format)
	defer validator.Close()
	ctx := context.Background()

	store, err := claim.OpenDirectory(folder, "claim:orders/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	keeper, err := claim.New(store, claim.Options{Threshold: 1 << 10, Expiry: 30 * 24 * time.Hour, Window: 8 * 24 * time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}

	// Whoever publishes with this pin sends a reference; whoever expects with Claims
	// is handed the payload.
	pin := validate.Version(validate.ByDestination(), 1).WithClaims(keeper)
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1"), Claims: keeper}

	message := &validate.Message{Destination: "orders", Payload: fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 5_000))}
	if err := validator.BeforePublish(ctx, message, &pin); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(message.Payload) < 200, header(message, "claimSize"))
	outcome := validator.BeforeConsume(ctx, message, expect)
	fmt.Println(outcome.Verdict, len(outcome.Payload))

	// Now and then.
	removed, err := store.Expire(ctx)
	fmt.Println(removed, err)
	// Output:
	// true 5011
	// accept 5011
	// 0 <nil>
}
