import { bats } from './bats.ts';
import { cargoTest } from './cargo-test.ts';
import { ctest } from './ctest.ts';
import { dotnet } from './dotnet.ts';
import { gcc } from './gcc.ts';
import { goTest } from './go-test.ts';
import { googletest } from './googletest.ts';
import { gradle } from './gradle.ts';
import { javac } from './javac.ts';
import { make } from './make.ts';
import { maven } from './maven.ts';
import { phpunit } from './phpunit.ts';
import { prove } from './prove.ts';
import { pytest } from './pytest.ts';
import { flake8, mypy, pylint, ruff } from './python-linters.ts';
import type { ToolReader } from './reader.ts';
import { rspec } from './rspec.ts';
import { rubocop } from './rubocop.ts';
import { rustc } from './rustc.ts';
import { shellcheck } from './shellcheck.ts';
import { unittest } from './unittest.ts';

/** Tools of the other languages, in the order they are asked. */
export const nativeTools: readonly ToolReader[] = [
  pytest,
  unittest,
  goTest,
  cargoTest,
  rustc,
  googletest,
  ctest,
  gcc,
  javac,
  maven,
  gradle,
  dotnet,
  rspec,
  rubocop,
  phpunit,
  flake8,
  ruff,
  pylint,
  mypy,
  shellcheck,
  prove,
  bats,
  make,
];
