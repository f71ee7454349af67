import { describe, expect, it } from 'vitest';
import { REDACTED, redact, redactValue } from './redact.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const letters = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5';
const jwt = `eyJ${letters}.eyJ${letters}.${letters}`;
const key = ['-----BEGIN RSA PRIVATE KEY-----', `${letters}${letters}`, '-----END RSA PRIVATE KEY-----'].join('\n');

/** Text around a canary: what has to go, and what has to stay. */
const canaries: [what: string, before: string, secret: string, after: string][] = [
  ['an AWS key id', 'using ', `AKIA${'IOSFODNN7EXAMPLE'}`, ' in eu-west-1'],
  ['an AWS secret', 'aws_secret_access_key = ', `${letters}/x+y`, '\nregion = eu'],
  ['a GitHub token', 'clone with ', `ghp_${letters}`, ' failed'],
  ['a fine-grained GitHub token', 'clone with ', `github_pat_${letters}_${letters}`, ' failed'],
  ['a GitLab token', 'push with ', `glpat-${letters.slice(0, 20)}`, ' failed'],
  ['an npm token', 'publish with ', `npm_${letters}`, ' failed'],
  ['an npmrc', '//registry.example/:_authToken=', letters, '\n'],
  ['a Slack token', 'post with ', `xoxb-123456789012-${letters}`, ' failed'],
  ['a Slack hook', 'POST https://hooks.slack.com/services/', 'T0001/B0002/abcDEF123456', ' 404'],
  ['an sk- key', 'model key ', `sk-proj-${letters}`, ' refused'],
  ['a JWT', 'expected ', jwt, ' to be valid'],
  ['a JWT that was cut', 'expected ', jwt.slice(0, 90), ''],
  ['a bearer header', 'Authorization: Bearer ', letters, '\nHost: x'],
  ['a bearer header in curl', "curl -H 'authorization: bearer ", 'abcdef-ghijkl', "' https://api.example"],
  ['a basic header', 'authorization: Basic ', 'dXNlcjpwYXNz', '\n'],
  ['an authorization member', '{"authorization":"', 'opaque-value-here', '"}'],
  ['a bearer token alone', 'sent Bearer ', `${letters.slice(0, 12)}`, ' and got 401'],
  ['a private key', 'read ', key, ' from disk'],
  ['a private key that was cut', 'read ', key.slice(0, 60), ''],
  ['an OpenSSH key', '', key.replaceAll('RSA', 'OPENSSH'), ' end'],
  ['a password', 'password=', 'hunter2', ' user=bob'],
  ['a password with a colon', 'Password: ', 'swordfish', '\nnext'],
  ['a password in JSON', '{"db_password": "', 'correct horse battery', '", "user": "bob"}'],
  ['a password in escaped JSON', String.raw`{\"password\":\"`, 'hunter2', String.raw`\",\"user\":\"bob\"}`],
  ['a password in single quotes', "PGPASSWORD='", 'it is long', "' psql"],
  ['a password on a command line', 'mysql --password ', 'hunter2', ' -u root'],
  ['an environment variable', 'export CLIENT_SECRET=', 'abc', '\n'],
  ['an API key', 'apiKey: "', 'k', '",'],
  ['an x-api-key header', 'x-api-key: ', 'anything-at-all', '\n'],
  ['a token assignment', 'TOKEN=', 'abc123def456', ' run'],
  ['an access token in a query', 'GET /x?access_token=', 'tiny', '&page=2'],
  ['a ruby hash', ':password => "', 'hunter2', '"'],
  ['a URL with a password', 'postgres://bob:', 'p@ss:word', '@db.example:5432/app'],
  ['a URL with a token', 'https://', 'x'.repeat(20), '@git.example/repo'],
];

describe('secrets', () => {
  it.each(canaries)('redacts %s', (_what, before, secret, after) => {
    const clean = redact(before + secret + after);
    expect(clean).not.toContain(secret);
    for (const part of secret.split('\n')) expect(clean).not.toContain(part);
    expect(clean).toContain(REDACTED);
    expect(clean.endsWith(after)).toBe(true);
    expect(redact(clean)).toBe(clean);
  });

  it('redacts every one of many', () => {
    const all = canaries
      .map(([, before, secret, after]) => before + secret + after)
      .filter((text) => !text.includes('BEGIN'));
    const clean = redact(all.join('\n'));
    for (const [, , secret] of canaries)
      if (!secret.includes('BEGIN') && secret.length > 4) expect(clean).not.toContain(secret);
  });

  it.each([
    'AssertionError [ERR_ASSERTION]: expected 3 to equal 4',
    "SyntaxError: Unexpected token: '}' in /src/a.ts:3:4",
    'token: unexpected end',
    'not ok 3 - rejects a bearer without a scheme',
    'http://localhost:4680/@fs/src/main.ts',
    'at Object.<anonymous> (file:///srv/a@b/c.test.ts:10:5)',
    'password: null',
    'PASSWORD=$DB_PASSWORD run',
    'user@example.com',
    '12:30:45 skipped task-abcdefghijklmnopqrstuvwxyz',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'src/auth/password.test.ts > hashes',
  ])('leaves %j as it is', (text) => expect(redact(text)).toBe(text));

  it('goes through a whole value and takes members by their names', () => {
    const value = {
      note: `see ${jwt}`,
      list: [{ message: 'password=hunter2' }],
      env: { DB_PASSWORD: 'x', github_token: 'y', userToken: 'z', count: 3, none: null },
      hash: 'e3b0c442',
    };
    expect(redactValue(value)).toEqual({
      note: `see ${REDACTED}`,
      list: [{ message: `password=${REDACTED}` }],
      env: { DB_PASSWORD: REDACTED, github_token: REDACTED, userToken: REDACTED, count: 3, none: null },
      hash: 'e3b0c442',
    });
  });
});

describe('hostile text', () => {
  const hostile: [string, string][] = [
    ['one long word', 'a'],
    ['beginnings of JWTs', 'eyJ'],
    ['beginnings of JWTs with dashes', 'eyJ-'],
    ['two-part JWTs', 'eyJaaaaaa.'],
    ['addresses', '://a:b'],
    ['addresses with long passwords', '://a:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'],
    ['names of secrets', 'password'],
    ['assignments', 'password='],
    ['quoted assignments', 'password="'],
    ['escaped assignments', 'password=\\"\\'],
    ['spaces', ' '],
    ['backslashes', '\\'],
    ['headers', 'authorization: '],
    ['bearers', 'bearer '],
    ['bearers with digits', 'bearer 1 '],
    ['key beginnings', '-----BEGIN RSA PRIVATE KEY-----'],
    ['half key beginnings', '-----BEGIN '],
    ['flags', '--password '],
    ['token makes', 'sk-'],
    ['dashes', '-'],
  ];
  const small = 32 * 1024;
  const cost = (text: string): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round += 1) {
      const before = process.cpuUsage();
      redact(text);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, user + system);
    }
    return least;
  };
  // Sixteen times the text: linear time is some sixteen times, quadratic is 256 times. The floor takes the noise.
  it.each(hostile)('costs linear time on %s', (_what, unit) => {
    const few = cost(unit.repeat(small / unit.length));
    const many = cost(unit.repeat((16 * small) / unit.length));
    expect(many).toBeLessThan(Math.max(few, 1_500) * 16 * 4);
  });
});
