import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../harness/services.ts';

/** A YAML file of the repository, every document of it. */
export function readYaml<Document>(path: string): Document[] {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (!('errors' in document) || document.errors.length > 0) throw new Error(`${path}: ${String(document.errors)}`);
    return document.toJS() as Document;
  });
}

export interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly path?: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
}

/** All resources that a kustomization brings together, before its patches. Throws where something it names is not there. */
export function resourcesOf(folder: string): Resource[] {
  const [kustomization = {}] = readYaml<Kustomization>(join(folder, 'kustomization.yaml'));
  for (const { path } of kustomization.patches ?? []) if (path !== undefined) readYaml(join(folder, path));
  const made = (kustomization.configMapGenerator ?? []).map(({ name, files }) => ({
    kind: 'ConfigMap',
    metadata: { name },
    data: Object.fromEntries(files.map((file) => [file, readFileSync(join(repositoryRoot, folder, file), 'utf8')])),
  }));
  const named = (kustomization.resources ?? []).flatMap((resource) => {
    const path = relative(repositoryRoot, join(repositoryRoot, folder, resource));
    if (!existsSync(join(repositoryRoot, path))) throw new Error(`${dirname(path)} names ${path}, which is not there`);
    return statSync(join(repositoryRoot, path)).isDirectory() ? resourcesOf(path) : readYaml<Resource>(path);
  });
  return [...named, ...made];
}
