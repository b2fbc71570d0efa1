package avro_test

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func ExampleSchema_Reads() {
	load := func(text string) *avro.Schema {
		s, err := avro.Parse(context.Background(), schemas.Source{Text: text}, nil, schemas.ParseOptions{})
		if err != nil {
			panic(err)
		}
		return s
	}
	writer := load(`{"type":"record","name":"User","fields":[{"name":"nick","type":"string"},{"name":"seen","type":"long"}]}`)
	reader := load(`{"type":"record","name":"User","fields":[{"name":"nick","type":"string"},{"name":"seen","type":"double"},{"name":"age","type":"int"}]}`)

	payload, _ := writer.BinaryOf([]byte(`{"nick": "ana", "seen": 9007199254740993}`), schemas.ReadOptions{})
	fmt.Printf("%x\n", payload)
	reading := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
	for _, v := range reading.Violations {
		fmt.Println(v.Schema, v.Text)
	}
	for _, l := range reading.Losses {
		fmt.Println(l.Payload, l.Text)
	}
	// Output:
	// 06616e618280808080808020
	// /fields/2 the writer has no field "age" and the reader has no default for it
	// /seen 9007199254740993 is read as 9007199254740992
}
