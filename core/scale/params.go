package scale

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/core/policy"
)

// params reads a plugin's parameters, each by a name that it asks for.
type params struct {
	left []policy.Param
	err  error
}

// open takes the parameters but the class, which the plugin was found by.
func open(given []policy.Param) *params {
	return &params{left: slices.DeleteFunc(slices.Clone(given), func(p policy.Param) bool { return p.Key == "class" })}
}

// whole reads a number that is at least least; a negative default is none, and
// the parameter must be given.
func (p *params) whole(key string, least, otherwise int) int {
	i := slices.IndexFunc(p.left, func(x policy.Param) bool { return x.Key == key })
	if i < 0 {
		if otherwise < 0 {
			p.err = errors.Join(p.err, fmt.Errorf("%s: must be given", key))
		}
		return otherwise
	}
	text := strings.TrimSpace(p.left[i].Value)
	p.left = slices.Delete(p.left, i, i+1)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || int(n) < least {
		p.err = errors.Join(p.err, fmt.Errorf("%s: must be a whole number of at least %d, got %q", key, least, text))
	}
	return int(n)
}

// priority reads the place in a chain, 0 where nobody says it.
func (p *params) priority() int { return p.whole("priority", -1<<31, 0) }

// done gives every problem; a parameter that nobody asked for is one.
func (p *params) done() error {
	for _, x := range p.left {
		p.err = errors.Join(p.err, fmt.Errorf("%s: unknown parameter", x.Key))
	}
	return p.err
}
