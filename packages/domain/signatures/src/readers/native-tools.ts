import type { ToolReader } from './reader.ts';

/** Tools of the other languages, in the order they are asked. */
export const nativeTools: readonly ToolReader[] = [];
