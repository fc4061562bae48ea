// Package kubelet stands in for the kubelet: it runs the pods of Flink clusters on a plane of package kubelocal, each as
// real JVMs on loopback, and tells the API server how they are. There are no images: a pod's image names the Flink
// release, and the containers of the Flink image, of the Flink operator and of Flink's own Kubernetes client are understood
// by their arguments. Pods are run when they have the label component with the value jobmanager or taskmanager.
//
//   - standalone: a pod that starts a JobManager or a TaskManager is that one JVM, with the configuration of the ConfigMap
//     that it mounts and with its -D arguments. So a Deployment or a StatefulSet of TaskManagers can be scaled.
//   - native: a JobManager that would make TaskManagers itself is run with one TaskManager beside it, for which there is no
//     pod. It has all slots that taskmanager.numberOfTaskSlots says.
//
// Names of Services are resolved to the JobManager that they select. There is one network for all, so each JobManager needs
// a rest.port of its own; ports for its RPC are chosen where the configuration would not work here.
//
// A JVM that ends makes its pod not ready; it is started again after a while, as kubelet does. A pod that is deleted has
// its JVMs asked to end.
package kubelet
