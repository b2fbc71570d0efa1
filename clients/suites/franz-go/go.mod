module github.com/cartorio-registry/cartorio/clients/suites/franz-go

go 1.26

require (
	github.com/bufbuild/protocompile v0.14.1
	github.com/linkedin/goavro/v2 v2.15.0
	github.com/twmb/franz-go/pkg/sr v1.8.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/golang/snappy v1.0.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
)
