// Package yarn finds Flink applications on a YARN cluster by its ResourceManagers,
// and measures and scales their jobs through Flink's REST API.
package yarn
