package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// prerequisite is a program that must be on the machine.
type prerequisite struct {
	name  string
	check []string // a quick command that succeeds when the program works
	hint  string   // how one gets it
}

// checkTimeout bounds a version command. A JVM on a busy machine takes seconds.
const checkTimeout = time.Minute

func needGo() prerequisite {
	return prerequisite{name: "go", check: []string{"go", "version"}, hint: "install Go 1.26 or newer"}
}

func needPip() prerequisite {
	return prerequisite{
		name:  "python3 with pip",
		check: []string{"python3", "-m", "pip", "--version"},
		hint:  "Debian: apt-get install python3-pip",
	}
}

// needJava is the Java that runs Flink.
func needJava() prerequisite {
	return prerequisite{name: "java", check: []string{"java", "-version"}, hint: "a JDK 11 or 17; Debian: apt-get install openjdk-17-jdk-headless"}
}

// needJDK is what compiles the test job and the oracle's harness. A machine with a JRE alone has java but not these.
func needJDK() []prerequisite {
	const hint = "a JDK, not only a JRE; Debian: apt-get install openjdk-17-jdk-headless"
	return []prerequisite{
		{name: "javac", check: []string{"javac", "-version"}, hint: hint},
		{name: "jar", check: []string{"jar", "--version"}, hint: hint},
	}
}

// needMaven is what resolves the Java autoscaler.
func needMaven() prerequisite {
	return prerequisite{name: "mvn", check: []string{"mvn", "--version"}, hint: "Debian: apt-get install maven"}
}

// checkPrerequisites reports everything that the targets need and the machine lacks, so that one look suffices.
func checkPrerequisites(ctx context.Context, targets []target) error {
	var checked []string
	var problems []error
	for _, t := range targets {
		for _, p := range t.needs() {
			if slices.Contains(checked, p.name) {
				continue
			}
			checked = append(checked, p.name)
			if err := p.run(ctx); err != nil {
				problems = append(problems, fmt.Errorf("%s needs %s (%s): %w", t.name(), p.name, p.hint, err))
			}
		}
	}
	return errors.Join(problems...)
}

func (p prerequisite) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, p.check[0], p.check[1:]...).CombinedOutput()
	if err != nil && len(output) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(output)))
	}
	return err
}
