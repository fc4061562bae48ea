{{- /* The worker's configuration: what the values say, and above it config. */ -}}
{{- define "flinkscaler.config" -}}
{{- $names := list }}
{{- range include "flinkscaler.namespaces" . | fromJsonArray }}{{ $names = append $names .name }}{{ end }}
{{- $kubernetes := dict "namespaces" $names }}
{{- if .Values.nodes }}{{ $_ := set $kubernetes "nodes" true }}{{ end }}
{{- $cluster := dict "kubernetes" (mergeOverwrite $kubernetes (deepCopy .Values.kubernetes)) }}
{{- with .Values.policy }}{{ $_ := set $cluster "policy" . }}{{ end }}
{{- $config := dict
  "temporal" (dict "address" .Values.temporal.address "namespace" .Values.temporal.namespace)
  "log" (dict "format" "json")
  "http" (dict "listen" "0.0.0.0:9099")
  "clusters" (dict .Values.cluster $cluster) }}
{{- mergeOverwrite $config (deepCopy .Values.config) | toYaml }}
{{- end }}
