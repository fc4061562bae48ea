{{- define "flinkscaler.labels" -}}
app.kubernetes.io/name: {{ .Values.name }}
{{- end }}

{{- define "flinkscaler.metadata" -}}
name: {{ .Values.name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "flinkscaler.labels" . | nindent 2 }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "flinkscaler.account" -}}
- kind: ServiceAccount
  name: {{ .Values.name }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* The namespaces with Flink jobs, as JSON, each with its rights. */ -}}
{{- define "flinkscaler.namespaces" -}}
{{- $all := list }}
{{- range .Values.namespaces | default (list (dict "name" .Release.Namespace)) }}
{{- $rights := ternary .rights $.Values.rights (hasKey . "rights") }}
{{- if .resources }}{{ $rights = append $rights "operator-store" }}{{ end }}
{{- $all = append $all (dict "name" .name "rights" $rights "resources" (.resources | default list)) }}
{{- end }}
{{- $all | toJson }}
{{- end }}
