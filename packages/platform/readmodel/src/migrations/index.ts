import type { Migration } from 'kysely/migration';
import * as archive from './0001-archive.ts';
import * as works from './0002-works.ts';
import * as signals from './0003-signals.ts';
import * as bus from './0010-bus.ts';
import * as deadLetters from './0020-dead-letters.ts';
import * as rebuilds from './0021-rebuilds.ts';
import * as judgment from './0030-judgment.ts';
import * as identitiesByPlace from './0040-identities-by-place.ts';

/** In the order of their names. A migration that was released is never edited: add another one. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-archive': archive,
  '0002-works': works,
  '0003-signals': signals,
  '0010-bus': bus,
  '0020-dead-letters': deadLetters,
  '0021-rebuilds': rebuilds,
  '0030-judgment': judgment,
  '0040-identities-by-place': identitiesByPlace,
};
