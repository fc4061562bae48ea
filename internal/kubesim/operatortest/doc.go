// Package operatortest is one suite of cases for every operator of
// FlinkDeployments: the real one and those that are played must pass the same,
// as far as their releases agree. It looks at the API server and at Flink's REST
// API only, so it does not know which it has before it.
//
//	operatortest.Run(t, operatortest.Rig{Config: …, Namespace: …, Deployment: …})
//
// Where releases differ (observedGeneration, lower bounds, the state during a
// rescale, the job's id after an upgrade) is not part of it: recordings of each
// release are, see package kubesim.
package operatortest
