import { expect, test } from 'vitest';
import { readyMessage, shellWord } from '../src/ready.ts';
import { readSettings } from '../src/settings.ts';

const servers = { HEADWAY_NATS_SERVER: '/bin/nats-server', HEADWAY_POSTGRES_HOME: '/postgres' };

test('a port that is not asked for by name is 4680, and may give way', () => {
  expect(readSettings({ ...servers, HEADWAY_PORT: '' }, '/').port).toEqual({ number: 4680, byName: false });
  expect(readSettings({ ...servers, HEADWAY_PORT: '4680' }, '/').port).toEqual({ number: 4680, byName: true });
});

test.each(['x', '70000', '-1', '80.5', ' 80'])('a port of "%s" is refused by its name', (given) => {
  expect(() => readSettings({ ...servers, HEADWAY_PORT: given }, '/')).toThrow(`HEADWAY_PORT is "${given}"`);
});

test('the data folder is below the repository, or where it is asked for from the current folder', () => {
  const { repositoryRoot, dataFolder } = readSettings(servers, '/somewhere');
  expect(dataFolder).toBe(`${repositoryRoot}/.headway`);
  expect(readSettings({ ...servers, HEADWAY_DATA_DIR: 'data' }, '/somewhere').dataFolder).toBe('/somewhere/data');
});

test('servers must be named one way or the other', () => {
  expect(() => readSettings({}, '/')).toThrow('npm start');
  const urls = { HEADWAY_NATS_URL: 'nats://nats:4222', HEADWAY_POSTGRES_URL: 'postgres://db/headway' };
  expect(readSettings(urls, '/')).toMatchObject({ natsUrl: 'nats://nats:4222', postgresUrl: 'postgres://db/headway' });
});

test('the ready message shows no password and a command that can be pasted', () => {
  const message = readyMessage({
    url: 'http://127.0.0.1:4680',
    natsUrl: 'nats://user:secret@nats:4222',
    tokenFile: '/data/operator-token',
    repositoryRoot: "/home/o'neil/a copy",
    dataFolder: '/data',
    notes: ['something to know'],
  });
  expect(message.split('\n')[0]).toBe('headway ready: http://127.0.0.1:4680');
  expect(message).not.toContain('HEADWAY_URL');
  expect(message).not.toContain('secret');
  expect(message).toContain('nats://nats:4222');
  expect(message).toContain(`'/home/o'\\''neil/a copy/packages/faces/cli/bin/headway' gate test`);
  expect(message).toContain('something to know');
});

test('a word for the shell is quoted only where it has to be', () => {
  expect(shellWord('/plain/path-1.ts')).toBe('/plain/path-1.ts');
  expect(shellWord('two words')).toBe("'two words'");
  expect(shellWord('$(rm)')).toBe("'$(rm)'");
});

test('the ready message says how to reach a port that is not the default one', () => {
  const facts = { natsUrl: 'nats://x', tokenFile: '/t', repositoryRoot: '/r', dataFolder: '/d', notes: [] };
  expect(readyMessage({ ...facts, url: 'http://127.0.0.1:4681' })).toContain(
    'export HEADWAY_URL=http://127.0.0.1:4681\n',
  );
});
