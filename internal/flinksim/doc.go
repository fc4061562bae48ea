// Package flinksim is a simulated Flink cluster behind the real REST API: the
// same paths and the same JSON as Flink 2.3.0 or 1.20.5, over a queueing model
// of jobs instead of JVMs. Tests, the demo and the benchmarks talk to it
// through the same adapter as to Flink.
//
// The model. A job is a graph of vertices; each subtask can do so many records
// per second. Sources have a backlog, everything behind them has none: buffers
// are small, so a vertex that cannot keep up holds back all that is before it.
// Records are a fluid: between two moments at which a rate changes, everything
// is linear and integrated exactly, so it does not matter how often one looks.
// Nothing runs in the background: time is caught up with on each request, so a
// thousand jobs cost nothing while nobody asks.
//
// What is imitated on purpose, because it has hurt autoscalers: metrics are
// fetched lazily and move only at a fetch; one hung TaskManager freezes them
// all, with complete:true; after a rescale the aggregated metrics are those of
// the attempt before; one unknown id empties the whole answer; /jobs/:id is
// cached; RUNNING is shown before the tasks run; a raised lower bound ends a
// job at its next failure; a request line that is too long is a 404.
//
// Beside Flink's paths there are paths of the simulator's own, by which
// another process steers and looks. Bodies and answers are JSON; "job" is an
// id or a name and may be left out while there is one job only.
//
//	GET  /sim/view[?job=J]   what the job really does now; without job: all
//	GET  /sim/writes         every PUT of requirements, accepted or not
//	POST /sim/load           {"job":"J","load":"wave:500..4500@2m"}
//	POST /sim/slots          {"slots":8}
//	POST /sim/job            {"job":"J","action":"cancel|fail|restart|resubmit","cause":"..."}
//	POST /sim/checkpoints    {"job":"J","mode":"ok|fail|expire"}
//	POST /sim/fault          {"fault":"hang-taskmanager|lose-taskmanager|
//	                           restore-taskmanager|unavailable","on":true,"mode":"503"}
//	POST /sim/advance        {"by":"10s"}
//
// It must not be imported by anything that is shipped, and imports nothing but
// the standard library.
package flinksim
