import { annotations } from './annotations.ts';
import { ava } from './ava.ts';
import { biome } from './biome.ts';
import { bracedTap } from './braced-tap.ts';
import { bundlers } from './bundlers.ts';
import { eslint } from './eslint.ts';
import { jasmine } from './jasmine.ts';
import { jest } from './jest.ts';
import { mocha } from './mocha.ts';
import { oxlint } from './oxlint.ts';
import { packageScripts } from './package-scripts.ts';
import { playwright } from './playwright.ts';
import { prettier } from './prettier.ts';
import type { ToolReader } from './reader.ts';
import { stylelint } from './stylelint.ts';
import { tsc } from './tsc.ts';
import { vitest } from './vitest.ts';

/** Tools of the JavaScript world, in the order they are asked. */
export const javascriptTools: readonly ToolReader[] = [
  packageScripts,
  vitest,
  bracedTap,
  jest,
  playwright,
  mocha,
  ava,
  jasmine,
  tsc,
  biome,
  oxlint,
  stylelint,
  eslint,
  prettier,
  annotations,
  bundlers,
];
