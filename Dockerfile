# syntax=docker/dockerfile:1

FROM golang:1.26.5-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOCACHE=/cache/build GOMODCACHE=/cache/mod
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY . .
ARG VERSION=dev
RUN --mount=type=cache,target=/cache \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/flinkscaler-worker ./worker && \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/flinkscaler ./starter

# alpine for its certificates, and for wget, which health checks call.
FROM alpine:3.22.2
COPY --from=build /out/ /usr/local/bin/
USER 65532:65532
EXPOSE 9099
ENTRYPOINT ["/usr/local/bin/flinkscaler-worker"]
CMD ["--config", "/etc/flinkscaler/worker.yaml"]
