import { type Problem, problem } from '@headway/contracts';

/**
 * Whether a request may be answered under the name it was sent to. A page of another site can make a browser call this
 * machine under a name that it controls (DNS rebinding); such a name is none of ours. Loopback names always are.
 */
export function refuseHost(host: string | undefined, publicHosts: readonly string[]): Problem | null {
  const name = host === undefined ? null : hostNameOf(host);
  if (name !== null && (isLoopbackName(name) || publicHosts.some((allowed) => sameHost(allowed, host ?? '', name))))
    return null;
  return problem(
    'host_not_allowed',
    'The Host header names a host that this server does not answer to. Use 127.0.0.1 or localhost, or add the name to HEADWAY_PUBLIC_HOSTS.',
  );
}

/**
 * Whether a request that writes may come from the page it comes from. Browsers send `Origin` with such requests; tools
 * do not. The origin has to be the very host and port that was asked, or a public host.
 */
export function refuseOrigin(
  method: string,
  origin: string | undefined,
  host: string | undefined,
  publicHosts: readonly string[],
): Problem | null {
  if (origin === undefined || method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return null;
  const from = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
  const name = from === undefined ? null : hostNameOf(from);
  if (from !== undefined && name !== null) {
    if (from === host?.toLowerCase()) return null;
    if (publicHosts.some((allowed) => sameHost(allowed, from, name))) return null;
  }
  return problem('origin_not_allowed', 'Pages of another origin may not write here. Call the API from a program.');
}

function hostNameOf(host: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match === null ? null : (match[1] as string).toLowerCase();
}

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);

/** A public host with a port means that port alone. */
const sameHost = (allowed: string, host: string, name: string): boolean =>
  allowed.toLowerCase() === name || allowed.toLowerCase() === host.toLowerCase();
