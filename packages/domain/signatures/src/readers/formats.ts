import { nodeTest } from './node-test.ts';
import type { ToolReader } from './reader.ts';

/** Formats that many tools print, asked after the tools. */
export const formats: readonly ToolReader[] = [nodeTest];
