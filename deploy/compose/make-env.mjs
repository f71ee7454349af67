// Writes the file .env that docker-compose.yml reads, with random secrets: `node deploy/compose/make-env.mjs [FILE]`.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const SECRET_BYTES = 24;
const BUS_USERS = ['admin', 'ingest', 'classifier', 'projection', 'executor', 'outside', 'route'];
const DATABASE_USERS = ['admin', 'ingest', 'classifier', 'projection', 'executor'];

/** Begins with a letter and has only letters and digits: it stands as it is in a NATS configuration and in a URL. */
const secret = () => `s${randomBytes(SECRET_BYTES).toString('hex')}`;

const repository = fileURLToPath(new URL('../..', import.meta.url));
const file = resolve(process.argv[2] ?? `${repository}/.env`);
const token = randomBytes(SECRET_BYTES).toString('base64url');
const lines = [
  '# Secrets of this deployment of Headway. Keep a copy in a safe place: the databases are made with them.',
  ...BUS_USERS.map((user) => `NATS_${user.toUpperCase()}_PASSWORD=${secret()}`),
  ...DATABASE_USERS.map((user) => `POSTGRES_${user.toUpperCase()}_PASSWORD=${secret()}`),
  '# Who has this token is the operator; the services know its hash alone.',
  `HEADWAY_OPERATOR_TOKEN=${token}`,
  `HEADWAY_OPERATOR_TOKEN_SHA256=${createHash('sha256').update(token).digest('hex')}`,
];
try {
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  console.error(
    `${file} is there already, and stays as it is: other secrets would not open the databases made with these.`,
  );
  process.exit(1);
}
console.log(`${file} is written, readable by you alone. Next:

  docker compose up --detach --wait
  export HEADWAY_URL=http://127.0.0.1:4680
  export HEADWAY_TOKEN=$(sed -n 's/^HEADWAY_OPERATOR_TOKEN=//p' '${file}')`);
