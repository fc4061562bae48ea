package main

import "flinkscaler/internal/flags"

// period is a flag for a length of time.
type period = flags.Period
