import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type AccessSettings,
  acts,
  authorise,
  type Credentials,
  forbids,
  isLoopback,
  may,
  readAccessSettings,
  roles,
  tokenDigest,
} from './index.ts';

const TOKEN = 'operator-token-0123456789';
const settings: AccessSettings = { operatorTokenSha256: tokenDigest(TOKEN), loopbackOpen: true };
const remote: Credentials = {
  peer: '203.0.113.7',
  forwarded: false,
  authorization: undefined,
  tenantHeader: undefined,
};
const local: Credentials = { ...remote, peer: '127.0.0.1' };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('who is asking', () => {
  it('makes the operator token operator in the tenant it names', () => {
    expect(authorise({ ...remote, ...bearer(TOKEN) }, settings)).toEqual({
      ok: true,
      value: { tenant: 'default', roles: ['operator'] },
    });
    expect(authorise({ ...remote, ...bearer(TOKEN), tenantHeader: 'acme_2-x' }, settings)).toMatchObject({
      value: { tenant: 'acme_2-x' },
    });
  });

  it('lets callers on this machine report and read in the default tenant', () => {
    for (const peer of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])
      expect(authorise({ ...local, peer }, settings)).toEqual({
        ok: true,
        value: { tenant: 'default', roles: ['reporter', 'viewer'] },
      });
  });

  const unauthorised: [string, Credentials, AccessSettings][] = [
    ['a remote caller without a token', remote, settings],
    ['a caller with no address', { ...remote, peer: undefined }, settings],
    ['a wrong token', { ...remote, ...bearer(`${TOKEN}x`) }, settings],
    ['a prefix of the token', { ...remote, ...bearer(TOKEN.slice(0, -1)) }, settings],
    ['a wrong token on this machine, which does not fall back', { ...local, ...bearer('wrong') }, settings],
    ['an empty header', { ...local, authorization: '' }, settings],
    ['another scheme', { ...remote, authorization: `Basic ${TOKEN}` }, settings],
    ['two tokens', { ...remote, authorization: `Bearer ${TOKEN} ${TOKEN}` }, settings],
    ['a token of a megabyte', { ...remote, ...bearer('x'.repeat(1 << 20)) }, settings],
    [
      'any token where there is no operator',
      { ...remote, ...bearer(TOKEN) },
      { ...settings, operatorTokenSha256: null },
    ],
    ['this machine where it is closed', local, { ...settings, loopbackOpen: false }],
    ['a request passed on by a proxy on this machine', { ...local, forwarded: true }, settings],
    ['an address that only begins like loopback', { ...local, peer: '127.0.0.1.example.org' }, settings],
  ];
  it.each(unauthorised)('refuses %s', (_what, credentials, given) => {
    const answer = authorise(credentials, given);
    expect(answer).toMatchObject({ ok: false, failure: { code: 'unauthorised', status: 401 } });
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
  });

  it('keeps other tenants from callers without a token', () => {
    expect(authorise({ ...local, tenantHeader: 'acme' }, settings)).toMatchObject({ failure: { code: 'forbidden' } });
  });

  it.each(['', 'a'.repeat(65), 'a.b', 'a b', '../x', 'ä', 'a*', '>'])('refuses the tenant %j', (tenantHeader) => {
    expect(authorise({ ...remote, ...bearer(TOKEN), tenantHeader }, settings)).toMatchObject({
      failure: { code: 'invalid_parameter' },
    });
  });

  it('knows loopback addresses', () => {
    expect(['::1', '127.0.0.1', '::FFFF:127.1.2.3'].every(isLoopback)).toBe(true);
    expect(['10.0.0.1', '::', '0.0.0.0', 'localhost', '::ffff:10.0.0.1', '128.0.0.1'].some(isLoopback)).toBe(false);
  });
});

describe('the permission table', () => {
  it('allows exactly this', () => {
    const allowed = roles.map((role) => [role, ...acts.filter((act) => may({ roles: [role] }, act))]);
    expect(allowed).toEqual([
      ['operator', 'read', 'report', 'operate'],
      ['reviewer', 'read'],
      ['worker', 'read', 'report'],
      ['reporter', 'report'],
      ['viewer', 'read'],
    ]);
  });

  it('lets several roles add up, and none do nothing', () => {
    expect(may({ roles: ['reporter', 'viewer'] }, 'read')).toBe(true);
    expect(may({ roles: ['reporter', 'viewer'] }, 'operate')).toBe(false);
    expect(acts.some((act) => may({ roles: [] }, act))).toBe(false);
  });

  it('says what is not allowed to whom', () => {
    const caller = { tenant: 'default', roles: ['reporter', 'viewer'] as const };
    expect(forbids(caller, 'operate')).toMatchObject({ code: 'forbidden', status: 403 });
    expect(forbids(caller, 'report')).toBeNull();
  });
});

describe('settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headway access '));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads the token from a file, with white space around it', () => {
    const file = join(folder, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    const read = readAccessSettings({ HEADWAY_OPERATOR_TOKEN_FILE: file });
    expect(authorise({ ...remote, ...bearer(TOKEN) }, read).ok).toBe(true);
    expect(read.loopbackOpen).toBe(true);
  });

  it('takes the hash instead', () => {
    const hash = Buffer.from(tokenDigest(TOKEN)).toString('hex');
    const read = readAccessSettings({ HEADWAY_OPERATOR_TOKEN_SHA256: hash, HEADWAY_LOOPBACK_OPEN: 'false' });
    expect(authorise({ ...remote, ...bearer(TOKEN) }, read).ok).toBe(true);
    expect(authorise(local, read).ok).toBe(false);
  });

  it('names the variable that is wrong and never the token', () => {
    const short = join(folder, 'short');
    writeFileSync(short, 'geheim');
    expect(() => readAccessSettings({ HEADWAY_OPERATOR_TOKEN_FILE: join(folder, 'none') })).toThrow(
      /HEADWAY_OPERATOR_TOKEN_FILE.*ENOENT/,
    );
    expect(() => readAccessSettings({ HEADWAY_OPERATOR_TOKEN_FILE: short })).toThrow(/^(?!.*geheim).*16 printable/);
    expect(() => readAccessSettings({ HEADWAY_OPERATOR_TOKEN_SHA256: 'abc' })).toThrow(/64 hex digits/);
    expect(() =>
      readAccessSettings({ HEADWAY_OPERATOR_TOKEN_FILE: short, HEADWAY_OPERATOR_TOKEN_SHA256: 'abc' }),
    ).toThrow(/keep one/);
    expect(() => readAccessSettings({ HEADWAY_LOOPBACK_OPEN: 'yes' })).toThrow(/HEADWAY_LOOPBACK_OPEN/);
  });
});
