package main

import (
	"fmt"
	"path/filepath"
)

// needsRepository is what to do when Maven fails, as far as it can be known.
const needsRepository = "needs a Maven repository; run it again when it answers"

// maven runs a goal of the dependency plugin, whose version the POM names.
func maven(pom, goal string, properties ...string) command {
	args := []string{
		"mvn", "--batch-mode", "--no-transfer-progress", "--file", pom,
		"org.apache.maven.plugins:maven-dependency-plugin:" + goal,
	}
	return command{args: append(args, properties...)}
}

// copyDependencies copies everything that a POM needs at run time into one folder.
func copyDependencies(pom, jars string) command {
	return maven(pom, "copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars)
}

// resolved is how far it is.
func resolved(jars string) string {
	have, _ := filepath.Glob(filepath.Join(jars, "*.jar")) // the pattern is good
	return fmt.Sprintf("Maven resolves dependencies, %d jars in place", len(have))
}
