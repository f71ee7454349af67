import { z } from 'zod';
import { limits } from './limits.ts';

/** One message of ACTS, under `act.<tenant>`: what an operator did. */
export interface ActCommit {
  readonly v: 1;
  readonly events: readonly [OperatorAct];
}

/** What an operator did. */
export type OperatorAct = {
  [Type in keyof ActData]: {
    readonly type: Type;
    readonly id: string;
    readonly time: string;
    /** Who: the role of the token, and the name that its holder gave. */
    readonly by: string;
    readonly why: string;
    readonly data: ActData[Type];
  };
}[keyof ActData];

export interface ActData {
  'headway.dead-letter.retried': { readonly letter: string };
  'headway.dead-letter.dropped': { readonly letter: string };
  'headway.rebuild.requested': { readonly projection: string };
  'headway.rebuild.cancelled': { readonly projection: string };
}

/** The body of every request by which an operator acts. */
export const actRequestSchema = z.object({
  why: z.string().trim().min(1).max(limits.name),
  /** The name of who acts, for the record; the token alone decides what is allowed. */
  as: z.string().trim().min(1).max(200).optional(),
});
export type ActRequest = z.infer<typeof actRequestSchema>;
