import type { ToolReader } from './reader.ts';

/** Tools of the JavaScript world, in the order they are asked. */
export const javascriptTools: readonly ToolReader[] = [];
