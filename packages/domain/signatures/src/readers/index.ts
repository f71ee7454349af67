import { createMaskingReader } from './masking.ts';
import type { ToolReader } from './reader.ts';

/** The readers in the order they are asked. The masking reader takes what no other one knew, so it is the last. */
export const readers: readonly (() => ToolReader)[] = [createMaskingReader];

export type { Failure, Found, ToolReader } from './reader.ts';
