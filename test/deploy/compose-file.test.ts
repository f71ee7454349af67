import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUS_USERS, passwordVariable as busPassword, USERS_FILE, usersFile } from '@headway/bus-users';
import { DATABASE_ROLES, passwordVariable as databasePassword } from '@headway/database-roles';
import { ROUTING_FILE, readRoutes } from '@headway/gateway';
import { afterAll, describe, expect, it } from 'vitest';
import { repositoryRoot } from '../harness/services.ts';
import { readYaml } from './files.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: object;
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const text = readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
const [{ services } = { services: {} as Record<string, Service> }] = readYaml<{ services: Record<string, Service> }>(
  'docker-compose.yml',
);
const ours = Object.entries(services).filter(([, { image }]) => image.includes('HEADWAY_IMAGE'));

describe('the compose file', () => {
  it('runs programs that are there', () => {
    expect(ours.length).toBeGreaterThan(0);
    for (const [name, { command }] of ours)
      expect([name, existsSync(join(repositoryRoot, command?.[0] ?? ''))]).toEqual([name, true]);
  });

  it('has every service that the routes name', () => {
    for (const { service } of readRoutes(ROUTING_FILE)) expect(Object.keys(services)).toContain(service);
  });

  it('restricts and limits everything it runs', () => {
    for (const [name, service] of Object.entries(services)) {
      expect([name, service.read_only, service.cap_drop]).toEqual([name, true, ['ALL']]);
      expect([name, service.mem_limit]).toEqual([name, expect.any(String)]);
      expect([name, service.restart]).toEqual([name, expect.any(String)]);
      if (service.restart === 'unless-stopped') expect([name, service.healthcheck]).toEqual([name, expect.any(Object)]);
    }
  });

  it('publishes the gateway alone, on loopback unless told', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['gateway']);
    expect(published[0]?.[1].ports).toEqual([expect.stringMatching(/^\$\{HEADWAY_BIND:-127\.0\.0\.1\}:/)]);
    expect(
      Object.entries(services)
        .filter(([, { networks }]) => networks.includes('published'))
        .map(([name]) => name),
    ).toEqual(['gateway']);
  });

  it('gives the bus a password for each user, and the roles’ job one for each role', () => {
    for (const user of BUS_USERS) expect(services.nats?.environment).toHaveProperty(busPassword(user));
    for (const { name } of DATABASE_ROLES) expect(services.roles?.environment).toHaveProperty(databasePassword(name));
  });

  it('connects each service as its own user, and no service as the administrator', () => {
    for (const [name, { environment = {}, restart }] of ours) {
      const addresses = Object.entries(environment).filter(([variable]) => /_(NATS|POSTGRES)_URL$/.test(variable));
      if (restart !== 'unless-stopped') continue;
      for (const [, address] of addresses)
        expect(address).toMatch(new RegExp(`^\\w+://${name}:\\$\\{\\w+_${name.toUpperCase()}_PASSWORD\\}@`));
    }
  });
});

describe('the command that makes secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headway env '));
  const file = join(folder, '.env');
  const make = () =>
    execFileSync(process.execPath, [join(repositoryRoot, 'deploy/compose/make-env.mjs'), file], { encoding: 'utf8' });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('makes every secret that the compose file asks for, for its owner alone, and no two alike', () => {
    make();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const made = new Map(
      [...readFileSync(file, 'utf8').matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
    );
    const asked = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(asked.length).toBeGreaterThan(5);
    for (const name of asked) expect([name, made.get(name)]).toEqual([name, expect.stringMatching(/^\S{20,}$/)]);
    for (const [name, value] of made)
      if (name?.endsWith('_PASSWORD'))
        expect([name, value]).toEqual([name, expect.stringMatching(/^[a-z][a-z0-9]{40,}$/)]);
    expect(new Set(made.values()).size).toBe(made.size);
  });

  it('never writes over secrets that are there', () => {
    const before = readFileSync(file, 'utf8');
    expect(make).toThrow('stays as it is');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});

describe('the users of the bus', () => {
  it('stand in the configuration as they are declared', () => {
    // Where this fails: node deploy/nats/src/write-users.ts
    expect(readFileSync(USERS_FILE, 'utf8')).toBe(usersFile());
  });

  it.each(['nats-server.conf', 'nats-cluster.conf'])('are taken by a real server from %s', (configuration) => {
    const binary = process.env.HEADWAY_NATS_SERVER ?? 'nats-server';
    const version = execFileSync(binary, ['--version'], { encoding: 'utf8' });
    const passwords = Object.fromEntries([...BUS_USERS, 'route'].map((user) => [busPassword(user), `secret${user}`]));
    const check = () =>
      execFileSync(binary, ['-t', '--config', join(repositoryRoot, 'deploy/nats', configuration)], {
        encoding: 'utf8',
        env: { ...passwords, NATS_SERVER_NAME: 'nats' },
        stdio: 'pipe',
      });
    // A server before 2.10 cannot write before it acknowledges, and says so.
    if (/v2\.[0-9]\./.test(version)) expect(check).toThrow('sync_interval');
    else expect(check).not.toThrow();
  });
});
