import {
  ADMIN_USER,
  type BusStream,
  type BusUser,
  FAMILIES,
  OUTSIDE_TENANT,
  OUTSIDE_USER,
  outsideMayHear,
  SERVICE_USERS,
} from './users.ts';

/** What NATS lets a user do: the subjects it may send to and listen to. What is denied wins over what is allowed. */
export interface Permissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
}

/** Replies to a user come below this. Every user has its own, so that nobody hears what another was answered. */
export const inboxOf = (user: string): string => `_INBOX_${user}.>`;

/**
 * The permissions of a service. Its short-lived consumers get names that the server makes up and that only their maker is told, so
 * `MSG.NEXT` and `DELETE` for any name reach only consumers whose name one knows; durable ones have known names and are denied by name.
 */
export function permissionsOf(user: BusUser): Permissions {
  const own = user.durables.flatMap(({ stream, name }) => [
    `$JS.API.CONSUMER.CREATE.${stream}.${name}.>`,
    `$JS.API.CONSUMER.CREATE.${stream}.${name}`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${name}`,
    `$JS.API.CONSUMER.INFO.${stream}.${name}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
    `$JS.ACK.${stream}.${name}.>`,
  ]);
  return {
    publish: {
      allow: [...user.publishes, ...user.looksInto.flatMap(lookingInto), ...user.reads.flatMap(reading), ...own],
      deny: SERVICE_USERS.filter(({ name }) => name !== user.name)
        .flatMap(({ durables }) => durables)
        .filter(({ stream }) => user.reads.includes(stream))
        .flatMap(({ stream, name }) =>
          ['MSG.NEXT', 'DELETE', 'INFO'].map((act) => `$JS.API.CONSUMER.${act}.${stream}.${name}`),
        ),
    },
    subscribe: { allow: [inboxOf(user.name)] },
  };
}

const lookingInto = (stream: BusStream): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
];

const reading = (stream: BusStream): string[] => [
  `$JS.API.CONSUMER.CREATE.${stream}`,
  ...['INFO', 'MSG.NEXT', 'DELETE'].map((act) => `$JS.API.CONSUMER.${act}.${stream}.*`),
];

export const ADMIN_PERMISSIONS: Permissions = {
  publish: { allow: ['$JS.API.>', ...FAMILIES], deny: [] },
  subscribe: { allow: [inboxOf(ADMIN_USER)] },
};

/** Outside tools listen, and say nothing: no request, so no consumer either. */
export const outsidePermissions = (tenant: string): Permissions => ({
  publish: { allow: [], deny: ['>'] },
  subscribe: { allow: [outsideMayHear(tenant)] },
});

/** Every user by name, with its permissions. */
export const BUS_PERMISSIONS: ReadonlyMap<string, Permissions> = new Map([
  [ADMIN_USER, ADMIN_PERMISSIONS],
  ...SERVICE_USERS.map((user) => [user.name, permissionsOf(user)] as const),
  [OUTSIDE_USER, outsidePermissions(OUTSIDE_TENANT)],
]);
