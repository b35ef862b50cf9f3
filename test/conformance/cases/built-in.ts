/** Built-in kinds: what the server fills in, refuses, and keeps fixed. */
import type { Case } from '../case.ts'
import { configMap, container, deployment, service, withoutDiff } from '../objects.ts'

const template = (spec: object = {}, labels: object = { app: 'a' }) => ({
  metadata: { labels },
  spec: { containers: [container()], ...spec },
})

export const cases: readonly Case[] = [
  {
    id: 'pod-template-in-full',
    title: 'Probes, volumes, environment, resources and security of a pod template, and their defaults',
    async run(t) {
      await t.post(
        'apps/v1/deployments',
        deployment('a', {
          revisionHistoryLimit: 3,
          strategy: { rollingUpdate: { maxSurge: 2 } },
          template: template(
            {
              initContainers: [
                {
                  name: 'init',
                  image: 'i@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
                  restartPolicy: 'Always',
                },
              ],
              containers: [
                container({
                  ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
                  env: [
                    { name: 'A', value: '' },
                    { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                    { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
                  ],
                  resources: { limits: { cpu: 1, memory: '1.5Gi' }, requests: { cpu: '0.25' } },
                  livenessProbe: { httpGet: { port: 'http' } },
                  readinessProbe: { exec: { command: ['x'] }, periodSeconds: 3 },
                  startupProbe: { grpc: { port: 90 } },
                  lifecycle: { preStop: { httpGet: { port: 80, path: 'x' } } },
                  volumeMounts: [{ name: 'cm', mountPath: '/cm', readOnly: true }],
                  securityContext: { capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
                }),
              ],
              volumes: [
                { name: 'cm', configMap: { name: 'x' } },
                { name: 's', secret: { secretName: 's' } },
                { name: 'e' },
                { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
                { name: 'd', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
                { name: 'h', hostPath: { path: '/x' } },
              ],
              affinity: {
                podAntiAffinity: {
                  preferredDuringSchedulingIgnoredDuringExecution: [
                    { weight: 1, podAffinityTerm: { topologyKey: 'z', labelSelector: { matchLabels: { a: 'b' } } } },
                  ],
                },
              },
              topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }],
              serviceAccountName: 'sa',
              hostNetwork: true,
            },
            { app: 'a' },
          ),
        }),
      )
    },
  },
  {
    id: 'pod-template-refused',
    title: 'Names, ports, mounts, probes and resources of a pod template that are wrong, all told at once',
    async run(t) {
      await t.post(
        'apps/v1/deployments',
        deployment('a', {
          template: template({
            restartPolicy: 'Never',
            containers: [
              {
                name: 'Bad_Name',
                image: ' ',
                imagePullPolicy: 'Sometimes',
                ports: [{ containerPort: 99_999, name: 'toolongportname1' }],
                volumeMounts: [{ name: 'none', mountPath: '' }],
                env: [{ name: '' }, { name: 'X', value: 'y', valueFrom: { fieldRef: { fieldPath: 'spec.what' } } }],
              },
              {
                name: 'dup',
                image: 'x',
                resources: { requests: { cpu: '2' }, limits: { cpu: '1', 'example.com/x': '1.5' } },
                livenessProbe: { periodSeconds: -1, successThreshold: 2, exec: { command: ['x'] } },
              },
              { name: 'dup', image: 'y', livenessProbe: { tcpSocket: { port: 1 }, exec: { command: ['x'] } } },
            ],
            volumes: [
              { name: 'v', emptyDir: {}, hostPath: { path: '/x' } },
              { name: 'v', emptyDir: {} },
            ],
            dnsPolicy: 'None',
            terminationGracePeriodSeconds: -5,
          }),
        }),
      )
      await t.post(
        'apps/v1/deployments',
        deployment('b', { template: template({}, { app: 'other' }), strategy: { type: 'Recreate', rollingUpdate: {} } }),
      )
      await t.post(
        'apps/v1/deployments',
        deployment('c', { selector: {}, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
      )
      await t.post('apps/v1/deployments', { metadata: { name: 'd' }, spec: {} })
      await t.post('apps/v1/deployments', deployment('e', { replicas: 1.5 }))
      await t.post('apps/v1/deployments', deployment('f', { strategy: { rollingUpdate: { maxSurge: '120', maxUnavailable: '101%' } } }))
    },
  },
  {
    id: 'stateful-set-life',
    title: 'A StatefulSet: its defaults, what may change of it, its volume claims',
    async run(t) {
      const claims = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }]
      const path = 'apps/v1/statefulsets/a'
      await t.post('apps/v1/statefulsets', {
        metadata: { name: 'a' },
        spec: { serviceName: 'a', selector: { matchLabels: { app: 'a' } }, template: template(), volumeClaimTemplates: claims },
      })
      await t.merge(path, { spec: { replicas: 3, template: { spec: { terminationGracePeriodSeconds: 5 } }, minReadySeconds: 4 } })
      await t.merge(path, { spec: { serviceName: 'b' } })
      await t.json(path, [{ op: 'replace', path: '/spec/volumeClaimTemplates/0/spec/resources/requests/storage', value: '2Gi' }])
      await t.merge(path, { spec: { podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } } })
      await t.merge(path, {
        spec: {
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
          updateStrategy: { type: 'OnDelete', rollingUpdate: null },
        },
      })
      await t.put(`${path}/scale`, { metadata: { name: 'a' }, spec: { replicas: 0 } })
    },
  },
  {
    id: 'jobs-and-cron-jobs',
    title: 'Jobs and CronJobs: labels and selectors of their own, schedules, zones, what is fixed',
    async run(t) {
      const jobTemplate = { spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [container()] } } } }
      const body = ({ metadata, spec, ...rest }: { metadata?: object; spec?: object }) => ({ ...rest, metadata, spec })
      await t.post('batch/v1/jobs', { metadata: { name: 'a' }, spec: { suspend: true, ...jobTemplate.spec } }, { pick: body })
      await t.merge('batch/v1/jobs/a', { spec: { parallelism: 2, completions: 5 } })
      await t.merge('batch/v1/jobs/a', { spec: { parallelism: 2, suspend: false, backoffLimit: 1 } })
      await t.post('batch/v1/jobs', { metadata: { name: 'b' }, spec: { template: { spec: { containers: [container()] } } } })
      await t.post('batch/v1/jobs', {
        metadata: { name: 'c' },
        spec: { completionMode: 'Indexed', parallelism: -1, template: { spec: { restartPolicy: 'Always', containers: [] } } },
      })
      const cron = (name: string, spec: object) =>
        t.post('batch/v1/cronjobs', { metadata: { name }, spec: { schedule: '*/5 * * * *', jobTemplate, ...spec } })
      await cron('a', {})
      await cron('b', { schedule: 'often', concurrencyPolicy: 'Perhaps', successfulJobsHistoryLimit: -1 })
      await cron('c', { schedule: 'TZ=UTC 0 0 * * *', timeZone: 'Mars/Base' })
      await cron('d', { schedule: '@daily', timeZone: 'Europe/Berlin', startingDeadlineSeconds: 10 })
      await cron('n'.repeat(53), {})
    },
  },
  {
    id: 'services-of-all-types',
    title: 'Services: types, headless ones, families, node ports, and moves from one type to another',
    async run(t) {
      await t.post('services', service('a'))
      await t.post('services', service('b', { clusterIP: 'None', ports: [{ port: 1 }, { port: 2 }] }))
      await t.post('services', service('c', { clusterIP: 'None', selector: null, ports: null }))
      await t.post(
        'services',
        service('d', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ name: 'x', port: 80, targetPort: 'http' }] }),
      )
      await t.post('services', service('e', { type: 'ExternalName' }))
      await t.post('services', service('f', { type: 'ExternalName', externalName: 'db.example.com', ports: null, selector: null }))
      await t.post('services', service('g', { clusterIP: '1.2.3.4' }))
      await t.post('services', service('h', { ipFamilyPolicy: 'RequireDualStack' }))
      await t.post('services', service('i', { type: 'NodePort', ports: [{ port: 80, nodePort: 99 }] }))
      await t.post(
        'services',
        service('1j', {
          ports: [{ port: 0 }, { port: 80, name: 'A' }, { port: 81, name: 'A', protocol: 'ICMP' }],
          sessionAffinity: 'Always',
        }),
      )
      await t.merge('services/a', { spec: { type: 'NodePort' } })
      await t.merge('services/a', { spec: { type: 'ClusterIP' } })
      await t.merge('services/a', { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] } })
      // In the part of the range that no server gives away unasked.
      await t.merge('services/a', { spec: { clusterIP: '10.0.0.10' } })
      await t.merge('services/a', { spec: { type: 'ExternalName', externalName: 'x.example.com' } })
      await t.merge('services/a', { spec: { type: 'ExternalName', externalName: 'x.example.com', clusterIP: '', clusterIPs: null } })
      await t.put('services/b', service('b', { clusterIP: 'None', ports: [{ port: 3 }] }))
    },
  },
  {
    id: 'small-kinds',
    title: 'Config maps, accounts, claims, budgets, ingresses, policies and autoscalers, right and wrong',
    async run(t) {
      await t.post('configmaps', { metadata: { name: 'a' }, data: { 'bad key': 'x', ok: 'y' }, binaryData: { ok: 'AA==', b: 'AA==' } })
      await t.post('serviceaccounts', { metadata: { name: 'sa' }, automountServiceAccountToken: false, imagePullSecrets: [{ name: 'p' }] })
      await t.post('persistentvolumeclaims', {
        metadata: { name: 'c' },
        spec: { accessModes: ['ReadWriteOnce', 'Sometimes'], resources: { requests: { storage: '-1' } } },
      })
      await t.post('persistentvolumeclaims', {
        metadata: { name: 'd' },
        spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1.5Gi' } }, volumeName: 'pv', storageClassName: '' },
      })
      await t.merge('persistentvolumeclaims/d', { spec: { accessModes: ['ReadWriteOnce'] } }, { pick: withoutDiff })
      await t.post('policy/v1/poddisruptionbudgets', {
        metadata: { name: 'b' },
        spec: { minAvailable: 1, maxUnavailable: '50%', selector: {} },
      })
      await t.post('networking.k8s.io/v1/ingresses', {
        metadata: { name: 'i' },
        spec: { rules: [{ host: '*.example.com', http: { paths: [{ path: 'x', backend: { service: { name: 's' } } }] } }] },
      })
      await t.post('networking.k8s.io/v1/networkpolicies', {
        metadata: { name: 'n' },
        spec: {
          podSelector: {},
          ingress: [
            { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }], ports: [{ port: 'web' }, { port: 1, endPort: 0 }] },
          ],
        },
      })
      await t.post('networking.k8s.io/v1/networkpolicies', { metadata: { name: 'm' }, spec: { podSelector: {}, egress: [{}] } })
      await t.post('autoscaling/v2/horizontalpodautoscalers', {
        metadata: { name: 'h' },
        spec: { maxReplicas: 0, scaleTargetRef: { kind: 'Deployment', name: '' } },
      })
      await t.post('autoscaling/v2/horizontalpodautoscalers', {
        metadata: { name: 'g' },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
      })
      await t.get('autoscaling/v1/horizontalpodautoscalers/g')
      await t.post('endpoints', { metadata: { name: 'e' }, subsets: [{ addresses: [{ ip: '300.1.1.1' }], ports: [{ port: 80 }] }] })
      await t.post('discovery.k8s.io/v1/endpointslices', {
        metadata: { name: 's' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.9.8.7'] }],
        ports: [{ port: 80 }],
      })
    },
  },
  {
    id: 'leases-and-events',
    title: 'A lease that moves from holder to holder, and events of both groups',
    async run(t) {
      const lease = (spec: object, metadata: object = {}) => ({ metadata: { name: 'lead', ...metadata }, spec })
      const path = 'coordination.k8s.io/v1/leases'
      const made = await t.post(
        path,
        lease({
          holderIdentity: 'one',
          leaseDurationSeconds: 15,
          acquireTime: '2020-01-01T00:00:00.000000Z',
          renewTime: '2020-01-01T00:00:00.1Z',
          leaseTransitions: 0,
        }),
      )
      await t.put(
        `${path}/lead`,
        lease({ holderIdentity: 'two', leaseTransitions: 1 }, { resourceVersion: made.body.metadata.resourceVersion }),
      )
      await t.put(`${path}/lead`, lease({ holderIdentity: 'three' }, { resourceVersion: made.body.metadata.resourceVersion }))
      await t.merge(`${path}/lead`, { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } })
      await t.merge(`${path}/lead`, { spec: { holderIdentity: '', renewTime: null } })
      const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: t.namespace, uid: 'u' }
      await t.post('events', {
        metadata: { name: 'a.1' },
        involvedObject,
        reason: 'Made',
        message: 'it was',
        type: 'Normal',
        source: { component: 'op' },
        firstTimestamp: '2020-01-01T00:00:00Z',
        lastTimestamp: '2020-01-01T00:00:00Z',
        count: 1,
      })
      await t.strategic('events/a.1', { count: 2, lastTimestamp: '2020-01-01T00:01:00Z', series: null })
      await t.get('events.k8s.io/v1/events/a.1')
      await t.post('events', {
        metadata: { name: 'a.2', namespace: t.namespace },
        involvedObject: { ...involvedObject, namespace: 'other' },
        reason: 'X',
      })
      await t.post('events.k8s.io/v1/events', {
        metadata: { name: 'a.3' },
        regarding: involvedObject,
        reason: 'New',
        action: 'Doing',
        type: 'Warning',
        reportingController: 'example.com/op',
        reportingInstance: 'op-1',
        eventTime: '2020-01-01T00:00:00.123456Z',
        note: 'n',
      })
      await t.post('events.k8s.io/v1/events', { metadata: { name: 'a.4' }, regarding: involvedObject, type: 'Odd' })
      await t.get(`events?fieldSelector=involvedObject.name%3Da,type%3DWarning`, { pick: ({ items }) => items })
    },
  },
  {
    id: 'immutable-config',
    title: 'An immutable config map: what still changes, and what deletion and recreation do',
    async run(t) {
      await t.post('configmaps', { ...configMap('a', { k: '1' }), immutable: true })
      await t.merge('configmaps/a', { data: { k: '1' }, metadata: { annotations: { fine: 'yes' } } })
      await t.merge('configmaps/a', { data: { k: '2' }, binaryData: { b: 'AA==' }, immutable: null })
      await t.apply('configmaps/a?fieldManager=m&force=true', configMap('a', { k: '2' }))
      await t.apply('configmaps/a?fieldManager=m&force=true', configMap('a', { k: '1' }))
      await t.delete('configmaps/a')
      await t.post('configmaps', configMap('a', { k: '2' }))
    },
  },
]
