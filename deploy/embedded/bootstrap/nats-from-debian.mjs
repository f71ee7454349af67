// nats-server from Debian's package: through the machine's own apt configuration, without root, and without touching apt's own state.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, run, say } from './progress.mjs';

const PACKAGE = 'nats-server';
const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const APT_TIMEOUT_MS = 300_000;

/** The Debian mirror that the machine itself uses, from what apt makes of its sources; undefined where there is none. */
export async function debianMirror() {
  const { code, output } = await run('apt-get', ['indextargets', '--format', '$(CREATED_BY) $(COMPONENT) $(REPO_URI)']);
  if (code !== 0) return undefined;
  const uris = output
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([kind, component, uri]) => kind === 'Packages' && component === 'main' && /\/debian\/?$/.test(uri ?? ''))
    .map(([, , uri]) => uri);
  return uris[0];
}

function machineIsDebian() {
  return existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
}

/** Options that make apt keep all its state in `folder`; `sources` replaces the machine's sources where given. */
function aptOptions(folder, sources) {
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'parts'])
    mkdirSync(join(folder, part), { recursive: true });
  const options = {
    'Dir::State': join(folder, 'state'),
    'Dir::State::Lists': join(folder, 'state', 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Cache::Archives': join(folder, 'cache', 'archives'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
  };
  if (sources !== undefined) {
    writeFileSync(join(folder, 'parts', 'headway.list'), sources);
    options['Dir::Etc::SourceList'] = '/dev/null';
    options['Dir::Etc::SourceParts'] = join(folder, 'parts');
  }
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

async function download(folder, sources) {
  const options = aptOptions(folder, sources);
  const updated = await run('apt-get', [...options, 'update'], { cwd: folder, timeoutMs: APT_TIMEOUT_MS });
  const fetched = await run('apt-get', [...options, 'download', PACKAGE], { cwd: folder, timeoutMs: APT_TIMEOUT_MS });
  const file = readdirSync(folder).find((name) => name.startsWith(`${PACKAGE}_`) && name.endsWith('.deb'));
  if (fetched.code !== 0 || file === undefined) {
    say(`  apt did not bring it:\n${lastLines(updated.code === 0 ? fetched.output : updated.output, 3)}`);
    return undefined;
  }
  const unpacked = join(folder, 'unpacked');
  const extracted = await run('dpkg', ['-x', join(folder, file), unpacked]);
  if (extracted.code === 0) return join(unpacked, 'usr', 'sbin', 'nats-server');
  say(`  the package could not be unpacked:\n${lastLines(extracted.output, 3)}`);
  return undefined;
}

/** The newest first: Debian's development suite, then the suite this machine is on. */
async function tries() {
  const own = { name: "this machine's own suite", sources: undefined };
  const mirror = machineIsDebian() ? await debianMirror() : undefined;
  if (mirror === undefined) return [own];
  const signed = existsSync(DEBIAN_KEYRING) ? `[signed-by=${DEBIAN_KEYRING}] ` : '';
  return [{ name: 'the suite sid', sources: `deb ${signed}${mirror} sid main\n` }, own];
}

export async function fromDebian(folder, keep) {
  if ((await run('apt-get', ['--version'])).code !== 0 || (await run('dpkg', ['--version'])).code !== 0)
    return undefined;
  mkdirSync(folder, { recursive: true });
  for (const { name, sources } of await tries()) {
    say(`bringing nats-server from Debian's packages, ${name} (unpacked into the cache, nothing is installed)`);
    const staging = mkdtempSync(join(folder, '.apt-'));
    try {
      const binary = await download(staging, sources);
      const kept = binary === undefined ? undefined : await keep(binary);
      if (kept !== undefined) return kept;
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  }
  return undefined;
}
