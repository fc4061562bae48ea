package kerberos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"flinkscaler/core"
)

// maxBody is the longest body that is kept to be sent again, in bytes. What goes to YARN this way are small documents.
const maxBody = 8 << 20

// body opens a request's body, each time from its beginning.
type body struct {
	open func() (io.ReadCloser, error)
}

// newBody takes over the body of a request: it is closed here in any case.
func newBody(request *http.Request) (body, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return body{open: func() (io.ReadCloser, error) { return request.Body, nil }}, nil
	}
	if request.GetBody != nil {
		return body{open: request.GetBody}, request.Body.Close()
	}
	content, err := io.ReadAll(io.LimitReader(request.Body, maxBody+1))
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return body{}, err
	}
	if len(content) > maxBody {
		return body{}, &core.OpError{Op: "send", Subject: request.URL.Path,
			Err: fmt.Errorf("%w: a body of more than %d bytes cannot be kept to be sent again", core.ErrRefused, maxBody)}
	}
	return body{open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}, nil
}
