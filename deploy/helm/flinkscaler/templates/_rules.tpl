{{- define "flinkscaler.rules.observe-apache" -}}
- apiGroups: [flink.apache.org]
  resources: [flinkdeployments, flinksessionjobs]
  verbs: [get, list]
{{- end }}

{{- define "flinkscaler.rules.scale-apache" -}}
- apiGroups: [flink.apache.org]
  resources: [flinkdeployments, flinksessionjobs]
  verbs: [patch]
- apiGroups: [flink.apache.org]
  resources: [flinkdeployments/scale]
  verbs: [get, patch]
{{- end }}

{{- define "flinkscaler.rules.flinkcluster" -}}
- apiGroups: [flinkoperator.k8s.io]
  resources: [flinkclusters]
  verbs: [get, list, patch]
- apiGroups: [flinkoperator.k8s.io]
  resources: [flinkclusters/scale]
  verbs: [get, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}

{{- define "flinkscaler.rules.workloads" -}}
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get]
- apiGroups: [apps]
  resources: [deployments/scale, statefulsets/scale]
  verbs: [get, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}

{{- define "flinkscaler.rules.deletion-cost" -}}
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
{{- end }}

{{- define "flinkscaler.rules.rivals" -}}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
- apiGroups: [autoscaling.k8s.io]
  resources: [verticalpodautoscalers]
  verbs: [list]
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [list]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [list]
{{- end }}

{{- define "flinkscaler.rules.operator-store" -}}
- apiGroups: [""]
  resources: [configmaps]
  resourceNames:
  {{- range .resources }}
  - autoscaler-{{ . }}
  {{- end }}
  verbs: [get]
{{- end }}

{{- define "flinkscaler.rules.events" -}}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, list]
- apiGroups: [""]
  resources: [events]
  verbs: [patch]
{{- end }}

{{- define "flinkscaler.rules.capacity" -}}
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get]
- apiGroups: [""]
  resources: [pods, resourcequotas, limitranges]
  verbs: [list]
{{- end }}

{{- define "flinkscaler.rules.proxy" -}}
- apiGroups: [""]
  resources: [services/proxy]
  verbs: [get, create, update]
{{- end }}
