/** The files under deploy/, read as their tools read them: only fields that are known, each once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, parseDocument } from 'yaml';
import { z } from 'zod';

export const DEPLOY: string = join(import.meta.dirname, '../../deploy');

export const textOf = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

const text = z.string().min(1);
const words = z.array(z.string()).min(1);
const count = z.number().int().positive();
const duration = z.string().regex(/^\d+(s|m|h)$/);

const healthcheck = z.strictObject({
  test: z.tuple([z.literal('CMD')], text),
  interval: duration,
  timeout: duration,
  retries: count,
  start_period: duration.optional(),
});

/** Fields of a service that are used here (docs.docker.com/reference/compose-file/services). */
const service = z.strictObject({
  build: z.strictObject({ context: text, dockerfile: text }).optional(),
  image: text,
  restart: z.enum(['unless-stopped', 'no']),
  init: z.literal(true).optional(),
  read_only: z.literal(true).optional(),
  tmpfs: words.optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]).optional(),
  environment: z.record(z.string(), z.string()),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }),
    )
    .optional(),
  command: words.optional(),
  entrypoint: words.optional(),
  ports: words.optional(),
  volumes: words.optional(),
  deploy: z.strictObject({ replicas: count }).optional(),
  shm_size: text.optional(),
  stop_signal: z.enum(['SIGINT', 'SIGTERM']).optional(),
  stop_grace_period: duration.optional(),
  healthcheck: healthcheck.optional(),
});

const composeShape = z.strictObject({
  name: text,
  'x-onrecord': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

type Healthcheck = { readonly test: readonly string[] };
type Service = {
  readonly restart: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly deploy?: { readonly replicas: number };
  readonly stop_grace_period?: string;
  readonly healthcheck?: Healthcheck;
};
export type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};

export const compose = (): Compose => {
  const document = parseDocument(textOf('compose.yaml'), { merge: true, uniqueKeys: true });
  if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
  return composeShape.parse(document.toJS()) as Compose;
};

const labels = z.record(z.string(), z.string());
const metadata = z.strictObject({ name: text, labels });
const podMetadata = z.strictObject({ labels, annotations: labels.optional() });
const matching = z.strictObject({ matchLabels: labels });
const quantity = z.string().regex(/^\d+(m|Ki|Mi|Gi)?$/);
const resources = z.strictObject({
  requests: z.strictObject({ cpu: quantity, memory: quantity }),
  limits: z.strictObject({ memory: quantity }),
});

const env = z.union([
  z.strictObject({ name: text, value: z.string() }),
  z.strictObject({
    name: text,
    valueFrom: z.strictObject({
      secretKeyRef: z.strictObject({ name: text, key: text, optional: z.boolean().optional() }),
    }),
  }),
]);

const timing = {
  initialDelaySeconds: count.optional(),
  periodSeconds: count,
  timeoutSeconds: count.optional(),
  failureThreshold: count.optional(),
};
const probe = z.union([
  z.strictObject({
    httpGet: z.strictObject({
      path: text,
      port: text,
      httpHeaders: z.array(z.strictObject({ name: text, value: text })).optional(),
    }),
    ...timing,
  }),
  z.strictObject({ exec: z.strictObject({ command: words }), ...timing }),
]);

const container = z.strictObject({
  name: text,
  image: text,
  command: words.optional(),
  args: words.optional(),
  env: z.array(env),
  ports: z.array(z.strictObject({ name: z.string().max(15), containerPort: count })).optional(),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z
    .strictObject({ preStop: z.strictObject({ exec: z.strictObject({ command: words }) }) })
    .optional(),
  resources,
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true).optional(),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.strictObject({ name: text, mountPath: text })),
});

const volume = z.union([
  z.strictObject({
    name: text,
    emptyDir: z.strictObject({ medium: z.literal('Memory').optional(), sizeLimit: quantity }),
  }),
  z.strictObject({ name: text, persistentVolumeClaim: z.strictObject({ claimName: text }) }),
]);

const podSpec = z.strictObject({
  restartPolicy: z.enum(['OnFailure', 'Never']).optional(),
  serviceAccountName: text.optional(),
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: count.optional(),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: count,
    runAsGroup: count,
    fsGroup: count,
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  containers: z.array(container).length(1),
  volumes: z.array(volume),
  topologySpreadConstraints: z
    .array(
      z.strictObject({
        maxSkew: count,
        topologyKey: text,
        whenUnsatisfiable: z.literal('ScheduleAnyway'),
        labelSelector: matching,
      }),
    )
    .optional(),
});

const template = z.strictObject({ metadata: podMetadata, spec: podSpec });
const claimSpec = z.strictObject({
  accessModes: z.tuple([z.literal('ReadWriteOnce')]),
  resources: z.strictObject({ requests: z.strictObject({ storage: quantity }) }),
});
const jobSpec = {
  backoffLimit: count,
  activeDeadlineSeconds: count,
  ttlSecondsAfterFinished: count.optional(),
  template,
};
const of = <const V extends string, const K extends string>(apiVersion: V, kind: K) => ({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(kind),
  metadata,
});

const manifest = z.discriminatedUnion('kind', [
  z.strictObject({ ...of('v1', 'ServiceAccount'), automountServiceAccountToken: z.literal(false) }),
  z.strictObject({ ...of('batch/v1', 'Job'), spec: z.strictObject(jobSpec) }),
  z.strictObject({
    ...of('apps/v1', 'Deployment'),
    spec: z.strictObject({
      replicas: count,
      strategy: z.strictObject({
        type: z.literal('RollingUpdate'),
        rollingUpdate: z.strictObject({ maxUnavailable: z.number().int(), maxSurge: count }),
      }),
      selector: matching,
      template,
    }),
  }),
  z.strictObject({
    ...of('apps/v1', 'StatefulSet'),
    spec: z.strictObject({
      serviceName: text,
      replicas: count,
      selector: matching,
      template,
      volumeClaimTemplates: z.array(
        z.strictObject({ metadata: z.strictObject({ name: text }), spec: claimSpec }),
      ),
    }),
  }),
  z.strictObject({
    ...of('v1', 'Service'),
    spec: z.strictObject({
      clusterIP: z.literal('None').optional(),
      selector: labels,
      sessionAffinity: z.literal('ClientIP').optional(),
      ports: z.array(z.strictObject({ name: text, port: count, targetPort: text })),
    }),
  }),
  z.strictObject({
    ...of('policy/v1', 'PodDisruptionBudget'),
    spec: z.strictObject({
      minAvailable: count.optional(),
      maxUnavailable: count.optional(),
      selector: matching,
    }),
  }),
  z.strictObject({
    ...of('networking.k8s.io/v1', 'NetworkPolicy'),
    spec: z.strictObject({
      podSelector: matching,
      policyTypes: z.tuple([z.literal('Ingress')]),
      ingress: z.array(
        z.strictObject({
          from: z.array(z.strictObject({ namespaceSelector: matching })),
          ports: z.array(z.strictObject({ protocol: z.literal('TCP'), port: count })),
        }),
      ),
    }),
  }),
  z.strictObject({ ...of('v1', 'PersistentVolumeClaim'), spec: claimSpec }),
  z.strictObject({
    ...of('batch/v1', 'CronJob'),
    spec: z.strictObject({
      schedule: z.string().regex(/^\d+ \d+ \* \* \*$/),
      timeZone: text,
      concurrencyPolicy: z.literal('Forbid'),
      startingDeadlineSeconds: count,
      successfulJobsHistoryLimit: count,
      failedJobsHistoryLimit: count,
      jobTemplate: z.strictObject({ spec: z.strictObject(jobSpec) }),
    }),
  }),
]);

type Labels = Readonly<Record<string, string>>;
type HttpProbe = { readonly httpGet?: { readonly path: string; readonly port: string } };
export type Container = {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: HttpProbe;
  readonly readinessProbe?: HttpProbe;
  readonly livenessProbe?: HttpProbe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly volumeMounts: readonly { readonly name: string }[];
};
export type Pod = {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers: readonly [Container];
    readonly volumes: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
};
export type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  /** What is in it depends on the kind; the shapes above say it. */
  readonly spec?: {
    readonly template?: Pod;
    readonly jobTemplate?: { readonly spec: { readonly template: Pod } };
    readonly selector?: Labels | { readonly matchLabels: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
};

export const manifests = (name: string): readonly Manifest[] =>
  parseAllDocuments(textOf(name), { uniqueKeys: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    return manifest.parse(document.toJS()) as Manifest;
  });

/** What a manifest runs, if it runs anything. */
export const podOf = ({ spec }: Manifest): Pod | undefined =>
  spec?.jobTemplate?.spec.template ?? spec?.template;

/** The labels of the pods that a manifest is about. */
export const selectorOf = ({ spec }: Manifest): Labels | undefined => {
  const { selector, podSelector } = spec ?? {};
  if (podSelector) return podSelector.matchLabels;
  return selector && 'matchLabels' in selector ? (selector.matchLabels as Labels) : selector;
};
