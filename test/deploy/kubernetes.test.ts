import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUS_USERS, passwordVariable as busPassword, usersFile } from '@headway/bus-users';
import { DATABASE_ROLES, passwordVariable as databasePassword } from '@headway/database-roles';
import { ROUTING_FILE, readRoutes } from '@headway/gateway';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../harness/services.ts';
import { type Resource, resourcesOf } from './files.ts';

const BASE = 'deploy/kubernetes/base';
const EXAMPLE = 'deploy/kubernetes/overlays/example';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly securityContext: unknown;
  readonly resources: { readonly limits?: { readonly memory?: string } };
  readonly readinessProbe?: unknown;
  readonly livenessProbe?: unknown;
  readonly startupProbe?: unknown;
}
interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: unknown;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}
interface Workload {
  readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: PodSpec;
  };
}

/** What kustomize itself makes of a folder; `null` where it is not on this machine. */
function rendered(folder: string): Resource[] | null {
  for (const [program, ...args] of [
    ['kustomize', 'build'],
    ['kubectl', 'kustomize'],
  ]) {
    try {
      const text = execFileSync(program ?? '', [...args, join(repositoryRoot, folder)], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
      return parseAllDocuments(text).map((document) => document.toJS() as Resource);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return null;
}

const byKustomize = { base: rendered(BASE), example: rendered(EXAMPLE) };
if (byKustomize.base === null)
  process.stderr.write(
    'kustomize is not on this machine: the manifests are read without it, and their patches not tried\n',
  );

const base = byKustomize.base ?? resourcesOf(BASE);
const ofKind = (kind: string) => base.filter((resource) => resource.kind === kind);
const named = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name);
const workloads = [...ofKind('Deployment'), ...ofKind('Job')].map(({ metadata, spec }) => ({
  name: metadata.name,
  spec: spec as Workload,
}));
const containersOf = ({ template }: Workload) => [...(template.spec.initContainers ?? []), ...template.spec.containers];

describe('the kustomize base', () => {
  it('names only files that are there, and brings the same resources as kustomize does', () => {
    const names = (resources: readonly Resource[]) =>
      resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
    expect(names(base)).toEqual(names(resourcesOf(BASE)));
  });

  it('has for each service a Deployment, a Service and a PodDisruptionBudget', () => {
    const services = [
      ...new Set([...readRoutes(ROUTING_FILE).map(({ service }) => service), 'classifier', 'gateway']),
    ].sort();
    for (const kind of ['Deployment', 'Service', 'PodDisruptionBudget']) expect(named(kind).sort()).toEqual(services);
  });

  it('runs programs that are there', () => {
    for (const { spec } of workloads)
      for (const { args } of containersOf(spec)) expect(existsSync(join(repositoryRoot, args[0] ?? ''))).toBe(true);
  });

  it('restricts every container, and limits its memory', () => {
    for (const { spec } of workloads) {
      expect(spec.template.spec.automountServiceAccountToken).toBe(false);
      expect(spec.template.spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of containersOf(spec)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources.limits?.memory).toMatch(/^\d+Mi$/);
      }
    }
  });

  it('asks each Deployment how it is doing, and selects its own pods', () => {
    for (const { name, spec } of workloads) {
      if (spec.selector === undefined) continue;
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      for (const container of spec.template.spec.containers)
        for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
          expect([name, probe]).toEqual([name, expect.any(Object)]);
    }
  });

  it('holds no secret: each comes by reference, and every one is a secret that make-env makes', () => {
    const made = readFileSync(join(repositoryRoot, 'deploy/compose/make-env.mjs'), 'utf8');
    const keys = new Set<string>();
    for (const { spec } of workloads)
      for (const { env = [] } of containersOf(spec))
        for (const { name, value, valueFrom } of env) {
          if (name === 'HEADWAY_EFFECT_TARGETS_FILE') continue;
          if (/PASSWORD|TOKEN/.test(name)) {
            expect([name, value]).toEqual([name, undefined]);
            keys.add((valueFrom as { secretKeyRef: { name: string; key: string } }).secretKeyRef.key);
          } else expect(value).toMatch(/^\w+:\/\/[^:]+:\$\(\w+_PASSWORD\)@\$\(\w+_ADDRESS\)$/);
        }
    const known = [...BUS_USERS.map(busPassword), ...DATABASE_ROLES.map(({ name }) => databasePassword(name))];
    for (const key of keys)
      expect([...known, 'POSTGRES_ADMIN_PASSWORD', 'HEADWAY_OPERATOR_TOKEN_SHA256']).toContain(key);
    expect(made).toContain('HEADWAY_OPERATOR_TOKEN_SHA256');
    expect(named('Secret')).toEqual([]);
  });

  it('lets each service in as its own user alone', () => {
    for (const { name, spec } of workloads) {
      if (spec.selector === undefined) continue;
      for (const { env = [] } of containersOf(spec))
        for (const { name: variable, value } of env)
          if (variable.endsWith('_URL')) expect(value).toMatch(new RegExp(`^\\w+://${name}:`));
    }
  });

  it('denies all traffic that is not named, and names components that are there', () => {
    const policies = ofKind('NetworkPolicy');
    expect(policies.find(({ metadata }) => metadata.name === 'nothing')?.spec).toEqual({
      podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'headway' } },
      policyTypes: ['Ingress', 'Egress'],
    });
    const components = new Set(
      workloads.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/component']),
    );
    for (const [, list = ''] of JSON.stringify(policies).matchAll(/"operator":"In","values":\[([^\]]+)\]/g))
      for (const component of JSON.parse(`[${list}]`) as string[]) expect([...components]).toContain(component);
  });

  it('brings the users of the bus for a NATS server to include', () => {
    const users = ofKind('ConfigMap').find(({ metadata }) => metadata.name === 'headway-bus-users');
    expect(users?.data?.['users.conf']).toBe(usersFile());
  });
});

describe.skipIf(byKustomize.example === null)('the example overlay, as kustomize renders it', () => {
  const example = byKustomize.example ?? [];
  const one = (kind: string, name: string) =>
    example.find((resource) => resource.kind === kind && resource.metadata.name === name);

  it('is in its namespace, with its own image, addresses and host', () => {
    for (const { kind, metadata } of example)
      if (kind !== 'Namespace') expect(metadata).toMatchObject({ namespace: 'headway' });
    for (const image of JSON.stringify(example).matchAll(/"image":"([^"]+)"/g))
      expect(image[1]).toBe('registry.example/headway:0.1.0');
    expect(one('ConfigMap', 'headway')?.data).toMatchObject({
      NATS_ADDRESS: 'nats.nats.svc:4222',
      HEADWAY_PORT: '4680',
    });
    expect(one('Ingress', 'headway')?.spec).toMatchObject({
      rules: [{ host: 'headway.my-company.example' }],
      tls: [{ hosts: ['headway.my-company.example'] }],
    });
    expect(one('Deployment', 'ingest')?.spec).toMatchObject({ replicas: 3 });
  });
});
