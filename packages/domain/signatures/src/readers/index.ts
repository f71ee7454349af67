import { formats } from './formats.ts';
import { javascriptTools } from './javascript-tools.ts';
import { nativeTools } from './native-tools.ts';
import type { ToolReader } from './reader.ts';

/** Every tool in the order they are asked. What none of them takes goes to the masking reader. */
export const toolReaders: readonly ToolReader[] = [...javascriptTools, ...nativeTools, ...formats];

export type { Answer, Failure, LineReader, Paths, Report, ToolReader } from './reader.ts';
