import { expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError, defineConfig, variable } from './index.ts';

const config = defineConfig(
  z.object({
    HEADWAY_PORT: variable.port(4680),
    HEADWAY_NATS_URL: z.url(),
    HEADWAY_MODE: z.enum(['one', 'two']).default('one'),
    HEADWAY_SECRET: z.string().min(8).optional(),
    HEADWAY_ON: variable.flag(true),
    HEADWAY_PUBLIC_HOSTS: variable.list(),
  }),
);
const NATS = { HEADWAY_NATS_URL: 'nats://127.0.0.1:4222' };

it('reads values, fills in defaults and ignores the rest of the environment', () => {
  expect(config.read({ ...NATS, HEADWAY_PORT: '0', HEADWAY_PUBLIC_HOSTS: ' a.example , b:1,', PATH: '/bin' })).toEqual({
    ...NATS,
    HEADWAY_PORT: 0,
    HEADWAY_MODE: 'one',
    HEADWAY_ON: true,
    HEADWAY_PUBLIC_HOSTS: ['a.example', 'b:1'],
  });
});

it('takes an empty variable for an unset one', () => {
  expect(config.read({ ...NATS, HEADWAY_PORT: '', HEADWAY_ON: '' })).toMatchObject({
    HEADWAY_PORT: 4680,
    HEADWAY_ON: true,
  });
});

it('names every variable that has to change and says to what, and prints no value', () => {
  const environment = {
    HEADWAY_PORT: 'geheim1',
    HEADWAY_MODE: 'geheim2',
    HEADWAY_SECRET: 'geheim3',
    HEADWAY_ON: 'geheim4',
  };
  let thrown: unknown;
  try {
    config.read(environment);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigError);
  const { message } = thrown as ConfigError;
  expect(message).toContain('HEADWAY_PORT: has to be a number');
  expect(message).toContain('HEADWAY_NATS_URL: is not set');
  expect(message).toContain('HEADWAY_MODE: has to be one of: one, two');
  expect(message).toContain('HEADWAY_SECRET: has to have at least 8 characters');
  expect(message).toContain('HEADWAY_ON: has to be one of: true, false');
  expect(message).not.toContain('geheim');
});

it('says the bounds of a number', () => {
  expect(() => config.read({ ...NATS, HEADWAY_PORT: '70000' })).toThrow('HEADWAY_PORT: has to be at most 65535');
  expect(() => config.read({ ...NATS, HEADWAY_PORT: '1.5' })).toThrow('HEADWAY_PORT: has to be a whole number');
});
