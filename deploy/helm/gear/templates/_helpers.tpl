{{- define "gear.labels" -}}
app.kubernetes.io/name: gear
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gear.image" -}}
{{ required "image.repository is needed" .Values.image.repository }}@{{ required "image.digest is needed, such as sha256:…: a tag may move" .Values.image.digest }}
{{- end }}

{{- define "gear.host" -}}
{{ .Release.Name }}-gear
{{- end }}

{{/* What no container of ours may, and where it may write. */}}
{{- define "gear.container" -}}
image: {{ include "gear.image" . }}
imagePullPolicy: IfNotPresent
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "gear.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gear.storeSettings" -}}
- {name: GEAR_DATABASE_URL, value: {{ .Values.database.url | quote }}}
- {name: GEAR_DATABASE_PASSWORD_FILE, value: /run/secrets/gear/database/password}
- {name: GEAR_DATABASE_POOL_SIZE, value: {{ .Values.database.poolSize | quote }}}
- {name: GEAR_ENCRYPTION_KEYRING, value: /run/secrets/gear/keys/encryption}
- {name: GEAR_PUBLIC_URL, value: {{ required "publicUrl is needed, such as https://gear.example.com" .Values.publicUrl | quote }}}
{{- range $name, $value := .Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{/* The settings of the engine for a user: (list $ user) */}}
{{- define "gear.engineSettings" -}}
{{- $values := (index . 0).Values }}
- {name: GEAR_OPENSEARCH_URL, value: {{ $values.opensearch.url | quote }}}
- {name: GEAR_OPENSEARCH_CA_CERTS, value: /run/secrets/gear/opensearch-ca/ca.crt}
- {name: GEAR_OPENSEARCH_USERNAME, value: {{ (index . 1).username | quote }}}
- {name: GEAR_OPENSEARCH_PASSWORD_FILE, value: /run/secrets/gear/opensearch/password}
- {name: GEAR_DIGEST_KEY_FILE, value: /run/secrets/gear/keys/digest}
- {name: GEAR_INDEX_PREFIX, value: {{ $values.opensearch.indexPrefix | quote }}}
{{- end }}

{{/* The mounted secrets: (list $ keys-of-gear-keys user-of-the-engine-or-"" rate-limits?) */}}
{{- define "gear.secretVolumes" -}}
{{- $values := (index . 0).Values }}
{{- $user := index . 2 }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret: {name: {{ $values.database.password.secret }}, items: [{key: {{ $values.database.password.key }}, path: database/password}]}
      - secret: {name: {{ $values.database.ca.secret }}, items: [{key: {{ $values.database.ca.key }}, path: database-ca/ca.crt}]}
      - secret:
          name: {{ $values.keys.secret }}
          items:
            {{- range index . 1 }}
            - {key: {{ . }}, path: keys/{{ . }}, mode: 0400}
            {{- end }}
      {{- if $user }}
      - secret: {name: {{ $user.secret }}, items: [{key: {{ $user.key }}, path: opensearch/password}]}
      - secret: {name: {{ $values.opensearch.ca.secret }}, items: [{key: {{ $values.opensearch.ca.key }}, path: opensearch-ca/ca.crt}]}
      {{- end }}
      {{- if index . 3 }}
      - secret: {name: {{ $values.rateLimitStorage.secret }}, items: [{key: {{ $values.rateLimitStorage.key }}, path: rate-limits/url}]}
      {{- end }}
{{- end }}

{{- define "gear.mounts" -}}
- {name: secrets, mountPath: /run/secrets/gear, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end }}
