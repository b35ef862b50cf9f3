{{- /* Made by `tsop generate deploy examples/teams --name team-operator --output examples/teams/config/deploy`; change what it is made from and run it again. */ -}}
{{- /* tsop sha256:37b5942835e0dfb1 */ -}}
{{- define "operator.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}{{ .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "operator.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end }}

{{- define "operator.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default (.Chart.AppVersion | replace "+" "_") }}{{ end }}
{{- end }}

{{- define "operator.metricsPort" -}}
{{ if .Values.metrics.secure }}8443{{ else }}8080{{ end }}
{{- end }}
