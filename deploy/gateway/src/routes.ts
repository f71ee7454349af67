import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** The routing that every deployment of Headway is made from. */
export const ROUTING_FILE = join(import.meta.dirname, '..', 'routes.json');

const METHOD = /^(\*|[A-Z]+)$/;

const routing = z
  .array(
    z.object({
      methods: z.array(z.string().regex(METHOD)).min(1),
      prefix: z.string().startsWith('/'),
      service: z.string().min(1),
    }),
  )
  .min(1);

/** Which service answers a request: the first route whose method and path fit. */
export type Routes = z.infer<typeof routing>;

export function readRoutes(file: string): Routes {
  return routing.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** A prefix fits a path that equals it or goes on with a slash: `/v1/events` fits `/v1/events/x` and not `/v1/eventsource`. */
function fits(path: string, prefix: string): boolean {
  return prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`);
}

/** Whether a request's target is one of these paths, or below one, in any spelling that a service might take for it. */
export function isBelow(target: string, paths: readonly string[]): boolean {
  const [path = ''] = decoded(target).split(/[?#;]/, 1);
  const steps: string[] = [];
  for (const step of path.toLowerCase().split(/[/\\]+/)) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return paths.some((one) => fits(`/${steps.join('/')}`, one));
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '/';

/** The service for a request's method and target (path with query); undefined where no route fits. */
export function serviceFor(routes: Routes, method: string, target: string): string | undefined {
  const path = pathOf(target);
  return routes.find(
    (route) => (route.methods.includes('*') || route.methods.includes(method)) && fits(path, route.prefix),
  )?.service;
}
