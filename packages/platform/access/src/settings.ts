import { readFileSync } from 'node:fs';
import { type AccessSettings, tokenDigest } from './authorise.ts';

/** Shorter tokens could be guessed. */
const SHORTEST_TOKEN = 16;

/**
 * The settings from environment variables:
 *
 * - `HEADWAY_OPERATOR_TOKEN_FILE`: a file whose content, without white space at its ends, is the operator token; or
 * - `HEADWAY_OPERATOR_TOKEN_SHA256`: its SHA-256 in hex. With neither there is no operator.
 * - `HEADWAY_LOOPBACK_OPEN`: `false` = callers on this machine need a token too.
 *
 * Throws an error that names the variable and says what to change; it never holds the token.
 */
export function readAccessSettings(environment: NodeJS.ProcessEnv): AccessSettings {
  return { operatorTokenSha256: operatorToken(environment), loopbackOpen: loopbackOpen(environment) };
}

function operatorToken(environment: NodeJS.ProcessEnv): Uint8Array | null {
  const file = environment.HEADWAY_OPERATOR_TOKEN_FILE;
  const hash = environment.HEADWAY_OPERATOR_TOKEN_SHA256;
  if (file && hash)
    throw new Error(
      'HEADWAY_OPERATOR_TOKEN_FILE and HEADWAY_OPERATOR_TOKEN_SHA256 are both set: keep one and unset the other.',
    );
  if (hash) {
    if (!/^[0-9a-fA-F]{64}$/.test(hash))
      throw new Error('HEADWAY_OPERATOR_TOKEN_SHA256 has to be the SHA-256 of the token in 64 hex digits.');
    return Buffer.from(hash, 'hex');
  }
  return file ? tokenDigest(tokenOf(file)) : null;
}

function tokenOf(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(`HEADWAY_OPERATOR_TOKEN_FILE: ${file} cannot be read (${code}). Name a file that holds the token.`);
  }
  if (token.length < SHORTEST_TOKEN || !/^[!-~]+$/.test(token))
    throw new Error(
      `HEADWAY_OPERATOR_TOKEN_FILE: ${file} has to hold one token of at least ${SHORTEST_TOKEN} printable characters.`,
    );
  return token;
}

function loopbackOpen(environment: NodeJS.ProcessEnv): boolean {
  const value = environment.HEADWAY_LOOPBACK_OPEN ?? 'true';
  if (value !== 'true' && value !== 'false')
    throw new Error(`HEADWAY_LOOPBACK_OPEN has to be \`true\` or \`false\`, and is ${JSON.stringify(value)}.`);
  return value === 'true';
}
