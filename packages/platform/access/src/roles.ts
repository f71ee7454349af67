/** What a caller is allowed to be. A caller may hold several roles; it may do what any of them may. */
export const roles = ['operator', 'reviewer', 'worker', 'reporter', 'viewer'] as const;
export type Role = (typeof roles)[number];

/**
 * What can be done, in the words of the API.
 *
 * - `read`: look at works, timelines, signals, positions.
 * - `report`: state evidence about a work, its gates and messages on its threads.
 * - `operate`: approve, resolve, revoke, retry, rebuild: what a person answers for.
 */
export const acts = ['read', 'report', 'operate'] as const;
export type Act = (typeof acts)[number];

/** The permission table: every pair of role and act stands here, and what does not is not allowed. */
export const permissions: Readonly<Record<Role, Readonly<Record<Act, boolean>>>> = {
  operator: { read: true, report: true, operate: true },
  reviewer: { read: true, report: false, operate: false },
  worker: { read: true, report: true, operate: false },
  reporter: { read: false, report: true, operate: false },
  viewer: { read: true, report: false, operate: false },
};

/** Who is asking, once that is settled. */
export interface Caller {
  readonly tenant: string;
  readonly roles: readonly Role[];
}

export const may = (caller: Pick<Caller, 'roles'>, act: Act): boolean =>
  caller.roles.some((role) => permissions[role][act]);
