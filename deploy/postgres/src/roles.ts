/**
 * Who may do what in the database: the one declaration of each service's role. The schemas are made by the migrations, which run as
 * the owner of the database; no service does.
 */
export interface DatabaseRole {
  readonly name: string;
  /** Schemas it may look into and whose functions it may call. */
  readonly uses: readonly string[];
  /** What it may do with tables: those named, as far as the migrations of this version make them, or with `*` every one of a schema, those to come as well. */
  readonly grants: readonly { readonly on: string; readonly may: readonly Privilege[] }[];
  /** Schemas that are its own, so that it may make and replace tables there, as a rebuild does. */
  readonly owns: readonly string[];
}

export type Privilege = 'select' | 'insert' | 'update';

/** Whoever sees that a stream lost its tail writes that down. */
const NOTES_LOSSES: DatabaseRole['grants'] = [{ on: 'headway.bus_losses', may: ['select', 'insert', 'update'] }];

export const DATABASE_ROLES: readonly DatabaseRole[] = [
  {
    // It asks whether an identity is taken, and up to where that is known; it writes to the bus alone.
    name: 'ingest',
    uses: ['headway'],
    grants: [
      { on: 'headway.identities', may: ['select'] },
      { on: 'headway.positions', may: ['select'] },
      { on: 'headway.changes', may: ['select'] },
      { on: 'headway.signal_members', may: ['select'] },
      ...NOTES_LOSSES,
    ],
    owns: [],
  },
  {
    // A claim is released by letting its lease end, never by deleting it: its epoch must not begin anew.
    name: 'classifier',
    uses: ['claims', 'headway'],
    grants: [
      { on: 'claims.*', may: ['select', 'insert', 'update'] },
      { on: 'headway.positions', may: ['select'] },
      ...NOTES_LOSSES,
    ],
    owns: [],
  },
  {
    name: 'projection',
    uses: ['claims'],
    grants: [{ on: 'claims.*', may: ['select', 'insert', 'update'] }],
    owns: ['headway'],
  },
  {
    // Its journal is one transaction with the claims it holds.
    name: 'executor',
    uses: ['claims'],
    grants: [{ on: 'claims.*', may: ['select', 'insert', 'update'] }],
    owns: ['effects'],
  },
];

/** The variable that holds a role's password. */
export const passwordVariable = (role: string): string =>
  `POSTGRES_${role.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
