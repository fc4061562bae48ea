// Package flinkconf reads the keys of a Flink configuration as people have it: a
// flat or nested YAML file, the lines of an old flink-conf.yaml, JSON, the
// flinkConfiguration of custom resources, alone or as a list, or the files inside
// of a ConfigMap or of a Helm chart's values.
//
// Invariants: values stay text as they were written; each key knows its line;
// nothing that is given twice or has no one value is passed over in silence. No
// problem repeats a value: a configuration may hold credentials.
package flinkconf
