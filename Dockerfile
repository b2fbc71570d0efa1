# Two images from one build:
#   docker build -t cartorio .                       the binary alone, on an empty base
#   docker build -t cartorio:git --target git .      with git, curl and jq, for pipelines
# Both are run by an unprivileged user.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/cartorio ./cmd/cartorio \
 && mkdir -p /out/data /out/tmp

# Pipelines read the base from git, and their runners want a shell.
FROM debian:stable-slim AS git
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates curl git jq \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory '*'
COPY --from=build /out/cartorio /usr/local/bin/cartorio
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["cartorio"]
CMD ["check"]

# The last stage is what is built when none is named.
FROM scratch
# Registries, databases and brokers that are asked over TLS are known by these.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/cartorio /cartorio
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/tmp /tmp
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8081
ENV CARTORIO_LISTEN=0.0.0.0:8081 CARTORIO_DATABASE=sqlite:/data/cartorio.db
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/cartorio", "health"]
ENTRYPOINT ["/cartorio"]
CMD ["serve"]
