import { nodeTest } from './node-test.ts';
import type { ToolReader } from './reader.ts';
import { tap } from './tap.ts';

/** Formats that many tools print, asked after the tools. */
export const formats: readonly ToolReader[] = [nodeTest, tap];
