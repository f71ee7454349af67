import { BUS_PERMISSIONS, type Permissions } from './permissions.ts';
import { OUTSIDE_USER } from './users.ts';

/** How a user's password stands in a configuration: as text, or as the name of an environment variable of the server. */
export type Password = { readonly text: string } | { readonly variable: string };

/** The variable that holds a user's password, of the server and of the tools that make and hand on passwords. */
export const passwordVariable = (user: string): string => `NATS_${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/** Every user of the bus. */
export const BUS_USERS: readonly string[] = [...BUS_PERMISSIONS.keys()];

export interface AuthorizationOptions {
  readonly passwordOf: (user: string) => Password;
  /** Whether a connection without a user becomes `outside`; else `outside` needs a password as all others do. */
  readonly open: boolean;
}

/** The block `authorization { … }` of a nats-server's configuration, with all users. */
export function authorizationBlock({ passwordOf, open }: AuthorizationOptions): string {
  const users = [...BUS_PERMISSIONS].map(([user, permissions]) =>
    userBlock(user, open && user === OUTSIDE_USER ? null : passwordOf(user), permissions),
  );
  return `authorization {\n  users: [\n${users.join('')}  ]\n}\n${open ? `no_auth_user: ${OUTSIDE_USER}\n` : ''}`;
}

function userBlock(user: string, password: Password | null, { publish, subscribe }: Permissions): string {
  const lines = [
    `    {`,
    `      user: ${JSON.stringify(user)}`,
    ...(password === null
      ? []
      : [`      password: ${'text' in password ? JSON.stringify(password.text) : `$${password.variable}`}`]),
    `      permissions: {`,
    `        publish: { ${[...list('allow', publish.allow), ...list('deny', publish.deny)].join(', ')} }`,
    `        subscribe: { ${list('allow', subscribe.allow).join(', ')} }`,
    `      }`,
    `    }`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const list = (name: string, subjects: readonly string[]): string[] =>
  subjects.length === 0 ? [] : [`${name}: [${subjects.map((subject) => JSON.stringify(subject)).join(', ')}]`];
